import { z } from 'zod'
import { invalid } from '../model/error.ts'
import { formatId } from '../model/id.ts'
import { LIMITS } from '../model/task.ts'
import { addDays, dateOf, today } from '../model/zone.ts'
import { partyNames } from '../store/actor.ts'
import { pendingRequest } from '../store/content.ts'
import { openDependencies } from '../store/dependency.ts'
import type { ReadTx } from '../store/handle.ts'
import { type MyTask, myTasks, openSubtaskCounts } from '../store/my-tasks.ts'
import { type NextTask, nextTask, PASSED_OVER, type PassedOver } from '../store/next-task.ts'
import { projectMeant } from '../store/project-name.ts'
import { runState } from '../store/run.ts'
import { shownTask, shownTasks } from '../store/sight.ts'
import type { Row } from '../store/tables.ts'
import { taskById, tasksByIds } from '../store/task.ts'
import { blockTask, claimTask, type Moved, releaseTask, unblockTask } from '../store/work.ts'
import { detail, page, projectId, taskId, text, when } from './fields.ts'
import { possible } from './possible.ts'
import { taskRows } from './task-row.ts'
import { read, write } from './tool.ts'
import { clockOf, listAnswer, priorityName, shortMoment, start } from './view.ts'

const stored = z.looseObject({ id: z.string(), status: z.string(), version: z.int() })

/** How much of a person's note is shown where work was sent back; get_task shows the rest. */
const NOTE = 500

export const workTools = {
  list_my_tasks: read({
    title: 'List my tasks',
    does: 'Yours: sent back by a person (first, with the note), claimed, left by a run of yours, assigned; each with why and what you can do now.',
    toolset: 'tasks',
    input: z.strictObject({
      due_before: when('forward').optional().describe('Exclusive.'),
      ...page,
      detail,
    }),
    output: z.looseObject({ today: z.string(), showing: z.int(), tasks: z.array(stored) }),
    http: 'GET /me/tasks',
    example: {},
    run: async (tx, { due_before, detail, ...wanted }) => {
      const mine = await myTasks(tx, { dueBefore: due_before?.value }, wanted)
      const tasks = mine.rows.map((each) => each.task)
      const rows = await taskRows(tx, tasks, detail)
      const can = await canOf(tx, tasks)
      const why = await reasonsOf(tx, mine.rows)
      return listAnswer(
        tx,
        mine,
        'tasks',
        rows.map((row, i) => ({ ...row, ...why[i], can: can[i] })),
      )
    },
  }),

  get_next_task: read({
    title: 'Find the next task',
    does: 'The best free task for you and why; why more urgent ones were passed over. Takes nothing: start_run next.',
    toolset: 'tasks',
    input: z.strictObject({ project_id: projectId.optional(), labels: z.array(z.string()).optional() }),
    output: z.looseObject({ today: z.string(), task: stored.nullable() }),
    http: 'GET /next-task',
    example: { project_id: 'P1' },
    run: async (tx, { project_id, labels }) => {
      const project = project_id === undefined ? undefined : (await projectMeant(tx, project_id)).id
      const next = await nextTask(tx, { project, labels })
      const unfinished = (await myTasks(tx, {}, { limit: 5 })).rows.filter(
        (each) => each.reason !== 'assigned',
      )
      return {
        ...clockOf(tx),
        ...(await found(tx, next)),
        passed_over: await passedOver(tx, next),
        ...(unfinished.length > 0
          ? {
              unfinished: unfinished.map(({ task }) => formatId('task', task.id)),
              unfinished_note: 'You have begun these or got them back: list_my_tasks says more.',
            }
          : {}),
      }
    },
  }),

  claim_task: write({
    title: 'Claim a task',
    does: 'Reserve a task without starting (start_run does both). Exactly one caller wins; the lease lapses without a sign of life.',
    toolset: 'tasks',
    noun: 'task',
    convergent: true,
    input: z.strictObject({ id: taskId }),
    output: stored,
    http: 'POST /tasks/:id/claim',
    example: { id: 'T1' },
    run: async (tx, { id }) => movedAnswer(tx, await claimTask(tx, await taskById(tx, id))),
  }),

  release_task: write({
    title: 'Release a task',
    does: 'Give it back for others; the note says how far it got. Frees the claim, ends your run.',
    toolset: 'tasks',
    noun: 'task',
    convergent: true,
    input: z.strictObject({ id: taskId, note: text(LIMITS.comment).optional() }),
    output: stored,
    http: 'POST /tasks/:id/release',
    example: { id: 'T2', note: 'Certificate ordered; installing is left.' },
    run: async (tx, { id, note }) => ({
      ...(await movedAnswer(tx, await releaseTask(tx, await taskById(tx, id), note))),
      ...(note ? { note: start(note, 300).text } : {}),
    }),
  }),

  block_task: write({
    title: 'Block a task',
    does: 'You can’t go on: a reason outside, or by another task, at whose closing the block lifts itself. Frees the claim and ends your run. A person has to decide: ask_question.',
    toolset: 'tasks',
    noun: 'task',
    convergent: true,
    input: z.strictObject({
      id: taskId,
      reason: text(LIMITS.comment).optional(),
      by: taskId.optional(),
    }),
    output: stored,
    http: 'POST /tasks/:id/block',
    example: { id: 'T2', reason: 'The certificate authority is down until tomorrow.' },
    run: async (tx, { id, reason, by }) => {
      if (!reason?.trim() && by === undefined) {
        throw invalid('block_task needs a reason or by, the task that has to be finished first.', {
          next: 'Give one of the two, or both.',
        })
      }
      const moved = await blockTask(tx, await taskById(tx, id), reason?.trim() ? reason : undefined, by)
      return {
        ...(await movedAnswer(tx, moved)),
        ...(reason ? { reason: start(reason, 300).text } : {}),
        ...(moved.task.blocked_by === null
          ? {}
          : { blocked_by: (await shownTasks(tx, [moved.task.blocked_by]))[0] }),
      }
    },
  }),

  unblock_task: write({
    title: 'Lift a block',
    does: 'Lift a block, so that the task is open again; removes no dependency.',
    toolset: 'tasks',
    noun: 'task',
    convergent: true,
    input: z.strictObject({ id: taskId }),
    output: stored,
    http: 'POST /tasks/:id/unblock',
    example: { id: 'T5' },
    run: async (tx, { id }) => movedAnswer(tx, await unblockTask(tx, await taskById(tx, id))),
  }),
}

