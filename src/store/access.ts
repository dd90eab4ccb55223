import { sql } from 'kysely'
import { dialectOf, type ReadTx, sqlOf, type WriteTx } from './handle.ts'
import type { Row } from './tables.ts'

/** The length of a counted interval of the access record, in milliseconds. */
export const BUCKET_MS = 20_000

/** Calls of one credential and tool in one interval. */
export type AccessCount = Row<'access'>

/** Adds counts to the access record. It stands apart from the account's content, and no answer about content reads it. */
export async function addAccess(tx: WriteTx, counts: readonly AccessCount[]): Promise<void> {
  for (const count of counts) {
    await sqlOf(tx)
      .insertInto('access')
      .values(count)
      .onConflict((oc) =>
        oc.columns(['account', 'actor', 'bucket', 'tool', 'credential']).doUpdateSet((eb) => ({
          calls: eb('access.calls', '+', count.calls),
          refusals: eb('access.refusals', '+', count.refusals),
        })),
      )
      .execute()
  }
}

/** One refused call. */
export type Refusal = Omit<Row<'refusals'>, 'seq'>

/** Writes refused calls down. */
export async function addRefusals(tx: WriteTx, refusals: readonly Refusal[]): Promise<void> {
  for (const refusal of refusals) await sqlOf(tx).insertInto('refusals').values(refusal).execute()
}

/** Refusals since a moment, newest first. */
export function refusalsSince(tx: ReadTx, since: number): Promise<Row<'refusals'>[]> {
  return sqlOf(tx)
    .selectFrom('refusals')
    .selectAll()
    .where('account', '=', tx.account)
    .where('at', '>=', since)
    .orderBy('at', 'desc')
    .limit(1000)
    .execute()
}

/**
 * Drops up to `limit` counts, and as many refusals, that are past their time: 90 days for refusals at the gate, one day for
 * the rest. Returns the greater of the two numbers.
 */
export async function expireAccess(tx: WriteTx, limit: number): Promise<number> {
  const day = 86_400_000
  const { skipLocked } = dialectOf(tx)
  const counts = await sql`DELETE FROM access WHERE (account, actor, bucket, tool, credential) IN
    (SELECT account, actor, bucket, tool, credential FROM access WHERE bucket < ${tx.now - day} LIMIT ${limit} ${skipLocked})`.execute(
    sqlOf(tx),
  )
  const refusals = await sql`DELETE FROM refusals WHERE seq IN (SELECT seq FROM refusals
    WHERE (gate = 0 AND at < ${tx.now - day}) OR (gate = 1 AND at < ${tx.now - 90 * day}) LIMIT ${limit} ${skipLocked})`.execute(
    sqlOf(tx),
  )
  return Math.max(Number(counts.numAffectedRows), Number(refusals.numAffectedRows))
}

/** Calls and refusals of these actors since a moment, by tool. */
export function callsSince(
  tx: ReadTx,
  actors: readonly string[],
  since: number,
): Promise<{ actor: string; tool: string; calls: number; refusals: number }[]> {
  return sqlOf(tx)
    .selectFrom('access')
    .select(['actor', 'tool'])
    .select(({ fn }) => [fn.sum<number>('calls').as('calls'), fn.sum<number>('refusals').as('refusals')])
    .where('account', '=', tx.account)
    .where('actor', 'in', [...actors])
    .where('bucket', '>=', since)
    .groupBy(['actor', 'tool'])
    .execute()
}

/** When each of these actors was last seen: their newest counted call or, for agents, the last use of a token. */
export async function lastSeen(tx: ReadTx, actors: readonly string[]): Promise<Map<string, number>> {
  const seen = new Map<string, number>()
  for (const actor of actors) {
    const call = await sqlOf(tx)
      .selectFrom('access')
      .select('bucket as at')
      .where('account', '=', tx.account)
      .where('actor', '=', actor)
      .orderBy('bucket', 'desc')
      .limit(1)
      .executeTakeFirst()
    const use = await sqlOf(tx)
      .selectFrom('token_use as u')
      .innerJoin('tokens as t', (join) =>
        join.onRef('t.account', '=', 'u.account').onRef('t.id', '=', 'u.token'),
      )
      .select('u.last_used_at as at')
      .where('t.account', '=', tx.account)
      .where('t.agent', '=', actor.startsWith('G') ? Number(actor.slice(1)) : 0)
      .orderBy('u.last_used_at', 'desc')
      .limit(1)
      .executeTakeFirst()
    const at = Math.max(call?.at ?? 0, use?.at ?? 0)
    if (at > 0) seen.set(actor, at)
  }
  return seen
}
