import { z } from 'zod'
import { AppError, invalid } from '../model/error.ts'
import { formatId } from '../model/id.ts'
import { LIMITS, STEP_STATUSES } from '../model/task.ts'
import { guardMeaning, meaningChanged, type Stale } from '../store/content.ts'
import { likelyDuplicate } from '../store/duplicate.ts'
import type { ReadTx, WriteTx } from '../store/handle.ts'
import { newestNote } from '../store/note.ts'
import {
  editStep,
  insertSteps,
  reorderSteps,
  setStepStatus,
  stepById,
  stepCounts,
  stepsOf,
  storedStep,
  trashStep,
} from '../store/step.ts'
import type { Row } from '../store/tables.ts'
import { insertTask, taskById } from '../store/task.ts'
import { clearable, expectedVersion, idempotencyKey, idOf, line, taskId, text } from './fields.ts'
import { staleNotes } from './task-answer.ts'
import { definedOnly, newStep } from './task-input.ts'
import { destroy, write } from './tool.ts'
import { sparse, start } from './view.ts'

const stored = z.looseObject({ id: z.string(), task: z.string(), status: z.string(), version: z.int() })

/** How much of a title the answer about many steps repeats. */
const SHORT = 60

export const stepTools = {
  decompose_task: write({
    title: 'Decompose a task',
    does: 'Plan inside a task: several steps, or child tasks; adds only. Steps are the order of one work; child tasks can be given to others.',
    toolset: 'plan',
    noun: 'task',
    input: z.strictObject({
      id: taskId,
      steps: z.array(newStep).min(1).max(LIMITS.steps).optional(),
      subtasks: z.array(newStep).min(1).max(LIMITS.bulk).optional(),
      after: idOf('step').optional().describe('The new steps stand behind this step; else at the end.'),
      idempotency_key: idempotencyKey,
    }),
    output: z.looseObject({ id: z.string(), version: z.int() }),
    http: 'POST /tasks/:id/decompose',
    example: { id: 'T1', steps: [{ title: 'Order the certificate' }, { title: 'Install it' }] },
    run: async (tx, { id, steps, subtasks, after }) => {
      if (!steps && !subtasks) {
        throw invalid('decompose_task needs steps or subtasks.', { allowed: ['steps', 'subtasks'] })
      }
      if (after !== undefined && !steps) throw invalid('after places steps, and there are none.')
      const task = await taskById(tx, id)
      const stale: Stale[] = []
      const added = steps ? await addSteps(tx, task, steps, after, stale) : []
      const { tasks, twins } = await addSubtasks(tx, task, subtasks ?? [], stale)
      return {
        id: formatId('task', id),
        title: task.title,
        version: task.version,
        steps_done: await progress(tx, id),
        ...sparse({
          steps: added.map((step) => ({
            id: formatId('step', step.id),
            title: start(step.title, SHORT).text,
          })),
          subtasks: tasks.map((each) => ({
            id: formatId('task', each.id),
            title: start(each.title, SHORT).text,
            gate: each.auto_ok === 0,
          })),
          likely_duplicates: twins.map((twin) => formatId('task', twin)),
        }),
        ...staleNotes(distinct(stale)),
      }
    },
  }),

  add_step: write({
    title: 'Add a step',
    does: 'Add one step at a place in the order; moves no other.',
    toolset: 'plan',
    noun: 'task',
    input: z.strictObject({
      task_id: taskId,
      ...newStep.shape,
      after: idOf('step').optional().describe('Behind this step; else at the end.'),
      idempotency_key: idempotencyKey,
    }),
    output: stored,
    http: 'POST /tasks/:task_id/steps',
    example: { task_id: 'T1', title: 'Tell the team', after: 'S1' },
    run: async (tx, { task_id, title, description, after }) => {
      const task = await taskById(tx, task_id)
      const twin = (await stepsOf(tx, task.id)).find((step) => step.title === title)
      const stale: Stale[] = []
      const [step] = await addSteps(tx, task, [{ title, description }], after, stale)
      return {
        ...(await stepAnswer(tx, step!)),
        ...(twin ? { likely_duplicate_of: formatId('step', twin.id) } : {}),
        ...staleNotes(stale),
      }
    },
  }),

  update_step: destroy({
    title: 'Update a step',
    does: 'Change a step’s text. Its status: set_step_status.',
    toolset: 'plan',
    noun: 'step',
    convergent: true,
    input: z.strictObject({
      id: idOf('step'),
      title: line(LIMITS.step).optional(),
      description: clearable(text(LIMITS.description)),
      expected_version: expectedVersion,
    }),
    output: stored,
    http: 'PATCH /steps/:id',
    example: { id: 'S1', title: 'Order the new certificate' },
    run: async (tx, { id, title, description, expected_version }) => {
      const step = await stepById(tx, id)
      await taskById(tx, step.task)
      const patch = definedOnly({ title, description: description === null ? '' : description })
      const change = await editStep(tx, step, patch, expected_version)
      return {
        ...(await stepAnswer(tx, change.step)),
        ...(change.changed ? {} : { already: true }),
        ...staleNotes(change.stale),
      }
    },
  }),

  set_step_status: write({
    title: 'Set a step’s status',
    does: 'pending, in_progress, done, skipped or failed, with an optional note; never closes the task (complete_task).',
    toolset: 'plan',
    noun: 'step',
    convergent: true,
    input: z.strictObject({
      id: idOf('step'),
      status: z.enum(STEP_STATUSES),
      note: text(LIMITS.comment).optional(),
    }),
    output: stored,
    http: 'POST /steps/:id/status',
    example: { id: 'S1', status: 'done', note: 'Valid for 90 days.' },
    run: async (tx, { id, status, note }) => {
      const step = await stepById(tx, id)
      await taskById(tx, step.task)
      const change = await setStepStatus(tx, step, status, note)
      const next = (await stepsOf(tx, step.task)).find((each) => each.status === 'pending')
      return {
        ...(await stepAnswer(tx, change.step)),
        ...(change.changed ? {} : { already: true }),
        ...(next ? { next_step: { id: formatId('step', next.id), title: start(next.title, 200).text } } : {}),
        ...staleNotes(change.stale),
      }
    },
  }),

  reorder_steps: destroy({
    title: 'Reorder steps',
    does: 'Put a task’s steps in the order given, which names each of them once.',
    toolset: 'plan',
    noun: 'task',
    convergent: true,
    input: z.strictObject({ task_id: taskId, order: z.array(idOf('step')).min(1).max(LIMITS.steps) }),
    output: z.looseObject({ id: z.string(), steps: z.array(z.looseObject({ id: z.string() })) }),
    http: 'PATCH /tasks/:task_id/steps',
    example: { task_id: 'T1', order: ['S2', 'S1'] },
    run: async (tx, { task_id, order }) => {
      const task = await taskById(tx, task_id)
      const { steps, moved, stale } = await reorderSteps(tx, task, order)
      return {
        id: formatId('task', task_id),
        version: task.version,
        steps: steps.map((step) => ({
          id: formatId('step', step.id),
          title: start(step.title, SHORT).text,
          status: step.status,
          version: step.version,
        })),
        ...(moved.length > 0 ? {} : { already: true }),
        ...staleNotes(stale),
      }
    },
  }),

  delete_step: destroy({
    title: 'Delete a step',
    does: 'Move a step to the Trash. Not needed any more: set_step_status skipped.',
    toolset: 'plan',
    noun: 'step',
    convergent: true,
    input: z.strictObject({ id: idOf('step') }),
    output: z.looseObject({ id: z.string(), trash: z.string() }),
    http: 'DELETE /steps/:id',
    example: { id: 'S2' },
    run: async (tx, { id }) => {
      const step = await storedStep(tx, id)
      const done = step.trash === null ? await trashStep(tx, step) : undefined
      const trash = formatId('trash', done?.entry ?? step.trash!)
      return {
        id: formatId('step', id),
        task: formatId('task', step.task),
        title: step.title,
        trash,
        ...(done ? { next: `restore_from_trash {"ids":["${trash}"]} brings it back.` } : { already: true }),
        ...staleNotes(done?.stale ?? []),
      }
    },
  }),
}

