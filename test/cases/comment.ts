import type { Cases } from '../cases.ts'
import type { World } from '../world.ts'

const task = (w: World, fields: Record<string, unknown> = {}) =>
  w.scout.call('create_task', { title: 'Lay the floor', ...fields })

/** T1 with the comment C1 of scout. */
const said = async (w: World, text = 'Ordered.') => {
  await task(w)
  await w.scout.call('comment_on_task', { task_id: 'T1', text })
}

const on = { task_id: 'T1' }

export const commentCases: Cases = {
  list_comments: [
    {
      says: 'none',
      given: async (w) => {
        await task(w)
        return on
      },
    },
    {
      says: 'one',
      given: async (w) => {
        await said(w)
        return on
      },
    },
    {
      says: 'the oldest first, one a page',
      given: async (w) => {
        await said(w)
        return { ...on, order: 'oldest', limit: 1 }
      },
    },
    {
      says: 'of a finished task',
      given: async (w) => {
        await said(w)
        await w.ana.call('complete_task', { id: 'T1' })
        return on
      },
    },
    {
      says: 'by a reader',
      given: async (w) => {
        await said(w)
        return on
      },
      by: (w) => w.reader,
    },
  ],
  comment_on_task: [
    {
      says: 'a first one',
      given: async (w) => {
        await task(w)
        return { ...on, text: 'Ordered.' }
      },
    },
    {
      says: 'an answer',
      given: async (w) => {
        await said(w)
        return { ...on, text: 'Good.', reply_to: 'C1' }
      },
      by: (w) => w.ana,
    },
    {
      says: 'with mentions',
      given: async (w) => {
        await task(w)
        return { ...on, text: '@Ana @builder @G1 @nemo look' }
      },
    },
    {
      says: 'on a task that another works on',
      given: async (w) => {
        await task(w)
        await w.builder.call('start_run', on)
        return { ...on, text: 'Careful.' }
      },
    },
    {
      says: 'on a signed-off task',
      given: async (w) => {
        await task(w)
        await w.ana.call('complete_task', { id: 'T1' })
        return { ...on, text: 'Thanks.' }
      },
    },
    {
      says: 'the twelfth turn of two agents',
      given: async (w) => {
        await task(w)
        for (let i = 0; i < 12; i++) {
          const [by, to] = i % 2 ? [w.builder, '@scout'] : [w.scout, '@builder']
          await by.call('comment_on_task', { ...on, text: `${to} thanks ${i}` })
        }
        return { ...on, text: '@builder thanks' }
      },
    },
  ],
  update_comment: [
    {
      says: 'one’s own',
      given: async (w) => {
        await said(w)
        return { id: 'C1', text: 'Ordered and paid.' }
      },
    },
    {
      says: 'to what it is',
      given: async (w) => {
        await said(w)
        return { id: 'C1', text: 'Ordered.', expected_version: 9 }
      },
    },
    {
      says: 'with its version',
      given: async (w) => {
        await said(w)
        return { id: 'C1', text: 'Paid.', expected_version: 1 }
      },
    },
    {
      says: 'on a blocked task',
      given: async (w) => {
        await said(w)
        await w.scout.call('block_task', { id: 'T1', reason: 'No oak.' })
        return { id: 'C1', text: 'Ordered pine.' }
      },
    },
    {
      says: 'a person’s',
      given: async (w) => {
        await task(w)
        await w.ana.call('comment_on_task', { ...on, text: 'No.' })
        return { id: 'C1', text: 'Yes.' }
      },
      by: (w) => w.ana,
    },
  ],
  delete_comment: [
    {
      says: 'one’s own',
      given: async (w) => {
        await said(w)
        return { id: 'C1' }
      },
    },
    {
      says: 'anybody’s, by an owner',
      given: async (w) => {
        await said(w)
        return { id: 'C1' }
      },
      by: (w) => w.ana,
    },
    {
      says: 'one that was answered',
      given: async (w) => {
        await said(w)
        await w.builder.call('comment_on_task', { ...on, text: 'Good.', reply_to: 'C1' })
        return { id: 'C1' }
      },
    },
    {
      says: 'on a signed-off task',
      given: async (w) => {
        await said(w)
        await w.ana.call('complete_task', { id: 'T1' })
        return { id: 'C1' }
      },
    },
    {
      says: 'one that was restored',
      given: async (w) => {
        await said(w)
        await w.scout.call('delete_comment', { id: 'C1' })
        await w.scout.call('restore_from_trash', { ids: ['C1'] })
        return { id: 'C1' }
      },
    },
  ],
}
