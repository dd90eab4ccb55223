import type { ActorId } from '../model/actor.ts'
import { AppError, invalid, notFound } from '../model/error.ts'
import type { NewEvent } from '../model/event.ts'
import { formatId } from '../model/id.ts'
import { keyBetween } from '../model/order.ts'
import { LIMITS, type StepStatus } from '../model/task.ts'
import { versionConflict } from './conflict.ts'
import { guardMeaning, meaningChanged, type Stale } from './content.ts'
import { type DestroyTx, emit, nextNumber, type ReadTx, readQuery, type WriteTx } from './handle.ts'
import { addNote } from './note.ts'
import { insertRow, updateById } from './row.ts'
import { indexText } from './search-index.ts'
import type { Row } from './tables.ts'
import { checkLength, taskById } from './task.ts'
import { newTrashEntry, seesTask, trashed } from './trash.ts'

export interface NewStep {
  title: string
  description?: string | undefined
}

const inOrder = readQuery((db, p: { account: number; task: number }) =>
  db
    .selectFrom('steps')
    .selectAll()
    .where('account', '=', p.account)
    .where('task', '=', p.task)
    .where('trash', 'is', null)
    .orderBy('position')
    .orderBy('id'),
)

/** A task's steps in their order. */
export function stepsOf(tx: ReadTx, task: number): Promise<Row<'steps'>[]> {
  return inOrder(tx, { account: tx.account, task })
}

const countsOfTasks = readQuery((db, p: { account: number; tasks: string }, dialect) =>
  db
    .selectFrom('steps')
    .select((eb) => [
      'task',
      eb.fn.countAll<number>().as('all'),
      eb.fn.countAll<number>().filterWhere('status', 'in', ['done', 'skipped']).as('done'),
    ])
    .where('account', '=', p.account)
    .where('task', 'in', dialect.numbers(p.tasks))
    .where('trash', 'is', null)
    .groupBy('task'),
)

/** How many steps of each task are finished (done or skipped), of how many. */
export async function stepCounts(
  tx: ReadTx,
  tasks: readonly number[],
): Promise<Map<number, { done: number; all: number }>> {
  const rows = await countsOfTasks(tx, { account: tx.account, tasks: JSON.stringify(tasks) })
  return new Map(rows.map(({ task, done, all }) => [task, { done, all }]))
}

/** One step, by number; throws `not_found`, naming the Trash entry if it lies there. */
export async function stepById(tx: ReadTx, id: number): Promise<Row<'steps'>> {
  const step = await storedStep(tx, id)
  if (step.trash !== null) throw trashed(formatId('step', id), step.trash)
  return step
}

const stepByNumber = readQuery((db, p: { account: number; id: number }) =>
  db.selectFrom('steps').selectAll().where('account', '=', p.account).where('id', '=', p.id),
)

/** A step that the caller could see, be it in the Trash or not. */
export async function storedStep(tx: ReadTx, id: number): Promise<Row<'steps'>> {
  const [step] = await stepByNumber(tx, { account: tx.account, id })
  if (step && (await seesTask(tx, step.task))) return step
  throw notFound(`There is no step ${formatId('step', id)}.`, { next: 'get_task shows a task’s steps.' })
}

/**
 * Adds steps behind one step, or at the end, and moves no other. The caller guards and records the change of the task's
 * meaning.
 */
export async function insertSteps(
  tx: WriteTx,
  task: Row<'tasks'>,
  steps: readonly NewStep[],
  after?: number,
): Promise<Row<'steps'>[]> {
  const present = await stepsOf(tx, task.id)
  refuseTooMany(task.id, present.length + steps.length)
  const place = after === undefined ? present.length - 1 : present.findIndex((step) => step.id === after)
  if (after !== undefined && place < 0) {
    throw invalid(`${formatId('step', after)} is not a step of ${formatId('task', task.id)}.`, {
      allowed: present.slice(0, 20).map((step) => formatId('step', step.id)),
    })
  }
  const added: Row<'steps'>[] = []
  let before = present[place]?.position ?? null
  const next = await nextTaken(tx, task.id, before)
  const first = await nextNumber(tx, 'step', steps.length)
  for (const [i, step] of steps.entries()) {
    checkStep(step)
    before = keyBetween(before, next)
    const row: Row<'steps'> = {
      account: tx.account,
      id: first + i,
      task: task.id,
      title: step.title,
      description: step.description ?? '',
      position: before,
      status: 'pending',
      trash: null,
      version: 1,
      created_at: tx.now,
      created_by: tx.actor.id as ActorId,
      updated_at: tx.now,
    }
    await insertRow(tx, 'steps', row)
    await indexStep(tx, task, row)
    await emit(tx, { kind: 'step_added', ...placeOf(task, row) })
    added.push(row)
  }
  return added
}