async function addSteps(
  tx: WriteTx,
  task: Row<'tasks'>,
  steps: readonly z.output<typeof newStep>[],
  after: number | undefined,
  stale: Stale[],
): Promise<Row<'steps'>[]> {
  await guardMeaning(tx, task)
  const added = await insertSteps(tx, task, steps, after)
  stale.push(...(await meaningChanged(tx, task)).stale)
  return added
}

async function addSubtasks(
  tx: WriteTx,
  parent: Row<'tasks'>,
  subtasks: readonly z.output<typeof newStep>[],
  stale: Stale[],
): Promise<{ tasks: Row<'tasks'>[]; twins: number[] }> {
  const tasks: Row<'tasks'>[] = []
  const twins: number[] = []
  for (const { title, description } of subtasks) {
    const fields = { title, parent: parent.id, ...(description === undefined ? {} : { description }) }
    const twin = await likelyDuplicate(tx, fields)
    if (twin) twins.push(twin.id)
    const made = await insertTask(tx, fields).catch((error: unknown) => {
      throw named(error, title)
    })
    tasks.push(made.task)
    stale.push(...made.stale)
  }
  return { tasks, twins }
}

/** Which of several was refused. */
function named(error: unknown, title: string): unknown {
  if (!(error instanceof AppError)) return error
  return new AppError(error.code, `"${title.slice(0, 80)}": ${error.message}`, error.details)
}

/** The step as stored, with where its task stands. */
async function stepAnswer(tx: ReadTx, step: Row<'steps'>): Promise<Record<string, unknown>> {
  const description = start(step.description, 2000)
  const note = await newestNote(tx, { task: step.task, kind: 'step', step: step.id })
  const task = formatId('task', step.task)
  return sparse({
    id: formatId('step', step.id),
    task,
    title: step.title,
    status: step.status,
    description: description.text,
    description_length: description.total,
    more: description.total && `get_full_text {"id":"${task}","part":"steps"}`,
    note: note && start(note.text, 1000).text,
    version: step.version,
    steps_done: await progress(tx, step.task),
  })
}

async function progress(tx: ReadTx, task: number): Promise<string> {
  const counts = (await stepCounts(tx, [task])).get(task)
  return counts ? `${counts.done}/${counts.all}` : '0/0'
}

/** A request that several parts of one call voided is named once. */
function distinct(stale: readonly Stale[]): Stale[] {
  return [...new Map(stale.map((each) => [each.request, each])).values()]
}
