import type { PersonActor } from '../model/actor.ts'
import { AppError } from '../model/error.ts'
import { requireFreshSession } from '../store/approval.ts'
import type { WriteTx } from '../store/handle.ts'
import { requireLiveSession } from '../store/session.ts'
import type { Store } from '../store/store.ts'
import type { AccessLog } from '../tools/access.ts'

/**
 * Changes by what a person signs in, or what acts for them: in a session that still holds, with a sign-in within the last 15
 * minutes (gate G2). No call comes of it, so what is refused is put into the access record here.
 */
export async function writeFresh<T>(
  { store, access }: { store: Store; access: AccessLog },
  actor: PersonActor,
  operation: string,
  run: (tx: WriteTx) => Promise<T>,
): Promise<T> {
  try {
    return await store.write(actor, operation, async (tx) => {
      requireFreshSession(tx)
      await requireLiveSession(tx)
      return run(tx)
    })
  } catch (error) {
    if (error instanceof AppError) {
      access.count(actor, operation, true)
      await access.refuse(actor, operation, error)
    }
    throw error
  }
}
