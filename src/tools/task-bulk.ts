import { z } from 'zod'
import { AppError, invalid } from '../model/error.ts'
import { formatId, parseId } from '../model/id.ts'
import { LIMITS } from '../model/task.ts'
import type { Stale } from '../store/content.ts'
import { addDependencies } from '../store/dependency.ts'
import { likelyDuplicate } from '../store/duplicate.ts'
import type { WriteTx } from '../store/handle.ts'
import type { Row } from '../store/tables.ts'
import { insertTask, tasksByIds } from '../store/task.ts'
import { idempotencyKey, projectId } from './fields.ts'
import { staleNotes } from './task-answer.ts'
import { newTask, readNewTask } from './task-input.ts'
import { taskRows } from './task-row.ts'
import { write } from './tool.ts'

/** A task of a plan; its ref names it for the others, before it has an id. */
const plannedTask = z.strictObject({
  ...newTask,
  ref: z.string().min(1).max(100).optional(),
  parent_id: z.string().optional().describe('An id, or a ref of this call.'),
  depends_on: z.array(z.string()).max(LIMITS.bulk).optional(),
})

type Planned = z.output<typeof plannedTask>

export const taskBulkTools = {
  create_tasks: write({
    title: 'Create several tasks',
    does: 'Add up to 100 tasks with order among them; all or none. Each may have a ref, by which parent_id and depends_on of the others name it.',
    toolset: 'tasks',
    input: z.strictObject({
      tasks: z.array(plannedTask).min(1).max(LIMITS.bulk),
      project_id: projectId.optional(),
      idempotency_key: idempotencyKey,
    }),
    output: z.looseObject({ created: z.int(), tasks: z.array(z.looseObject({ id: z.string() })) }),
    http: 'POST /task-batches',
    example: {
      project_id: 'P1',
      tasks: [
        { ref: 'draft', title: 'Draft the copy' },
        { title: 'Publish the copy', depends_on: ['draft'] },
      ],
    },
    run: async (tx, { tasks, project_id }) => {
      checkRefs(tasks)
      const made = new Map<string, Row<'tasks'>>()
      const created: { planned: Planned; task: Row<'tasks'>; twin: number | undefined }[] = []
      const stale: Stale[] = []
      for (const planned of parentsFirst(tasks)) {
        const one = await createOne(tx, planned, project_id, made)
        created.push(one)
        stale.push(...one.stale)
      }
      // Order among them comes when all exist, so that a task may wait for one that stands behind it.
      for (const { planned, task } of created) {
        const targets = (planned.depends_on ?? []).map((name) => idNamed(name, made))
        if (targets.length > 0) await inRefs(made, () => addDependencies(tx, task, targets))
      }
      const inOrder = tasks.map((planned) => created.find((each) => each.planned === planned)!)
      const rows = await taskRows(
        tx,
        await tasksByIds(
          tx,
          inOrder.map(({ task }) => task.id),
        ),
      )
      return {
        created: rows.length,
        tasks: rows.map((row, i) => ({
          ...(inOrder[i]!.planned.ref ? { ref: inOrder[i]!.planned.ref } : {}),
          ...row,
          ...(inOrder[i]!.twin ? { likely_duplicate_of: formatId('task', inOrder[i]!.twin!) } : {}),
        })),
        ...staleNotes(stale),
      }
    },
  }),
}

async function createOne(
  tx: WriteTx,
  planned: Planned,
  project: string | undefined,
  made: Map<string, Row<'tasks'>>,
): Promise<{ planned: Planned; task: Row<'tasks'>; twin: number | undefined; stale: Stale[] }> {
  const { ref, parent_id, depends_on, ...rest } = planned
  const fields = await readNewTask(tx, {
    ...rest,
    project_id: rest.project_id ?? project,
    parent_id: parent_id === undefined ? undefined : idNamed(parent_id, made),
  })
  const twin = await likelyDuplicate(tx, fields)
  const { task, stale } = await insertTask(tx, fields)
  if (ref !== undefined) made.set(ref, task)
  return { planned, task, twin: twin?.id, stale }
}

/** All or none: ids of tasks that will then not exist mean nothing to the caller, whose own names are the refs. */
async function inRefs<T>(made: ReadonlyMap<string, Row<'tasks'>>, run: () => Promise<T>): Promise<T> {
  try {
    return await run()
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    const refs = new Map([...made].map(([ref, task]) => [formatId('task', task.id), ref]))
    const message = error.message.replace(/\bT\d+\b/g, (id) => refs.get(id) ?? id)
    throw new AppError(error.code, message, {
      ...error.details,
      next: 'Change depends_on or parent_id of one of these.',
    })
  }
}

/** Refs are names of this call: each once, and never in the form of an id, which would be read as one. */
function checkRefs(tasks: readonly Planned[]): void {
  const seen = new Set<string>()
  for (const { ref } of tasks) {
    if (ref === undefined) continue
    if (/^\s*[A-Za-z]?\d+(\s|$)/.test(ref)) {
      throw invalid(`The ref "${ref}" has the form of an id.`, { next: 'Use a word, such as "draft".' })
    }
    if (seen.has(ref))
      throw invalid(`The ref "${ref}" is used twice.`, { next: 'Give each task its own ref.' })
    seen.add(ref)
  }
}

/** Parents before their children, else as given. Refuses refs that are missing or go round. */
function parentsFirst(tasks: readonly Planned[]): Planned[] {
  const byRef = new Map(tasks.flatMap((task) => (task.ref === undefined ? [] : [[task.ref, task] as const])))
  const ordered = new Set<Planned>()
  const visit = (task: Planned, path: readonly Planned[]): void => {
    if (path.includes(task)) {
      throw invalid(`The parents go round: ${[...path, task].map((each) => each.ref).join(' → ')}.`)
    }
    const parent = task.parent_id === undefined ? undefined : byRef.get(task.parent_id)
    if (parent) visit(parent, [...path, task])
    ordered.add(task)
  }
  for (const task of tasks) visit(task, [])
  return [...ordered]
}

function idNamed(name: string, made: ReadonlyMap<string, Row<'tasks'>>): number {
  const task = made.get(name)
  if (task) return task.id
  if (/^\s*[Tt]?\d+(\s|$)/.test(name)) return parseId(name, 'task').number
  throw invalid(`"${name.slice(0, 80)}" is neither an id of a task nor a ref of this call.`, {
    allowed: [...made.keys()].slice(0, 20),
  })
}
