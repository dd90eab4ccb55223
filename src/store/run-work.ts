import type { ActorId } from '../model/actor.ts'
import { type AppError, conflict } from '../model/error.ts'
import { formatId } from '../model/id.ts'
import { ownerOf, partyNames } from './actor.ts'
import { alreadyClaimed, extendLeases, FREE, holderOf } from './claim.ts'
import { emit, nextNumber, type ReadTx, type WriteTx } from './handle.ts'
import { addNote } from './note.ts'
import { notify } from './notification.ts'
import { insertRow, updateById } from './row.ts'
import { endRun, openRunOf, type RunOnTask, summaryOfRun } from './run.ts'
import { addRunEvent, emitRunEvent, hasLateEvent, type RunEventKind } from './run-log.ts'
import { indexText } from './search-index.ts'
import type { Row } from './tables.ts'
import { updateRow } from './task.ts'
import { claimFree } from './work.ts'

/**
 * Begins work: takes the claim and opens a run, in one transaction, so that of any number of callers one wins. The
 * caller's own open run on the task is resumed instead, under a new claim where the old one has lapsed.
 */
export async function startRun(
  tx: WriteTx,
  task: Row<'tasks'>,
  goal: string | undefined,
): Promise<{ run: number; resumed: boolean }> {
  const open = await openRunOf(tx, task.id, tx.actor.id as ActorId)
  const holds = holderOf(task, tx.now) === tx.actor.id
  const claim = holds ? { until: task.claim_until! } : await claimFree(tx, task)
  const run = open
    ? await resumeRun(tx, open, goal, claim.until)
    : await insertRun(tx, task, goal, claim.until)
  const event = await emit(tx, {
    kind: open ? 'run_resumed' : 'run_started',
    task: task.id,
    project: task.project,
    object: formatId('run', run.id),
    ...(claim.lapsed ? { data: { lapsed: claim.lapsed } } : {}),
  })
  await notify(tx, [claim.lapsed], 'lease_lapsed', event, task.id)
  await indexText(tx, 'run', run.id, { task: task.id, project: task.project }, [run.goal])
  return { run: run.id, resumed: open !== undefined }
}

async function insertRun(
  tx: WriteTx,
  task: Row<'tasks'>,
  goal: string | undefined,
  until: number,
): Promise<Row<'runs'>> {
  const run: Row<'runs'> = {
    account: tx.account,
    id: await nextNumber(tx, 'run'),
    task: task.id,
    agent: tx.actor.id as ActorId,
    goal: goal || null,
    outcome: null,
    progress: null,
    tokens: null,
    cost: null,
    started_at: tx.now,
    last_sign_at: tx.now,
    signs: 0,
    lease_until: until,
    ended_at: null,
  }
  await insertRow(tx, 'runs', run)
  return run
}

/** The goal of a run is not replaced: another one, given when it is resumed, stands in the log. */
async function resumeRun(
  tx: WriteTx,
  run: Row<'runs'>,
  goal: string | undefined,
  until: number,
): Promise<Row<'runs'>> {
  const first = goal && run.goal === null ? goal : run.goal
  await updateById(tx, 'runs', run.id, { goal: first, lease_until: until, last_sign_at: tx.now, signs: 1 })
  await addRunEvent(tx, run, { kind: 'resumed', text: goal && goal !== first ? goal : '' })
  return { ...run, goal: first }
}

/**
 * A line in the log of a run. On a run that has ended it is kept all the same, marked as late.
 */
export async function logRunEvent(
  tx: WriteTx,
  { run, task }: { run: Row<'runs'>; task: Row<'tasks'> },
  line: { kind: RunEventKind; text: string; progress?: number | undefined },
): Promise<Row<'run_events'>> {
  await refuseOthersRun(tx, run, 'comment_on_task tells its agent something.')
  const added = await addRunEvent(tx, run, { ...line, late: run.ended_at !== null })
  if (line.progress !== undefined && run.ended_at === null) {
    await updateById(tx, 'runs', run.id, { progress: line.progress })
  }
  await emitRunEvent(tx, task, run, added)
  return added
}

/**
 * A sign of life with nothing to say. It leaves no event, since nothing happened; progress that moved does. Refused
 * where the claim is lost: what the caller believes to hold is free, or somebody else's.
 */
