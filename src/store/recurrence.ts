import { nextDates, takeFromCount } from '../model/recurrence.ts'
import { addDays, dateOf, today } from '../model/zone.ts'
import { accountOf } from './account.ts'
import { sqlOf, type WriteTx } from './handle.ts'
import { labelsOf } from './label.ts'
import { stepsOf } from './step.ts'
import type { Row } from './tables.ts'
import { insertTask } from './task.ts'

/**
 * The next occurrence of a recurring task that has just closed: a new open task in the future, which inherits what a
 * person set (auto-OK included) and no sign-off. A task makes at most one successor, ever; a rule that has ended makes
 * none.
 */
export async function makeSuccessor(tx: WriteTx, task: Row<'tasks'>): Promise<Row<'tasks'> | undefined> {
  if (task.recurrence === null) return undefined
  const made = await sqlOf(tx)
    .selectFrom('tasks')
    .select('id')
    .where('account', '=', tx.account)
    .where('succeeds', '=', task.id)
    .executeTakeFirst()
  if (made) return undefined
  const { zone } = await accountOf(tx)
  const now = today({ now: tx.now, zone })
  const start = task.recurrence_anchor === 'completion' ? now : (task.due ?? now)
  const after = [dateOf(start), now].sort().at(-1)!
  const [due] = await nextDates(task.recurrence, start, 1, after)
  const recurrence = due && takeFromCount(task.recurrence)
  if (!due || !recurrence) return undefined
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
  return successor
}

/** The planned start keeps its distance from the due date. */
function shifted(task: Row<'tasks'>, due: string): string | null {
  if (task.scheduled === null || task.due === null) return null
  const days = Math.round((Date.parse(dateOf(task.scheduled)) - Date.parse(dateOf(task.due))) / 86_400_000)
  return addDays(dateOf(due), days) + task.scheduled.slice(10)
}