/** What a change of a step did, for the answer. */
export interface StepChange {
  step: Row<'steps'>
  /** False where everything was already so; then nothing was written. */
  changed: boolean
  stale: Stale[]
}

/** Changes a step's text. The patch is compared with what is stored first, only then `expectedVersion` is checked. */
export async function editStep(
  tx: DestroyTx,
  step: Row<'steps'>,
  patch: { title?: string; description?: string },
  expectedVersion?: number,
): Promise<StepChange> {
  const fields = Object.entries(patch).filter(([name, text]) => text !== step[name as 'title'])
  if (fields.length === 0) return { step, changed: false, stale: [] }
  if (expectedVersion !== undefined && expectedVersion !== step.version) {
    const { title, description, version } = step
    const current = { id: formatId('step', step.id), version, title, description }
    throw versionConflict(current, `get_full_text {"id":"${formatId('task', step.task)}","part":"steps"}`)
  }
  const edited = { ...step, ...patch, version: step.version + 1, updated_at: tx.now }
  checkStep(edited)
  const changes = Object.fromEntries(
    fields.map(([name, text]) => [name, [step[name as 'title'], text] as const]),
  )
  return changeStep(tx, step, edited, { changes })
}

/**
 * Moves a step's status and adds a note where one is given. Never closes the task. The same status and the same note
 * again change nothing.
 */
export async function setStepStatus(
  tx: WriteTx,
  step: Row<'steps'>,
  status: StepStatus,
  note?: string,
): Promise<StepChange> {
  const noted = await addNote(tx, { task: step.task, kind: 'step', step: step.id }, note)
  const data = noted ? { data: { note: note!.slice(0, 500) } } : {}
  if (status !== step.status) {
    const moved = { ...step, status, updated_at: tx.now }
    return changeStep(tx, step, moved, { changes: { status: [step.status, status] }, ...data })
  }
  if (noted)
    await emit(tx, { kind: 'step_updated', ...placeOf(await taskById(tx, step.task), step), ...data })
  return { step, changed: noted, stale: [] }
}

/**
 * Puts a task's steps in the order given, which names each of them once. Rewrites the places of as few as possible: the
 * longest run that already stands in this order stays. Returns the steps whose place changed.
 */
export async function reorderSteps(
  tx: DestroyTx,
  task: Row<'tasks'>,
  order: readonly number[],
): Promise<{ steps: Row<'steps'>[]; moved: Row<'steps'>[]; stale: Stale[] }> {
  const present = await stepsOf(tx, task.id)
  refuseOtherSteps(task.id, present, order)
  const byId = new Map(present.map((step) => [step.id, step]))
  const wanted = order.map((id) => byId.get(id)!)
  const stays = longestRun(wanted)
  const moved = wanted.filter((step) => !stays.has(step.id))
  if (moved.length === 0) return { steps: present, moved, stale: [] }
  await guardMeaning(tx, task)
  let before: string | null = null
  for (const step of wanted) {
    if (!stays.has(step.id)) {
      const position = keyBetween(before, await nextTaken(tx, task.id, before))
      await updateById(tx, 'steps', step.id, { position, version: step.version + 1, updated_at: tx.now })
      before = position
    } else before = step.position
  }
  const { stale } = await meaningChanged(tx, task)
  const ids = (steps: readonly Row<'steps'>[]) => steps.map((step) => formatId('step', step.id))
  await emit(tx, {
    kind: 'step_moved',
    task: task.id,
    project: task.project,
    changes: { order: [ids(present), ids(wanted)] },
  })
  return { steps: await stepsOf(tx, task.id), moved, stale }
}

/** Moves a step to the Trash. */
export async function trashStep(
  tx: DestroyTx,
  step: Row<'steps'>,
): Promise<{ entry: number; stale: Stale[] }> {
  const task = await taskById(tx, step.task)
  await guardMeaning(tx, task)
  const entry = await newTrashEntry(tx, { kind: 'step', title: step.title, ...placeOf(task, step) })
  await updateById(tx, 'steps', step.id, { trash: entry })
  const { stale } = await meaningChanged(tx, task)
  return { entry, stale }
}

