import type { Cases } from '../cases.ts'
import { anaRejects } from '../people.ts'
import type { World } from '../world.ts'

async function asked(w: World): Promise<void> {
  await w.scout.call('create_task', { title: 'Rotate the certificate' })
  await w.scout.call('complete_task', { id: 'T1', summary: 'Rotated.' })
}

async function rejected(w: World): Promise<void> {
  await asked(w)
  await anaRejects(w, 'A1', 'The old one is still served.')
}

const after = (state: (w: World) => Promise<unknown>, input: Record<string, unknown>) => async (w: World) => {
  await state(w)
  return input
}

export const approvalCases: Cases = {
  list_approvals: [
    { says: 'there are none', given: async () => ({}) },
    { says: 'one is pending', given: after(asked, { state: ['pending'] }) },
    { says: 'one was rejected', given: after(rejected, {}) },
    { says: 'of one task, with a read token', given: after(asked, { task_id: 'T1' }), by: (w) => w.reader },
    {
      says: 'the task lies in the Trash',
      given: async (w) => {
        await asked(w)
        await w.scout.call('delete_task', { id: 'T1' })
        return {}
      },
    },
  ],

  get_approval: [
    { says: 'pending', given: after(asked, { id: 'A1' }) },
    { says: 'rejected', given: after(rejected, { id: 'A1' }) },
    {
      says: 'approved, to which waiting adds nothing',
      given: async (w) => {
        await asked(w)
        await w.ana.call('complete_task', { id: 'T1' })
        return { id: 'A1', wait_seconds: 50 }
      },
    },
    {
      says: 'withdrawn, seen by a person',
      given: async (w) => {
        await asked(w)
        await w.scout.call('reopen_task', { id: 'T1' })
        return { id: 'A1' }
      },
      by: (w) => w.ana,
    },
    {
      says: 'of a task in the Trash, with a read token',
      given: async (w) => {
        await asked(w)
        await w.scout.call('delete_task', { id: 'T1' })
        return { id: 'A1' }
      },
      by: (w) => w.reader,
    },
  ],

  request_approval: [
    {
      says: 'a task that needs a person',
      given: async (w) => {
        await w.scout.call('create_task', { title: 'Rotate' })
        return { task_id: 'T1', summary: 'Rotated.' }
      },
    },
    {
      says: 'a task that is auto-OK',
      given: async (w) => {
        await w.scout.call('create_task', { title: 'Rotate' })
        await w.autoOk('T1')
        return { task_id: 'T1' }
      },
    },
    {
      says: 'with a run on it',
      given: async (w) => {
        await w.scout.call('create_task', { title: 'Rotate' })
        await w.scout.call('start_run', { task_id: 'T1' })
        return { task_id: 'T1', for: 'done' }
      },
    },
    {
      says: 'a blocked task, to be cancelled',
      given: async (w) => {
        await w.scout.call('create_task', { title: 'Rotate' })
        await w.scout.call('block_task', { id: 'T1', reason: 'No key.' })
        return { task_id: 'T1', for: 'cancelled', summary: 'There will be no key.' }
      },
    },
    { says: 'asked already', given: after(asked, { task_id: 'T1' }) },
    { says: 'sent back before', given: after(rejected, { task_id: 'T1', summary: 'Now it is served.' }) },
    {
      says: 'by a person, who wants another look',
      given: async (w) => {
        await w.scout.call('create_task', { title: 'Rotate' })
        return { task_id: 'T1' }
      },
      by: (w) => w.ana,
    },
  ],
}