export async function heartbeatRun(
  tx: WriteTx,
  { run, task }: { run: RunOnTask; task: Row<'tasks'> },
  progress: number | undefined,
): Promise<void> {
  await refuseOthersRun(tx, run, 'Only its agent can keep it alive.')
  const id = formatId('run', run.id)
  if (run.ended_at !== null) {
    throw conflict(`${id} has ended: ${run.state}.`, {
      next: `start_run {"task_id":"${formatId('task', task.id)}"} begins another.`,
    })
  }
  if (holderOf(task, tx.now) !== tx.actor.id) throw await claimLost(tx, run, task)
  await extendLeases(tx, [task.id])
  if (progress === undefined || progress === run.progress) return
  await updateById(tx, 'runs', run.id, { progress })
  await emitRunEvent(tx, task, run, await addRunEvent(tx, run, { kind: 'progress', text: '', progress }))
}

/** The refusal of a sign of life for a claim that has lapsed or was taken away. */
async function claimLost(tx: ReadTx, run: Row<'runs'>, task: Row<'tasks'>): Promise<AppError> {
  if (holderOf(task, tx.now)) return alreadyClaimed(tx, task)
  const [runId, taskId] = [formatId('run', run.id), formatId('task', task.id)]
  const lapsed = run.lease_until <= tx.now
  return conflict(
    `${lapsed ? `The lease of ${runId} lapsed at ${new Date(run.lease_until).toISOString()}` : `${runId} has lost its claim`}; nobody holds ${taskId} now.`,
    {
      next: `start_run {"task_id":"${taskId}"} takes it again and resumes ${runId}; finish_run ends it.`,
    },
  )
}

export interface Outcome {
  outcome: NonNullable<Row<'runs'>['outcome']>
  summary?: string | undefined
  tokens?: number | undefined
  cost?: number | undefined
}

/** How a report of the end was taken: it ended the run, came late and was kept, or was known already. */
export type Reported = 'ended' | 'late' | 'already'

/**
 * Ends a run, also past its lease. The task stays open, and free if the run's agent held it. A report on a run that has
 * ended already changes nothing of it: where it says something new, it is kept in the log.
 */
export async function finishRun(
  tx: WriteTx,
  { run, task }: { run: Row<'runs'>; task: Row<'tasks'> },
  report: Outcome,
): Promise<Reported> {
  if (tx.actor.kind !== 'person') await refuseOthersRun(tx, run, 'Only its agent or a person can end it.')
  if (run.ended_at !== null) return reportLate(tx, run, task, report)
  const { outcome, summary, tokens, cost } = report
  await addNote(tx, { task: task.id, kind: 'summary', run: run.id }, summary)
  const event = await endRun(tx, run, task, outcome, {
    ...(tokens === undefined ? {} : { tokens }),
    ...(cost === undefined ? {} : { cost }),
  })
  if (task.claimed_by === run.agent && task.status === 'in_progress') {
    await updateRow(tx, task.id, { ...FREE, status: 'open' })
  }
  await indexText(tx, 'run', run.id, { task: task.id, project: task.project }, [run.goal, summary])
  const people = outcome === 'failed' ? [await ownerOf(tx, run.agent), task.assignee] : []
  await notify(tx, [run.agent, ...people], 'run_ended', event, task.id, formatId('run', run.id))
  return 'ended'
}

async function reportLate(
  tx: WriteTx,
  run: Row<'runs'>,
  task: Row<'tasks'>,
  { outcome, summary, tokens, cost }: Outcome,
): Promise<Reported> {
  const known =
    outcome === run.outcome &&
    (!summary || summary === (await summaryOfRun(tx, run))?.text) &&
    (tokens === undefined || tokens === run.tokens) &&
    (cost === undefined || cost === run.cost)
  const text = [
    `Reported after the end: ${outcome}.`,
    ...(tokens === undefined ? [] : [`Tokens: ${tokens}.`]),
    ...(cost === undefined ? [] : [`Cost: ${cost}.`]),
    ...(summary ? [summary] : []),
  ].join(' ')
  if (known || (await hasLateEvent(tx, run.id, text))) return 'already'
  const line = await addRunEvent(tx, run, { kind: 'result', text, late: true })
  // What nobody has reported yet is no contradiction, and a host often knows the cost only after the end.
  await updateById(tx, 'runs', run.id, {
    tokens: run.tokens ?? tokens ?? null,
    cost: run.cost ?? cost ?? null,
  })
  await emitRunEvent(tx, task, run, line)
  return 'late'
}

/** The log of a run is its agent's own account. */
async function refuseOthersRun(tx: ReadTx, run: Row<'runs'>, next: string): Promise<void> {
  if (run.agent === tx.actor.id) return
  const name = (await partyNames(tx))(run.agent)
  throw conflict(`${formatId('run', run.id)} is a run of ${name}, not yours.`, { next })
}
