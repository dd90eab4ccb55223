import type { StoredEvent } from '../model/event.ts'
import { type ReadTx, sqlOf } from './handle.ts'
import { eventsInSight } from './sight.ts'

/** What is told of an event; what it changed is read with the reader's own rights. */
export const EVENT_COLUMNS = [
  'account',
  'id',
  'at',
  'actor',
  'tool',
  'kind',
  'task',
  'project',
  'object',
] as const

/**
 * Events behind a number, in the order of their commits. A credential that is narrowed to projects gets those of its
 * projects, and of a task only while it can see the task: an event of before a move tells nothing of after it.
 */
export async function eventsAfter(tx: ReadTx, after: number, limit: number): Promise<StoredEvent[]> {
  const { projects } = tx.actor
  const rows = await sqlOf(tx)
    .selectFrom('events as e')
    .select(EVENT_COLUMNS.map((column) => `e.${column}` as const))
    .where('e.account', '=', tx.account)
    .where('e.id', '>', after)
    .$if(projects !== undefined, (query) =>
      query
        .leftJoin('tasks as t', (join) =>
          join.onRef('t.account', '=', 'e.account').onRef('t.id', '=', 'e.task'),
        )
        .where('e.project', 'in', [...projects!])
        .where((eb) => eb.or([eb('e.task', 'is', null), eb('t.project', 'in', [...projects!])])),
    )
    .orderBy('e.id')
    .limit(limit)
    .execute()
  return eventsInSight(tx, rows as StoredEvent[])
}

/** The number of the newest event, 0 where there is none yet: where a stream begins that asks for nothing past. */
export async function latestEvent(tx: ReadTx): Promise<number> {
  const newest = await sqlOf(tx)
    .selectFrom('events')
    .select('id')
    .where('account', '=', tx.account)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
  return newest?.id ?? 0
}
