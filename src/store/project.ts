import { type SelectQueryBuilder, sql } from 'kysely'
import type { ActorId } from '../model/actor.ts'
import { AppError, conflict, invalid, notFound } from '../model/error.ts'
import { formatId } from '../model/id.ts'
import { fold } from '../model/suggest.ts'
import { guardMeaning, meaningChanged, type Stale } from './content.ts'
import {
  type DestroyTx,
  emit,
  inNumbers,
  nextNumber,
  type ReadTx,
  readQuery,
  sqlOf,
  type WriteTx,
} from './handle.ts'
import { type Page, type PageInput, pageOf } from './page.ts'
import { insertRow, updateById } from './row.ts'
import { indexText } from './search-index.ts'
import { refuseOutOfSight, sees } from './sight.ts'
import type { Database, Row } from './tables.ts'
import { checkLength, visibleTasks } from './task.ts'
import { newTrashEntry, trashed } from './trash.ts'

/** A project's texts; the description is shown whole, so it is shorter than a task's. */
export const PROJECT_LIMITS = { name: 200, description: 10_000 } as const

/** The projects that the caller can see: of the account, of the credential's narrowing, not in the Trash. */
export function visibleProjects(tx: ReadTx): SelectQueryBuilder<Database, 'projects', Record<never, never>> {
  const { projects } = tx.actor
  return sqlOf(tx)
    .selectFrom('projects')
    .where('projects.account', '=', tx.account)
    .where('projects.trash', 'is', null)
    .$if(projects !== undefined, (query) => query.where('projects.id', 'in', [...projects!]))
}

/** A page of projects, archived ones only where wanted, by name. */
export function listProjects(
  tx: ReadTx,
  includeArchived: boolean,
  page: PageInput,
): Promise<Page<Row<'projects'>>> {
  const query = visibleProjects(tx)
    .selectAll('projects')
    .$if(!includeArchived, (each) => each.where('projects.archived_at', 'is', null))
  return pageOf(tx, query, { by: [sql`projects.name_key`, sql`projects.id`], direction: 'asc' }, page)
}

const projectByNumber = readQuery((db, p: { account: number; id: number }) =>
  db.selectFrom('projects').selectAll().where('account', '=', p.account).where('id', '=', p.id),
)

/** One project, by number. Throws `not_found` where there is none that the caller can see. */
export async function projectById(tx: ReadTx, id: number): Promise<Row<'projects'>> {
  const [project] = await projectByNumber(tx, { account: tx.account, id })
  if (project && sees(tx, id)) {
    if (project.trash === null) return project
    throw trashed(formatId('project', id), project.trash)
  }
  throw notFound(`There is no project ${formatId('project', id)}.`, { next: 'list_projects shows them all.' })
}

/** A project that lies in the Trash, where the caller could see it otherwise. */
export async function projectInTrash(tx: ReadTx, id: number): Promise<Row<'projects'> | undefined> {
  const [project] = await projectByNumber(tx, { account: tx.account, id })
  return project && project.trash !== null && sees(tx, id) ? project : undefined
}

const namesByNumbers = readQuery((db, p: { account: number; ids: string }, dialect) =>
  db
    .selectFrom('projects')
    .select(['id', 'name'])
    .where('account', '=', p.account)
    .where('id', 'in', dialect.numbers(p.ids)),
)

/** Names of projects by number, for answers. */
export async function projectNames(
  tx: ReadTx,
  ids: readonly (number | null)[],
): Promise<Map<number, string>> {
  const wanted = [...new Set(ids.filter((id): id is number => id !== null))]
  if (wanted.length === 0) return new Map()
  const rows = await namesByNumbers(tx, { account: tx.account, ids: JSON.stringify(wanted) })
  return new Map(rows.map(({ id, name }) => [id, `${formatId('project', id)} ${name}`]))
}

/** The project of that name that is not in the Trash, whoever may see it: names are unique in the account. */
function projectNamed(tx: ReadTx, name: string): Promise<Row<'projects'> | undefined> {
  return sqlOf(tx)
    .selectFrom('projects')
    .selectAll()
    .where('account', '=', tx.account)
    .where('name_key', '=', fold(name))
    .where('trash', 'is', null)
    .executeTakeFirst()
}

/**
 * Adds a project. Where the name is taken it gets a number behind it, "Website (2)", so that a repeat is never lost and
 * never mixed into another's project; the twin is told.
 */
