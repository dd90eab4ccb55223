import { z } from 'zod'
import { hashSecret, newSecret } from '../auth/secret.ts'
import { invalid } from '../model/error.ts'
import { formatId } from '../model/id.ts'
import { agentById, createToken, revokeToken } from '../store/credential.ts'
import type { ReadTx } from '../store/handle.ts'
import { projectById } from '../store/project.ts'
import { type TokenView, tokensOf } from '../store/token.ts'
import { idOf, instant } from '../tools/fields.ts'
import { NARROWINGS } from '../tools/presets.ts'
import { read, write } from '../tools/tool.ts'
import { moment, sparse } from '../tools/view.ts'
import { forPeople } from './operation.ts'

export const tokenOperations = {
  list_tokens: forPeople(
    'owner',
    read({
      title: 'List tokens',
      does: 'Every token of the account: agent, first characters, scopes, narrowing, end, last use. Never the token itself.',
      toolset: 'runs',
      input: z.strictObject({}),
      output: z.looseObject({ tokens: z.array(z.looseObject({ id: z.string() })) }),
      http: 'GET /tokens',
      example: {},
      run: async (tx) => ({ tokens: (await tokensOf(tx)).map((token) => view(tx, token)) }),
    }),
  ),

  // Takes no idempotency key: the stored answer of a first call would keep the token itself at rest.
  create_token: forPeople(
    'owner',
    write({
      title: 'Create a token',
      does: 'A credential for an agent. It is in this answer and nowhere else; it can be narrowed to presets, toolsets and projects, and end on a day.',
      toolset: 'runs',
      input: z.strictObject({
        agent_id: idOf('agent'),
        scope: z.enum(['read', 'write']),
        presets: z.array(z.string()).min(1).optional(),
        projects: z.array(idOf('project')).min(1).optional(),
        expires: instant('forward').optional(),
      }),
      output: z.looseObject({ id: z.string(), token: z.string() }),
      http: 'POST /tokens',
      example: { agent_id: 'G1', scope: 'read' },
      run: async (tx, { agent_id, scope, presets, projects, expires }) => {
        const agent = await agentById(tx, agent_id)
        const wrong = presets?.find((name) => !NARROWINGS.includes(name))
        if (wrong !== undefined) {
          throw invalid(`There is no preset or toolset "${wrong.slice(0, 80)}".`, { allowed: NARROWINGS })
        }
        for (const project of projects ?? []) await projectById(tx, project)
        if (expires !== undefined && expires <= tx.now) throw invalid('expires lies in the past.')
        const token = newSecret('done')
        const id = await createToken(
          tx,
          {
            agent: agent.id,
            prefix: token.slice(0, 9),
            hash: hashSecret(token),
            scopes: scope === 'read' ? 'read' : 'read write',
            ...(presets ? { presets } : {}),
            ...(projects ? { projects } : {}),
            ...(expires === undefined ? {} : { expires_at: expires }),
          },
          tx.actor.id,
        )
        const stored = (await tokensOf(tx)).find((each) => each.id === id)!
        return { ...view(tx, stored), token, next: 'Keep the token now: it is not shown again.' }
      },
    }),
    'fresh',
  ),

  revoke_token: forPeople(
    'owner',
    write({
      title: 'Revoke a token',
      does: 'From now on the token is refused, and its streams end.',
      toolset: 'runs',
      noun: 'token',
      convergent: true,
      input: z.strictObject({ id: idOf('token') }),
      output: z.looseObject({ id: z.string() }),
      http: 'DELETE /tokens/:id',
      example: { id: 'K1' },
      run: async (tx, { id }) => {
        const { already } = await revokeToken(tx, id)
        return { id: formatId('token', id), revoked: true, ...(already ? { already: true } : {}) }
      },
    }),
    'fresh',
  ),
}

function view(tx: ReadTx, token: TokenView): Record<string, unknown> {
  const ended = token.expires_at !== null && token.expires_at <= tx.now
  return sparse({
    id: formatId('token', token.id),
    agent: `${formatId('agent', token.agent)} ${token.agent_name}`,
    begins: `${token.prefix}…`,
    scopes: token.scopes.split(' '),
    presets: token.presets && JSON.parse(token.presets),
    projects: token.projects && (JSON.parse(token.projects) as number[]).map((id) => formatId('project', id)),
    state: token.revoked_at !== null ? 'revoked' : ended ? 'expired' : 'good',
    expires_at: token.expires_at && moment(token.expires_at),
    last_used_at: token.last_used_at && moment(token.last_used_at),
    created_at: moment(token.created_at),
    created_by: token.created_by,
  })
}
