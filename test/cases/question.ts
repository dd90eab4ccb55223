import type { Cases } from '../cases.ts'
import { anaAnswers } from '../people.ts'
import type { World } from '../world.ts'

async function asked(w: World): Promise<void> {
  await w.scout.call('create_task', { title: 'Rotate the certificate' })
  await w.scout.call('start_run', { task_id: 'T1' })
  await w.scout.call('ask_question', { text: 'May I restart it?', task_id: 'T1', choices: ['Yes', 'No'] })
}

async function answered(w: World): Promise<void> {
  await asked(w)
  await anaAnswers(w, 'Q1', 'Yes')
}

const after = (state: (w: World) => Promise<unknown>, input: Record<string, unknown>) => async (w: World) => {
  await state(w)
  return input
}

export const questionCases: Cases = {
  list_questions: [
    { says: 'there are none', given: async () => ({}) },
    { says: 'one is open', given: after(asked, { state: 'open' }) },
    { says: 'one is answered', given: after(answered, { state: 'answered' }) },
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

  get_question: [
    { says: 'open', given: after(asked, { id: 'Q1' }) },
    {
      says: 'answered, to which waiting adds nothing',
      given: after(answered, { id: 'Q1', wait_seconds: 50 }),
    },
    { says: 'seen by a person', given: after(asked, { id: 'Q1' }), by: (w) => w.ana },
    { says: 'with a read token', given: after(answered, { id: 'Q1' }), by: (w) => w.reader },
    {
      says: 'without a task',
      given: async (w) => {
        await w.scout.call('ask_question', { text: 'Which colour?' })
        return { id: 'Q1' }
      },
    },
  ],

  ask_question: [
    { says: 'without a task', given: async () => ({ text: 'Which colour?' }) },
    {
      says: 'on a task in progress, which waits',
      given: async (w) => {
        await w.scout.call('create_task', { title: 'Rotate' })
        await w.scout.call('start_run', { task_id: 'T1' })
        return { text: 'May I restart it?', task_id: 'T1', choices: ['Yes', 'No'] }
      },
    },
    {
      says: 'on a task that goes on meanwhile',
      given: async (w) => {
        await w.scout.call('create_task', { title: 'Rotate' })
        return { text: 'Which server first?', task_id: 'T1', hold_task: false, to: 'Ana' }
      },
    },
    {
      says: 'on a blocked task',
      given: async (w) => {
        await w.scout.call('create_task', { title: 'Rotate' })
        await w.scout.call('block_task', { id: 'T1', reason: 'No key.' })
        return { text: 'Who has the key?', task_id: 'T1' }
      },
    },
    {
      says: 'on a task that awaits sign-off',
      given: async (w) => {
        await w.scout.call('create_task', { title: 'Rotate' })
        await w.scout.call('complete_task', { id: 'T1' })
        return { text: 'Shall I tell the customer?', task_id: 'T1' }
      },
    },
    { says: 'with a key', given: async () => ({ text: 'Which colour?', idempotency_key: 'colour' }) },
  ],
}
