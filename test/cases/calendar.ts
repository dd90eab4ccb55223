import type { Cases } from '../cases.ts'
import type { World } from '../world.ts'

const EVENT = {
  task_id: 'T1',
  uid: 'kickoff@example.org',
  title: 'Kick-off',
  start: '2026-12-01T10:00',
  end: '2026-12-01T11:00',
}

async function task(w: World): Promise<void> {
  await w.scout.call('create_task', {
    title: 'Prepare the kick-off',
    due: '2026-12-01',
    scheduled: '2026-12-01T09:00',
  })
}

async function linked(w: World): Promise<void> {
  await task(w)
  await w.scout.call('link_calendar_event', EVENT)
}

async function unlinked(w: World): Promise<void> {
  await linked(w)
  await w.scout.call('unlink_calendar_event', { task_id: 'T1', uid: EVENT.uid })
}

const after = (state: (w: World) => Promise<unknown>, input: Record<string, unknown>) => async (w: World) => {
  await state(w)
  return input
}

export const calendarCases: Cases = {
  list_calendar_links: [
    { says: 'there are none', given: async () => ({}) },
    { says: 'of one task', given: after(linked, { task_id: 'T1' }) },
    { says: 'in a range', given: after(linked, { from: '2026-12-01', to: '2026-12-01' }) },
    { says: 'untied before', given: after(unlinked, {}) },
    { says: 'with a read token', given: after(linked, {}), by: (w) => w.reader },
  ],

  get_agenda: [
    { says: 'an empty week', given: async () => ({}) },
    { says: 'tasks and an event', given: after(linked, { days: 3 }) },
    {
      says: 'of the owner, from a day on',
      given: after(linked, { for: 'owner', from: '2026-12-01', days: 1 }),
    },
    { says: 'of a person by a person', given: after(linked, { for: 'Ana' }), by: (w) => w.ana },
    {
      says: 'with something overdue, with a read token',
      given: async (w) => {
        await w.scout.call('create_task', { title: 'Late', due: '2026-11-01' })
        return {}
      },
      by: (w) => w.reader,
    },
  ],

  link_calendar_event: [
    { says: 'a new link', given: after(task, EVENT) },
    { says: 'linked already', given: after(linked, EVENT) },
    { says: 'untied before', given: after(unlinked, EVENT) },
    {
      says: 'untied before, with other details now',
      given: after(unlinked, { ...EVENT, title: 'Start', url: 'https://example.org/start' }),
    },
    { says: 'with a UID alone', given: after(task, { task_id: 'T1', uid: 'bare@example.org' }) },
    {
      says: 'by a person, of a whole day',
      given: after(task, { task_id: 'T1', uid: 'day', start: '2026-12-02', end: '2026-12-03' }),
      by: (w) => w.ana,
    },
  ],

  unlink_calendar_event: [
    { says: 'a link', given: after(linked, { task_id: 'T1', uid: EVENT.uid }) },
    { says: 'by a person', given: after(linked, { task_id: 'T1', uid: EVENT.uid }), by: (w) => w.ana },
    { says: 'untied already', given: after(unlinked, { task_id: 'T1', uid: EVENT.uid }) },
    {
      says: 'a link without details',
      given: async (w) => {
        await task(w)
        await w.scout.call('link_calendar_event', { task_id: 'T1', uid: 'bare' })
        return { task_id: 'T1', uid: 'bare' }
      },
    },
    {
      says: 'of a task that awaits sign-off',
      given: async (w) => {
        await linked(w)
        await w.scout.call('complete_task', { id: 'T1' })
        return { task_id: 'T1', uid: EVENT.uid }
      },
    },
  ],
}
