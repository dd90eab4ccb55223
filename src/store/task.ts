import type { SelectQueryBuilder } from 'kysely'
import type { ActorId } from '../model/actor.ts'
import { AppError, conflict, invalid, notFound } from '../model/error.ts'
import type { Changes } from '../model/event.ts'
import { formatId, formatIdOr } from '../model/id.ts'
import { isClosed, LIMITS, PRIORITIES } from '../model/task.ts'
import { versionConflict } from './conflict.ts'
import { guardMeaning, hashOfNew, meaningChanged, type Stale, storedTask } from './content.ts'
import { addDependencies, refuseCycle } from './dependency.ts'
import { type DestroyTx, emit, nextNumber, type ReadTx, readQuery, sqlOf, type WriteTx } from './handle.ts'
import { addLabels, keyOf, labelsOf, setLabels } from './label.ts'
import { projectById } from './project.ts'
import { insertRow, updateById } from './row.ts'
import { indexText } from './search-index.ts'
import { refuseLeaving } from './second-person.ts'
import { refuseOutOfSight, sees, shownTask, visibleTasksQuery } from './sight.ts'
import { insertSteps, type NewStep } from './step.ts'
import type { Database, Row } from './tables.ts'
import { shownEntry, trashed } from './trash.ts'

/** A task's fields as a person or agent writes them; numbers for ids, canonical strings for dates. */
interface TaskFields {
  title: string
  description: string
  project: number | null
  parent: number | null
  priority: number
  due: string | null
  scheduled: string | null
  estimate: number | null
  assignee: ActorId | null
  recurrence: string | null
  recurrence_anchor: 'due' | 'completion' | null
}

export interface NewTask extends Partial<Omit<TaskFields, 'title'>> {
  title: string
  labels?: readonly string[]
  depends_on?: readonly number[]
  steps?: readonly NewStep[]
}

/** The change of an edit: absent keeps, null clears; labels replace the set. */
export type TaskPatch = Partial<TaskFields> & { labels?: readonly string[] }

/** Which fields a sign-off is bound to; the others can change under a pending request. */
const MEANING = ['title', 'description', 'project', 'parent', 'assignee', 'due', 'recurrence'] as const

/** Which fields nobody but a person may change while a task stays auto-OK (gate G10). */
const UNDER_PERMISSION = ['title', 'description', 'project', 'parent'] as const

/** The tasks that the caller can see: of the account, of the credential's projects, not in the Trash. */
export function visibleTasks(tx: ReadTx): SelectQueryBuilder<Database, 'tasks', Record<never, never>> {
  const { projects } = tx.actor
  return sqlOf(tx)
    .selectFrom('tasks')
    .where('tasks.account', '=', tx.account)
    .where('tasks.trash', 'is', null)
    .$if(projects !== undefined, (query) => query.where('tasks.project', 'in', [...projects!]))
}

const visibleTask = visibleTasksQuery((tasks, p: { id: number }) =>
  tasks.selectAll('tasks').where('tasks.id', '=', p.id),
)

/** One task, by number. Throws `not_found` where there is none that the caller can see; names the Trash entry if it is there. */
export async function taskById(tx: ReadTx, id: number): Promise<Row<'tasks'>> {
  const [task] = await visibleTask(tx, { id })
  if (task) return task
  const gone = await taskInTrash(tx, id)
  if (gone) throw trashed(formatId('task', id), await shownEntry(tx, gone.trash!))
  throw notFound(`There is no task ${formatId('task', id)}.`, {
    next: 'search finds tasks by words, list_tasks by fields.',
  })
}

const trashedTask = readQuery((db, p: { account: number; id: number }) =>
  db
    .selectFrom('tasks')
    .selectAll()
    .where('account', '=', p.account)
    .where('id', '=', p.id)
    .where('trash', 'is not', null),
)

/** A task that lies in the Trash, where the caller could see it otherwise. */
export async function taskInTrash(tx: ReadTx, id: number): Promise<Row<'tasks'> | undefined> {
  const [gone] = await trashedTask(tx, { account: tx.account, id })
  return gone && sees(tx, gone.project) ? gone : undefined
}

