import { sql } from 'kysely'
import { AppError } from '../model/error.ts'
import { dialectOf, laterQuery, type ReadTx, readQuery, sqlOf, toolOf, type WriteTx } from './handle.ts'
import type { Row } from './tables.ts'

/** How long an idempotency key lives, in milliseconds. */
export const KEY_MS = 24 * 3_600_000

const replyByKey = readQuery((db, p: { account: number; actor: string; key: string; after: number }) =>
  db
    .selectFrom('replies')
    .selectAll()
    .where('account', '=', p.account)
    .where('actor', '=', p.actor)
    .where('key', '=', p.key)
    .where('at', '>', p.after),
)

/**
 * The stored answer of an earlier call with this key. Keys belong to the agent, so a rotated token keeps them. Throws
 * `conflict` where the key was used for something else.
 */
export async function storedReply(
  tx: ReadTx,
  key: string,
  argsHash: string,
): Promise<Record<string, unknown> | undefined> {
  const after = tx.now - KEY_MS
  const [reply] = await replyByKey(tx, { account: tx.account, actor: tx.actor.id, key, after })
  if (!reply) return undefined
  if (reply.tool !== toolOf(tx) || reply.args_hash !== argsHash) {
    throw new AppError(
      'conflict',
      `The idempotency key "${key}" was used for another call of ${reply.tool}.`,
      {
        written: false,
        next: 'Use a new key for a new call; the same key only repeats the same call.',
      },
    )
  }
  return JSON.parse(reply.answer) as Record<string, unknown>
}

const putReply = laterQuery((db, p: Row<'replies'>) => {
  const { account, actor, key, tool, args_hash, answer, at } = p
  const row = { account, actor, key, tool, args_hash, answer, at }
  return db
    .insertInto('replies')
    .values(row)
    .onConflict((oc) => oc.columns(['account', 'actor', 'key']).doUpdateSet(row))
})

/** Keeps an answer for repeats, in the transaction whose answer it is. Failures are not kept. */
export function storeReply(tx: WriteTx, key: string, argsHash: string, answer: object): void {
  putReply(tx, {
    account: tx.account,
    actor: tx.actor.id,
    key,
    tool: toolOf(tx),
    args_hash: argsHash,
    answer: JSON.stringify(answer),
    at: tx.now,
  })
}

/** Drops up to `limit` keys past their time, and says how many. */
export async function expireReplies(tx: WriteTx, limit: number): Promise<number> {
  const { numAffectedRows } = await sql`DELETE FROM replies WHERE (account, actor, key) IN
    (SELECT account, actor, key FROM replies WHERE at <= ${tx.now - KEY_MS} ORDER BY at LIMIT ${limit} ${dialectOf(tx).skipLocked})`.execute(
    sqlOf(tx),
  )
  return Number(numAffectedRows)
}
