import { sql } from 'kysely'
import type { ActorId } from '../model/actor.ts'
import { fold } from '../model/suggest.ts'
import { DUPLICATE_MS } from './duplicate.ts'
import { inNumbers, type ReadTx, sqlOf } from './handle.ts'
import { type RunOnTask, stateOfRun } from './run.ts'
import type { Row } from './tables.ts'
import { visibleTasks } from './task.ts'
import { visibleTrash } from './trash.ts'

/** Whose concerns a digest looks at: everybody's, one project's, or those of some people and agents. */
export interface DigestScope {
  project?: number
  mine?: readonly ActorId[]
}

/**
 * Most rows that one section looks at. Each section reads an index from its own end and stops there, so a digest costs the
 * same in a large account; one with more says "at least".
 */
export const LOOKED = 100

/** A person with the agents that work for them. */
export async function householdOf(tx: ReadTx, person: ActorId): Promise<ActorId[]> {
  const agents = await sqlOf(tx)
    .selectFrom('agents')
    .select('id')
    .where('account', '=', tx.account)
    .where('owner', '=', Number(person.slice(1)))
    .execute()
  return [person, ...agents.map(({ id }): ActorId => `G${id}`)]
}

/** Requests that wait for a person, longest first. */
export function pendingSignOffs(
  tx: ReadTx,
  scope: DigestScope,
): Promise<(Row<'requests'> & { title: string })[]> {
  const { mine } = scope
  return inScope(tx, scope)
    .innerJoin('requests as r', (join) =>
      join.onRef('r.account', '=', 'tasks.account').onRef('r.task', '=', 'tasks.id'),
    )
    .selectAll('r')
    .select('tasks.title')
    .where('r.account', '=', tx.account)
    .where('r.state', '=', 'pending')
    .$if(mine !== undefined, (query) =>
      query.where((eb) =>
        eb.or([eb('r.asked_by', 'in', [...mine!]), eb('tasks.assignee', 'in', [...mine!])]),
      ),
    )
    .orderBy('r.id')
    .limit(LOOKED)
    .execute()
}

/** Questions without an answer, longest first. */
export function openQuestions(
  tx: ReadTx,
  scope: DigestScope,
): Promise<(Row<'questions'> & { title: string | null })[]> {
  const { mine, project } = scope
  const projects = project === undefined ? tx.actor.projects : [project]
  return sqlOf(tx)
    .selectFrom('questions as q')
    .leftJoin('tasks as t', (join) => join.onRef('t.account', '=', 'q.account').onRef('t.id', '=', 'q.task'))
    .selectAll('q')
    .select('t.title')
    .where('q.account', '=', tx.account)
    .where('q.answered_at', 'is', null)
    .where('t.trash', 'is', null)
    .$if(mine !== undefined, (query) => query.where('q.asked_of', 'in', [...mine!]))
    .$if(projects !== undefined, (query) => query.where('t.project', 'in', [...projects!]))
    .orderBy('q.id')
    .limit(LOOKED)
    .execute()
}

/** Open runs without a sign of life past their lease, longest first. */
export function stalledRuns(tx: ReadTx, scope: DigestScope): Promise<RunOnTask[]> {
  const { mine } = scope
  return inScope(tx, scope)
    .innerJoin('runs', (join) =>
      join.onRef('runs.account', '=', 'tasks.account').onRef('runs.task', '=', 'tasks.id'),
    )
    .selectAll('runs')
    .select(['tasks.title', stateOfRun(tx.now).as('state')])
    .where('runs.account', '=', tx.account)
    .where('runs.ended_at', 'is', null)
    .where(stateOfRun(tx.now), '=', 'stalled')
    .$if(mine !== undefined, (query) => query.where('runs.agent', 'in', [...mine!]))
    .orderBy('runs.lease_until')
    .limit(LOOKED)
    .execute()
}

/** Open tasks due before a local date, most urgent first: theirs, and those that nobody is assigned to. */
export async function overdueTasks(tx: ReadTx, scope: DigestScope, today: string): Promise<Row<'tasks'>[]> {
  const late = inScope(tx, scope)
    .selectAll('tasks')
    .where(sql<boolean>`tasks.status NOT IN ('done', 'cancelled')`)
    // In this form the indexes of urgency answer it by one seek a priority.
    .where(sql<boolean>`tasks.priority IN (0, 1, 2, 3) AND COALESCE(tasks.due, '~') < ${today}`)
    .limit(LOOKED)
  const { mine } = scope
  if (mine === undefined) return (await late.execute()).sort(byUrgency)
  const assigned = await late.where('tasks.assignee', 'in', [...mine]).execute()
  const unassigned = await late.where('tasks.assignee', 'is', null).execute()
  return [...assigned, ...unassigned].sort(byUrgency).slice(0, LOOKED)
}

