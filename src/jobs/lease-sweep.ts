import { accountsWithLapsedLeases, sweepLeases } from '../store/lease.ts'
import type { Store } from '../store/store.ts'
import { systemActor } from '../tools/access.ts'

/** Claims written down in one transaction; more would keep other writers waiting. */
const BATCH = 100

/** Accounts looked after in one round. */
const ACCOUNTS = 100

/**
 * Writes down the leases that have lapsed, account by account, in bounded transactions. Looks first on a reading
 * connection, so that an idle server commits nothing. Returns how many there were.
 */
export async function sweep(store: Store): Promise<number> {
  const accounts = await store.read(systemActor(0), 'sweep', (tx) => accountsWithLapsedLeases(tx, ACCOUNTS))
  let swept = 0
  for (const account of accounts) {
    let batch: number
    do {
      batch = await store.write(systemActor(account), 'sweep', (tx) => sweepLeases(tx, BATCH))
      swept += batch
    } while (batch === BATCH)
  }
  return swept
}
