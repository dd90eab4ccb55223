import { z } from 'zod'
import { hashSecret, newSecret } from '../auth/secret.ts'
import { formatId } from '../model/id.ts'
import type { ReadTx } from '../store/handle.ts'
import { addInvitation, memberById, openInvitations, revokeInvitation, setRole } from '../store/member.ts'
import { endMembership } from '../store/membership.ts'
import type { Row } from '../store/tables.ts'
import { idOf, line } from '../tools/fields.ts'
import { read, write } from '../tools/tool.ts'
import { moment, sparse } from '../tools/view.ts'
import { forPeople } from './operation.ts'

/** How long an invitation is good, in milliseconds. */
const INVITATION_MS = 7 * 24 * 3_600_000

const role = z.enum(['viewer', 'member', 'owner'])
const stored = z.looseObject({ id: z.string() })

export const memberOperations = {
  list_invitations: forPeople(
    'owner',
    read({
      title: 'List invitations',
      does: 'Invitations by which somebody can still come, without their links.',
      toolset: 'me',
      input: z.strictObject({}),
      output: z.looseObject({ invitations: z.array(stored) }),
      http: 'GET /invitations',
      example: {},
      run: async (tx) => ({ invitations: (await openInvitations(tx)).map(view) }),
    }),
  ),

  // Takes no idempotency key: the stored answer of a first call would keep the link itself at rest.
  invite_member: forPeople(
    'owner',
    write({
      title: 'Invite a member',
      does: 'A link by which one person becomes a member, within 7 days. It is in this answer and nowhere else.',
      toolset: 'me',
      input: z.strictObject({ name: line(60).min(1), role }),
      output: z.looseObject({ id: z.string(), link: z.string() }),
      http: 'POST /invitations',
      example: { name: 'Bea', role: 'member' },
      run: async (tx, { name, role }) => {
        const secret = newSecret('join')
        const fields = { hash: hashSecret(secret), name, role, expires_at: tx.now + INVITATION_MS }
        return { ...view(await addInvitation(tx, fields)), link: `${tx.site}/join/${secret}` }
      },
    }),
    'fresh',
  ),

  revoke_invitation: forPeople(
    'owner',
    write({
      title: 'Take an invitation back',
      does: 'From now on nobody comes by its link.',
      toolset: 'me',
      noun: 'invitation',
      convergent: true,
      input: z.strictObject({ id: idOf('invitation') }),
      output: z.looseObject({ id: z.string(), revoked: z.literal(true) }),
      http: 'DELETE /invitations/:id',
      example: { id: 'I1' },
      run: async (tx, { id }) => {
        const { already } = await revokeInvitation(tx, id)
        return { id: formatId('invitation', id), revoked: true, ...(already ? { already: true } : {}) }
      },
    }),
  ),

  change_role: forPeople(
    'owner',
    write({
      title: 'Change a member’s role',
      does: 'viewer reads; member also writes and signs off; owner also members, credentials, sources, purge. The last owner stays one.',
      toolset: 'me',
      noun: 'person',
      convergent: true,
      input: z.strictObject({ id: idOf('person'), role }),
      output: stored,
      http: 'PUT /members/:id/role',
      example: { id: 'U2', role: 'owner' },
      run: async (tx, { id, role }) => {
        const { already } = await setRole(tx, await memberById(tx, id), role)
        return { ...(await memberView(tx, id)), ...(already ? { already: true } : {}) }
      },
    }),
    'fresh',
  ),

  remove_member: forPeople(
    'owner',
    write({
      title: 'Remove a member',
      does: 'Ends their sessions and the tokens of their agents. What they did keeps their name.',
      toolset: 'me',
      noun: 'person',
      input: z.strictObject({ id: idOf('person') }),
      output: stored,
      http: 'DELETE /members/:id',
      example: { id: 'U2' },
      run: async (tx, { id }) => {
        const person = await memberById(tx, id)
        const revoked = await endMembership(tx, person)
        return sparse({
          id: formatId('person', id),
          name: person.name,
          left: true,
          revoked: revoked.map((token) => formatId('token', token)),
        })
      },
    }),
    'fresh',
  ),
}

function view(invitation: Row<'invitations'>): Record<string, unknown> {
  return {
    id: formatId('invitation', invitation.id),
    name: invitation.name,
    role: invitation.role,
    by: invitation.created_by,
    until: moment(invitation.expires_at),
  }
}

async function memberView(tx: ReadTx, id: number): Promise<Record<string, unknown>> {
  const { name, role } = await memberById(tx, id)
  return { id: formatId('person', id), name, role }
}
