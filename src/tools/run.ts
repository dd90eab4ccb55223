import { z } from 'zod'
import type { ActorId } from '../model/actor.ts'
import { formatId } from '../model/id.ts'
import { LIMITS } from '../model/task.ts'
import { partyNamed } from '../store/actor.ts'
import { holderOf } from '../store/claim.ts'
import { listRuns, openRunsOf, RUN_STATES, runById } from '../store/run.ts'
import { countRunEvents, LOG_KINDS, RUN_EVENT_KINDS, runEvents } from '../store/run-log.ts'
import { finishRun, heartbeatRun, logRunEvent, startRun } from '../store/run-work.ts'
import { taskById } from '../store/task.ts'
import { idempotencyKey, idOf, instant, page, party, taskId, text } from './fields.ts'
import { logAnswer, runEcho, runRows, wholeRun } from './run-row.ts'
import { wholeTask } from './task-whole.ts'
import { read, write } from './tool.ts'
import { listAnswer, start } from './view.ts'

const runId = idOf('run')
const progress = z.int().min(0).max(100).optional()
const stored = z.looseObject({ id: z.string(), task: z.string(), state: z.string() })

/** Longest goal of a run, in characters. */
const GOAL = 2000

export const runTools = {
  list_runs: read({
    title: 'List runs',
    does: 'Past and present runs by task, agent, state or start, newest first.',
    toolset: 'runs',
    noun: 'task',
    input: z.strictObject({
      task_id: taskId.optional(),
      agent_id: party.optional(),
      state: z.array(z.enum(RUN_STATES)).optional(),
      since: instant('backward').optional(),
      ...page,
    }),
    output: z.looseObject({ showing: z.int(), runs: z.array(z.looseObject({ id: z.string() })) }),
    http: 'GET /runs',
    example: { task_id: 'T2' },
    run: async (tx, { task_id, agent_id, state, since, ...wanted }) => {
      if (task_id !== undefined) await taskById(tx, task_id)
      const agent = agent_id === undefined ? undefined : await partyNamed(tx, agent_id)
      const runs = await listRuns(tx, { task: task_id, agent, states: state, since }, wanted)
      return listAnswer(tx, runs, 'runs', await runRows(tx, runs.rows))
    },
  }),

  get_run: read({
    title: 'Get a run',
    does: 'One run: state, progress, outcome, the agent’s summary, artifacts, tokens and cost where reported, end of the log.',
    toolset: 'runs',
    noun: 'run',
    input: z.strictObject({ id: runId }),
    output: stored,
    http: 'GET /runs/:id',
    example: { id: 'R1' },
    run: (tx, { id }) => wholeRun(tx, id),
  }),

  list_run_events: read({
    title: 'Read a run’s log',
    does: 'The log of one run, oldest first; after takes the number of a line.',
    toolset: 'runs',
    noun: 'run',
    input: z.strictObject({
      run_id: runId,
      after: z.int().min(0).optional(),
      kinds: z.array(z.enum(RUN_EVENT_KINDS)).optional(),
      limit: page.limit,
    }),
    output: z.looseObject({
      run: z.string(),
      showing: z.int(),
      events: z.array(z.looseObject({ seq: z.int() })),
    }),
    http: 'GET /runs/:run_id/events',
    example: { run_id: 'R1' },
    run: async (tx, { run_id, after = 0, kinds, limit = 25 }) => {
      const { run } = await runById(tx, run_id)
      const lines = await runEvents(tx, run_id, { after, kinds, limit })
      return logAnswer(tx, run, lines, { total: await countRunEvents(tx, run_id, kinds), limit })
    },
  }),

  start_run: write({
    title: 'Start work on a task',
    does: 'Take a task and begin: claims it, opens a run, answers the task whole. Your own open run is resumed (another process with your token is you). Held by another: already_claimed.',
    toolset: 'runs',
    noun: 'task',
    input: z.strictObject({
      task_id: taskId,
      goal: text(GOAL).optional(),
      idempotency_key: idempotencyKey,
    }),
    output: z.looseObject({ id: z.string(), version: z.int(), run: z.looseObject({ id: z.string() }) }),
    http: 'POST /tasks/:task_id/runs',
    example: { task_id: 'T1', goal: 'Order and install the certificate' },
    run: async (tx, { task_id, goal }) => {
      const { run: id, resumed } = await startRun(tx, await taskById(tx, task_id), goal)
      const { run } = await runById(tx, id)
      const others = (await openRunsOf(tx, tx.actor.id as ActorId, 11)).filter((each) => each.id !== id)
      const whole = await wholeTask(tx, await taskById(tx, task_id), run)
      return {
        ...whole,
        ...(resumed
          ? {
              resumed: true,
              resumed_note: `${formatId('run', id)} was open already and is yours. Another process with the same token is the same agent: if one is at work on it now, leave it to that one.`,
            }
          : {}),
        ...(others.length > 0
          ? {
              other_open_runs: others.slice(0, 10).map((each) => ({
                id: formatId('run', each.id),
                task: formatId('task', each.task),
                title: start(each.title, 60).text,
                state: each.state,
              })),
              other_runs_note:
                'These are still open: go on with them by start_run, or end each by finish_run.',
            }
          : {}),
      }
    },
  }),

  log_run_event: write({
    title: 'Log to a run',
    does: 'A line in your run’s own log, and a sign of life; tells nobody. For people: comment_on_task.',
    toolset: 'runs',
    noun: 'run',
    input: z.strictObject({
      run_id: runId,
      kind: z.enum(LOG_KINDS),
      text: text(LIMITS.comment).min(1),
      progress: progress.describe('Percent.'),
      idempotency_key: idempotencyKey,
    }),
    output: z.looseObject({ run: z.string(), seq: z.int() }),
    http: 'POST /runs/:run_id/events',
    example: { run_id: 'R1', kind: 'result', text: 'All 214 tests pass.', progress: 60 },
    run: async (tx, { run_id, kind, text, progress }) => {
      const found = await runById(tx, run_id)
      const line = await logRunEvent(tx, found, { kind, text, progress })
      const lost = found.run.ended_at === null && holderOf(found.task, tx.now) !== tx.actor.id
      const task = formatId('task', found.task.id)
      return {
        run: formatId('run', run_id),
        task,
        seq: line.seq,
        kind,
        text: start(text, 300).text,
        ...(line.progress === null ? {} : { progress: line.progress }),
        ...(line.late
          ? { late: true, next: `The run had ended: ${found.run.state}. The line is kept.` }
          : {}),
        ...(lost
          ? {
              claim_lost: true,
              next: `The lease has lapsed. start_run {"task_id":"${task}"} takes the task again.`,
            }
          : {}),
      }
    },
  }),

  heartbeat_run: write({
    title: 'Keep a run alive',
    does: 'Sign of life when there is nothing to log for minutes: extends the lease.',
    toolset: 'runs',
    noun: 'run',
    input: z.strictObject({ run_id: runId, progress }),
    output: stored,
    http: 'POST /runs/:run_id/heartbeat',
    example: { run_id: 'R1', progress: 50 },
    run: async (tx, { run_id, progress }) => {
      await heartbeatRun(tx, await runById(tx, run_id), progress)
      return runEcho(tx, run_id)
    },
  }),

  finish_run: write({
    title: 'End a run',
    does: 'End your run, also past its lease; the task stays open and is free again. Finished work: complete_task instead, which ends the run too.',
    toolset: 'runs',
    noun: 'run',
    convergent: true,
    input: z.strictObject({
      id: runId,
      outcome: z.enum(['succeeded', 'failed', 'cancelled']),
      summary: text(LIMITS.comment).optional(),
      tokens: z.int().min(0).optional(),
      cost: z.number().min(0).optional(),
    }),
    output: stored,
    http: 'POST /runs/:id/finish',
    example: {
      id: 'R1',
      outcome: 'failed',
      summary: 'The staging host is down.',
      tokens: 18_400,
      cost: 0.21,
    },
    run: async (tx, { id, ...report }) => {
      const found = await runById(tx, id)
      const reported = await finishRun(tx, found, report)
      const task = await taskById(tx, found.task.id)
      return {
        ...(await runEcho(tx, id)),
        ...(report.summary ? { summary: start(report.summary, 300).text } : {}),
        task_status: task.status,
        ...(reported === 'ended' ? {} : { [reported]: true }),
        ...(reported === 'late'
          ? { next: `The run had ended: ${found.run.state}. The report is kept in its log.` }
          : {}),
      }
    },
  }),
}