export async function insertProject(
  tx: WriteTx,
  fields: { name: string; description?: string | undefined },
): Promise<{ project: Row<'projects'>; twin?: Row<'projects'> }> {
  if (tx.actor.projects !== undefined) {
    throw new AppError('scope', 'This credential is narrowed to projects, so it would not see a new one.', {
      allowed: tx.actor.projects.map((id) => formatId('project', id)),
      next: 'Work in one of these, or ask a person for a wider credential.',
    })
  }
  const wanted = readName(fields.name)
  checkLength('description', fields.description, PROJECT_LIMITS.description)
  const twin = await projectNamed(tx, wanted)
  const name = twin ? await freeName(tx, wanted) : wanted
  const project: Row<'projects'> = {
    account: tx.account,
    id: await nextNumber(tx, 'project'),
    name,
    name_key: fold(name),
    description: fields.description ?? '',
    auto_ok_default: 0,
    second_person: 0,
    archived_at: null,
    trash: null,
    version: 1,
    created_at: tx.now,
    created_by: tx.actor.id as ActorId,
    updated_at: tx.now,
  }
  await insertRow(tx, 'projects', project)
  await indexProject(tx, project)
  await emit(tx, { kind: 'project_created', ...objectOf(project), data: { name } })
  return { project, ...(twin ? { twin } : {}) }
}

/** Changes a project's name or description. Compares with what is stored first, only then checks the version. */
export async function editProject(
  tx: DestroyTx,
  project: Row<'projects'>,
  patch: { name?: string; description?: string },
  expectedVersion?: number,
): Promise<{ project: Row<'projects'>; changed: boolean }> {
  const wanted = { ...patch, ...(patch.name === undefined ? {} : { name: readName(patch.name) }) }
  const fields = Object.entries(wanted).filter(([field, text]) => text !== project[field as 'name'])
  if (fields.length === 0) return { project, changed: false }
  if (expectedVersion !== undefined && expectedVersion !== project.version) {
    const { name, description, version } = project
    throw conflict(`${formatId('project', project.id)} is at version ${version}, not the expected one.`, {
      current: {
        id: formatId('project', project.id),
        version,
        name,
        description: description.slice(0, 6000),
      },
      next: `Merge your change into the current record and send it with expected_version ${version}.`,
    })
  }
  checkLength('description', wanted.description, PROJECT_LIMITS.description)
  const edited = { ...project, ...wanted, version: project.version + 1, updated_at: tx.now }
  edited.name_key = fold(edited.name)
  await refuseTaken(tx, edited)
  const { name, name_key, description, version, updated_at } = edited
  await updateById(tx, 'projects', project.id, { name, name_key, description, version, updated_at })
  await indexProject(tx, edited)
  await emit(tx, {
    kind: 'project_updated',
    ...objectOf(project),
    changes: Object.fromEntries(
      fields.map(([field, text]) => [field, [project[field as 'name'], text] as const]),
    ),
  })
  return { project: edited, changed: true }
}

/** Keeps a finished project out of ordinary lists. Refused while tasks that need a person's sign-off are open in it. */
export async function archiveProject(
  tx: WriteTx,
  project: Row<'projects'>,
): Promise<{ project: Row<'projects'>; changed: boolean }> {
  if (project.archived_at !== null) return { project, changed: false }
  const gated = await visibleTasks(tx)
    .select(['tasks.id', 'tasks.title', 'tasks.status'])
    .where('tasks.project', '=', project.id)
    .where('tasks.auto_ok', '=', 0)
    .where('tasks.status', 'not in', ['done', 'cancelled'])
    .orderBy('tasks.id')
    .limit(11)
    .execute()
  if (gated.length > 0) {
    const id = formatId('project', project.id)
    throw new AppError('blocked', `${id} has open tasks that need a person’s sign-off.`, {
      written: false,
      gate: true,
      allowed: [
        ...gated.slice(0, 10).map((task) => `${formatId('task', task.id)} ${task.title} (${task.status})`),
        ...(gated.length > 10 ? ['and more'] : []),
      ],
      next: `Finish, cancel or move them first: list_tasks {"project_id":"${id}"}.`,
    })
  }
  await updateById(tx, 'projects', project.id, { archived_at: tx.now })
  await emit(tx, { kind: 'project_archived', ...objectOf(project) })
  return { project: { ...project, archived_at: tx.now }, changed: true }
}