/** Refuses more steps than a task can have. */
export function refuseTooMany(task: number, steps: number): void {
  if (steps <= LIMITS.steps) return
  throw new AppError('too_large', `${formatId('task', task)} would have more than ${LIMITS.steps} steps.`, {
    next: 'Make some of them subtasks: decompose_task with subtasks.',
  })
}

/** The words under which a step is found. */
async function indexStep(tx: WriteTx, task: Row<'tasks'>, step: Row<'steps'>): Promise<void> {
  await indexText(tx, 'step', step.id, { task: task.id, project: task.project }, [
    step.title,
    step.description,
  ])
}

async function changeStep(
  tx: WriteTx,
  step: Row<'steps'>,
  changed: Row<'steps'>,
  event: Pick<NewEvent, 'changes' | 'data'>,
): Promise<StepChange> {
  const task = await taskById(tx, step.task)
  await guardMeaning(tx, task)
  const { title, description, status, version } = changed
  await updateById(tx, 'steps', step.id, { title, description, status, version, updated_at: tx.now })
  if (version !== step.version) await indexStep(tx, task, changed)
  const { stale } = await meaningChanged(tx, task)
  await emit(tx, { kind: 'step_updated', ...placeOf(task, step), ...event })
  return { step: changed, changed: true, stale }
}

const firstBehind = readQuery((db, p: { account: number; task: number; position: string }) =>
  db
    .selectFrom('steps')
    .select('position')
    .where('account', '=', p.account)
    .where('task', '=', p.task)
    .where('position', '>', p.position)
    .orderBy('position')
    .limit(1),
)

/** The next place behind this one that is taken. Steps in the Trash keep theirs, so that they come back to it. */
async function nextTaken(tx: ReadTx, task: number, position: string | null): Promise<string | null> {
  const [next] = await firstBehind(tx, { account: tx.account, task, position: position ?? '' })
  return next?.position ?? null
}

function checkStep(step: NewStep): void {
  if (step.title.trim() === '') throw invalid('A step’s title is empty.')
  checkLength('step', step.title, LIMITS.step)
  checkLength('description', step.description, LIMITS.description)
}

/** An order must name exactly the steps that there are, each once. */
function refuseOtherSteps(task: number, present: readonly Row<'steps'>[], order: readonly number[]): void {
  const ids = (numbers: readonly number[]) => numbers.map((id) => formatId('step', id)).join(', ')
  const missing = present.map((step) => step.id).filter((id) => !order.includes(id))
  const extra = order.filter((id) => !present.some((step) => step.id === id))
  const twice = order.filter((id, i) => order.indexOf(id) !== i)
  const wrong = [
    ...(missing.length > 0 ? [`missing: ${ids(missing)}`] : []),
    ...(extra.length > 0 ? [`not steps of it: ${ids(extra)}`] : []),
    ...(twice.length > 0 ? [`named twice: ${ids(twice)}`] : []),
  ]
  if (wrong.length === 0) return
  throw invalid(`order must name each step of ${formatId('task', task)} once; ${wrong.join('; ')}.`, {
    allowed: present.map((step) => formatId('step', step.id)),
    next: 'Send every step of the task, in the order wanted.',
  })
}

/** The longest selection of steps whose places already rise in this order. */
function longestRun(steps: readonly Row<'steps'>[]): Set<number> {
  const lengths: number[] = []
  const previous: number[] = []
  for (const [i, step] of steps.entries()) {
    lengths[i] = 1
    previous[i] = -1
    for (let j = 0; j < i; j++) {
      if (steps[j]!.position < step.position && lengths[j]! + 1 > lengths[i]!) {
        lengths[i] = lengths[j]! + 1
        previous[i] = j
      }
    }
  }
  const run = new Set<number>()
  for (let i = lengths.indexOf(Math.max(0, ...lengths)); i >= 0; i = previous[i]!) run.add(steps[i]!.id)
  return run
}

/** What an event or entry of a step refers to. */
function placeOf(
  task: Row<'tasks'>,
  step: Row<'steps'>,
): { task: number; project: number | null; object: string } {
  return { task: task.id, project: task.project, object: formatId('step', step.id) }
}
