import { sql } from 'kysely'
import { dialectOf, sqlOf, type WriteTx } from './handle.ts'

/**
 * Names the batch of a lane that a transaction is, and goes along with all that it writes, so that it stands there exactly
 * where that does. Parameters: account, lane, number of the batch.
 */
export const NAME_BATCH = `INSERT INTO commits (account, lane, batch, at) VALUES ($1, $2, $3, floor(extract(epoch FROM now()) * 1000))
  ON CONFLICT (account, lane) DO UPDATE SET batch = excluded.batch, at = excluded.at`

/** Forgets up to `limit` lanes that have written nothing for a day, as those of processes that are gone, and says how many. */
export async function expireLanes(tx: WriteTx, limit: number): Promise<number> {
  const { numAffectedRows } = await sql`DELETE FROM commits WHERE (account, lane) IN
    (SELECT account, lane FROM commits WHERE at < ${tx.now - 86_400_000} LIMIT ${limit} ${dialectOf(tx).skipLocked})`.execute(
    sqlOf(tx),
  )
  return Number(numAffectedRows)
}
