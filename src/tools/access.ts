import type { Actor, SystemActor } from '../model/actor.ts'
import type { AppError } from '../model/error.ts'
import { type AccessCount, addAccess, addRefusal, BUCKET_MS } from '../store/access.ts'
import type { Store } from '../store/store.ts'

/** The guard's record of who called what (spec: product, "Agents at work"). */
export interface AccessLog {
  /** Counts a call. Kept in memory and written every few seconds, so that a read costs no commit. */
  count(actor: Actor, tool: string, refused: boolean): void
  /** Writes a refusal down at once, in a transaction of its own, after the refused call has rolled back. */
  refuse(actor: Actor, tool: string, error: AppError): Promise<void>
  /** Writes what was counted so far. */
  flush(): Promise<void>
}

export function accessLog(store: Store): AccessLog {
  let counts = new Map<string, AccessCount>()

  async function flush(): Promise<void> {
    const pending = [...counts.values()]
    counts = new Map()
    const accounts = new Set(pending.map((each) => each.account))
    for (const account of accounts) {
      const own = pending.filter((each) => each.account === account)
      await store.write(systemActor(account), 'access', (tx) => addAccess(tx, own))
    }
  }

  return {
    count(actor, tool, refused) {
      const bucket = Math.floor(store.now() / BUCKET_MS) * BUCKET_MS
      const key = `${actor.account}|${actor.credential}|${actor.id}|${tool}|${bucket}`
      const found = counts.get(key)
      if (found) {
        found.calls++
        found.refusals += refused ? 1 : 0
        return
      }
      counts.set(key, {
        account: actor.account,
        credential: actor.credential,
        actor: actor.id,
        tool,
        bucket,
        calls: 1,
        refusals: refused ? 1 : 0,
      })
    },
    refuse: (actor, tool, error) =>
      store.write(systemActor(actor.account), 'access', (tx) => addRefusal(tx, actor, tool, error)),
    flush,
  }
}

/** Done itself, for jobs and records; no credential leads to it. */
export function systemActor(account: number): SystemActor {
  return {
    kind: 'system',
    id: 'system',
    account,
    name: 'Done',
    owner: 'U0',
    zone: 'UTC',
    scopes: [],
    credential: 'system',
  }
}
