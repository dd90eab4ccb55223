import type { ActorId } from '../model/actor.ts'
import { type ReadTx, readQuery } from './handle.ts'
import { newsOf } from './notification.ts'

/** How far unread news is counted. */
const MOST_COUNTED = 100

const unreadAndStop = readQuery((db, p: { account: number; agent: number; recipient: ActorId }) =>
  db
    .selectFrom('agents')
    .select((eb) => [
      'stop_at',
      eb
        .selectFrom(
          eb
            .selectFrom('notifications')
            .select('id')
            .where('account', '=', p.account)
            .where('recipient', '=', p.recipient)
            .where('read_at', 'is', null)
            .limit(MOST_COUNTED)
            .as('n'),
        )
        .select(({ fn }) => fn.countAll<number>().as('count'))
        .as('unread'),
    ])
    .where('account', '=', p.account)
    .where('id', '=', p.agent),
)

/**
 * What rides on the answer of every write of an agent: how much it has not read yet (100 at most), and whether a person asks it to
 * stop.
 */
export async function newsFor(tx: ReadTx): Promise<{ unread?: number; stop?: true }> {
  if (tx.actor.kind !== 'agent') return {}
  const [agent] = await unreadAndStop(tx, {
    account: tx.account,
    agent: Number(tx.actor.id.slice(1)),
    recipient: tx.actor.id,
  })
  const unread = tx.actor.projects === undefined ? (agent?.unread ?? 0) : await unreadInSight(tx)
  return { ...(unread > 0 ? { unread } : {}), ...(agent?.stop_at != null ? { stop: true } : {}) }
}

/** How many of its news a credential that is narrowed to projects has not read, of those that it is told of. */
async function unreadInSight(tx: ReadTx): Promise<number> {
  return (await newsOf(tx, true).clearSelect().select('n.id').limit(MOST_COUNTED).execute()).length
}

const unreadOnTasks = readQuery((db, p: { account: number; recipient: ActorId; tasks: string }, dialect) =>
  db
    .selectFrom('notifications')
    .select(['task', 'kind'])
    .where('account', '=', p.account)
    .where('recipient', '=', p.recipient)
    .where('read_at', 'is', null)
    .where('task', 'in', dialect.numbers(p.tasks))
    .orderBy('id'),
)

/** The kind of the caller's newest unread news on each of these tasks. */
export async function newsOn(tx: ReadTx, tasks: readonly number[]): Promise<Map<number, string>> {
  const recipient = tx.actor.id as ActorId
  const rows = await unreadOnTasks(tx, { account: tx.account, recipient, tasks: JSON.stringify(tasks) })
  return new Map(rows.map((row) => [row.task!, row.kind]))
}