/** The record as stored, which every write answers with. */
async function movedAnswer(tx: ReadTx, { task, already }: Moved): Promise<Record<string, unknown>> {
  const [record] = await taskRows(tx, [task], 'detailed')
  return { ...record, ...(already ? { already: true } : {}) }
}

/** What the caller can do with each of these tasks now. */
async function canOf(tx: ReadTx, tasks: readonly Row<'tasks'>[]): Promise<string[][]> {
  const ids = tasks.map((task) => task.id)
  const waits = await openDependencies(tx, ids)
  const subtasks = await openSubtaskCounts(tx, ids)
  const can: string[][] = []
  for (const task of tasks) {
    const request = task.status === 'awaiting_approval' ? await pendingRequest(tx, task.id) : undefined
    const waitsFor = (waits.get(task.id) ?? []).map((each) => shownTask(tx, each))
    can.push(possible(tx, task, { waitsFor, openSubtasks: subtasks.get(task.id) ?? 0, request }).can)
  }
  return can
}

/** Why each task is in the caller's list, in words, and the person's note where one was sent back. */
async function reasonsOf(tx: ReadTx, mine: readonly MyTask[]): Promise<Record<string, unknown>[]> {
  const name = await partyNames(tx)
  return mine.map(({ reason, rejection, run, task }) => {
    const runNote = run && `${formatId('run', run.id)} (${runState(run, tx.now, false)})`
    const words = {
      sent_back: `sent back by ${name(rejection?.decided_by)}`,
      claimed: runNote ? `you work on it: ${runNote}` : 'you hold it',
      left: `you left ${runNote} open on it`,
      assigned: 'assigned to you',
    }
    return {
      why:
        reason === 'claimed'
          ? `${words.claimed}, until ${shortMoment(tx, task.claim_until!)}`
          : words[reason],
      ...(rejection
        ? {
            sent_back: {
              request: formatId('request', rejection.id),
              note: start(rejection.note ?? '', NOTE).text,
            },
          }
        : {}),
    }
  })
}

/** The task itself, why it and nothing else, and the literal next call. */
async function found(tx: ReadTx, { task, looked, all }: NextTask): Promise<Record<string, unknown>> {
  if (!task) {
    return {
      task: null,
      next: all
        ? 'Nothing is free for you here. Look at what was passed over, or ask what to do: ask_question.'
        : `None of the ${looked} most urgent tasks is free for you, and there are more. Narrow it by project_id or labels.`,
    }
  }
  const [row] = await taskRows(tx, [task])
  const [can] = await canOf(tx, [task])
  return {
    task: { ...row, can },
    why: whyThis(tx, task),
    next: `start_run {"task_id":"${formatId('task', task.id)}"}`,
  }
}

function whyThis(tx: ReadTx, task: Row<'tasks'>): string[] {
  const now = today({ now: tx.now, zone: tx.actor.zone })
  const due = task.due === null ? undefined : dateOf(task.due)
  return [
    `priority ${priorityName(task.priority)}`,
    due === undefined
      ? 'no due date'
      : due < now
        ? `overdue since ${due}`
        : due === now
          ? 'due today'
          : due === addDays(now, 1)
            ? 'due tomorrow'
            : `due ${due}`,
    task.assignee === tx.actor.id ? 'assigned to you' : 'assigned to nobody',
    'free, and waits for nothing',
  ]
}

/** How many more urgent tasks were passed over and why, and some of them by name. */
async function passedOver(tx: ReadTx, { passed }: NextTask): Promise<Record<string, unknown>> {
  const kinds = [...passed.keys()]
  const counts = Object.fromEntries(kinds.map((kind) => [PASSED_OVER[kind], passed.get(kind)!.count]))
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0)
  if (total === 0) return { total }
  const examples = examplesOf(passed)
  const tasks = await tasksByIds(
    tx,
    examples.map((each) => each.id),
  )
  return {
    total,
    reasons: counts,
    examples: tasks.map((task, i) => ({
      id: formatId('task', task.id),
      title: start(task.title, 60).text,
      why: PASSED_OVER[examples[i]!.kind],
    })),
  }
}

/** Five examples: one of each reason first, then more of them. */
function examplesOf(passed: NextTask['passed']): { id: number; kind: PassedOver }[] {
  const lists = [...passed].map(([kind, { examples }]) => examples.map((id) => ({ id, kind })))
  const turns = lists.flatMap((list) => list.map((each, turn) => ({ each, turn })))
  return turns
    .sort((a, b) => a.turn - b.turn)
    .slice(0, 5)
    .map(({ each }) => each)
}
