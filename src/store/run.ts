import { type RawBuilder, type SelectQueryBuilder, sql } from 'kysely'
import type { ActorId } from '../model/actor.ts'
import { notFound } from '../model/error.ts'
import { formatId } from '../model/id.ts'
import { emit, inNumbers, type ReadTx, readQuery, sqlOf, type WriteTx } from './handle.ts'
import { newestNote } from './note.ts'
import { type Page, type PageInput, pageOf } from './page.ts'
import { updateById } from './row.ts'
import type { Database, Row } from './tables.ts'
import { taskById } from './task.ts'
import { seesTask } from './trash.ts'

const openOfAgent = readQuery((db, p: { account: number; task: number; agent: ActorId }) =>
  db
    .selectFrom('runs')
    .selectAll()
    .where('account', '=', p.account)
    .where('task', '=', p.task)
    .where('agent', '=', p.agent)
    .where('ended_at', 'is', null),
)

/** An agent's open run on a task, if it has one. */
export async function openRunOf(tx: ReadTx, task: number, agent: ActorId): Promise<Row<'runs'> | undefined> {
  return (await openOfAgent(tx, { account: tx.account, task, agent }))[0]
}

const openThenNewest = readQuery((db, p: { account: number; task: number }) =>
  db
    .selectFrom('runs')
    .selectAll()
    .where('account', '=', p.account)
    .where('task', '=', p.task)
    .orderBy((eb) => eb('ended_at', 'is not', null))
    .orderBy('id', 'desc')
    .limit(1),
)

/** The newest run on a task, open ones first. */
export async function newestRunOf(tx: ReadTx, task: number): Promise<Row<'runs'> | undefined> {
  return (await openThenNewest(tx, { account: tx.account, task }))[0]
}

const newestLines = readQuery((db, p: { account: number; run: number; limit: number }) =>
  db
    .selectFrom('run_events')
    .selectAll()
    .where('account', '=', p.account)
    .where('run', '=', p.run)
    .orderBy('seq', 'desc')
    .limit(p.limit),
)

/** The last lines of a run's log, oldest of them first. */
export async function lastRunEvents(tx: ReadTx, run: number, limit: number): Promise<Row<'run_events'>[]> {
  return (await newestLines(tx, { account: tx.account, run, limit })).reverse()
}

/** How a run stands, derived from what is stored (spec: product, "Agents at work"). */
export type RunState = 'starting' | 'working' | 'waiting' | 'stalled' | 'succeeded' | 'failed' | 'cancelled'

export const RUN_STATES = [
  'starting',
  'working',
  'waiting',
  'stalled',
  'succeeded',
  'failed',
  'cancelled',
] as const satisfies readonly RunState[]

/** An open run waits where its agent asked a person; past its lease it has stalled. */
export function runState(run: Row<'runs'>, now: number, waits: boolean): RunState {
  if (run.outcome !== null) return run.outcome
  if (waits) return 'waiting'
  if (run.lease_until <= now) return 'stalled'
  return run.signs ? 'working' : 'starting'
}

/** {@link runState} in SQL, for lists that are filtered or ordered by it. Reads the table `runs`. */
export function stateOfRun(now: number): RawBuilder<RunState> {
  return sql<RunState>`CASE
    WHEN runs.outcome IS NOT NULL THEN runs.outcome
    WHEN EXISTS (SELECT 1 FROM requests q WHERE q.account = runs.account AND q.task = runs.task
        AND q.state = 'pending' AND q.asked_by = runs.agent)
      OR EXISTS (SELECT 1 FROM questions q WHERE q.account = runs.account AND q.task = runs.task
        AND q.answered_at IS NULL AND q.holds_task = 1 AND q.asked_by = runs.agent) THEN 'waiting'
    WHEN runs.lease_until <= ${now} THEN 'stalled'
    WHEN runs.signs = 1 THEN 'working'
    ELSE 'starting' END`
}

/** A run with its state and what its task is called. */
export type RunOnTask = Row<'runs'> & { state: RunState; title: string }

const withState = readQuery((db, p: { account: number; id: number; now: number }) =>
  db
    .selectFrom('runs')
    .selectAll()
    .select(stateOfRun(p.now).as('state'))
    .where('account', '=', p.account)
    .where('id', '=', p.id),
)

/** One run, by number, with its task; `not_found` where the caller can't see the task. */
export async function runById(tx: ReadTx, id: number): Promise<{ run: RunOnTask; task: Row<'tasks'> }> {
  const [found] = await withState(tx, { account: tx.account, id, now: tx.now })
  if (!found || !(await seesTask(tx, found.task)))
    throw notFound(`There is no run ${formatId('run', id)}.`, { next: 'list_runs shows them all.' })
  const task = await taskById(tx, found.task)
  return { run: { ...found, title: task.title }, task }
}

/** Which runs a list shows; what is undefined does not narrow. */
export interface RunFilter {
  task?: number | undefined
  agent?: ActorId | null | undefined
  states?: readonly RunState[] | undefined
  /** Milliseconds since the epoch; runs that began then or later. */
  since?: number | undefined
}

