import { createHash } from 'node:crypto'
import { countTry } from '../store/rate.ts'
import type { Store } from '../store/store.ts'
import { systemActor } from '../tools/access.ts'

/** Counts a try of one caller and gives the seconds to wait; 0 where it may go on. */
export type Limit = (caller: string) => Promise<number>

/**
 * Lets through so many tries of one caller in a time, whichever process they come to; more are refused until it has passed.
 * A caller is kept as a hash: who tried is nobody's business later.
 */
export function limitOf(store: Store, name: string, tries: number, ms: number): Limit {
  return async (caller) => {
    const key = createHash('sha256').update(`${name} ${caller}`).digest('base64url')
    const { count, until } = await store.write(systemActor(0), 'rate', (tx) => countTry(tx, key, ms))
    return count > tries ? Math.max(1, Math.ceil((until - store.now()) / 1000)) : 0
  }
}