/** Brings an archived project back. */
export async function unarchiveProject(
  tx: WriteTx,
  project: Row<'projects'>,
): Promise<{ project: Row<'projects'>; changed: boolean }> {
  if (project.archived_at === null) return { project, changed: false }
  await updateById(tx, 'projects', project.id, { archived_at: null })
  await emit(tx, { kind: 'project_unarchived', ...objectOf(project) })
  return { project: { ...project, archived_at: null }, changed: true }
}

/**
 * Moves a project and its tasks, each with what hangs below it, to the Trash under one entry. Nothing is closed and
 * nothing freed. A task of another project that loses a subtask by it changes its meaning.
 */
export async function trashProject(
  tx: DestroyTx,
  project: Row<'projects'>,
): Promise<{ entry: number; tasks: number; stale: Stale[] }> {
  const doomed = await withSubtrees(tx, project.id)
  refuseOutOfSight(tx, doomed, `${formatId('project', project.id)} has tasks with subtasks`, 'delete it')
  const going = new Set(doomed.map((task) => task.id))
  const parents = await parentsLeft(tx, doomed, going)
  for (const parent of parents) await guardMeaning(tx, parent)
  const entry = await newTrashEntry(tx, {
    kind: 'project',
    object: formatId('project', project.id),
    title: project.name,
    project: project.id,
    concerns: doomed.map((task) => ((task.claim_until ?? 0) > tx.now ? task.claimed_by : null)),
  })
  await sqlOf(tx)
    .updateTable('tasks')
    .set({ trash: entry })
    .where('account', '=', tx.account)
    .where('id', 'in', inNumbers(tx, [...going]))
    .execute()
  await updateById(tx, 'projects', project.id, { trash: entry })
  const stale: Stale[] = []
  for (const parent of parents) stale.push(...(await meaningChanged(tx, parent)).stale)
  return { entry, tasks: doomed.length, stale }
}

/** Refuses a name that another project carries. */
export async function refuseTaken(tx: ReadTx, project: { id: number; name: string }): Promise<void> {
  const other = await projectNamed(tx, project.name)
  if (!other || other.id === project.id) return
  if (!sees(tx, other.id)) {
    throw conflict(`The name "${project.name}" is taken.`, {
      next: 'Names of projects are unique: choose another.',
    })
  }
  throw conflict(`${formatId('project', other.id)} is called "${other.name}" already.`, {
    next: 'Names of projects are unique: choose another, or rename that one with update_project.',
  })
}

function readName(said: string): string {
  const name = said.trim()
  if (name === '') throw invalid('The name is empty.', { next: 'Give the project a name.' })
  checkLength('name', name, PROJECT_LIMITS.name)
  return name
}

async function freeName(tx: ReadTx, wanted: string): Promise<string> {
  for (let i = 2; ; i++) {
    const name = `${wanted} (${i})`
    if (!(await projectNamed(tx, name))) return name
  }
}

async function indexProject(tx: WriteTx, project: Row<'projects'>): Promise<void> {
  await indexText(tx, 'project', project.id, { project: project.id }, [project.name, project.description])
}

type Doomed = Pick<Row<'tasks'>, 'id' | 'parent' | 'project' | 'claimed_by' | 'claim_until'>

/** The tasks of a project and all that hangs below them, of whatever project. */
async function withSubtrees(tx: ReadTx, project: number): Promise<Doomed[]> {
  const { rows } = await sql<Doomed>`
    WITH RECURSIVE doomed (id) AS (
      SELECT id FROM tasks WHERE account = ${tx.account} AND project = ${project} AND trash IS NULL
      UNION
      SELECT t.id FROM doomed d CROSS JOIN tasks t
      WHERE t.account = ${tx.account} AND t.parent = d.id AND t.trash IS NULL
    )
    SELECT t.id, t.parent, t.project, t.claimed_by, t.claim_until FROM doomed d CROSS JOIN tasks t
    WHERE t.account = ${tx.account} AND t.id = d.id ORDER BY t.id`.execute(sqlOf(tx))
  return rows
}

/** Parents that stay and lose a subtask. */
async function parentsLeft(
  tx: ReadTx,
  doomed: readonly Doomed[],
  going: ReadonlySet<number>,
): Promise<Row<'tasks'>[]> {
  const staying = doomed.flatMap(({ parent }) => (parent === null || going.has(parent) ? [] : parent))
  return sqlOf(tx)
    .selectFrom('tasks')
    .selectAll()
    .where('account', '=', tx.account)
    .where('id', 'in', inNumbers(tx, staying))
    .where('trash', 'is', null)
    .execute()
}

const objectOf = (project: Row<'projects'>) => ({
  project: project.id,
  object: formatId('project', project.id),
})
