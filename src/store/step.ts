import type { ActorId } from '../model/actor.ts'
import { AppError, invalid, notFound } from '../model/error.ts'
import { formatId } from '../model/id.ts'
import { keyBetween } from '../model/order.ts'
import { LIMITS } from '../model/task.ts'
import { inJson } from './dependency.ts'
import { emit, nextNumber, type ReadTx, sqlOf, type WriteTx } from './handle.ts'
import { indexText } from './search-index.ts'
import type { Row } from './tables.ts'
import { checkLength } from './task.ts'
import { trashed } from './trash.ts'

export interface NewStep {
  title: string
  description?: string | undefined
}

/** A task's steps in their order. */
export function stepsOf(tx: ReadTx, task: number): Promise<Row<'steps'>[]> {
  return sqlOf(tx)
    .selectFrom('steps')
    .selectAll()
    .where('account', '=', tx.account)
    .where('task', '=', task)
    .where('trash', 'is', null)
    .orderBy('position')
    .orderBy('id')
    .execute()
}

/** How many steps of each task are finished (done or skipped), of how many. */
export async function stepCounts(
  tx: ReadTx,
  tasks: readonly number[],
): Promise<Map<number, { done: number; all: number }>> {
  const rows = await sqlOf(tx)
    .selectFrom('steps')
    .select((eb) => [
      'task',
      eb.fn.countAll<number>().as('all'),
      eb.fn.countAll<number>().filterWhere('status', 'in', ['done', 'skipped']).as('done'),
    ])
    .where('account', '=', tx.account)
    .where('task', 'in', inJson(tasks))
    .where('trash', 'is', null)
    .groupBy('task')
    .execute()
  return new Map(rows.map(({ task, done, all }) => [task, { done, all }]))
}

/** One step, by number; throws `not_found`, naming the Trash entry if it lies there. */
export async function stepById(tx: ReadTx, id: number): Promise<Row<'steps'>> {
  const step = await sqlOf(tx)
    .selectFrom('steps')
    .selectAll()
    .where('account', '=', tx.account)
    .where('id', '=', id)
    .executeTakeFirst()
  if (!step)
    throw notFound(`There is no step ${formatId('step', id)}.`, { next: 'get_task shows a task’s steps.' })
  if (step.trash !== null) throw trashed(formatId('step', id), step.trash)
  return step
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
  if (present.length + steps.length > LIMITS.steps) {
    throw new AppError(
      'too_large',
      `${formatId('task', task.id)} would have more than ${LIMITS.steps} steps.`,
      {
        next: 'Make some of them subtasks: decompose_task with subtasks.',
      },
    )
  }
  const place = after === undefined ? present.length - 1 : present.findIndex((step) => step.id === after)
  if (after !== undefined && place < 0) {
    throw invalid(`${formatId('step', after)} is not a step of ${formatId('task', task.id)}.`, {
      allowed: present.map((step) => formatId('step', step.id)),
    })
  }
  const added: Row<'steps'>[] = []
  let before = present[place]?.position ?? null
  const next = present[place + 1]?.position ?? null
  const first = await nextNumber(tx, 'step', steps.length)
  for (const [i, step] of steps.entries()) {
    if (step.title.trim() === '') throw invalid('A step’s title is empty.')
    checkLength('step', step.title, LIMITS.step)
    checkLength('description', step.description, LIMITS.description)
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
    await sqlOf(tx).insertInto('steps').values(row).execute()
    await indexText(tx, 'step', row.id, { task: task.id, project: task.project }, [
      row.title,
      row.description,
    ])
    await emit(tx, {
      kind: 'step_added',
      task: task.id,
      project: task.project,
      object: formatId('step', row.id),
    })
    added.push(row)
  }
  return added
}
