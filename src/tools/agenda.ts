import type { ActorId } from '../model/actor.ts'
import { formatId } from '../model/id.ts'
import { addDays, instantOf, localTime, today, weekdayOf } from '../model/zone.ts'
import { partyNames } from '../store/actor.ts'
import {
  AGENDA_ROWS,
  eventsBetween,
  type LinkOnTask,
  LONGEST_EVENT,
  mostUrgentUnscheduled,
  tasksBetween,
} from '../store/calendar.ts'
import { statusOf } from '../store/claim.ts'
import { overdueTasks } from '../store/digest.ts'
import type { ReadTx } from '../store/handle.ts'
import type { Row } from '../store/tables.ts'
import { fitted } from './piece.ts'
import { priorityName, sparse, start } from './view.ts'

const WEEKDAYS = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun']
const WORK = { from: '09:00', to: '18:00' }
const MINUTE = 60_000

/** Shorter gaps are no time to work in. */
const LEAST_FREE = 15 * MINUTE

/** Milliseconds since the epoch; the end is exclusive. */
type Interval = readonly [from: number, to: number]

/** An event's own time; without one it takes whole days, from a local date to another, which is exclusive. */
interface Placed {
  event: LinkOnTask
  time?: Interval
  days?: readonly [from: string, to: string]
}

/** The days of somebody, in their own zone: what is due and planned, what is in the calendar, and what is free. */
export async function agendaOf(
  tx: ReadTx,
  party: ActorId,
  zone: string,
  given: string | undefined,
  count: number,
): Promise<Record<string, unknown>> {
  const now = today({ now: tx.now, zone })
  const from = given ?? now
  const dates = Array.from({ length: count }, (_, i) => addDays(from, i))
  const last = dates.at(-1)!
  // A time in another zone can fall on the day before or after there.
  const [early, late] = [addDays(from, -1), addDays(last, 1)]
  const due = await tasksBetween(tx, party, 'due', early, late)
  const scheduled = await tasksBetween(tx, party, 'scheduled', early, late)
  const events = await eventsBetween(tx, party, addDays(from, -LONGEST_EVENT), late)
  const placed = events.slice(0, AGENDA_ROWS).map((event) => place(event, zone))
  const busy = [
    ...placed.flatMap(({ time }) => (time ? [time] : [])),
    ...scheduled.flatMap((task) => workOn(task, zone)),
  ]
  const urgent = await mostUrgentUnscheduled(
    tx,
    party,
    due.map((task) => task.id),
    10,
  )
  const overdue = from <= now ? await overdueTasks(tx, { mine: [party] }, now) : []
  const days = dates.map((date) => ({
    date,
    weekday: WEEKDAYS[weekdayOf(date) - 1],
    events: placed.flatMap((each) => eventRow(each, date, zone) ?? []),
    scheduled: taskRows(tx, scheduled, 'scheduled', date, zone),
    due: taskRows(tx, due, 'due', date, zone),
    free: free(date, zone, tx.now, busy),
  }))
  const answer = {
    for: (await partyNames(tx))(party),
    today: now,
    time_zone: zone,
    from,
    to: last,
    ...(overdue.length > 0 ? { overdue: overdue.length, overdue_tasks: 'list_tasks {"overdue":true}' } : {}),
    days,
    unscheduled: urgent.map((task) => taskRow(tx, task, task.due ?? undefined)),
  }
  const tooLong = fitted(
    answer,
    days.flatMap((day) => [day.events, day.scheduled, day.due]),
  )
  const tooMany = [due, scheduled, events].some((found) => found.length > AGENDA_ROWS)
  return {
    ...answer,
    days: days.map(sparse),
    ...(tooLong || tooMany
      ? {
          more: [
            `list_tasks {"due_after":"${from}","due_before":"${addDays(last, 1)}"}`,
            `list_calendar_links {"from":"${from}","to":"${last}"}`,
            'get_agenda with fewer days',
          ],
        }
      : {}),
  }
}

function place(event: LinkOnTask, zone: string): Placed {
  const starts = event.starts!
  if (!starts.includes('T')) {
    const next = addDays(starts, 1)
    return { event, days: [starts, event.ends !== null && event.ends > next ? event.ends : next] }
  }
  const from = instantOf(starts, zone)
  return { event, time: [from, event.ends === null ? from : instantOf(event.ends, zone)] }
}

/** A task that is planned for a time of day takes as long as it was estimated. */
function workOn(task: Row<'tasks'>, zone: string): Interval[] {
  if (!task.scheduled?.includes('T') || !task.estimate) return []
  const from = instantOf(task.scheduled, zone)
  return [[from, from + task.estimate * MINUTE]]
}

function eventRow(
  { event, time, days }: Placed,
  date: string,
  zone: string,
): Record<string, unknown> | undefined {
  const [from, to] = dayOf(date, zone)
  if (days && (date < days[0] || date >= days[1])) return undefined
  if (time && (time[0] >= to || (time[1] <= from && time[0] < from))) return undefined
  return sparse({
    title: event.title && start(event.title, 60).text,
    time: time && shownTime([Math.max(time[0], from), Math.min(time[1], to)], zone),
    task: `${formatId('task', event.task)} ${start(event.task_title, 40).text}`,
    uid: start(event.uid, 60).text,
  })
}

function taskRows(
  tx: ReadTx,
  tasks: readonly Row<'tasks'>[],
  column: 'due' | 'scheduled',
  date: string,
  zone: string,
): Record<string, unknown>[] {
  return tasks.slice(0, AGENDA_ROWS).flatMap((task) => {
    const when = task[column]!
    const timed = when.includes('T') ? instantOf(when, zone) : undefined
    const day = timed === undefined ? when : today({ now: timed, zone })
    return day === date ? [taskRow(tx, task, timed === undefined ? undefined : localTime(timed, zone))] : []
  })
}

function taskRow(tx: ReadTx, task: Row<'tasks'>, when: string | undefined): Record<string, unknown> {
  const status = statusOf(task, tx.now)
  return sparse({
    id: formatId('task', task.id),
    title: start(task.title, 60).text,
    when,
    priority: task.priority === 2 ? undefined : priorityName(task.priority),
    status: status === 'open' ? undefined : status,
    minutes: task.estimate,
  })
}

/** What is left of a working day from now on, as `09:00-10:30`. */
function free(date: string, zone: string, now: number, busy: readonly Interval[]): string[] {
  if (weekdayOf(date) > 5) return []
  const end = instantOf(`${date}T${WORK.to}[${zone}]`, zone)
  let from = Math.max(instantOf(`${date}T${WORK.from}[${zone}]`, zone), Math.ceil(now / MINUTE) * MINUTE)
  const gaps: Interval[] = []
  for (const [begins, ends] of [...busy].sort(([a], [b]) => a - b)) {
    if (begins >= end) break
    if (begins > from) gaps.push([from, begins])
    from = Math.max(from, ends)
  }
  gaps.push([from, end])
  return gaps.filter(([begins, ends]) => ends - begins >= LEAST_FREE).map((gap) => shownTime(gap, zone))
}

/** A local day, which has 23 or 25 hours where the clocks change. */
function dayOf(date: string, zone: string): Interval {
  return [instantOf(date, zone), instantOf(addDays(date, 1), zone)]
}

function shownTime([from, to]: Interval, zone: string): string {
  return from === to ? localTime(from, zone) : `${localTime(from, zone)}-${localTime(to, zone)}`
}
