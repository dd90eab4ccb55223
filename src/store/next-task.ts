import { sql } from 'kysely'
import { storedTask } from './content.ts'
import type { ReadTx } from './handle.ts'
import { labelsNamed } from './label.ts'
import { HOLD_MS } from './question.ts'
import type { Row } from './tables.ts'
import { visibleTasks } from './task.ts'
import { URGENCY } from './task-list.ts'

/** Why a task that is more urgent is not the next one for the caller. */
export const PASSED_OVER = {
  awaiting: 'waits for a person’s decision',
  blocked: 'is blocked',
  held: 'somebody else works on it',
  yours: 'you hold it already',
  assigned: 'is assigned to somebody else',
  waiting: 'waits for other tasks',
  parent: 'has open subtasks, which come first',
  question: 'waits for an answer',
} as const
export type PassedOver = keyof typeof PASSED_OVER

/** The next task for the caller, and what was passed over on the way to it. */
export interface NextTask {
  task?: Row<'tasks'>
  passed: Map<PassedOver, { count: number; examples: number[] }>
  /** How many of the most urgent tasks were looked at. */
  looked: number
  /** False where there are more than were looked at, and none of them was free. */
  all: boolean
}

/** Windows in which the most urgent tasks are looked at: the first is nearly always enough, and the last bounds the cost. */
const WINDOWS = [50, 450, 1000, 1500, 2000]
const EXAMPLES = 5

/**
 * The most urgent open task that the caller could start now: not held, not blocked, waiting for nothing, assigned to the
 * caller or to nobody, without open subtasks. Walks down the index of urgency in bounded windows, so that it costs the
 * same in a large account. Takes nothing.
 */
export async function nextTask(
  tx: ReadTx,
  wanted: { project?: number | undefined; labels?: readonly string[] | undefined },
): Promise<NextTask> {
  const labels = await labelsNamed(tx, wanted.labels ?? [])
  let open = visibleTasks(tx).where(sql<boolean>`tasks.status NOT IN ('done', 'cancelled')`)
  if (wanted.project !== undefined) open = open.where('tasks.project', '=', wanted.project)
  for (const { name_key } of labels) {
    open =
      open.where(sql<boolean>`tasks.id IN (SELECT l.task FROM task_labels l WHERE l.account = tasks.account
      AND l.label = ${name_key} AND l.removed_at IS NULL AND l.trash IS NULL)`)
  }
  for (const key of URGENCY.by) open = open.orderBy(key, URGENCY.direction)

  const next: NextTask = { passed: new Map(), looked: 0, all: false }
  for (const size of WINDOWS) {
    const window = await open
      .select(['tasks.id', whyNot(tx).as('why')])
      .offset(next.looked)
      .limit(size)
      .execute()
    for (const { id, why } of window) {
      next.looked++
      if (why === null) return { ...next, task: await storedTask(tx, id), all: true }
      const seen = next.passed.get(why) ?? { count: 0, examples: [] }
      seen.count++
      if (seen.examples.length < EXAMPLES) seen.examples.push(id)
      next.passed.set(why, seen)
    }
    if (window.length < size) return { ...next, all: true }
  }
  return next
}

/** What stands in the caller's way; null where nothing does. In the order in which it is worth saying. */
function whyNot(tx: ReadTx) {
  const me = tx.actor.id
  return sql<PassedOver | null>`CASE
    WHEN tasks.status = 'awaiting_approval' THEN 'awaiting'
    WHEN tasks.claim_until > ${tx.now} THEN CASE WHEN tasks.claimed_by = ${me} THEN 'yours' ELSE 'held' END
    WHEN tasks.status = 'blocked' THEN 'blocked'
    WHEN tasks.assignee <> ${me} THEN 'assigned'
    WHEN EXISTS (SELECT 1 FROM dependencies d JOIN tasks t ON t.account = d.account AND t.id = d.depends_on
      WHERE d.account = tasks.account AND d.task = tasks.id AND d.removed_at IS NULL
        AND (t.status NOT IN ('done', 'cancelled') OR t.trash IS NOT NULL)) THEN 'waiting'
    WHEN EXISTS (SELECT 1 FROM tasks c WHERE c.account = tasks.account AND c.parent = tasks.id AND c.trash IS NULL
      AND c.status NOT IN ('done', 'cancelled')) THEN 'parent'
    WHEN EXISTS (SELECT 1 FROM questions q WHERE q.account = tasks.account AND q.task = tasks.id
      AND q.answered_at IS NULL AND q.holds_task = 1 AND q.asked_at > ${tx.now - HOLD_MS}) THEN 'question' END`
}
