import { conflict, notFound } from '../model/error.ts'
import { nextNumber, type ReadTx, sqlOf, type WriteTx } from './handle.ts'
import { memberChanged } from './member.ts'
import type { Row } from './tables.ts'

type Passkey = Row<'passkeys'>

/** Most passkeys of one person: a device each, and some to spare. */
const MOST = 20

/** A passkey in use, in whatever account, with who it is of: the browser names it by itself. */
export function passkeyByCredential(tx: ReadTx, credential: string): Promise<Passkey | undefined> {
  return sqlOf(tx)
    .selectFrom('passkeys as k')
    .innerJoin('people as p', (join) =>
      join.onRef('p.account', '=', 'k.account').onRef('p.id', '=', 'k.person'),
    )
    .selectAll('k')
    .where('k.credential', '=', credential)
    .where('k.removed_at', 'is', null)
    .where('p.left_at', 'is', null)
    .executeTakeFirst()
}

/** The passkeys of a person that are in use, oldest first. */
export function passkeysOf(tx: ReadTx, person: number): Promise<Passkey[]> {
  return sqlOf(tx)
    .selectFrom('passkeys')
    .selectAll()
    .where('account', '=', tx.account)
    .where('person', '=', person)
    .where('removed_at', 'is', null)
    .orderBy('id')
    .execute()
}

/** Gives a person a passkey. */
export async function addPasskey(
  tx: WriteTx,
  fields: Pick<Passkey, 'person' | 'credential' | 'public_key' | 'counter' | 'name_of_site' | 'name'>,
): Promise<void> {
  if ((await passkeysOf(tx, fields.person)).length >= MOST)
    throw conflict(`You have ${MOST} passkeys, and there can’t be more.`, { next: 'Remove one first.' })
  const id = await nextNumber(tx, 'passkey')
  await sqlOf(tx)
    .insertInto('passkeys')
    .values({ account: tx.account, id, ...fields, removed_at: null, created_at: tx.now })
    .execute()
  await memberChanged(tx, fields.person, { change: 'passkey_added', passkey: fields.name })
}

/**
 * Writes down a device's count of uses. Says whether it may be: one that does not rise is a copy's (Web Authentication, 6.1.1);
 * most devices count nothing and say 0.
 */
export async function countUse(tx: WriteTx, id: number, counter: number): Promise<boolean> {
  const { numUpdatedRows } = await sqlOf(tx)
    .updateTable('passkeys')
    .set({ counter })
    .where('account', '=', tx.account)
    .where('id', '=', id)
    .where('removed_at', 'is', null)
    .where('counter', counter === 0 ? '=' : '<', counter)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** Takes a passkey from a person. What was signed by it stays, and can still be checked. */
export async function endPasskey(tx: WriteTx, person: number, id: number): Promise<void> {
  const removed = await sqlOf(tx)
    .updateTable('passkeys')
    .set({ removed_at: tx.now })
    .where('account', '=', tx.account)
    .where('person', '=', person)
    .where('id', '=', id)
    .where('removed_at', 'is', null)
    .returning('name')
    .executeTakeFirst()
  if (!removed) throw notFound('You have no such passkey.', { next: 'Your own page shows them all.' })
  await memberChanged(tx, person, { change: 'passkey_removed', passkey: removed.name })
}

/** Takes all their passkeys from a person. */
export async function endPasskeysOf(tx: WriteTx, person: number): Promise<void> {
  await sqlOf(tx)
    .updateTable('passkeys')
    .set({ removed_at: tx.now })
    .where('account', '=', tx.account)
    .where('person', '=', person)
    .where('removed_at', 'is', null)
    .execute()
}
