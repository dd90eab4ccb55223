import { revokeTokensOf } from './credential.ts'
import { revokeGrantsOf } from './grant.ts'
import { sqlOf, type WriteTx } from './handle.ts'
import { memberChanged, refuseLastOwner } from './member.ts'
import { endPasskeysOf } from './passkey.ts'
import { endPassword } from './password.ts'
import { forgetCodes } from './second-factor.ts'
import { endSessionsOf } from './session.ts'
import type { Row } from './tables.ts'

/**
 * Ends a membership: its sessions, all by which its person signs in, and the tokens and grants of its agents hold no longer.
 * What it did, and its agents, keep its name. Returns the tokens that were revoked.
 */
export async function endMembership(tx: WriteTx, person: Row<'people'>): Promise<number[]> {
  if (person.role === 'owner') await refuseLastOwner(tx)
  const { account, id } = person
  await sqlOf(tx)
    .updateTable('people')
    .set({ left_at: tx.now, login_key: null })
    .where('account', '=', account)
    .where('id', '=', id)
    .execute()
  await endSessionsOf(tx, id)
  await endPassword(tx, id)
  await forgetCodes(tx, id)
  await endPasskeysOf(tx, id)
  const agents = await sqlOf(tx)
    .selectFrom('agents')
    .selectAll()
    .where('account', '=', account)
    .where('owner', '=', id)
    .orderBy('id')
    .execute()
  const revoked: number[] = []
  for (const agent of agents) {
    revoked.push(...(await revokeTokensOf(tx, agent)))
    await revokeGrantsOf(tx, agent.id)
  }
  await memberChanged(tx, id, { name: person.name, change: 'left' })
  return revoked
}
