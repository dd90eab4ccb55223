import { type SelectQueryBuilder, sql } from 'kysely'
import type { ActorId } from '../model/actor.ts'
import { type AppError, notFound } from '../model/error.ts'
import { formatId } from '../model/id.ts'
import { fold } from '../model/suggest.ts'
import { type DestroyTx, emit, nextNumber, type ReadTx, sqlOf } from './handle.ts'
import { notify } from './notification.ts'
import { type Page, type PageInput, pageOf } from './page.ts'
import { refuseOutOfSight, sees } from './sight.ts'
import type { Database, Row, TrashKind } from './tables.ts'

/** What can lie in the Trash. */
export const TRASH_KINDS = [
  'task',
  'project',
  'step',
  'comment',
  'artifact',
  'label',
  'view',
] as const satisfies readonly TrashKind[]

/** The refusal to work on something that lies in the Trash. */
export function trashed(what: string, entry: number | string | undefined): AppError {
  if (entry === undefined) {
    return notFound(`${what} is in the Trash.`, {
      next: 'A person can bring it back, with what it went with.',
    })
  }
  const id = typeof entry === 'string' ? entry : formatId('trash', entry)
  return notFound(`${what} is in the Trash (${id}).`, {
    next: `restore_from_trash with ${id} brings it back as it was.`,
  })
}

/** The id of an entry of the Trash, where the caller can see it: a task can have gone there with one that it can't see. */
export async function shownEntry(tx: ReadTx, id: number): Promise<string | undefined> {
  if (tx.actor.projects === undefined) return formatId('trash', id)
  const entry = await visibleTrash(tx).select('trash.id').where('trash.id', '=', id).executeTakeFirst()
  return entry && formatId('trash', id)
}

/** An entry of the Trash that the caller can see; undefined where it never was or was purged. */
export function trashEntry(tx: ReadTx, id: number): Promise<Row<'trash'> | undefined> {
  return visibleTrash(tx).selectAll('trash').where('trash.id', '=', id).executeTakeFirst()
}

/** Of whose deletion a person hears at once. */
const WHOLE_THINGS: ReadonlySet<TrashKind> = new Set(['task', 'project', 'artifact', 'label'])

/** Opens an entry of the Trash; the caller then marks the rows that go with it. */
export async function newTrashEntry(
  tx: DestroyTx,
  entry: {
    kind: TrashKind
    object: string
    title: string
    task?: number | null
    project?: number | null
    /** Who else should hear of it, such as an assignee. */
    concerns?: readonly (ActorId | null)[]
  },
): Promise<number> {
  const id = await nextNumber(tx, 'trash')
  await sqlOf(tx)
    .insertInto('trash')
    .values({
      account: tx.account,
      id,
      kind: entry.kind,
      object: entry.object,
      title: entry.title.slice(0, 200),
      task: entry.task ?? null,
      project: entry.project ?? null,
      by: tx.actor.id as ActorId,
      at: tx.now,
      restored_at: null,
    })
    .execute()
  const event = await emit(tx, {
    kind: 'trashed',
    task: entry.task ?? null,
    project: entry.project ?? null,
    object: entry.object,
    data: { trash: formatId('trash', id), title: entry.title.slice(0, 200) },
  })
  // What an agent deletes is put before its person, with whom else it concerns; parts of a task are in its history.
  const person = tx.actor.kind === 'agent' && WHOLE_THINGS.has(entry.kind) ? tx.actor.owner : null
  await notify(
    tx,
    [person, ...(entry.concerns ?? [])],
    'trashed',
    event,
    entry.task ?? null,
    formatId('trash', id),
  )
  return id
}

/** Whether the caller could see a task, be it in the Trash or not: what its parts ask before they say anything of themselves. */
export async function seesTask(tx: ReadTx, task: number): Promise<boolean> {
  if (tx.actor.projects === undefined) return true
  const found = await sqlOf(tx)
    .selectFrom('tasks')
    .select('project')
    .where('account', '=', tx.account)
    .where('id', '=', task)
    .executeTakeFirst()
  return found !== undefined && sees(tx, found.project)
}

