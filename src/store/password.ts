import { conflict } from '../model/error.ts'
import { formatId } from '../model/id.ts'
import { nextNumber, type ReadTx, sqlOf, type WriteTx } from './handle.ts'
import { loginKeyOf, memberChanged } from './member.ts'

/** People with the password that they have now, in whatever account. */
const withPassword = (tx: ReadTx) =>
  sqlOf(tx)
    .selectFrom('people as p')
    .innerJoin('passwords as w', (join) =>
      join.onRef('w.account', '=', 'p.account').onRef('w.person', '=', 'p.id'),
    )
    .where('w.replaced_at', 'is', null)

/** Who could be meant by a name to sign in with, in whatever account, each with the hash of their password. */
export function peopleByLogin(tx: ReadTx, key: string) {
  return withPassword(tx)
    .innerJoin('accounts as a', 'a.id', 'p.account')
    .select(['p.account', 'p.id as person', 'w.hash', 'a.name as account_name'])
    .where('p.login_key', '=', key)
    .where('p.left_at', 'is', null)
    .orderBy('p.account')
    .limit(MOST_ACCOUNTS)
    .execute()
}

/** In how many accounts one name is tried: each costs the time of a hash. */
const MOST_ACCOUNTS = 5

/** The hash of a person's password, and the name they sign in with; undefined where they have none. */
export function passwordOf(tx: ReadTx, person: number) {
  return withPassword(tx)
    .select(['p.login', 'w.hash'])
    .where('p.account', '=', tx.account)
    .where('p.id', '=', person)
    .executeTakeFirst()
}

/** Gives a person a name to sign in with and the hash of a password, in place of those before, which are not kept. */
export async function putPassword(tx: WriteTx, person: number, login: string, hash: string): Promise<void> {
  const db = sqlOf(tx)
  const login_key = loginKeyOf(login)
  const twin = await db
    .selectFrom('people')
    .select('id')
    .where('account', '=', tx.account)
    .where('login_key', '=', login_key)
    .where('id', '<>', person)
    .executeTakeFirst()
  if (twin) {
    throw conflict(`${formatId('person', twin.id)} signs in as "${login}".`, { next: 'Give another name.' })
  }
  await db
    .updateTable('people')
    .set({ login, login_key })
    .where('account', '=', tx.account)
    .where('id', '=', person)
    .execute()
  await endPassword(tx, person)
  const id = await nextNumber(tx, 'password')
  await db
    .insertInto('passwords')
    .values({ account: tx.account, id, person, hash, replaced_at: null, created_at: tx.now })
    .execute()
  await memberChanged(tx, person, { change: 'password_set' })
}

/** Takes a person's password from them. The row stays, and nothing to try a password against. */
export async function endPassword(tx: WriteTx, person: number): Promise<void> {
  await sqlOf(tx)
    .updateTable('passwords')
    .set({ replaced_at: tx.now, hash: '' })
    .where('account', '=', tx.account)
    .where('person', '=', person)
    .where('replaced_at', 'is', null)
    .execute()
}
