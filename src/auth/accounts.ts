import { conflict, notFound } from '../model/error.ts'
import { checkName } from '../model/name.ts'
import { fold } from '../model/suggest.ts'
import { DEFAULT_LEASE_MS } from '../model/task.ts'
import { allAccounts, createAccount, isAccount } from '../store/account.ts'
import type { Store } from '../store/store.ts'
import { systemActor } from '../tools/access.ts'

/** An account of the installation: a tenant, strictly apart from the others. */
interface Account {
  id: number
  name: string
}

/** The accounts of the installation, oldest first. */
export function accountsOf(store: Store): Promise<Account[]> {
  return store.read(systemActor(0), 'account', allAccounts)
}

/** Makes an account with its owner, and returns its number. Throws where one has that name already. */
export async function addAccount(
  store: Store,
  fields: { name: string; owner: string; zone: string },
): Promise<number> {
  const [name, owner] = [checkName(fields.name), checkName(fields.owner)]
  const { zone } = fields
  const there = await accountsOf(store)
  const twin = there.find((each) => fold(each.name) === fold(name))
  if (twin) throw conflict(`Account ${twin.id} is called "${twin.name}".`, { next: 'Give another name.' })
  // Another process may take the next number at the same time; each finds out in a transaction of that account.
  for (let id = Math.max(0, ...there.map((each) => each.id)) + 1; ; id++) {
    const made = await store.write(systemActor(id), 'account', async (tx) => {
      if (await isAccount(tx)) return false
      await createAccount(tx, { name, zone, owner, leaseMs: DEFAULT_LEASE_MS })
      return true
    })
    if (made) return id
  }
}

/** The account that somebody means by its number or its name. */
export async function accountMeant(store: Store, text: string): Promise<number> {
  const there = await accountsOf(store)
  const found =
    there.find(({ id }) => String(id) === text) ?? there.find(({ name }) => fold(name) === fold(text))
  if (found) return found.id
  throw notFound(`There is no account "${text}".`, {
    allowed: there.map(({ id, name }) => `${id} ${name}`),
    next: 'donectl account list shows them all.',
  })
}
