import { type ReadTx, sqlOf } from './handle.ts'
import type { Row } from './tables.ts'

/** A task's evidence, oldest first; without the bytes of files. */
export function artifactsOf(tx: ReadTx, task: number): Promise<Row<'artifacts'>[]> {
  return sqlOf(tx)
    .selectFrom('artifacts')
    .selectAll()
    .where('account', '=', tx.account)
    .where('task', '=', task)
    .where('trash', 'is', null)
    .orderBy('id')
    .execute()
}
