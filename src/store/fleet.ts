import { sql } from 'kysely'
import type { ActorId } from '../model/actor.ts'
import { inNumbers, type ReadTx, sqlOf } from './handle.ts'
import { type Page, type PageInput, pageOf } from './page.ts'
import { visibleQuestions } from './question.ts'
import { requestsInSight } from './request.ts'
import { stateOfRun } from './run.ts'
import type { Row } from './tables.ts'
import { visibleTasks } from './task.ts'

/** How an agent stands, the most alarming first. */
const AGENT_STATES = ['stalled', 'waiting', 'working', 'idle'] as const
type AgentState = (typeof AGENT_STATES)[number]

/** An agent of the account, and how it stands judged by all of its open runs and live claims. */
export interface FleetAgent {
  id: number
  agent: ActorId
  name: string
  owner: number
  stop_at: number | null
  stop_by: number | null
  state: AgentState
}

/** A page of agents, those that need somebody first: judged, as all here, by the tasks that the caller can see. */
export async function fleetAgents(
  tx: ReadTx,
  filter: { agent?: ActorId | null | undefined; activeOnly: boolean },
  page: PageInput,
): Promise<Page<FleetAgent>> {
  const db = sqlOf(tx)
  const { projects } = tx.actor
  const states = db
    .selectFrom('runs')
    .innerJoin('tasks', (join) =>
      join.onRef('tasks.account', '=', 'runs.account').onRef('tasks.id', '=', 'runs.task'),
    )
    .select(['runs.agent', stateOfRun(tx.now).as('state')])
    .where('runs.account', '=', tx.account)
    .where('runs.ended_at', 'is', null)
    .where('tasks.trash', 'is', null)
    .$if(projects !== undefined, (query) => query.where('tasks.project', 'in', [...projects!]))
  const ranks = db
    .selectFrom(states.as('open'))
    .select([
      'open.agent',
      sql<number>`MIN(CASE open.state WHEN 'stalled' THEN 0 WHEN 'waiting' THEN 1 ELSE 2 END)`.as('rank'),
    ])
    .groupBy('open.agent')
  const agents = db
    .selectFrom('agents as a')
    .leftJoin(ranks.as('r'), (join) => join.on(sql`r.agent`, '=', sql`'G' || a.id`))
    .select(['a.id', 'a.name', 'a.owner', 'a.stop_at', 'a.stop_by'])
    .select(sql<ActorId>`'G' || a.id`.as('agent'))
    .select(
      sql<number>`COALESCE(r.rank, CASE WHEN EXISTS (SELECT 1 FROM tasks t WHERE t.account = a.account
        AND t.claimed_by = 'G' || a.id AND t.claim_until > ${tx.now} AND t.trash IS NULL
        ${projects ? sql`AND t.project IN ${inNumbers(tx, projects)}` : sql``}) THEN 2 ELSE 3 END)`.as(
        'rank',
      ),
    )
    .where('a.account', '=', tx.account)
  let query = db.selectFrom(agents.as('f')).selectAll('f')
  if (filter.agent !== undefined)
    query = query.where('f.agent', filter.agent === null ? 'is' : '=', filter.agent)
  if (filter.activeOnly) query = query.where('f.rank', '<', 3)
  const found = await pageOf(tx, query, { by: [sql`f.rank`, sql`f.id`], direction: 'asc' }, page)
  return {
    ...found,
    rows: found.rows.map(({ rank, ...agent }) => ({ ...agent, state: AGENT_STATES[rank]! })),
  }
}

/** Tasks that these agents hold now. */
export function tasksHeldBy(tx: ReadTx, agents: readonly ActorId[]): Promise<Row<'tasks'>[]> {
  return visibleTasks(tx)
    .selectAll('tasks')
    .where('tasks.claimed_by', 'in', [...agents])
    .where('tasks.claim_until', '>', tx.now)
    .orderBy('tasks.claimed_at', 'desc')
    .limit(1000)
    .execute()
}

