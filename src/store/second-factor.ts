import { conflict } from '../model/error.ts'
import { nextNumber, type ReadTx, sqlOf, type WriteTx } from './handle.ts'
import { memberChanged } from './member.ts'
import type { Row } from './tables.ts'

/** An app that makes one-time codes: one a person in use, and at most one that is being set up. */
type Authenticator = Row<'authenticators'>

/** The app by whose codes a person signs in, or the one that they have begun to set up. */
export function authenticatorOf(
  tx: ReadTx,
  person: number,
  state: 'in use' | 'begun',
): Promise<Authenticator | undefined> {
  return sqlOf(tx)
    .selectFrom('authenticators')
    .selectAll()
    .where('account', '=', tx.account)
    .where('person', '=', person)
    .where('confirmed_at', state === 'in use' ? 'is not' : 'is', null)
    .where('removed_at', 'is', null)
    .executeTakeFirst()
}

/** Begins to set up an app, in place of one that was begun before. `secret` is encrypted already. */
export async function beginAuthenticator(tx: WriteTx, person: number, secret: string): Promise<void> {
  await removeAuthenticators(tx, person, 'begun')
  const id = await nextNumber(tx, 'authenticator')
  await sqlOf(tx)
    .insertInto('authenticators')
    .values({
      account: tx.account,
      id,
      person,
      secret,
      last_step: 0,
      confirmed_at: null,
      removed_at: null,
      created_at: tx.now,
    })
    .execute()
}

/** From now on the person is asked for the codes of the app that they have begun to set up; the one before is forgotten. */
export async function confirmAuthenticator(tx: WriteTx, person: number, id: number): Promise<void> {
  await removeAuthenticators(tx, person, 'in use')
  const { numUpdatedRows } = await sqlOf(tx)
    .updateTable('authenticators')
    .set({ confirmed_at: tx.now })
    .where('account', '=', tx.account)
    .where('id', '=', id)
    .where('removed_at', 'is', null)
    .executeTakeFirst()
  if (numUpdatedRows === 0n) throw conflict('This was begun anew meanwhile.', { next: 'Begin once more.' })
  await memberChanged(tx, person, { change: 'codes_on' })
}

/** No codes are asked for any more, and no recovery code is left. */
export async function endAuthenticator(tx: WriteTx, person: number): Promise<void> {
  await forgetCodes(tx, person)
  await memberChanged(tx, person, { change: 'codes_off' })
}

/** Takes from a person all that makes codes, or stands in for them. */
export async function forgetCodes(tx: WriteTx, person: number): Promise<void> {
  await removeAuthenticators(tx, person, 'begun')
  await removeAuthenticators(tx, person, 'in use')
  await replaceRecoveryCodes(tx, person, [])
}

/** What is gone keeps no secret. */
async function removeAuthenticators(tx: WriteTx, person: number, state: 'in use' | 'begun'): Promise<void> {
  await sqlOf(tx)
    .updateTable('authenticators')
    .set({ removed_at: tx.now, secret: '' })
    .where('account', '=', tx.account)
    .where('person', '=', person)
    .where('confirmed_at', state === 'in use' ? 'is not' : 'is', null)
    .where('removed_at', 'is', null)
    .execute()
}

/** Uses the code of a step of time up, and those before it (RFC 6238, section 5.2). Says whether that was still to be had. */
export async function useStep(tx: WriteTx, id: number, step: number): Promise<boolean> {
  const { numUpdatedRows } = await sqlOf(tx)
    .updateTable('authenticators')
    .set({ last_step: step })
    .where('account', '=', tx.account)
    .where('id', '=', id)
    .where('removed_at', 'is', null)
    .where('last_step', '<', step)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** Gives a person recovery codes, by their hashes, in place of all before. */
export async function replaceRecoveryCodes(
  tx: WriteTx,
  person: number,
  hashes: readonly string[],
): Promise<void> {
  const db = sqlOf(tx)
  await db
    .updateTable('recovery_codes')
    .set({ replaced_at: tx.now })
    .where('account', '=', tx.account)
    .where('person', '=', person)
    .where('replaced_at', 'is', null)
    .execute()
  if (hashes.length === 0) return
  const first = await nextNumber(tx, 'recovery_code', hashes.length)
  await db
    .insertInto('recovery_codes')
    .values(
      hashes.map((hash, i) => ({
        account: tx.account,
        id: first + i,
        person,
        hash,
        used_at: null,
        replaced_at: null,
        created_at: tx.now,
      })),
    )
    .execute()
}

/** Uses a recovery code up, and says whether there was such a one. */
export async function useRecoveryCode(tx: WriteTx, person: number, hash: string): Promise<boolean> {
  const { numUpdatedRows } = await sqlOf(tx)
    .updateTable('recovery_codes')
    .set({ used_at: tx.now })
    .where('account', '=', tx.account)
    .where('person', '=', person)
    .where('hash', '=', hash)
    .where('used_at', 'is', null)
    .where('replaced_at', 'is', null)
    .executeTakeFirst()
  if (numUpdatedRows === 0n) return false
  await memberChanged(tx, person, { change: 'recovery_code_used' })
  return true
}

/** How many recovery codes a person has left. */
export async function recoveryCodesLeft(tx: ReadTx, person: number): Promise<number> {
  const { left } = await sqlOf(tx)
    .selectFrom('recovery_codes')
    .select((eb) => eb.fn.countAll<number>().as('left'))
    .where('account', '=', tx.account)
    .where('person', '=', person)
    .where('used_at', 'is', null)
    .where('replaced_at', 'is', null)
    .executeTakeFirstOrThrow()
  return Number(left)
}
