import { sql } from 'kysely'
import type { EventKind } from '../model/event.ts'
import { type ReadTx, sqlOf } from './handle.ts'
import { type Page, type PageInput, pageOf } from './page.ts'
import { eventsInSight } from './sight.ts'
import type { Row } from './tables.ts'

/** Which events a log shows; what is undefined does not narrow. Times are milliseconds since the epoch. */
interface ActivityFilter {
  task?: number | undefined
  project?: number | undefined
  actor?: string | undefined
  kinds?: readonly EventKind[] | undefined
  since?: number | undefined
  /** Exclusive. */
  until?: number | undefined
}

/**
 * The event log, newest first. A credential that is narrowed to projects reads the events of its projects, and of a task
 * only while it can see the task: an event of before a move tells nothing of after it.
 */
export async function activityPage(
  tx: ReadTx,
  filter: ActivityFilter,
  page: PageInput,
): Promise<Page<Row<'events'> & { title: string | null }>> {
  const { projects } = tx.actor
  let query = sqlOf(tx)
    .selectFrom('events as e')
    .leftJoin('tasks as t', (join) => join.onRef('t.account', '=', 'e.account').onRef('t.id', '=', 'e.task'))
    .selectAll('e')
    .select('t.title')
    .where('e.account', '=', tx.account)
  if (projects !== undefined) {
    query = query
      .where('e.project', 'in', [...projects])
      .where((eb) => eb.or([eb('e.task', 'is', null), eb('t.project', 'in', [...projects])]))
  }
  if (filter.task !== undefined) query = query.where('e.task', '=', filter.task)
  if (filter.project !== undefined) query = query.where('e.project', '=', filter.project)
  if (filter.actor !== undefined) query = query.where('e.actor', '=', filter.actor)
  if (filter.kinds !== undefined) query = query.where('e.kind', 'in', [...filter.kinds])
  if (filter.since !== undefined) {
    const first = await firstSince(tx, filter.since)
    query = query.where('e.id', '>=', first ?? Number.MAX_SAFE_INTEGER).where('e.at', '>=', filter.since)
  }
  if (filter.until !== undefined) {
    const first = await firstSince(tx, filter.until)
    if (first !== undefined) query = query.where('e.id', '<', first)
  }
  const found = await pageOf(tx, query, { by: [sql`e.id`], direction: 'desc' }, page)
  return { ...found, rows: await eventsInSight(tx, found.rows) }
}

/**
 * The first event at or after a moment. Numbers rise with time, so by it every index of events, each of which ends in the
 * number, is entered at the right place.
 */
async function firstSince(tx: ReadTx, at: number): Promise<number | undefined> {
  const found = await sqlOf(tx)
    .selectFrom('events')
    .select('id')
    .where('account', '=', tx.account)
    .where('at', '>=', at)
    .orderBy('at')
    .orderBy('id')
    .limit(1)
    .executeTakeFirst()
  return found?.id
}