const visibleByNumbers = visibleTasksQuery((tasks, p: { ids: string }, dialect) =>
  tasks.selectAll('tasks').where('tasks.id', 'in', dialect.numbers(p.ids)),
)

/** Several tasks by number, in the order given; throws for the first that can't be seen. */
export async function tasksByIds(tx: ReadTx, ids: readonly number[]): Promise<Row<'tasks'>[]> {
  const found = await visibleByNumbers(tx, { ids: JSON.stringify(ids) })
  const byId = new Map(found.map((task) => [task.id, task]))
  return Promise.all(ids.map(async (id) => byId.get(id) ?? (await taskById(tx, id))))
}

const children = readQuery((db, p: { account: number; task: number }) =>
  db
    .selectFrom('tasks')
    .selectAll()
    .where('account', '=', p.account)
    .where('parent', '=', p.task)
    .where('trash', 'is', null)
    .orderBy('id'),
)

/** Children that are not in the Trash. */
export function childrenOf(tx: ReadTx, task: number): Promise<Row<'tasks'>[]> {
  return children(tx, { account: tx.account, task })
}

/** Adds a task with its labels, dependencies and steps. Refuses over-long texts, cycles, full parents, archived projects. */
export async function insertTask(
  tx: WriteTx,
  fields: NewTask,
  successorOf?: Row<'tasks'>,
): Promise<{ task: Row<'tasks'>; stale: Stale[] }> {
  // The next occurrence has its place from the task before it, whoever closed that.
  const place = successorOf ? storedTask : taskById
  const parent = fields.parent == null ? null : await place(tx, fields.parent)
  const project = fields.project ?? parent?.project ?? null
  checkTexts(fields)
  await checkProject(tx, project)
  const autoOk = await autoOkAtBirth(tx, project, successorOf)
  if (parent) await checkParent(tx, parent)
  const id = await nextNumber(tx, 'task')
  const content = {
    title: fields.title,
    description: fields.description ?? '',
    project,
    parent: fields.parent ?? null,
    assignee: fields.assignee ?? null,
    due: fields.due ?? null,
    recurrence: fields.recurrence ?? null,
    auto_ok: autoOk,
  }
  // Whole, so that it need not be read back.
  const task: Row<'tasks'> = {
    ...content,
    account: tx.account,
    id,
    priority: fields.priority ?? 2,
    scheduled: fields.scheduled ?? null,
    estimate: fields.estimate ?? null,
    recurrence_anchor: fields.recurrence_anchor ?? null,
    status: 'open',
    claimed_by: null,
    claimed_at: null,
    claim_until: null,
    blocked_by: null,
    closed_at: null,
    closed_by: null,
    changed_since_sign_off: 0,
    succeeds: successorOf?.id ?? null,
    trash: null,
    version: 1,
    content_version: 1,
    content_hash: hashOfNew(content),
    created_at: tx.now,
    created_by: tx.actor.id as ActorId,
    updated_at: tx.now,
  }
  await insertRow(tx, 'tasks', task)
  await indexText(tx, 'task', id, { task: id, project }, [task.title, task.description])
  await emit(tx, { kind: 'created', task: id, project, data: { title: task.title } })
  if (fields.labels?.length) await addLabels(tx, [task], fields.labels)
  if (fields.depends_on?.length) await addDependencies(tx, task, fields.depends_on)
  if (fields.steps?.length) await insertSteps(tx, task, fields.steps)
  // Steps are part of the meaning, so they are sealed with it; a parent counts its children.
  return fields.steps?.length || parent ? meaningChanged(tx, task) : { task, stale: [] }
}

/** What an edit did, for the answer. */
export interface Edited {
  task: Row<'tasks'>
  /** False where everything was already so; then nothing was written. */
  changed: boolean
  stale: Stale[]
  /** The standing permission that fell because somebody else than a person changed the meaning (gate G10). */
  autoOkFell: boolean
}

/**
 * Changes a task's own fields. The patch is compared with what is stored first: where nothing would change nothing is
 * written, whatever the version; only then `expectedVersion` is checked.
 */