/** Open runs of these agents, newest first, with the row of each task. */
export async function openRunsOfAgents(
  tx: ReadTx,
  agents: readonly ActorId[],
): Promise<{ run: Row<'runs'>; state: string; task: { id: number; title: string } }[]> {
  const { projects } = tx.actor
  const rows = await sqlOf(tx)
    .selectFrom('runs')
    .innerJoin('tasks', (join) =>
      join.onRef('tasks.account', '=', 'runs.account').onRef('tasks.id', '=', 'runs.task'),
    )
    .selectAll('runs')
    .select(['tasks.title', stateOfRun(tx.now).as('state')])
    .where('runs.account', '=', tx.account)
    .where('runs.agent', 'in', [...agents])
    .where('runs.ended_at', 'is', null)
    .where('tasks.trash', 'is', null)
    .$if(projects !== undefined, (query) => query.where('tasks.project', 'in', [...projects!]))
    .orderBy('runs.id', 'desc')
    .limit(1000)
    .execute()
  return rows.map(({ title, state, ...run }) => ({ run, state, task: { id: run.task, title } }))
}

/** How far a count goes before it says "at least". */
const COUNTED = 1000

/**
 * How many tasks were closed by an agent, or by a person who approved what it asked: since a moment, or ever. Exact to
 * {@link COUNTED}.
 */
export async function closedCount(tx: ReadTx, agent: ActorId, since: number): Promise<number> {
  const own = visibleTasks(tx)
    .select(sql<number>`1`.as('one'))
    .where('tasks.closed_by', '=', agent)
    .where('tasks.closed_at', '>', since)
    .limit(COUNTED)
  const approved = visibleTasks(tx)
    .innerJoin('requests as r', (join) =>
      join.onRef('r.account', '=', 'tasks.account').onRef('r.task', '=', 'tasks.id'),
    )
    .select(sql<number>`1`.as('one'))
    .where('r.asked_by', '=', agent)
    .where('r.state', '=', 'approved')
    .where('r.decided_at', '>', since)
    .limit(COUNTED)
  const { count } = await sqlOf(tx)
    .selectNoFrom(
      sql<number>`(SELECT COUNT(*) FROM (${own}) AS own) + (SELECT COUNT(*) FROM (${approved}) AS approved)`.as(
        'count',
      ),
    )
    .executeTakeFirstOrThrow()
  return count
}

/** What waits for a person because an agent asked: sign-offs and questions. */
export async function askedBy(tx: ReadTx, agent: ActorId): Promise<{ requests: number; questions: number }> {
  const requests = await requestsInSight(tx)
    .select('r.id')
    .where('r.asked_by', '=', agent)
    .where('r.state', '=', 'pending')
    .limit(COUNTED)
    .execute()
  const questions = await visibleQuestions(tx)
    .clearSelect()
    .select('q.id')
    .where('q.asked_by', '=', agent)
    .where('q.answered_at', 'is', null)
    .limit(COUNTED)
    .execute()
  return { requests: requests.length, questions: questions.length }
}

/** Somebody of the account, as lists of members show them. */
export interface Member {
  id: number
  kind: 'person' | 'agent'
  name: string
  role: string | null
  owner: number | null
}

/** A page of people, then agents. */
export function listMembers(
  tx: ReadTx,
  kind: Member['kind'] | undefined,
  page: PageInput,
): Promise<Page<Member>> {
  const db = sqlOf(tx)
  const people = db
    .selectFrom('people')
    .select(['id', 'name', sql<string | null>`role`.as('role'), sql<number | null>`NULL`.as('owner')])
    .select([sql<Member['kind']>`'person'`.as('kind'), sql<number>`0`.as('rank')])
    .where('account', '=', tx.account)
    .where('left_at', 'is', null)
  const agents = db
    .selectFrom('agents')
    .select(['id', 'name', sql<string | null>`NULL`.as('role'), sql<number | null>`owner`.as('owner')])
    .select([sql<Member['kind']>`'agent'`.as('kind'), sql<number>`1`.as('rank')])
    .where('account', '=', tx.account)
  let query = db
    .selectFrom(people.unionAll(agents).as('m'))
    .select(['m.id', 'm.kind', 'm.name', 'm.role', 'm.owner'])
  if (kind !== undefined) query = query.where('m.kind', '=', kind)
  return pageOf(tx, query, { by: [sql`m.rank`, sql`m.id`], direction: 'asc' }, page)
}

/** The tokens of these agents that still open the door. */
export function liveTokens(
  tx: ReadTx,
  agents: readonly number[],
): Promise<Pick<Row<'tokens'>, 'id' | 'agent' | 'scopes' | 'presets'>[]> {
  return sqlOf(tx)
    .selectFrom('tokens')
    .select(['id', 'agent', 'scopes', 'presets'])
    .where('account', '=', tx.account)
    .where('agent', 'in', [...agents])
    .where('revoked_at', 'is', null)
    .where((eb) => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', tx.now)]))
    .orderBy('id')
    .execute()
}
