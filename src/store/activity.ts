import { sql } from 'kysely'
import type { EventKind } from '../model/event.ts'
import { type ReadTx, sqlOf } from './handle.ts'
import { type Page, type PageInput, pageOf } from './page.ts'
import type { Row } from './tables.ts'

/** Which events a log shows; what is undefined does not narrow. Times are milliseconds since the epoch. */
export interface ActivityFilter {
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
export function activityPage(
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
  if (filter.since !== undefined) query = query.where('e.at', '>=', filter.since)
  if (filter.until !== undefined) query = query.where('e.at', '<', filter.until)
  return pageOf(tx, query, { by: [sql`e.id`], direction: 'desc' }, page)
}
