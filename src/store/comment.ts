import { type ReadTx, sqlOf } from './handle.ts'
import type { Row } from './tables.ts'

/** The newest comments of a task, newest first. */
export function newestComments(tx: ReadTx, task: number, limit: number): Promise<Row<'comments'>[]> {
  return sqlOf(tx)
    .selectFrom('comments')
    .selectAll()
    .where('account', '=', tx.account)
    .where('task', '=', task)
    .where('trash', 'is', null)
    .orderBy('id', 'desc')
    .limit(limit)
    .execute()
}
