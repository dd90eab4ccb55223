import type { ActorId } from '../model/actor.ts'
import { formatId } from '../model/id.ts'
import { nextNumber, type ReadTx, readQuery, sqlOf, type WriteTx } from './handle.ts'
import type { Row } from './tables.ts'

const accountById = readQuery((db, p: { account: number }) =>
  db.selectFrom('accounts').selectAll().where('id', '=', p.account),
)

/** The account's own settings. */
export async function accountOf(tx: ReadTx): Promise<Row<'accounts'>> {
  return (await accountById(tx, { account: tx.account }))[0]!
}

/** The first account of this installation, if one was made. */
export function firstAccount(tx: ReadTx): Promise<Row<'accounts'> | undefined> {
  return sqlOf(tx).selectFrom('accounts').selectAll().orderBy('id').limit(1).executeTakeFirst()
}

/** Every account of this installation, oldest first. For the console: nobody else may ask across accounts. */
export function allAccounts(tx: ReadTx): Promise<Pick<Row<'accounts'>, 'id' | 'name'>[]> {
  return sqlOf(tx).selectFrom('accounts').select(['id', 'name']).orderBy('id').execute()
}

/** Whether the account of this transaction has been made. */
export async function isAccount(tx: ReadTx): Promise<boolean> {
  return (await accountById(tx, { account: tx.account })).length > 0
}

/** Makes an account with its owner. The transaction's actor must belong to the new account's number. */
export async function createAccount(
  tx: WriteTx,
  fields: { name: string; zone: string; owner: string; leaseMs: number },
): Promise<ActorId> {
  await sqlOf(tx)
    .insertInto('accounts')
    .values({
      id: tx.account,
      name: fields.name,
      zone: fields.zone,
      lease_ms: fields.leaseMs,
      created_at: tx.now,
    })
    .execute()
  return createPerson(tx, { name: fields.owner, role: 'owner' })
}

export async function createPerson(
  tx: WriteTx,
  fields: { name: string; role: Row<'people'>['role'] },
): Promise<ActorId> {
  const id = await nextNumber(tx, 'person')
  await sqlOf(tx)
    .insertInto('people')
    .values({
      account: tx.account,
      id,
      ...fields,
      zone: null,
      login: null,
      login_key: null,
      left_at: null,
      created_at: tx.now,
    })
    .execute()
  return formatId('person', id) as ActorId
}
