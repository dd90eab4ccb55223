import { z } from 'zod'
import { invalid } from '../model/error.ts'
import { formatId } from '../model/id.ts'
import { LIMITS } from '../model/task.ts'
import { finishTask } from '../store/approval.ts'
import { likelyDuplicate } from '../store/duplicate.ts'
import type { ReadTx } from '../store/handle.ts'
import { reopenTask } from '../store/reopen.ts'
import { insertTask, type NewTask, taskById, taskInTrash } from '../store/task.ts'
import { shownEntry } from '../store/trash.ts'
import { trashTask } from '../store/trash-task.ts'
import { detail, idempotencyKey, taskId, text } from './fields.ts'
import { finishedAnswer, staleNotes } from './task-answer.ts'
import { newTask, readNewTask } from './task-input.ts'
import { taskRows } from './task-row.ts'
import { wholeTask } from './task-whole.ts'
import { destroy, read, write } from './tool.ts'

const stored = z.looseObject({ id: z.string(), status: z.string(), version: z.int() })

export const taskTools = {
  get_task: read({
    title: 'Get a task',
    does: 'One task whole: news, what you can and can’t do now and why, gate, fields, steps, dependencies, approval, questions, run, artifacts, newest comments, version.',
    toolset: 'tasks',
    noun: 'task',
    input: z.strictObject({ id: taskId, detail }),
    output: stored,
    http: 'GET /tasks/:id',
    example: { id: 'T1' },
    run: async (tx, { id, detail }) => {
      const task = await taskById(tx, id)
      return detail === 'concise' ? (await taskRows(tx, [task]))[0]! : wholeTask(tx, task)
    },
  }),

  create_task: write({
    title: 'Create a task',
    does: 'Add one task, with steps if wanted. search first: likely duplicates are named in the answer.',
    toolset: 'tasks',
    input: z.strictObject({
      ...newTask,
      on_duplicate: z.enum(['create', 'skip']).optional(),
      idempotency_key: idempotencyKey,
    }),
    output: stored,
    http: 'POST /tasks',
    example: { title: 'Rotate the staging certificate', priority: 'high', due: '2030-12-02' },
    run: async (tx, { on_duplicate, idempotency_key, ...input }) => {
      const fields = await readNewTask(tx, input)
      const search = likelyDuplicate(tx, fields)
      if (on_duplicate === 'skip') {
        const twin = await search
        if (twin)
          return { ...(await echo(tx, twin.id)), skipped: true, duplicate_of: formatId('task', twin.id) }
      }
      // What was there before is asked for first, and over a network nothing waits for the answer.
      const [twin, { task, stale }] = await Promise.all([search, insertTask(tx, fields)])
      return {
        ...(await taskRows(tx, [task], 'detailed', partsOfNew(fields)))[0]!,
        ...(twin ? { likely_duplicate_of: formatId('task', twin.id) } : {}),
        ...staleNotes(stale),
      }
    },
  }),

  complete_task: write({
    title: 'Complete a task',
    does: 'The work is finished: closes the task or, where it needs a person, asks for sign-off (awaiting_approval is success: take other work). Ends your run. Last call on a task: attach evidence first.',
    toolset: 'tasks',
    noun: 'task',
    convergent: true,
    input: z.strictObject({ id: taskId, summary: text(LIMITS.comment).optional() }),
    output: stored,
    http: 'POST /tasks/:id/complete',
    example: { id: 'T1', summary: 'Rotated; expires in 90 days.' },
    run: async (tx, { id, summary }) => {
      const task = await taskById(tx, id)
      return finishedAnswer(tx, await finishTask(tx, task, 'done', summary))
    },
  }),

  cancel_task: write({
    title: 'Cancel a task',
    does: 'It should not be done any more, with a reason; the same gate as complete_task.',
    toolset: 'tasks',
    noun: 'task',
    convergent: true,
    input: z.strictObject({ id: taskId, reason: text(LIMITS.comment) }),
    output: stored,
    http: 'POST /tasks/:id/cancel',
    example: { id: 'T1', reason: 'The supplier withdrew.' },
    run: async (tx, { id, reason }) => {
      if (reason.trim() === '')
        throw invalid('The reason is empty.', { next: 'Say why it should not be done any more.' })
      const task = await taskById(tx, id)
      return finishedAnswer(tx, await finishTask(tx, task, 'cancelled', reason))
    },
  }),

  reopen_task: write({
    title: 'Reopen a task',
    does: 'Back to open from done, cancelled or awaiting approval (withdraws your own request).',
    toolset: 'tasks',
    noun: 'task',
    convergent: true,
    input: z.strictObject({ id: taskId, reason: text(LIMITS.comment).optional() }),
    output: stored,
    http: 'POST /tasks/:id/reopen',
    example: { id: 'T8', reason: 'The certificate was the wrong one.' },
    run: async (tx, { id, reason }) => {
      const { already, stale } = await reopenTask(tx, await taskById(tx, id), reason)
      return { ...(await echo(tx, id)), ...(already ? { already: true } : {}), ...staleNotes(stale) }
    },
  }),

  delete_task: destroy({
    title: 'Delete a task',
    does: 'A mistake: to the Trash with its subtasks, restorable. Not for finished (complete_task) or dropped work (cancel_task).',
    toolset: 'tasks',
    noun: 'task',
    convergent: true,
    input: z.strictObject({ id: taskId }),
    output: z.looseObject({ id: z.string(), trash: z.string() }),
    http: 'DELETE /tasks/:id',
    example: { id: 'T1' },
    run: async (tx, { id }) => {
      const gone = await taskInTrash(tx, id)
      if (gone)
        return {
          id: formatId('task', id),
          title: gone.title,
          trash: (await shownEntry(tx, gone.trash!)) ?? 'an entry you can’t see',
          already: true,
        }
      const task = await taskById(tx, id)
      const { entry, tasks, stale } = await trashTask(tx, task)
      return {
        id: formatId('task', id),
        title: task.title,
        trash: formatId('trash', entry),
        tasks,
        next: `restore_from_trash {"ids":["${formatId('trash', entry)}"]} brings it back.`,
        ...staleNotes(stale),
      }
    },
  }),
}

/** The record as stored, which every write answers with. */
async function echo(tx: ReadTx, id: number): Promise<Record<string, unknown>> {
  return (await taskRows(tx, [await taskById(tx, id)], 'detailed'))[0]!
}

/** What a task that was made with these fields has: nobody has added to it yet. */
function partsOfNew({ labels, steps, depends_on }: NewTask) {
  return {
    labels: Boolean(labels?.length),
    steps: Boolean(steps?.length),
    waits: Boolean(depends_on?.length),
    news: false,
  }
}
