import { accountsToSeal, checkHead, newestSeal, nextSeal, putSeal } from '../store/chain.ts'
import type { Store } from '../store/store.ts'
import { accountNumbers } from '../store/verify.ts'
import { systemActor } from '../tools/access.ts'
import type { Heads } from './heads.ts'

/** Accounts looked after in one round, and parts of one log: what is left has its turn in the next. */
const [ACCOUNTS, PARTS] = [100, 1000]

/**
 * Seals what was added to each account's log since the last seal: read and reckoned on a reading connection, then one small
 * row. Several processes may do so at once, of which one wins. Throws where an account's log no longer holds what was sealed,
 * after it has looked after the others: to go on there would hide it. Returns how many events were sealed.
 */
export async function seal(store: Store, heads: Heads): Promise<number> {
  const accounts = await store.read(systemActor(0), 'seal', (tx) => accountsToSeal(tx, ACCOUNTS))
  let sealed = 0
  const faults: string[] = []
  for (const account of accounts) {
    const actor = systemActor(account)
    const fault = await store.read(actor, 'seal', (tx) => checkHead(tx, heads.known(account)))
    if (fault !== undefined) {
      faults.push(`in account ${account} ${fault}`)
      continue
    }
    for (let part = 0; part < PARTS; part++) {
      const next = await store.read(actor, 'seal', nextSeal)
      if (!next) break
      if (!(await store.write(actor, 'seal', (tx) => putSeal(tx, next)))) continue
      heads.note(account, next)
      sealed += next.last - next.first + 1
    }
  }
  if (faults.length > 0) throw new Error(`The log is not sealed any further: ${faults.join('; ')}.`)
  return sealed
}

/** Notes the newest seals, whoever made them, so that each machine on a database knows of what another has sealed. */
export async function noteHeads(store: Store, heads: Heads): Promise<void> {
  for (const account of await store.read(systemActor(0), 'seal', accountNumbers)) {
    const [fault, newest] = await store.read(
      systemActor(account),
      'seal',
      async (tx) => [await checkHead(tx, heads.known(account)), await newestSeal(tx)] as const,
    )
    if (fault === undefined && newest) heads.note(account, newest)
  }
}
