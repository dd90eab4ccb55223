import { z } from 'zod'
import type { PersonActor } from '../model/actor.ts'
import { AppError } from '../model/error.ts'
import { formatId } from '../model/id.ts'
import { agentById } from '../store/credential.ts'
import { type GrantView, grantById, grantsOf, revokeGrant } from '../store/grant.ts'
import type { ReadTx } from '../store/handle.ts'
import { idOf } from '../tools/fields.ts'
import { read, write } from '../tools/tool.ts'
import { moment, sparse } from '../tools/view.ts'
import { forPeople } from './operation.ts'

export const grantOperations = {
  list_grants: forPeople(
    'viewer',
    read({
      title: 'List grants',
      does: 'The hosts that act as agents of yours by OAuth; for an owner, those of everybody: client, agent, scopes, narrowing, last use.',
      toolset: 'runs',
      input: z.strictObject({}),
      output: z.looseObject({ grants: z.array(z.looseObject({ id: z.string() })) }),
      http: 'GET /grants',
      example: {},
      run: async (tx) => {
        const { role, id } = tx.actor as PersonActor
        const grants = await grantsOf(tx, role === 'owner' ? undefined : Number(id.slice(1)))
        return { grants: grants.map((grant) => view(tx, grant)) }
      },
    }),
  ),

  revoke_grant: forPeople(
    'viewer',
    write({
      title: 'Revoke a grant',
      does: 'From now on whatever the host was given is refused, and its streams end. For the person whose agent it is and for an owner.',
      toolset: 'runs',
      noun: 'grant',
      convergent: true,
      input: z.strictObject({ id: idOf('grant') }),
      output: z.looseObject({ id: z.string() }),
      http: 'DELETE /grants/:id',
      example: { id: 'O1' },
      run: async (tx, { id }) => {
        const grant = await grantById(tx, id)
        const { role, id: person } = tx.actor as PersonActor
        const { owner } = await agentById(tx, grant.agent)
        if (role !== 'owner' && formatId('person', owner) !== person) {
          throw new AppError('people_only', `${formatId('grant', id)} is not of an agent of yours.`, {
            gate: true,
            retry: false,
            next: 'Ask the owner of the account.',
          })
        }
        const { already } = await revokeGrant(tx, id)
        return { id: formatId('grant', id), revoked: true, ...(already ? { already: true } : {}) }
      },
    }),
  ),
}

function view(tx: ReadTx, grant: GrantView): Record<string, unknown> {
  return sparse({
    id: formatId('grant', grant.id),
    client: grant.client_name,
    client_id: grant.client,
    returns_to: grant.returns_to,
    agent: `${formatId('agent', grant.agent)} ${grant.agent_name}`,
    scopes: grant.scopes.split(' '),
    presets: grant.presets && JSON.parse(grant.presets),
    projects: grant.projects && (JSON.parse(grant.projects) as number[]).map((id) => formatId('project', id)),
    state: grant.revoked_at !== null ? 'revoked' : grant.expires_at <= tx.now ? 'expired' : 'good',
    expires_at: moment(grant.expires_at),
    last_used_at: grant.last_used_at && moment(grant.last_used_at),
    created_at: moment(grant.created_at),
    created_by: formatId('person', grant.person),
  })
}
