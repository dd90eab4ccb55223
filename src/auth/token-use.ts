import type { Actor } from '../model/actor.ts'
import type { Store } from '../store/store.ts'
import { touchTokens } from '../store/token.ts'
import { systemActor } from '../tools/access.ts'

/** When tokens were last used: kept in memory and written now and then, so that a read costs no commit. */
export interface TokenUse {
  /** Notes that a credential was used just now. Anything but a token is passed over. */
  saw(actor: Actor): void
  /** Writes what was noted since the last time. Throws where that fails, and keeps it for the next time. */
  flush(): Promise<void>
}

export function tokenUse(store: Store): TokenUse {
  const seen = new Map<number, Map<number, number>>()

  return {
    saw(actor) {
      const token = /^token:(\d+)$/.exec(actor.credential)?.[1]
      if (token === undefined) return
      const uses = seen.get(actor.account) ?? new Map<number, number>()
      uses.set(Number(token), store.now())
      seen.set(actor.account, uses)
    },
    async flush() {
      for (const [account, uses] of seen) {
        const rows = [...uses].map(([token, at]) => ({ token, at }))
        await store.write(systemActor(account), 'token-use', (tx) => touchTokens(tx, rows))
        // Only what was written is forgotten, and only where the token was not used again meanwhile.
        for (const { token, at } of rows) if (uses.get(token) === at) uses.delete(token)
        if (uses.size === 0) seen.delete(account)
      }
    },
  }
}