/** Blocked tasks, longest first. */
export async function blockedTasks(tx: ReadTx, scope: DigestScope): Promise<Row<'tasks'>[]> {
  const { mine } = scope
  const found = await inScope(tx, scope)
    .selectAll('tasks')
    .where(sql<boolean>`tasks.status = 'blocked'`)
    .orderBy('tasks.id')
    .limit(LOOKED)
    .execute()
  return mine === undefined
    ? found
    : found.filter((task) => task.assignee === null || mine.includes(task.assignee))
}

/** What agents moved to the Trash since a moment and what is still there, newest first. */
export async function deletionsByAgents(
  tx: ReadTx,
  scope: DigestScope,
  since: number,
): Promise<Row<'trash'>[]> {
  const newest = await visibleTrash(tx)
    .selectAll('trash')
    .where('trash.restored_at', 'is', null)
    .$if(scope.project !== undefined, (query) => query.where('trash.project', '=', scope.project!))
    .orderBy('trash.id', 'desc')
    .limit(LOOKED)
    .execute()
  return newest.filter(
    (entry) =>
      entry.at >= since &&
      entry.by.startsWith('G') &&
      (scope.mine === undefined || scope.mine.includes(entry.by)),
  )
}

/** Agents that were found answering each other in a loop since a moment, newest first. */
export async function loopsSince(
  tx: ReadTx,
  scope: DigestScope,
  since: number,
): Promise<{ task: number; title: string; at: number; agents: string[] }[]> {
  const { mine } = scope
  const events = await sqlOf(tx)
    .selectFrom('events')
    .select(['task', 'at', 'data'])
    .where('account', '=', tx.account)
    .where('kind', '=', 'loop_damped')
    .where('at', '>=', since)
    .orderBy('id', 'desc')
    .limit(LOOKED)
    .execute()
  const tasks = await inScope(tx, scope)
    .select(['tasks.id', 'tasks.title'])
    .where(
      'tasks.id',
      'in',
      inNumbers(
        tx,
        events.flatMap((event) => event.task ?? []),
      ),
    )
    .execute()
  const titles = new Map(tasks.map(({ id, title }) => [id, title]))
  return events.flatMap(({ task, at, data }) => {
    const title = titles.get(task ?? -1)
    const { agents = [] } = JSON.parse(data ?? '{}') as { agents?: string[] }
    const concerned = mine === undefined || agents.some((agent) => mine.includes(agent as ActorId))
    return task !== null && title !== undefined && concerned ? [{ task, title, at, agents }] : []
  })
}

/** Open tasks of the same title and parent, made within 48 hours; each group oldest first. */
export async function likelyDuplicates(
  tx: ReadTx,
  scope: DigestScope,
): Promise<{ id: number; title: string }[][]> {
  const recent = await inScope(tx, scope)
    .select(['tasks.id', 'tasks.title', 'tasks.parent', 'tasks.status'])
    .where('tasks.created_at', '>', tx.now - DUPLICATE_MS)
    .orderBy('tasks.created_at', 'desc')
    .orderBy('tasks.id', 'desc')
    .limit(LOOKED)
    .execute()
  const groups = new Map<string, { id: number; title: string }[]>()
  for (const { id, title, parent, status } of recent.reverse()) {
    if (status === 'done' || status === 'cancelled') continue
    const key = `${parent}|${fold(title.trim())}`
    groups.set(key, [...(groups.get(key) ?? []), { id, title }])
  }
  return [...groups.values()].filter((group) => group.length > 1)
}

function inScope(tx: ReadTx, scope: DigestScope) {
  return visibleTasks(tx).$if(scope.project !== undefined, (query) =>
    query.where('tasks.project', '=', scope.project!),
  )
}

function byUrgency(a: Row<'tasks'>, b: Row<'tasks'>): number {
  return a.priority - b.priority || compare(a.due ?? '~', b.due ?? '~') || a.id - b.id
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
