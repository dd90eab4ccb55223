import { z } from 'zod'
import { AppError } from '../model/error.ts'
import { formatId } from '../model/id.ts'
import { fold } from '../model/suggest.ts'
import { parties } from '../store/actor.ts'
import { agentById, agentNamed, createAgent, revokeTokensOf } from '../store/credential.ts'
import { revokeGrantsOf } from '../store/grant.ts'
import type { ReadTx } from '../store/handle.ts'
import { askToStop, letContinue } from '../store/stop.ts'
import type { Row } from '../store/tables.ts'
import { idOf } from '../tools/fields.ts'
import { read, write } from '../tools/tool.ts'
import { moment, sparse } from '../tools/view.ts'
import { forPeople } from './operation.ts'

const stored = z.looseObject({ id: z.string(), name: z.string() })

export const agentOperations = {
  list_agents: forPeople(
    'viewer',
    read({
      title: 'List agents',
      does: 'The agents of the account, with their owners, and which were asked to stop.',
      toolset: 'runs',
      input: z.strictObject({}),
      output: z.looseObject({ agents: z.array(stored) }),
      http: 'GET /agents',
      example: {},
      run: async (tx) => {
        const ids = (await parties(tx))
          .filter((each) => each.kind === 'agent')
          .map((each) => Number(each.id.slice(1)))
        const agents = await Promise.all(ids.map((id) => agentById(tx, id)))
        return { agents: agents.map((agent) => view(agent)) }
      },
    }),
  ),

  create_agent: forPeople(
    'owner',
    write({
      title: 'Create an agent',
      does: 'Makes sure that you have an agent of this name. It can do nothing until it has a token.',
      toolset: 'runs',
      convergent: true,
      input: z.strictObject({ name: z.string().trim().min(1).max(80) }),
      output: stored,
      http: 'POST /agents',
      example: { name: 'tester' },
      run: async (tx, { name }) => {
        const owner = ownNumber(tx)
        const found = await agentNamed(tx, name)
        if (found && found.owner === owner && fold(found.name) === fold(name))
          return { ...view(found), already: true }
        return view(await createAgent(tx, { name, owner }))
      },
    }),
    'fresh',
  ),

  revoke_agent: forPeople(
    'member',
    write({
      title: 'Revoke an agent',
      does: 'From now on every token and grant of the agent is refused, and its streams end. What it holds is free again when its lease lapses. For its owner and the account’s.',
      toolset: 'runs',
      noun: 'agent',
      convergent: true,
      input: z.strictObject({ id: idOf('agent') }),
      output: stored,
      http: 'POST /agents/:id/revoke',
      example: { id: 'G1' },
      run: async (tx, { id }) => {
        const agent = await agentById(tx, id)
        requireOwner(tx, agent)
        const tokens = await revokeTokensOf(tx, agent)
        const grants = await revokeGrantsOf(tx, agent.id)
        const revoked = [
          ...tokens.map((token) => formatId('token', token)),
          ...grants.map((grant) => formatId('grant', grant)),
        ]
        return {
          ...view(agent),
          revoked,
          ...(revoked.length > 0 ? {} : { already: true }),
        }
      },
    }),
    'fresh',
  ),

  stop_agent: forPeople(
    'member',
    write({
      title: 'Ask an agent to stop',
      does: 'The answer of the agent’s next write tells it to stop, until it is let go on. To cut it off at once: revoke_agent.',
      toolset: 'runs',
      noun: 'agent',
      convergent: true,
      input: z.strictObject({ id: idOf('agent') }),
      output: stored,
      http: 'POST /agents/:id/stop',
      example: { id: 'G1' },
      run: async (tx, { id }) => {
        const { already } = await askToStop(tx, await agentById(tx, id))
        return { ...view(await agentById(tx, id)), ...(already ? { already: true } : {}) }
      },
    }),
  ),

  let_agent_continue: forPeople(
    'member',
    write({
      title: 'Let an agent go on',
      does: 'Takes back the wish that it stop.',
      toolset: 'runs',
      noun: 'agent',
      convergent: true,
      input: z.strictObject({ id: idOf('agent') }),
      output: stored,
      http: 'POST /agents/:id/continue',
      example: { id: 'G1' },
      run: async (tx, { id }) => {
        const { already } = await letContinue(tx, await agentById(tx, id))
        return { ...view(await agentById(tx, id)), ...(already ? { already: true } : {}) }
      },
    }),
  ),
}

function view(agent: Row<'agents'>): Record<string, unknown> {
  return sparse({
    id: formatId('agent', agent.id),
    name: agent.name,
    owner: formatId('person', agent.owner),
    stop_asked: agent.stop_at && moment(agent.stop_at),
    stop_asked_by: agent.stop_by && formatId('person', agent.stop_by),
    created_at: moment(agent.created_at),
  })
}

/** Credentials are the account owner's matter, and of one agent also that of the person it works for. */
function requireOwner(tx: ReadTx, agent: Row<'agents'>): void {
  const { actor } = tx
  if (actor.kind === 'person' && (actor.role === 'owner' || agent.owner === ownNumber(tx))) return
  throw new AppError(
    'people_only',
    `${formatId('agent', agent.id)} is ${formatId('person', agent.owner)}’s agent.`,
    {
      gate: true,
      retry: false,
      next: 'Ask that person or the owner of the account; stop_agent asks it to stop.',
    },
  )
}

const ownNumber = (tx: ReadTx): number => Number(tx.actor.id.slice(1))
