import { type ReadTx, sqlOf } from './handle.ts'
import type { Row } from './tables.ts'

/** A task's questions that nobody has answered yet. */
export function openQuestionsOf(tx: ReadTx, task: number): Promise<Row<'questions'>[]> {
  return sqlOf(tx)
    .selectFrom('questions')
    .selectAll()
    .where('account', '=', tx.account)
    .where('task', '=', task)
    .where('answered_at', 'is', null)
    .orderBy('id')
    .execute()
}
