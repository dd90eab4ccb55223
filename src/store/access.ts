import type { Actor } from '../model/actor.ts'
import type { AppError } from '../model/error.ts'
import { type ReadTx, sqlOf, type WriteTx } from './handle.ts'
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

/** Writes down one refused call. */
export async function addRefusal(tx: WriteTx, actor: Actor, tool: string, error: AppError): Promise<void> {
  await sqlOf(tx)
    .insertInto('refusals')
    .values({
      account: actor.account,
      credential: actor.credential,
      actor: actor.id,
      tool: tool.slice(0, 80),
      code: error.code,
      message: error.message.slice(0, 500),
      gate: isOfGate(error) ? 1 : 0,
      at: tx.now,
    })
    .execute()
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

/** Drops counts and refusals that are past their time: 90 days for refusals at the gate, one day for the rest. */
export async function expireAccess(tx: WriteTx): Promise<void> {
  const day = 86_400_000
  const db = sqlOf(tx)
  await db
    .deleteFrom('access')
    .where('bucket', '<', tx.now - day)
    .execute()
  await db
    .deleteFrom('refusals')
    .where('gate', '=', 0)
    .where('at', '<', tx.now - day)
    .execute()
  await db
    .deleteFrom('refusals')
    .where('at', '<', tx.now - 90 * day)
    .execute()
}

function isOfGate(error: AppError): boolean {
  return error.details.gate === true || ['scope', 'people_only', 'needs_approval'].includes(error.code)
}
