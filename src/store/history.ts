import { sql } from 'kysely'
import { type ReadTx, sqlOf } from './handle.ts'
import { type Page, type PageInput, pageOf } from './page.ts'
import { eventsInSight } from './sight.ts'
import type { Row } from './tables.ts'

/** What happened on a task, newest first, with the fields that changed. */
export async function taskHistory(tx: ReadTx, task: number, page: PageInput): Promise<Page<Row<'events'>>> {
  const query = sqlOf(tx)
    .selectFrom('events')
    .selectAll()
    .where('account', '=', tx.account)
    .where('task', '=', task)
  const found = await pageOf(tx, query, { by: [sql`events.id`], direction: 'desc' }, page)
  return { ...found, rows: await eventsInSight(tx, found.rows) }
}
