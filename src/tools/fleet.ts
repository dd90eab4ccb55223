import { z } from 'zod'
import { formatId } from '../model/id.ts'
import { callsSince, lastSeen } from '../store/access.ts'
import { partyNamed, partyNames } from '../store/actor.ts'
import {
  askedBy,
  closedCount,
  type FleetAgent,
  fleetAgents,
  listMembers,
  liveTokens,
  type Member,
  openRunsOfAgents,
  tasksHeldBy,
} from '../store/fleet.ts'
import type { ReadTx } from '../store/handle.ts'
import { stepsInProgress } from '../store/run-log.ts'
import { page, party } from './fields.ts'
import { read } from './tool.ts'
import { listAnswer, moment, sparse, start } from './view.ts'

const DAY_MS = 86_400_000
/** How far back calls are counted: what an agent does now, at a bounded cost. */
const CALLS_MS = 3_600_000

export const fleetTools = {
  fleet_status: read({
    title: 'See the fleet',
    does: 'Every agent now: stalled first, then waiting, working, idle; task, step, since when, last sign, lease, calls and refusals of the last hour, tasks closed, stop asked.',
    toolset: 'runs',
    noun: 'agent',
    input: z.strictObject({ agent_id: party.optional(), active_only: z.boolean().optional(), ...page }),
    output: z.looseObject({
      today: z.string(),
      showing: z.int(),
      agents: z.array(z.looseObject({ agent: z.string(), state: z.string() })),
    }),
    http: 'GET /fleet',
    example: { active_only: true },
    run: async (tx, { agent_id, active_only = false, ...wanted }) => {
      const agent = agent_id === undefined ? undefined : await partyNamed(tx, agent_id)
      const agents = await fleetAgents(tx, { agent, activeOnly: active_only }, wanted)
      return listAnswer(tx, agents, 'agents', await fleetRows(tx, agents.rows))
    },
  }),

  list_members: read({
    title: 'List members',
    does: 'People and agents of the account: kind, role, owner, presets and scopes of live tokens, last seen.',
    toolset: 'runs',
    input: z.strictObject({ kind: z.enum(['person', 'agent']).optional(), ...page }),
    output: z.looseObject({ showing: z.int(), members: z.array(z.looseObject({ id: z.string() })) }),
    http: 'GET /members',
    example: { kind: 'agent' },
    run: async (tx, { kind, ...wanted }) => {
      const members = await listMembers(tx, kind, wanted)
      return listAnswer(tx, members, 'members', await memberRows(tx, members.rows))
    },
  }),
}

async function fleetRows(tx: ReadTx, agents: readonly FleetAgent[]): Promise<Record<string, unknown>[]> {
  // The catalogue holds these tools, so this file can't import at load what reads the whole catalogue.
  const { WRITE_TOOLS } = await import('./effects.ts')
  const ids = agents.map((agent) => agent.agent)
  const name = await partyNames(tx)
  const runs = await openRunsOfAgents(tx, ids)
  const held = await tasksHeldBy(tx, ids)
  const steps = await stepsInProgress(tx, [...runs.map(({ task }) => task.id), ...held.map(({ id }) => id)])
  const calls = await callsSince(tx, ids, tx.now - CALLS_MS)
  const seen = await lastSeen(tx, ids)
  const rows: Record<string, unknown>[] = []
  for (const agent of agents) {
    const own = runs.filter(({ run }) => run.agent === agent.agent)
    const claims = held.filter((task) => task.claimed_by === agent.agent)
    const main = own.find(({ state }) => stateOf(state) === agent.state) ?? own[0]
    const task = main?.task ?? claims[0]
    const made = calls.filter((each) => each.actor === agent.agent)
    const count = (writes: boolean) =>
      made.filter((each) => WRITE_TOOLS.has(each.tool) === writes).reduce((sum, each) => sum + each.calls, 0)
    const step = task && steps.get(task.id)
    const claim = claims.find((each) => each.id === task?.id)
    const waits = await askedBy(tx, agent.agent)
    rows.push(
      sparse({
        agent: name(agent.agent),
        state: agent.state,
        owner: name(formatId('person', agent.owner)),
        run: main && formatId('run', main.run.id),
        task: task && formatId('task', task.id),
        title: task && start(task.title, 60).text,
        step: step && `${formatId('step', step.id)} ${start(step.title, 60).text}`,
        progress: main?.run.progress,
        since: main ? moment(main.run.started_at) : claim && moment(claim.claimed_at!),
        last_sign: main ? moment(main.run.last_sign_at) : undefined,
        lease_until: main ? moment(main.run.lease_until) : claim && moment(claim.claim_until!),
        last_seen: seen.has(agent.agent) ? moment(seen.get(agent.agent)!) : undefined,
        also: others(own, claims, main),
        awaits_decision: waits.requests || undefined,
        awaits_answer: waits.questions || undefined,
        // Calls are counted by tool, not by project, so a narrowed caller can't be told of its own alone.
        calls_last_hour: tx.actor.projects === undefined && {
          reads: count(false),
          writes: count(true),
          refusals: made.reduce((sum, each) => sum + each.refusals, 0),
        },
        closed: {
          last_day: await closedCount(tx, agent.agent, tx.now - DAY_MS),
          ever: await closedCount(tx, agent.agent, 0),
        },
        stop_asked:
          agent.stop_at === null ? undefined : `${moment(agent.stop_at)} by ${name(`U${agent.stop_by}`)}`,
      }),
    )
  }
  return rows
}

/** A run's state as one of the four in which agents stand. */
const stateOf = (run: string): string => (run === 'starting' ? 'working' : run)

type OpenRun = Awaited<ReturnType<typeof openRunsOfAgents>>[number]
type Held = Awaited<ReturnType<typeof tasksHeldBy>>[number]

/** What else an agent has in hand: other open runs, and tasks that it holds without a run. */
function others(runs: readonly OpenRun[], claims: readonly Held[], main: OpenRun | undefined): string[] {
  const rest = runs.filter((each) => each !== main)
  const reserved = claims.filter((claim) => main && !runs.some(({ task }) => task.id === claim.id))
  return [
    ...rest.map(
      ({ run, state, task }) => `${formatId('run', run.id)} on ${formatId('task', task.id)}: ${state}`,
    ),
    ...reserved.map((task) => `holds ${formatId('task', task.id)}`),
  ].slice(0, 5)
}

async function memberRows(tx: ReadTx, members: readonly Member[]): Promise<Record<string, unknown>[]> {
  const name = await partyNames(tx)
  const agents = members.filter((member) => member.kind === 'agent').map((member) => member.id)
  const tokens = await liveTokens(tx, agents)
  const idOf = ({ kind, id }: Member) => formatId(kind, id)
  const seen = await lastSeen(tx, members.map(idOf))
  return members.map((member) => {
    const own = member.kind === 'agent' ? tokens.filter((token) => token.agent === member.id) : []
    const presets = own.map((token) =>
      token.presets === null ? 'all' : (JSON.parse(token.presets) as string[]).join('+'),
    )
    const at = seen.get(idOf(member))
    return sparse({
      id: idOf(member),
      name: member.name,
      kind: member.kind,
      role: member.role,
      owner: member.owner === null ? undefined : name(formatId('person', member.owner)),
      tokens: own.length,
      presets: [...new Set(presets)],
      scopes: [...new Set(own.flatMap((token) => token.scopes.split(' ')))],
      last_seen: at === undefined ? undefined : moment(at),
    })
  })
}
