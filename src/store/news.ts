import type { ActorId } from '../model/actor.ts'
import { inNumbers, type ReadTx, sqlOf } from './handle.ts'
import { newsOf } from './notification.ts'

/**
 * What rides on the answer of every write of an agent: how much it has not read yet (100 at most), and whether a person asks it to
 * stop.
 */
export async function newsFor(tx: ReadTx): Promise<{ unread?: number; stop?: true }> {
  if (tx.actor.kind !== 'agent') return {}
  const unread = (await newsOf(tx, true).clearSelect().select('n.id').limit(100).execute()).length
  const agent = await sqlOf(tx)
    .selectFrom('agents')
    .select('stop_at')
    .where('account', '=', tx.account)
    .where('id', '=', Number(tx.actor.id.slice(1)))
    .executeTakeFirst()
  return { ...(unread > 0 ? { unread } : {}), ...(agent?.stop_at != null ? { stop: true } : {}) }
}

/** The kind of the caller's newest unread news on each of these tasks. */
export async function newsOn(tx: ReadTx, tasks: readonly number[]): Promise<Map<number, string>> {
  const rows = await sqlOf(tx)
    .selectFrom('notifications')
    .select(['task', 'kind'])
    .where('account', '=', tx.account)
    .where('recipient', '=', tx.actor.id as ActorId)
    .where('read_at', 'is', null)
    .where('task', 'in', inNumbers(tx, tasks))
    .orderBy('id')
    .execute()
  return new Map(rows.map((row) => [row.task!, row.kind]))
}