export async function editTask(
  tx: DestroyTx,
  task: Row<'tasks'>,
  patch: TaskPatch,
  expectedVersion?: number,
): Promise<Edited> {
  const { labels, ...fields } = patch
  const columns = Object.fromEntries(
    Object.entries(fields).filter(
      ([name, value]) => value !== undefined && value !== task[name as keyof TaskFields],
    ),
  ) as Partial<TaskFields>
  const relabelled = labels !== undefined && (await labelsDiffer(tx, task.id, labels))
  if (Object.keys(columns).length === 0 && !relabelled)
    return { task, changed: false, stale: [], autoOkFell: false }
  if (expectedVersion !== undefined && expectedVersion !== task.version) throw await outdated(tx, task)
  checkTexts(columns)
  await checkMove(tx, task, columns)

  const meaning = MEANING.some((name) => name in columns)
  if (meaning) await guardMeaning(tx, task)
  const autoOkFell = await autoOkFalls(tx, task, columns)
  const changes: Record<string, readonly [unknown, unknown]> = {}
  for (const name of Object.keys(columns)) {
    changes[name] = [
      shown(name, task[name as keyof TaskFields]),
      shown(name, columns[name as keyof TaskFields]),
    ]
  }
  if (relabelled) changes.labels = await setLabels(tx, task, labels)
  if (autoOkFell) changes.auto_ok = [true, false]

  const update = {
    ...columns,
    ...(autoOkFell ? { auto_ok: 0 } : {}),
    version: task.version + 1,
    updated_at: tx.now,
  }
  const { task: edited, stale } = meaning
    ? await meaningChanged(tx, task, update)
    : { task: await updateRow(tx, task.id, update), stale: [] }
  if ('title' in columns || 'description' in columns || 'project' in columns) {
    await indexText(tx, 'task', task.id, { task: task.id, project: edited.project }, [
      edited.title,
      edited.description,
    ])
  }
  await emit(tx, { kind: 'updated', task: task.id, project: edited.project, changes: changes as Changes })
  return { task: edited, changed: true, stale, autoOkFell }
}

/** Changes lifecycle columns of a task's row; the schema refuses closing by it, which only approval.ts does. */
export async function updateRow(
  tx: WriteTx,
  id: number,
  columns: Partial<Row<'tasks'>>,
): Promise<Row<'tasks'>> {
  await updateById(tx, 'tasks', id, columns)
  return storedTask(tx, id)
}

/** A conflict of versions, with the record as it stands and who changed what since. */
async function outdated(tx: ReadTx, task: Row<'tasks'>): Promise<AppError> {
  const newest = await sqlOf(tx)
    .selectFrom('events')
    .select(['actor', 'data'])
    .where('account', '=', tx.account)
    .where('task', '=', task.id)
    .where('kind', '=', 'updated')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
  const fields = Object.keys((JSON.parse(newest?.data ?? '{}') as { changes?: object }).changes ?? {})
  const by = newest ? ` ${newest.actor} changed ${fields.join(', ')} last.` : ''
  const id = formatId('task', task.id)
  const own = ['title', 'description', 'due', 'scheduled', 'estimate', 'assignee', 'recurrence'] as const
  const current = {
    id,
    version: task.version,
    ...Object.fromEntries(own.map((name) => [name, task[name] ?? undefined])),
    priority: PRIORITIES[task.priority],
  }
  return versionConflict(current, `get_full_text {"id":"${id}"}`, by)
}

/** Each text has a limit and an error of its own. */
function checkTexts(fields: { title?: string; description?: string }): void {
  if (fields.title !== undefined && fields.title.trim() === '') {
    throw invalid('The title is empty.', { next: 'Say in a few words what is to be done.' })
  }
  checkLength('title', fields.title, LIMITS.title)
  checkLength('description', fields.description, LIMITS.description)
}

/** Refuses a text that is longer than its limit, naming both. */
export function checkLength(what: string, text: string | undefined, limit: number): void {
  const length = text === undefined || text.length <= limit ? 0 : [...text].length
  if (length > limit) {
    throw new AppError('too_large', `The ${what} has ${length} characters; ${limit} are allowed.`, {
      next:
        what === 'title'
          ? 'Put the rest into the description.'
          : 'Attach the text as an artifact, or cut it.',
    })
  }
}

