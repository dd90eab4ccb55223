import type { AgentActor, PersonActor } from '../model/actor.ts'
import type { Store } from '../store/store.ts'
import type { GrantActor } from './actor.ts'

/** Whom a credential that is good stands for, and until when, in milliseconds since the epoch. */
interface Known<A> {
  readonly actor: A
  readonly expires: number | null
}

/**
 * The actor behind the hash of a secret, from memory or else by a look into the store. Undefined where the look finds
 * none, or where it has expired by now.
 */
type Remember<A> = (hash: string, look: () => Promise<Known<A> | undefined>) => Promise<A | undefined>

/** What a process remembers of one store's credentials; the kinds apart, so that no hash of one is found as the other. */
export interface Remembered {
  tokens: Remember<AgentActor>
  accessTokens: Remember<GrantActor>
  sessions: Remember<PersonActor>
}

const stores = new WeakMap<Store, Remembered>()

/** The memory that belongs to a store. */
export function remembered(store: Store): Remembered {
  let found = stores.get(store)
  if (!found) {
    found = { tokens: memoryOf(store), accessTokens: memoryOf(store), sessions: memoryOf(store) }
    stores.set(store, found)
  }
  return found
}

/** Most credentials that are remembered of each kind; for one more, the one that has been known longest is forgotten. */
const MOST = 10_000

/**
 * What was looked up holds only while the store's stamp stands, so what is revoked, by whatever process, is refused at the
 * next request. An expiry changes no row: it is compared with the clock at every use. Secrets are kept nowhere, and of
 * what is not good nothing is kept: guesses would fill the memory.
 */
function memoryOf<A>(store: Store): Remember<A> {
  const known = new Map<string, Known<A>>()
  let knownUnder: number | undefined

  function keep(hash: string, found: Known<A>): void {
    for (const oldest of known.keys()) {
      if (known.size < MOST) break
      known.delete(oldest)
    }
    known.set(hash, found)
  }

  function ifCurrent(found: Known<A> | undefined): A | undefined {
    return found && (found.expires === null || found.expires > store.now()) ? found.actor : undefined
  }

  return async (hash, look) => {
    // Asked before the look: a change that falls between the two then makes what is kept too old, never too new.
    const stamp = store.credentialStamp()
    if (stamp === undefined) return ifCurrent(await look())
    if (stamp !== knownUnder) {
      known.clear()
      knownUnder = stamp
    }
    const current = ifCurrent(known.get(hash))
    // What is over by what is remembered may have been used since, and last longer.
    if (current) return current
    const found = await look()
    if (found && stamp === knownUnder) keep(hash, found)
    return ifCurrent(found)
  }
}
