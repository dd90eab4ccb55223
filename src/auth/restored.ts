import { useEveryLink } from '../store/credential.ts'
import { openInvitations, revokeInvitation } from '../store/member.ts'
import { forgetIssued } from '../store/oauth-artifact.ts'
import { endEverySession } from '../store/session.ts'
import type { Store } from '../store/store.ts'
import { tokensOf } from '../store/token.ts'
import { accountNumbers } from '../store/verify.ts'
import { systemActor } from '../tools/access.ts'

/** What was ended in a restored copy, and what holds in it. */
export interface Restored {
  sessions: number
  links: number
  invitations: number
  /** Hosts that have to ask their person again. */
  hosts: number
  /** Tokens that hold, by account: one that was revoked since the copy was made holds again. */
  tokens: { account: number; id: number; agent: string }[]
}

/**
 * A copy knows nothing of what was ended or used after it was made, and whoever held that would be let in again. What a person
 * gets anew by signing in or by asking is ended: sessions, sign-in links, invitations, what hosts were issued. Tokens stay,
 * since agents at work have no other way in; which of them hold is returned, for the operator to judge.
 */
export async function endWhatOpens(store: Store): Promise<Restored> {
  const restored: Restored = { sessions: 0, links: 0, invitations: 0, hosts: 0, tokens: [] }
  restored.hosts = await store.write(systemActor(0), 'restore', forgetIssued)
  for (const account of await store.read(systemActor(0), 'restore', accountNumbers)) {
    await store.write(systemActor(account), 'restore', async (tx) => {
      restored.sessions += await endEverySession(tx)
      restored.links += await useEveryLink(tx)
      for (const { id } of await openInvitations(tx)) {
        await revokeInvitation(tx, id)
        restored.invitations++
      }
    })
    const tokens = await store.read(systemActor(account), 'restore', tokensOf)
    const now = store.now()
    for (const { id, agent_name: agent, revoked_at, expires_at } of tokens)
      if (revoked_at === null && (expires_at ?? now + 1) > now) restored.tokens.push({ account, id, agent })
  }
  return restored
}
