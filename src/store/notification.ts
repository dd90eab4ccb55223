import type { ActorId } from '../model/actor.ts'
import { nextNumber, sqlOf, type WriteTx } from './handle.ts'

/**
 * Leaves news for people and agents, once each. Never for the author: nobody is set off by what they did themselves
 * (spec: product, "Agents at work").
 */
export async function notify(
  tx: WriteTx,
  recipients: readonly (ActorId | null | undefined)[],
  kind: string,
  event: number,
  task: number | null,
  object?: string,
): Promise<void> {
  const others = new Set(recipients.filter((each): each is ActorId => each != null && each !== tx.actor.id))
  for (const recipient of others) {
    await sqlOf(tx)
      .insertInto('notifications')
      .values({
        account: tx.account,
        id: await nextNumber(tx, 'notification'),
        recipient,
        kind,
        event,
        task,
        object: object ?? null,
        at: tx.now,
        read_at: null,
      })
      .execute()
  }
}