async function checkProject(tx: ReadTx, project: number | null): Promise<void> {
  if (project === null) {
    if (tx.actor.projects !== undefined) {
      throw new AppError('scope', 'This credential is narrowed to projects, so a task needs one of them.', {
        allowed: tx.actor.projects.map((id) => formatId('project', id)),
        next: 'Give project_id.',
      })
    }
    return
  }
  const found = await projectById(tx, project)
  if (found.archived_at !== null) {
    throw conflict(`${formatId('project', project)} is archived.`, { next: 'Call unarchive_project first.' })
  }
}

/** A parent must be open, not too deep and not full, and adding to it is a change of its meaning. */
async function checkParent(tx: ReadTx, parent: Row<'tasks'>): Promise<void> {
  if (isClosed(parent.status)) {
    throw conflict(`${shownTask(tx, parent)} is ${parent.status}.`, {
      next: 'Call reopen_task on it first.',
    })
  }
  await guardMeaning(tx, parent)
  const children = await childrenOf(tx, parent.id)
  if (children.length >= LIMITS.children) {
    throw new AppError(
      'too_large',
      `${shownTask(tx, parent)} has ${LIMITS.children} subtasks, the most there can be.`,
    )
  }
  await checkDepth(tx, parent, 1)
}

async function checkDepth(tx: ReadTx, parent: Row<'tasks'>, below: number): Promise<void> {
  let depth = below
  for (
    let each: Row<'tasks'> | null = parent;
    each;
    each = each.parent === null ? null : await storedTask(tx, each.parent)
  )
    depth++
  if (depth > LIMITS.depth) {
    throw new AppError('too_large', `Subtasks can be ${LIMITS.depth} levels deep.`, {
      next: 'Use steps for the finest level.',
    })
  }
}

/** A move to another project or parent needs to see both ends and must not make a ring. */
async function checkMove(tx: ReadTx, task: Row<'tasks'>, columns: Partial<TaskFields>): Promise<void> {
  if (columns.project !== undefined) {
    await refuseLeaving(tx, task)
    await checkProject(tx, columns.project)
  }
  if (columns.parent === undefined) return
  if (task.parent !== null) {
    const id = formatId('task', task.id)
    refuseOutOfSight(tx, [await storedTask(tx, task.parent)], `${id} is part of a task`, 'move it')
  }
  if (columns.parent === null) return
  const parent = await taskById(tx, columns.parent)
  await refuseCycle(tx, parent.id, task.id, 'parent')
  await checkParent(tx, parent)
  await checkDepth(tx, parent, await heightOf(tx, task.id))
}

async function heightOf(tx: ReadTx, task: number): Promise<number> {
  const children = await childrenOf(tx, task)
  const below = await Promise.all(children.map((child) => heightOf(tx, child.id)))
  return 1 + Math.max(0, ...below)
}

/** `auto_ok` is true on a new row only where a person said so before (gate, last invariant). */
async function autoOkAtBirth(
  tx: ReadTx,
  project: number | null,
  successorOf?: Row<'tasks'>,
): Promise<number> {
  if (successorOf) return successorOf.auto_ok
  return project === null ? 0 : (await projectById(tx, project)).auto_ok_default
}

/** Gate G10, and its other half: a closed auto-OK task can't be given another meaning and then be reopened. */
async function autoOkFalls(tx: ReadTx, task: Row<'tasks'>, columns: Partial<TaskFields>): Promise<boolean> {
  const swapped = UNDER_PERMISSION.some((name) => name in columns)
  if (tx.actor.kind === 'person' || task.auto_ok === 0 || !swapped) return false
  if (isClosed(task.status)) {
    throw conflict(`${formatId('task', task.id)} is ${task.status}.`, {
      next: 'Call reopen_task first, then change it.',
    })
  }
  return true
}

async function labelsDiffer(tx: ReadTx, task: number, labels: readonly string[]): Promise<boolean> {
  const stored = (await labelsOf(tx, [task])).get(task) ?? []
  const wanted = new Set(labels.map(keyOf))
  return wanted.size !== stored.length || stored.some((label) => !wanted.has(keyOf(label)))
}

/** A column's value as history shows it. */
function shown(name: string, value: unknown): unknown {
  if (name === 'project') return formatIdOr('project', value as number | null) ?? null
  if (name === 'parent') return formatIdOr('task', value as number | null) ?? null
  return value ?? null
}
