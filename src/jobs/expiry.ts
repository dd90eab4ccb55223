import { expireAccess } from '../store/access.ts'
import { expireLanes } from '../store/lane.ts'
import { expireArtifacts } from '../store/oauth-artifact.ts'
import { expireTries } from '../store/rate.ts'
import { expireReplies } from '../store/reply.ts'
import type { Store } from '../store/store.ts'
import { systemActor } from '../tools/access.ts'

/** Rows dropped in one transaction; more would keep other writers waiting. */
const BATCH = 1000

/**
 * Drops stored answers past their key's time, the access record past its own, what is over of OAuth's, and what processes
 * that are gone have left. Nothing else is ever dropped: the account's content, read notifications included, stays until a person purges it.
 */
export async function expire(store: Store): Promise<void> {
  for (const drop of [expireReplies, expireAccess, expireTries, expireLanes, expireArtifacts]) {
    let dropped: number
    do {
      dropped = await store.write(systemActor(0), 'expiry', (tx) => drop(tx, BATCH))
    } while (dropped >= BATCH)
  }
}
