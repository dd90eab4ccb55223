import { sql } from 'kysely'
import { addDays, instantOf, today } from '../model/zone.ts'
import { inNumbers, type ReadTx, sqlOf } from './handle.ts'
import { openTasksOf } from './project-summary.ts'
import type { Row } from './tables.ts'
import { visibleTasks } from './task.ts'

/** One day of a project, in the caller's zone. */
export interface ProgressDay {
  day: string
  opened: number
  closed: number
  /** Tasks that at the day's end waited for a sign-off or for another task. */
  waiting: number
}

/** How many tasks are looked at for who waited when. */
const LOOKED_AT = 2000

/** Zones differ from UTC by whole quarters of an hour, so counts by quarter add up to local days. */
const QUARTER_MS = 15 * 60_000

interface Span {
  task: number
  from: number
  /** Null: still so. */
  to: number | null
}

/**
 * A project's last days, the oldest first. Counted are tasks as they stand now: one that was reopened is not closed, and
 * one that was moved here counts from its creation.
 */
export async function projectProgress(
  tx: ReadTx,
  project: Row<'projects'>,
  days: number,
): Promise<ProgressDay[]> {
  const { zone } = tx.actor
  const last = today({ now: tx.now, zone })
  const dates = Array.from({ length: days }, (_, i) => addDays(last, i - days + 1))
  const since = instantOf(dates[0]!, zone)
  const opened = await countByDay(tx, project.id, 'created_at', since)
  const closed = await countByDay(tx, project.id, 'closed_at', since)
  const spans = await waitingSpans(tx, project.id, since)
  return dates.map((day) => {
    const end = Math.min(instantOf(addDays(day, 1), zone) - 1, tx.now)
    const waiting = spans.filter((span) => span.from <= end && (span.to === null || span.to > end))
    return {
      day,
      opened: opened.get(day) ?? 0,
      closed: closed.get(day) ?? 0,
      waiting: new Set(waiting.map((span) => span.task)).size,
    }
  })
}

async function countByDay(
  tx: ReadTx,
  project: number,
  column: 'created_at' | 'closed_at',
  since: number,
): Promise<Map<string, number>> {
  const quarter = sql<number>`${sql.ref(`tasks.${column}`)} / ${sql.lit(QUARTER_MS)}`
  const rows = await visibleTasks(tx)
    .select((eb) => [quarter.as('quarter'), eb.fn.countAll<number>().as('n')])
    .where('tasks.project', '=', project)
    .where(`tasks.${column}`, '>=', since)
    .groupBy(quarter)
    .execute()
  const counts = new Map<string, number>()
  for (const { quarter, n } of rows) {
    const day = today({ now: Number(quarter) * QUARTER_MS, zone: tx.actor.zone })
    counts.set(day, (counts.get(day) ?? 0) + n)
  }
  return counts
}

/** From when to when tasks waited: for a person's sign-off, or for another task that was not finished. */
async function waitingSpans(tx: ReadTx, project: number, since: number): Promise<Span[]> {
  const open = await openTasksOf(tx, project, LOOKED_AT)
  const closed = await visibleTasks(tx)
    .selectAll('tasks')
    .where('tasks.project', '=', project)
    .where('tasks.closed_at', '>=', since)
    .limit(LOOKED_AT)
    .execute()
  const tasks = new Map([...open, ...closed].map((task) => [task.id, task]))
  const ids = inNumbers(tx, [...tasks.keys()])
  const requests = await sqlOf(tx)
    .selectFrom('requests')
    .select(['task', 'asked_at as from', 'decided_at as to'])
    .where('account', '=', tx.account)
    .where('task', 'in', ids)
    .where((eb) => eb.or([eb('decided_at', 'is', null), eb('decided_at', '>=', since)]))
    .execute()
  const edges = await sqlOf(tx)
    .selectFrom('dependencies as d')
    .innerJoin('tasks as t', (join) =>
      join.onRef('t.account', '=', 'd.account').onRef('t.id', '=', 'd.depends_on'),
    )
    .select(['d.task', 'd.created_at', 'd.removed_at', 't.closed_at'])
    .where('d.account', '=', tx.account)
    .where('d.task', 'in', ids)
    .execute()
  const waits = edges.map(({ task, created_at, removed_at, closed_at }): Span => {
    const ends = [removed_at, closed_at, tasks.get(task)!.closed_at].filter((end) => end !== null)
    return { task, from: created_at, to: ends.length > 0 ? Math.min(...ends) : null }
  })
  return [...requests, ...waits]
}
