import type { PersonActor } from '../model/actor.ts'
import { AppError } from '../model/error.ts'
import { requireFreshSession } from '../store/approval.ts'
import type { WriteTx } from '../store/handle.ts'
import { passkeysOf } from '../store/passkey.ts'
import { authenticatorOf } from '../store/second-factor.ts'
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

/**
 * Refuses a session that a password alone has begun, of somebody who has a passkey: who has taken the password could else take
 * the passkey away, or add one of their own, and sign off (gate, way 24). A code beside the password, a passkey or a link
 * from the console is enough.
 */
export async function refusePasswordAlone(tx: WriteTx, { id, session }: PersonActor): Promise<void> {
  const person = Number(id.slice(1))
  if (session.began !== 'password' || (await authenticatorOf(tx, person, 'in use'))) return
  if ((await passkeysOf(tx, person)).length === 0) return
  throw new AppError('people_only', 'You have a passkey, and signed in by a password alone.', {
    gate: true,
    retry: false,
    next: 'Sign in by the passkey, or by a link from the console, and repeat it.',
  })
}