/** Entries of the Trash that the caller can see: of the account, and of the credential's projects where it is narrowed. */
export function visibleTrash(tx: ReadTx): SelectQueryBuilder<Database, 'trash', Record<never, never>> {
  const { projects } = tx.actor
  return sqlOf(tx)
    .selectFrom('trash')
    .where('trash.account', '=', tx.account)
    .$if(projects !== undefined, (query) =>
      query.where((eb) =>
        eb.or([
          // A view that narrows to a project is that project's.
          eb.and([eb('trash.kind', 'in', ['label', 'view']), eb('trash.project', 'is', null)]),
          eb.and([eb('trash.task', 'is', null), eb('trash.project', 'in', [...projects!])]),
          // Where the task is now, should it have moved after a part of it was deleted.
          eb(
            'trash.task',
            'in',
            sqlOf(tx)
              .selectFrom('tasks as t')
              .select('t.id')
              .where('t.account', '=', tx.account)
              .where('t.project', 'in', [...projects!]),
          ),
        ]),
      ),
    )
}

/** Which entries a list of the Trash shows; what is undefined does not narrow. */
export interface TrashFilter {
  kinds?: readonly TrashKind[] | undefined
  by?: ActorId | undefined
  since?: number | undefined
  until?: number | undefined
}

/** A page of what is in the Trash, newest first. */
export function listTrash(tx: ReadTx, filter: TrashFilter, page: PageInput): Promise<Page<Row<'trash'>>> {
  let query = visibleTrash(tx).selectAll('trash').where('trash.restored_at', 'is', null)
  if (filter.kinds) query = query.where('trash.kind', 'in', [...filter.kinds])
  if (filter.by) query = query.where('trash.by', '=', filter.by)
  if (filter.since !== undefined) query = query.where('trash.at', '>=', filter.since)
  if (filter.until !== undefined) query = query.where('trash.at', '<=', filter.until)
  return pageOf(tx, query, { by: [sql`trash.id`], direction: 'desc' }, page)
}

/** How many tasks that the caller sees come back with an entry: those that went with it, or that carried a deleted label. */
export async function tasksInEntry(tx: ReadTx, entry: Row<'trash'>): Promise<number> {
  const counts = await projectsInEntry(tx, entry)
  return counts.filter(({ project }) => sees(tx, project)).reduce((sum, { n }) => sum + n, 0)
}

/** Refuses to bring back what would show something again that the caller can't see. */
export async function refuseUnseenEntry(tx: ReadTx, entry: Row<'trash'>): Promise<void> {
  const what = entry.kind === 'label' ? 'was on tasks' : 'took tasks along'
  const touched = await projectsInEntry(tx, entry)
  refuseOutOfSight(tx, touched, `${formatId('trash', entry.id)} ${what}`, 'restore it')
}

/** In which projects the tasks of an entry are, with how many in each. */
async function projectsInEntry(
  tx: ReadTx,
  entry: Row<'trash'>,
): Promise<{ project: number | null; n: number }[]> {
  const tasks = sqlOf(tx)
    .selectFrom('tasks')
    .select(['project', ({ fn }) => fn.countAll<number>().as('n')])
    .where('account', '=', tx.account)
    .groupBy('project')
  if (entry.kind === 'task' || entry.kind === 'project') return tasks.where('trash', '=', entry.id).execute()
  if (entry.kind !== 'label') return []
  const carrying = sqlOf(tx)
    .selectFrom('task_labels')
    .select('task')
    .where('account', '=', tx.account)
    .where('label', '=', fold(entry.object))
    .where('trash', '=', entry.id)
  return tasks.where('id', 'in', carrying).execute()
}
