import type { ActorId } from '../model/actor.ts'
import { formatId } from '../model/id.ts'
import { emit, sqlOf, type WriteTx } from './handle.ts'
import { notify } from './notification.ts'
import type { Row } from './tables.ts'

/**
 * A person's wish that an agent stop: the answer of its next write carries `stop: true`, until it is let go on. Nothing
 * is cut off by it.
 */
export async function askToStop(tx: WriteTx, agent: Row<'agents'>): Promise<{ already: boolean }> {
  if (agent.stop_at !== null) return { already: true }
  await setStop(tx, agent, { stop_at: tx.now, stop_by: Number(tx.actor.id.slice(1)) })
  const id = formatId('agent', agent.id) as ActorId
  const event = await emit(tx, { kind: 'stop_asked', object: id, data: { name: agent.name } })
  await notify(tx, [id], 'stop_asked', event, null, id)
  return { already: false }
}

/** Takes the wish back. */
export async function letContinue(tx: WriteTx, agent: Row<'agents'>): Promise<{ already: boolean }> {
  if (agent.stop_at === null) return { already: true }
  await setStop(tx, agent, { stop_at: null, stop_by: null })
  const id = formatId('agent', agent.id) as ActorId
  const event = await emit(tx, {
    kind: 'agent_changed',
    object: id,
    data: { name: agent.name, change: 'continue' },
  })
  await notify(tx, [id], 'agent_changed', event, null, id)
  return { already: false }
}

async function setStop(
  tx: WriteTx,
  agent: Row<'agents'>,
  columns: Pick<Row<'agents'>, 'stop_at' | 'stop_by'>,
): Promise<void> {
  await sqlOf(tx)
    .updateTable('agents')
    .set(columns)
    .where('account', '=', tx.account)
    .where('id', '=', agent.id)
    .execute()
}
