import type { Cases } from '../cases.ts'
import { anaAnswers, anaRejects } from '../people.ts'
import type { World } from '../world.ts'

/** Builder comments and Ana answers, so that there is news for scout. */
async function newsForScout(w: World): Promise<void> {
  await w.scout.call('create_task', { title: 'Rotate the certificate' })
  await w.scout.call('start_run', { task_id: 'T1' })
  await w.scout.call('ask_question', { text: 'May I restart it?', task_id: 'T1' })
  await anaAnswers(w, 'Q1', 'Yes, at night.')
}

async function sentBack(w: World): Promise<void> {
  await w.scout.call('create_task', { title: 'Rotate the certificate' })
  await w.scout.call('complete_task', { id: 'T1' })
  await anaRejects(w, 'A1', 'The old one is still served.')
}

const nothing = async () => ({})

export const meCases: Cases = {
  get_me: [
    { says: 'an agent at rest', given: nothing },
    { says: 'a person', given: nothing, by: (w) => w.ana },
    { says: 'a read token', given: nothing, by: (w) => w.reader },
    {
      says: 'an agent with an open run',
      given: async (w) => {
        await w.scout.call('create_task', { title: 'Rotate' })
        await w.scout.call('start_run', { task_id: 'T1' })
        return {}
      },
    },
    {
      says: 'an agent with unread news',
      given: async (w) => {
        await newsForScout(w)
        return {}
      },
    },
  ],

  get_digest: [
    { says: 'nothing is new', given: nothing },
    {
      says: 'work was sent back',
      given: async (w) => {
        await sentBack(w)
        return {}
      },
    },
    {
      says: 'an answer came and a run has stalled',
      given: async (w) => {
        await newsForScout(w)
        w.pass(3_600_000)
        return {}
      },
    },
    {
      says: 'a person looks after the account',
      given: async (w) => {
        await newsForScout(w)
        await w.scout.call('create_task', { title: 'Late', due: '2026-11-01' })
        await w.builder.call('create_task', { title: 'Late' })
        await w.scout.call('delete_task', { id: 'T3' })
        return { scope: 'account' }
      },
      by: (w) => w.ana,
    },
    {
      says: 'since a moment, waiting for nothing',
      given: async (w) => {
        await newsForScout(w)
        return { since: '2026-11-01', wait_seconds: 0 }
      },
    },
    {
      says: 'a read token looks at the account',
      given: async (w) => {
        await sentBack(w)
        return { scope: 'account' }
      },
      by: (w) => w.reader,
    },
  ],

  list_notifications: [
    { says: 'there are none', given: nothing },
    {
      says: 'a decision',
      given: async (w) => {
        await sentBack(w)
        return {}
      },
    },
    {
      says: 'only unread ones',
      given: async (w) => {
        await newsForScout(w)
        return { unread_only: true }
      },
    },
    {
      says: 'of a person, one a page',
      given: async (w) => {
        await newsForScout(w)
        await w.scout.call('delete_task', { id: 'T1' })
        return { limit: 1 }
      },
      by: (w) => w.ana,
    },
    {
      says: 'after they were read',
      given: async (w) => {
        await sentBack(w)
        await w.scout.call('mark_notifications_read', { up_to: await newest(w) })
        return {}
      },
    },
  ],

  mark_notifications_read: [
    {
      says: 'one decision',
      given: async (w) => {
        await sentBack(w)
        return { up_to: await newest(w) }
      },
    },
    {
      says: 'an answer',
      given: async (w) => {
        await newsForScout(w)
        return { up_to: await newest(w) }
      },
    },
    {
      says: 'up to the older of two',
      given: async (w) => {
        await sentBack(w)
        const up_to = await newest(w)
        await w.scout.call('complete_task', { id: 'T1' })
        await anaRejects(w, 'A2', 'Still there.')
        return { up_to }
      },
    },
    {
      says: 'of a person',
      given: async (w) => {
        await w.scout.call('ask_question', { text: 'May I?' })
        return { up_to: 'N1' }
      },
      by: (w) => w.ana,
    },
    {
      says: 'already read',
      given: async (w) => {
        await sentBack(w)
        const up_to = await newest(w)
        await w.scout.call('mark_notifications_read', { up_to })
        return { up_to }
      },
    },
  ],

  list_activity: [
    { says: 'of a fresh account', given: nothing },
    {
      says: 'of one task',
      given: async (w) => {
        await newsForScout(w)
        return { task_id: 'T1' }
      },
    },
    {
      says: 'of one actor and kind',
      given: async (w) => {
        await sentBack(w)
        return { actor: 'Ana', kinds: ['rejected'] }
      },
    },
    {
      says: 'of a task in the Trash',
      given: async (w) => {
        await w.scout.call('create_task', { title: 'A mistake' })
        await w.scout.call('delete_task', { id: 'T1' })
        return { task_id: 'T1' }
      },
    },
    {
      says: 'between two moments, with a read token',
      given: async (w) => {
        await newsForScout(w)
        return { since: '2026-11-01', until: '2026-12-24' }
      },
      by: (w) => w.reader,
    },
  ],
}

/** Scout's newest notification. */
async function newest(w: World): Promise<string> {
  const { notifications } = await w.scout.call('list_notifications')
  return notifications[0].id
}
