import { sql } from 'kysely'
import type { ActorId } from '../model/actor.ts'
import { FREE } from './claim.ts'
import { dialectOf, emit, type ReadTx, sqlOf, type WriteTx } from './handle.ts'
import { notify } from './notification.ts'

/**
 * Accounts in which a lease has lapsed that nobody has written down yet. The one question asked across accounts, by the
 * sweep alone; it returns numbers of accounts and nothing of theirs.
 */
export async function accountsWithLapsedLeases(tx: ReadTx, limit: number): Promise<number[]> {
  if (dialectOf(tx).engine === 'postgres') {
    // Row-level security hides other accounts, so a function of the schema's looks for us.
    const { rows } = await sql<{
      account: number
    }>`SELECT account FROM done_lapsed(${tx.now}, ${limit}) AS account`.execute(sqlOf(tx))
    return rows.map((row) => row.account)
  }
  const rows = await sqlOf(tx)
    .selectFrom('tasks')
    .select('account')
    .distinct()
    .where('claim_until', '<=', tx.now)
    .where('status', '=', 'in_progress')
    .where('trash', 'is', null)
    .limit(limit)
    .execute()
  return rows.map((row) => row.account)
}

/**
 * Writes down what readers see already: a claim past its lease is gone and its task is open again. The run behind it
 * stays open, so that its agent can resume it or report its end. Only tasks in progress are touched, so never one that
 * awaits a person's decision; and only while the claim is the one that was found, so never one that was extended
 * meanwhile. Returns how many there were, `limit` at most.
 */
export async function sweepLeases(tx: WriteTx, limit: number): Promise<number> {
  const lapsed = await sqlOf(tx)
    .selectFrom('tasks')
    .select(['id', 'project', 'claimed_by', 'claim_until'])
    .where('account', '=', tx.account)
    .where('claim_until', '<=', tx.now)
    .where('status', '=', 'in_progress')
    .where('trash', 'is', null)
    .orderBy('claim_until')
    .limit(limit)
    .execute()
  for (const task of lapsed) {
    const holder = task.claimed_by as ActorId
    const { numUpdatedRows } = await sqlOf(tx)
      .updateTable('tasks')
      .set({ ...FREE, status: 'open' })
      .where('account', '=', tx.account)
      .where('id', '=', task.id)
      .where('status', '=', 'in_progress')
      .where('claimed_by', '=', holder)
      .where('claim_until', '=', task.claim_until)
      .executeTakeFirstOrThrow()
    if (numUpdatedRows === 0n) continue
    const event = await emit(tx, {
      kind: 'lease_lapsed',
      task: task.id,
      project: task.project,
      data: { holder, until: task.claim_until },
    })
    await notify(tx, [holder], 'lease_lapsed', event, task.id)
  }
  return lapsed.length
}
