import { type SelectQueryBuilder, sql } from 'kysely'
import type { ActorId } from '../model/actor.ts'
import { type AppError, notFound } from '../model/error.ts'
import { formatId } from '../model/id.ts'
import { fold } from '../model/suggest.ts'
import { type DestroyTx, emit, nextNumber, type ReadTx, sqlOf } from './handle.ts'
import { notify } from './notification.ts'
import { type Page, type PageInput, pageOf } from './page.ts'
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
export function trashed(what: string, entry: number): AppError {
  return notFound(`${what} is in the Trash (${formatId('trash', entry)}).`, {
    next: `restore_from_trash with ${formatId('trash', entry)} brings it back as it was.`,
  })
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
  return found?.project != null && tx.actor.projects.includes(found.project)
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
          eb('trash.kind', 'in', ['label', 'view']),
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

/** How many tasks come back with an entry: those that went with it, or that carried a deleted label. */
export async function tasksInEntry(tx: ReadTx, entry: Row<'trash'>): Promise<number> {
  if (entry.kind === 'label') {
    const { n } = await sqlOf(tx)
      .selectFrom('task_labels')
      .select((eb) => eb.fn.countAll<number>().as('n'))
      .where('account', '=', tx.account)
      .where('label', '=', fold(entry.object))
      .where('trash', '=', entry.id)
      .executeTakeFirstOrThrow()
    return n
  }
  if (entry.kind !== 'task' && entry.kind !== 'project') return 0
  const { n } = await sqlOf(tx)
    .selectFrom('tasks')
    .select((eb) => eb.fn.countAll<number>().as('n'))
    .where('account', '=', tx.account)
    .where('trash', '=', entry.id)
    .executeTakeFirstOrThrow()
  return n
}
