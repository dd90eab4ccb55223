import type { PersonActor } from '../model/actor.ts'
import { requireFreshSession } from '../store/approval.ts'
import type { WriteTx } from '../store/handle.ts'
import { requireLiveSession } from '../store/session.ts'
import type { Store } from '../store/store.ts'

/** Changes by what a person signs in: in a session that still holds, with a sign-in within the last 15 minutes (gate G2). */
export function writeFresh<T>(
  store: Store,
  actor: PersonActor,
  operation: string,
  run: (tx: WriteTx) => Promise<T>,
): Promise<T> {
  return store.write(actor, operation, async (tx) => {
    requireFreshSession(tx)
    await requireLiveSession(tx)
    return run(tx)
  })
}