/** A page of runs on tasks that the caller can see, newest first. */
export function listRuns(tx: ReadTx, filter: RunFilter, page: PageInput): Promise<Page<RunOnTask>> {
  let query = visibleRuns(tx)
  if (filter.task !== undefined) query = query.where('runs.task', '=', filter.task)
  if (filter.agent !== undefined)
    query = query.where('runs.agent', filter.agent === null ? 'is' : '=', filter.agent)
  if (filter.since !== undefined) query = query.where('runs.started_at', '>=', filter.since)
  if (filter.states !== undefined) {
    query = query.where(stateOfRun(tx.now), 'in', [...filter.states])
    // Open runs are few and have an index of their own.
    if (!filter.states.some((state) => ENDED.includes(state)))
      query = query.where('runs.ended_at', 'is', null)
  }
  return pageOf(tx, query, { by: [sql`runs.id`], direction: 'desc' }, page)
}

const ENDED: readonly RunState[] = ['succeeded', 'failed', 'cancelled']

const [openOfAnAgent, openInProjects] = [false, true].map((narrow) =>
  readQuery((db, p: Seen & { agent: ActorId; limit: number }, dialect) =>
    runsOnTasks(db, p, narrow ? dialect.numbers(p.projects!) : undefined)
      .where('runs.agent', '=', p.agent)
      .where('runs.ended_at', 'is', null)
      .orderBy('runs.id', 'desc')
      .limit(p.limit),
  ),
)

/** An agent's open runs on tasks that the caller can see, newest first. */
export function openRunsOf(tx: ReadTx, agent: ActorId, limit: number): Promise<RunOnTask[]> {
  const query = tx.actor.projects === undefined ? openOfAnAgent! : openInProjects!
  return query(tx, { ...seenBy(tx), agent, limit })
}

function visibleRuns(tx: ReadTx): SelectQueryBuilder<Database, 'runs' | 'tasks', RunOnTask> {
  const { projects } = tx.actor
  return runsOnTasks(sqlOf(tx), seenBy(tx), projects && inNumbers(tx, projects))
}

/** What visible runs are told by; the projects as JSON. */
interface Seen {
  account: number
  now: number
  projects: string | undefined
}

function seenBy({ account, now, actor }: ReadTx): Seen {
  return { account, now, projects: actor.projects && JSON.stringify(actor.projects) }
}

function runsOnTasks(
  db: ReturnType<typeof sqlOf>,
  { account, now }: Seen,
  projects: RawBuilder<number> | undefined,
): SelectQueryBuilder<Database, 'runs' | 'tasks', RunOnTask> {
  return db
    .selectFrom('runs')
    .innerJoin('tasks', (join) =>
      join.onRef('tasks.account', '=', 'runs.account').onRef('tasks.id', '=', 'runs.task'),
    )
    .selectAll('runs')
    .select(['tasks.title', stateOfRun(now).as('state')])
    .where('runs.account', '=', account)
    .where('tasks.trash', 'is', null)
    .$if(projects !== undefined, (query) => query.where('tasks.project', 'in', projects!))
}

/** The agent's account of a run: what finish_run was given, or the summary with which the task was finished. */
export async function summaryOfRun(tx: ReadTx, run: Row<'runs'>): Promise<Row<'notes'> | undefined> {
  const own = await newestNote(tx, { task: run.task, kind: 'summary', run: run.id })
  if (own || run.ended_at === null) return own
  const finished = await newestNote(tx, { task: run.task, kind: 'summary' })
  return finished?.at === run.ended_at && finished.by === run.agent ? finished : undefined
}

/** Ends the caller's open run on a task, where it has one. */
export async function endOwnRun(
  tx: WriteTx,
  task: Row<'tasks'>,
  outcome: NonNullable<Row<'runs'>['outcome']>,
): Promise<Row<'runs'> | undefined> {
  const run = await openRunOf(tx, task.id, tx.actor.id as ActorId)
  if (run) await endRun(tx, run, task, outcome)
  return run
}

const openOnTask = readQuery((db, p: { account: number; task: number }) =>
  db
    .selectFrom('runs')
    .selectAll()
    .where('account', '=', p.account)
    .where('task', '=', p.task)
    .where('ended_at', 'is', null),
)

/** Ends every open run on a task that closes; a late report on one is still kept. */
export async function endRuns(
  tx: WriteTx,
  task: Row<'tasks'>,
  outcome: NonNullable<Row<'runs'>['outcome']>,
): Promise<void> {
  const open = await openOnTask(tx, { account: tx.account, task: task.id })
  for (const run of open) await endRun(tx, run, task, outcome)
}

/** Writes down how a run ended. Returns the number of its event. */
export async function endRun(
  tx: WriteTx,
  run: Row<'runs'>,
  task: Row<'tasks'>,
  outcome: NonNullable<Row<'runs'>['outcome']>,
  figures: { tokens?: number; cost?: number } = {},
): Promise<number> {
  await updateById(tx, 'runs', run.id, { outcome, ended_at: tx.now, last_sign_at: tx.now, ...figures })
  return emit(tx, {
    kind: 'run_ended',
    task: task.id,
    project: task.project,
    object: formatId('run', run.id),
    data: { outcome },
  })
}
