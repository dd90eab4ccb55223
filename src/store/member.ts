import type { ActorId, Role } from '../model/actor.ts'
import { conflict, invalid, notFound } from '../model/error.ts'
import { formatId } from '../model/id.ts'
import { fold } from '../model/suggest.ts'
import { createPerson } from './account.ts'
import { agentNamed, refuseReserved } from './credential.ts'
import { emit, nextNumber, type ReadTx, sqlOf, type WriteTx } from './handle.ts'
import type { Row } from './tables.ts'

/** Everybody who is a member now, in the order of their coming. */
function members(tx: ReadTx): Promise<Row<'people'>[]> {
  return sqlOf(tx)
    .selectFrom('people')
    .selectAll()
    .where('account', '=', tx.account)
    .where('left_at', 'is', null)
    .orderBy('id')
    .execute()
}

/** One member. Throws `not_found` where there is none, or not any more. */
export async function memberById(tx: ReadTx, id: number): Promise<Row<'people'>> {
  const found = (await members(tx)).find((each) => each.id === id)
  if (found) return found
  throw notFound(`There is no member ${formatId('person', id)}.`, { next: 'list_members names them all.' })
}

/** Gives a member another role. The account's last owner keeps theirs: nobody could give it back. */
export async function setRole(tx: WriteTx, person: Row<'people'>, role: Role): Promise<{ already: boolean }> {
  if (person.role === role) return { already: true }
  if (person.role === 'owner') await refuseLastOwner(tx)
  await sqlOf(tx)
    .updateTable('people')
    .set({ role })
    .where('account', '=', tx.account)
    .where('id', '=', person.id)
    .execute()
  await memberChanged(tx, person.id, { name: person.name, change: 'role', role })
  return { already: false }
}

/** An account without an owner could not be given one any more. */
export async function refuseLastOwner(tx: ReadTx): Promise<void> {
  const owners = (await members(tx)).filter(({ role }) => role === 'owner')
  if (owners.length > 1) return
  throw conflict(`${formatId('person', owners[0]!.id)} is the account’s only owner.`, {
    next: 'Make somebody else an owner first: change_role.',
  })
}

export function memberChanged(tx: WriteTx, person: number, data: Record<string, unknown>): Promise<number> {
  return emit(tx, { kind: 'member_changed', object: formatId('person', person), data })
}

/** What an invitation says, beside the secret that only its link has. */
type NewInvitation = Pick<Row<'invitations'>, 'hash' | 'name' | 'role' | 'expires_at'>

export async function addInvitation(tx: WriteTx, fields: NewInvitation): Promise<Row<'invitations'>> {
  const id = await nextNumber(tx, 'invitation')
  const row = {
    account: tx.account,
    id,
    ...fields,
    used_at: null,
    revoked_at: null,
    person: null,
    created_at: tx.now,
    created_by: tx.actor.id,
  }
  await sqlOf(tx).insertInto('invitations').values(row).execute()
  await emit(tx, {
    kind: 'member_changed',
    object: formatId('invitation', id),
    data: { name: fields.name, change: 'invited', role: fields.role },
  })
  return row
}

/** Invitations of the account by which somebody can still come. */
export function openInvitations(tx: ReadTx): Promise<Row<'invitations'>[]> {
  return sqlOf(tx)
    .selectFrom('invitations')
    .selectAll()
    .where('account', '=', tx.account)
    .where('used_at', 'is', null)
    .where('revoked_at', 'is', null)
    .where('expires_at', '>', tx.now)
    .orderBy('id')
    .execute()
}

/** Takes an invitation back. One that was used has made a member, who is removed by other means. */
export async function revokeInvitation(tx: WriteTx, id: number): Promise<{ already: boolean }> {
  const invitation = await sqlOf(tx)
    .selectFrom('invitations')
    .selectAll()
    .where('account', '=', tx.account)
    .where('id', '=', id)
    .executeTakeFirst()
  if (!invitation) {
    throw notFound(`There is no invitation ${formatId('invitation', id)}.`, {
      next: 'list_invitations shows those that are open.',
    })
  }
  if (invitation.revoked_at !== null) return { already: true }
  if (invitation.person !== null) {
    throw conflict(`${formatId('person', invitation.person)} has come by it.`, {
      next: 'remove_member ends that.',
    })
  }
  await sqlOf(tx)
    .updateTable('invitations')
    .set({ revoked_at: tx.now })
    .where('account', '=', tx.account)
    .where('id', '=', id)
    .execute()
  await emit(tx, {
    kind: 'member_changed',
    object: formatId('invitation', id),
    data: { name: invitation.name, change: 'invitation_revoked' },
  })
  return { already: false }
}

/** An invitation that still holds, in whatever account: its secret names it. Looking does not use it up. */
export function invitationByHash(tx: ReadTx, hash: string) {
  return sqlOf(tx)
    .selectFrom('invitations as i')
    .innerJoin('accounts as a', 'a.id', 'i.account')
    .selectAll('i')
    .select('a.name as account_name')
    .where('i.hash', '=', hash)
    .where('i.used_at', 'is', null)
    .where('i.revoked_at', 'is', null)
    .where('i.expires_at', '>', tx.now)
    .executeTakeFirst()
}

/** Uses an invitation up: somebody becomes a member of its account. Undefined where it does not hold any more. */
export async function useInvitation(tx: WriteTx, hash: string, name: string): Promise<ActorId | undefined> {
  const used = await sqlOf(tx)
    .updateTable('invitations')
    .set({ used_at: tx.now })
    .where('account', '=', tx.account)
    .where('hash', '=', hash)
    .where('used_at', 'is', null)
    .where('revoked_at', 'is', null)
    .where('expires_at', '>', tx.now)
    .returning(['id', 'role'])
    .executeTakeFirst()
  if (!used) return undefined
  await refuseTakenName(tx, name)
  const person = await createPerson(tx, { name, role: used.role })
  const number = Number(person.slice(1))
  await sqlOf(tx)
    .updateTable('invitations')
    .set({ person: number })
    .where('account', '=', tx.account)
    .where('id', '=', used.id)
    .execute()
  await memberChanged(tx, number, { name, change: 'joined', role: used.role })
  return person
}

/** People and agents are named in one breath, so a name is one of them. */
async function refuseTakenName(tx: ReadTx, name: string): Promise<void> {
  refuseReserved(name)
  const twin = (await members(tx)).find((each) => fold(each.name) === fold(name))
  const agent = await agentNamed(tx, name)
  if (!twin && !agent) return
  const id = twin ? formatId('person', twin.id) : formatId('agent', agent!.id)
  throw conflict(`${id} is already called "${name}".`, { next: 'Give another name.' })
}

/** Names by which people sign in are short, visible, and the same in any case: mostly addresses of mail. */
export function loginKeyOf(login: string): string {
  if (!/^[^\s\p{C}]{2,200}$/u.test(login)) {
    throw invalid('A name to sign in with has 2 to 200 characters and no space, such as an address of mail.')
  }
  return fold(login)
}
