import { sql } from 'kysely'
import { sqlOf, type WriteTx, writeQuery } from './handle.ts'

const addTry = writeQuery((db, p: { account: number; key: string; now: number; until: number }) =>
  db
    .insertInto('tries')
    .values({ account: p.account, key: p.key, count: 1, until: p.until })
    .onConflict((oc) =>
      oc.columns(['account', 'key']).doUpdateSet({
        count: sql`CASE WHEN tries.until <= ${p.now} THEN 1 ELSE tries.count + 1 END`,
        until: sql`CASE WHEN tries.until <= ${p.now} THEN ${p.until} ELSE tries.until END`,
      }),
    )
    .returning(['count', 'until']),
)

/** Counts a try of somebody within a stretch of `ms`: how many there were in it, and when it ends. */
export async function countTry(
  tx: WriteTx,
  key: string,
  ms: number,
): Promise<{ count: number; until: number }> {
  const { rows } = await addTry(tx, { account: tx.account, key, now: tx.now, until: tx.now + ms })
  return rows[0]!
}

/** Forgets up to `limit` stretches that are over, and says how many. */
export async function expireTries(tx: WriteTx, limit: number): Promise<number> {
  const { numAffectedRows } = await sql`DELETE FROM tries WHERE (account, key) IN
    (SELECT account, key FROM tries WHERE until <= ${tx.now} LIMIT ${limit})`.execute(sqlOf(tx))
  return Number(numAffectedRows)
}
