import { formatId } from '../model/id.ts'
import { nextDates, takeFromCount } from '../model/recurrence.ts'
import { LIMITS } from '../model/task.ts'
import { addDays, dateOf, today } from '../model/zone.ts'
import { accountOf } from './account.ts'
import { type ReadTx, sqlOf, type WriteTx } from './handle.ts'
import { labelsOf } from './label.ts'
import { projectById } from './project.ts'
import { shownTasks } from './sight.ts'
import { stepsOf } from './step.ts'
import type { Row } from './tables.ts'
import { childrenOf, insertTask } from './task.ts'

/** What follows a recurring task: the task, or why none could be made although the rule goes on. */
export type Successor = { task: Row<'tasks'> } | { withheld: string }

/**
 * The next occurrence of a recurring task that has just closed: a new open task in the future, which inherits what a
 * person set (auto-OK included) and no sign-off. A task makes at most one successor, ever; a rule that has ended makes
 * none, and a place that takes no more tasks never keeps its tasks from closing.
 */
export async function makeSuccessor(tx: WriteTx, task: Row<'tasks'>): Promise<Successor | undefined> {
  if (task.recurrence === null) return undefined
  const made = await sqlOf(tx)
    .selectFrom('tasks')
    .select('id')
    .where('account', '=', tx.account)
    .where('succeeds', '=', task.id)
    .executeTakeFirst()
  if (made) return undefined
  const [due] = await nextOccurrences(tx, task, 1)
  const recurrence = due && takeFromCount(task.recurrence)
  if (!due || !recurrence) return undefined
  const withheld = await noRoomFor(tx, task)
  if (withheld) return { withheld }
  const { task: successor } = await insertTask(
    tx,
    {
      title: task.title,
      description: task.description,
      project: task.project,
      parent: task.parent,
      priority: task.priority,
      due,
      scheduled: shifted(task, due),
      estimate: task.estimate,
      assignee: task.assignee,
      recurrence,
      recurrence_anchor: task.recurrence_anchor,
      labels: (await labelsOf(tx, [task.id])).get(task.id) ?? [],
      steps: (await stepsOf(tx, task.id)).map(({ title, description }) => ({ title, description })),
    },
    task,
  )
  return { task: successor }
}

/**
 * The next due dates of a recurring task, all in the future by the account's zone: counted from its due date, or from now
 * where it is anchored to completion. The time of day stays.
 */
export async function nextOccurrences(tx: ReadTx, task: Row<'tasks'>, count: number): Promise<string[]> {
  if (task.recurrence === null) return []
  const { zone } = await accountOf(tx)
  const now = today({ now: tx.now, zone })
  const start =
    task.due === null || task.recurrence_anchor === 'completion' ? now + (task.due ?? '').slice(10) : task.due
  const after = [dateOf(start), now].sort().at(-1)!
  return nextDates(task.recurrence, start, count, after)
}

async function noRoomFor(tx: ReadTx, task: Row<'tasks'>): Promise<string | undefined> {
  if (task.project !== null && (await projectById(tx, task.project)).archived_at !== null) {
    return `${formatId('project', task.project)} is archived`
  }
  if (task.parent !== null && (await childrenOf(tx, task.parent)).length >= LIMITS.children) {
    const [parent] = await shownTasks(tx, [task.parent])
    return `${parent} has ${LIMITS.children} subtasks, the most there can be`
  }
  return undefined
}

/** The planned start keeps its distance from the due date. */
function shifted(task: Row<'tasks'>, due: string): string | null {
  if (task.scheduled === null || task.due === null) return null
  const days = Math.round((Date.parse(dateOf(task.scheduled)) - Date.parse(dateOf(task.due))) / 86_400_000)
  return addDays(dateOf(due), days) + task.scheduled.slice(10)
}
