import type { Cases } from '../cases.ts'
import type { World } from '../world.ts'

const LEASE = 10 * 60_000

/** A task of Ana's, by title. */
async function task(w: World, title = 'Rotate the certificate', more: Record<string, unknown> = {}) {
  return String((await w.ana.call('create_task', { title, ...more })).id)
}

/** A task on which scout has begun. */
async function begun(w: World, more: Record<string, unknown> = {}) {
  const id = await task(w, 'Rotate the certificate', more)
  await w.scout.call('start_run', { task_id: id })
  return id
}

async function blocked(w: World, more: Record<string, unknown> = {}) {
  const id = await task(w, 'Rotate the certificate', more)
  await w.scout.call('block_task', { id, reason: 'No access to the host' })
  return id
}

export const workCases: Cases = {
  list_my_tasks: [
    { says: 'there is none', given: async () => ({}) },
    {
      says: 'assigned, claimed and left',
      given: async (w) => {
        await begun(w)
        w.pass(LEASE)
        await w.scout.call('claim_task', { id: await task(w, 'Claimed') })
        await task(w, 'Assigned', { assignee: 'scout' })
        return {}
      },
    },
    {
      says: 'due before a day, detailed',
      given: async (w) => {
        await task(w, 'Sooner', { assignee: 'scout', due: '2026-12-01' })
        await task(w, 'Later', { assignee: 'scout', due: '2026-12-02' })
        return { due_before: '2026-12-02', detail: 'detailed' }
      },
    },
    {
      says: 'of a person, the first page',
      given: async (w) => {
        for (const title of ['One', 'Two', 'Three']) await task(w, title, { assignee: 'Ana' })
        return { limit: 2 }
      },
      by: (w) => w.ana,
    },
    {
      says: 'one that awaits approval and one that waits for it',
      given: async (w) => {
        const id = await begun(w, { assignee: 'scout' })
        await w.scout.call('complete_task', { id })
        await task(w, 'Behind it', { assignee: 'scout', depends_on: [id] })
        return {}
      },
    },
  ],

  get_next_task: [
    { says: 'there is none', given: async () => ({}) },
    {
      says: 'the only one',
      given: async (w) => {
        await task(w)
        return {}
      },
    },
    {
      says: 'behind some that are passed over',
      given: async (w) => {
        await blocked(w, { priority: 'urgent' })
        await task(w, 'Another’s', { priority: 'urgent', assignee: 'builder' })
        const parent = await task(w, 'Parent', { priority: 'high' })
        await task(w, 'Child', { parent_id: parent })
        return {}
      },
    },
    {
      says: 'in one project, for a read token',
      given: async (w) => {
        await w.ana.call('create_project', { name: 'Website' })
        await task(w, 'In it', { project_id: 'P1' })
        return { project_id: 'P1' }
      },
      by: (w) => w.reader,
    },
    {
      says: 'with a label, while another is unfinished',
      given: async (w) => {
        await w.ana.call('create_label', { name: 'ops' })
        await begun(w)
        await task(w, 'Labelled', { labels: ['ops'] })
        return { labels: ['ops'] }
      },
    },
  ],

  claim_task: [
    { says: 'a free one', given: async (w) => ({ id: await task(w) }) },
    {
      says: 'one’s own again',
      given: async (w) => {
        const id = await begun(w)
        w.pass(60_000)
        return { id }
      },
    },
    {
      says: 'one’s own after the lapse',
      given: async (w) => {
        const id = await begun(w)
        w.pass(LEASE)
        return { id }
      },
    },
    {
      says: 'another’s after the lapse',
      given: async (w) => {
        const id = await begun(w)
        w.pass(LEASE)
        return { id }
      },
      by: (w) => w.builder,
    },
    {
      says: 'a parent with open subtasks',
      given: async (w) => {
        const id = await task(w)
        await task(w, 'Child', { parent_id: id })
        return { id }
      },
    },
    { says: 'by a person', given: async (w) => ({ id: await task(w) }), by: (w) => w.ana },
  ],

  release_task: [
    {
      says: 'with a note',
      given: async (w) => ({ id: await begun(w), note: 'Ordered; installing is left.' }),
    },
    { says: 'without one', given: async (w) => ({ id: await begun(w) }) },
    { says: 'one that nobody holds', given: async (w) => ({ id: await task(w) }) },
    {
      says: 'after the lapse',
      given: async (w) => {
        const id = await begun(w)
        w.pass(LEASE)
        return { id, note: 'Ran out of time.' }
      },
    },
    {
      says: 'a claim without a run',
      given: async (w) => {
        const id = await task(w)
        await w.scout.call('claim_task', { id })
        return { id }
      },
    },
    { says: 'an agent’s, by a person', given: async (w) => ({ id: await begun(w) }), by: (w) => w.ana },
    {
      says: 'with the words of an earlier release',
      given: async (w) => {
        const id = await begun(w)
        await w.scout.call('release_task', { id, note: 'Half done.' })
        await w.scout.call('start_run', { task_id: id })
        return { id, note: 'Half done.' }
      },
    },
  ],

  block_task: [
    { says: 'for a reason', given: async (w) => ({ id: await begun(w), reason: 'No access to the host' }) },
    {
      says: 'by another task',
      given: async (w) => ({ id: await begun(w), by: await task(w, 'Get access') }),
    },
    {
      says: 'for both',
      given: async (w) => ({
        id: await task(w),
        by: await task(w, 'Get access'),
        reason: 'The host is closed to us',
      }),
    },
    {
      says: 'one that is blocked, for another reason',
      given: async (w) => ({ id: await blocked(w), reason: 'And the authority is down' }),
    },
    {
      says: 'one that is blocked for a reason, by a task',
      given: async (w) => ({ id: await blocked(w), by: await task(w, 'Get access') }),
    },
    {
      says: 'one that waits for another already',
      given: async (w) => {
        const first = await task(w, 'First')
        return { id: await task(w, 'Second', { depends_on: [first] }), by: first }
      },
    },
    {
      says: 'one that an agent works on, by a person',
      given: async (w) => ({ id: await begun(w), reason: 'Wait for the audit' }),
      by: (w) => w.ana,
    },
    {
      says: 'for a reason that was lifted before',
      given: async (w) => {
        const id = await blocked(w)
        await w.scout.call('unblock_task', { id })
        return { id, reason: 'No access to the host' }
      },
    },
  ],

  unblock_task: [
    { says: 'blocked for a reason', given: async (w) => ({ id: await blocked(w) }) },
    {
      says: 'blocked by a task that is still open',
      given: async (w) => {
        const id = await task(w)
        await w.scout.call('block_task', { id, by: await task(w, 'Get access') })
        return { id }
      },
    },
    { says: 'not blocked', given: async (w) => ({ id: await task(w) }) },
    {
      says: 'blocked, and waiting for another as well',
      given: async (w) => ({ id: await blocked(w, { depends_on: [await task(w, 'First')] }) }),
      by: (w) => w.builder,
    },
    {
      says: 'by a person',
      given: async (w) => ({ id: await blocked(w, { assignee: 'scout' }) }),
      by: (w) => w.ana,
    },
    { says: 'one at work', given: async (w) => ({ id: await begun(w) }) },
  ],
}
