import type { Actor } from '../model/actor.ts'
import { touchGrants } from '../store/grant.ts'
import { touchSessions } from '../store/session.ts'
import type { Store } from '../store/store.ts'
import { touchTokens } from '../store/token.ts'
import { systemActor } from '../tools/access.ts'

/** When tokens, grants and sessions were last used: kept in memory and written now and then, so that a read costs no commit. */
export interface CredentialUse {
  /** Notes that a credential was used just now. Anything else is passed over. */
  saw(actor: Actor): void
  /** Writes what was noted since the last time. Throws where that fails, and keeps it for the next time. */
  flush(): Promise<void>
}

export function credentialUse(store: Store): CredentialUse {
  const seen = new Map<number, Map<string, number>>()

  return {
    saw({ account, credential }) {
      if (!/^(token|grant|session):/.test(credential)) return
      const uses = seen.get(account) ?? new Map<string, number>()
      uses.set(credential, store.now())
      seen.set(account, uses)
    },
    async flush() {
      for (const [account, uses] of seen) {
        const rows = [...uses].map(([credential, at]) => {
          const [kind, id = ''] = credential.split(':')
          return { kind, id, at }
        })
        await store.write(systemActor(account), 'credential-use', async (tx) => {
          const of = (wanted: string) => rows.filter(({ kind }) => kind === wanted)
          await touchTokens(
            tx,
            of('token').map(({ id, at }) => ({ token: Number(id), at })),
          )
          await touchGrants(
            tx,
            of('grant').map(({ id, at }) => ({ grant: Number(id), at })),
          )
          await touchSessions(
            tx,
            of('session').map(({ id, at }) => ({ session: id, at })),
          )
        })
        // Only what was written is forgotten, and only where it was not used again meanwhile.
        for (const { kind, id, at } of rows)
          if (uses.get(`${kind}:${id}`) === at) uses.delete(`${kind}:${id}`)
        if (uses.size === 0) seen.delete(account)
      }
    },
  }
}
