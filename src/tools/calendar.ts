import { z } from 'zod'
import { invalid } from '../model/error.ts'
import { formatId } from '../model/id.ts'
import { dateOf, instantOf } from '../model/zone.ts'
import { partyNamed } from '../store/actor.ts'
import { linkEvent, linksPage, unlinkEvent, zoneOf } from '../store/calendar.ts'
import type { Row } from '../store/tables.ts'
import { taskById } from '../store/task.ts'
import { agendaOf } from './agenda.ts'
import { line, page, party, taskId, when } from './fields.ts'
import { definedOnly } from './task-input.ts'
import { destroy, read, write } from './tool.ts'
import { listAnswer, sparse, start } from './view.ts'

const link = z.looseObject({ task: z.string(), uid: z.string() })

export const calendarTools = {
  list_calendar_links: read({
    title: 'List calendar links',
    does: 'Links between tasks and calendar events, by start of the event.',
    toolset: 'calendar',
    input: z.strictObject({
      task_id: taskId.optional(),
      from: when('forward').optional(),
      to: when('forward').optional(),
      ...page,
    }),
    output: z.looseObject({ today: z.string(), showing: z.int(), links: z.array(link) }),
    http: 'GET /calendar-links',
    example: { task_id: 'T1' },
    run: async (tx, { task_id, from, to, ...page }) => {
      if (task_id !== undefined) await taskById(tx, task_id)
      const filter = { task: task_id, from: from && dateOf(from.value), to: to && dateOf(to.value) }
      const found = await linksPage(tx, filter, page)
      return listAnswer(
        tx,
        found,
        'links',
        found.rows.map((each) => linkRow(each, each.task_title)),
      )
    },
  }),

  get_agenda: read({
    title: 'Get an agenda',
    does: 'A range of days for you, your owner or another: due and scheduled tasks, linked events, free working time (Mon-Fri 09:00-18:00, their zone), the most urgent unscheduled.',
    toolset: 'calendar',
    input: z.strictObject({
      for: party.optional(),
      from: when('forward').optional(),
      days: z.int().min(1).max(31).optional(),
    }),
    output: z.looseObject({
      for: z.string(),
      today: z.string(),
      time_zone: z.string(),
      days: z.array(z.looseObject({})),
    }),
    http: 'GET /agenda',
    example: { for: 'owner', days: 3 },
    run: async (tx, { for: whose, from, days }) => {
      const id = await partyNamed(tx, whose ?? 'me')
      if (id === null)
        throw invalid('An agenda is somebody’s.', {
          allowed: ['me', 'owner'],
          next: 'Leave for out to see your own.',
        })
      return agendaOf(tx, id, await zoneOf(tx, id), from && dateOf(from.value), days ?? 7)
    },
  }),

  link_calendar_event: write({
    title: 'Link a calendar event',
    does: 'Tie a task to a calendar event by its UID (end is exclusive); the same UID with other details is a conflict: unlink first.',
    toolset: 'calendar',
    noun: 'task',
    convergent: true,
    input: z.strictObject({
      task_id: taskId,
      uid: z.string().min(1).max(800),
      calendar: z.string().max(200).optional(),
      title: line(500).optional(),
      start: when('forward').optional(),
      end: when('forward').optional(),
      url: z.string().max(2000).optional(),
    }),
    output: link,
    http: 'POST /tasks/:task_id/calendar-links',
    example: {
      task_id: 'T1',
      uid: 'review@example.org',
      title: 'Review',
      start: '2030-12-02T10:00',
      end: '2030-12-02T11:00',
    },
    run: async (tx, { task_id, uid, start, end, url, ...words }) => {
      const task = await taskById(tx, task_id)
      checkTimes(start?.value, end?.value, tx.actor.zone)
      checkAddress(url)
      const details = definedOnly({ ...words, starts: start?.value, ends: end?.value, url })
      const { link, already } = await linkEvent(tx, task, uid, details)
      return { ...linkRow(link, task.title), ...(already ? { already } : {}) }
    },
  }),

  unlink_calendar_event: destroy({
    title: 'Unlink a calendar event',
    does: 'Untie a task from a calendar event. The event itself is not touched.',
    toolset: 'calendar',
    noun: 'task',
    convergent: true,
    input: z.strictObject({ task_id: taskId, uid: z.string().min(1).max(800) }),
    output: link,
    http: 'DELETE /tasks/:task_id/calendar-links/:uid',
    example: { task_id: 'T1', uid: 'kickoff@example.org' },
    run: async (tx, { task_id, uid }) => {
      const task = await taskById(tx, task_id)
      const { link, already } = await unlinkEvent(tx, task, uid)
      return { ...linkRow(link, task.title), unlinked: true, ...(already ? { already } : {}) }
    },
  }),
}

/** An event has a start before it has an end, both days or both times, in this order. */
function checkTimes(start: string | undefined, end: string | undefined, zone: string): void {
  if (end === undefined) return
  if (start === undefined) throw invalid('end is given without start.', { next: 'Give both, or neither.' })
  if (start.includes('T') !== end.includes('T')) {
    throw invalid('start is a day and end a time, or the other way round.', {
      next: 'Give two days or two times.',
    })
  }
  if (instantOf(end, zone) < instantOf(start, zone)) {
    throw invalid(`The event ends (${end}) before it starts (${start}).`, { next: 'Correct start or end.' })
  }
}

/** Addresses are shown as links, so only those that open a page are taken. */
function checkAddress(url: string | undefined): void {
  if (url !== undefined && !/^https?:\/\/\S+$/i.test(url)) {
    throw invalid(`url: "${url.slice(0, 80)}" is not a web address.`, { allowed: ['https://…', 'http://…'] })
  }
}

function linkRow(link: Row<'calendar_links'>, title: string): { task: string; uid: string } {
  return {
    task: formatId('task', link.task),
    uid: link.uid,
    ...sparse({
      task_title: start(title, 60).text,
      title: link.title,
      start: link.starts,
      end: link.ends,
      calendar: link.calendar,
      url: link.url,
    }),
  }
}
