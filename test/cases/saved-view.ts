import type { Cases } from '../cases.ts'
import type { World } from '../world.ts'

const filter = { status: ['open'], due_before: 'next monday' }
const saved = (w: World, fields: Record<string, unknown> = {}) =>
  w.scout.call('save_view', { name: 'This week', filter, ...fields })

const deleted = async (w: World) => {
  await saved(w)
  await w.scout.call('delete_view', { name: 'This week' })
}

export const savedViewCases: Cases = {
  list_views: [
    { says: 'none', given: async () => ({}) },
    {
      says: 'one',
      given: async (w) => {
        await saved(w)
        return {}
      },
    },
    {
      says: 'a deleted one',
      given: async (w) => {
        await deleted(w)
        return {}
      },
    },
    {
      says: 'a page',
      given: async (w) => {
        await saved(w)
        await saved(w, { name: 'Ours' })
        return { limit: 1 }
      },
    },
    {
      says: 'by a reader',
      given: async (w) => {
        await saved(w)
        return {}
      },
      by: (w) => w.reader,
    },
  ],
  save_view: [
    { says: 'a new one', given: async () => ({ name: 'This week', filter }) },
    {
      says: 'in place of another',
      given: async (w) => {
        await saved(w)
        return { name: 'this week', filter: { overdue: true } }
      },
    },
    {
      says: 'as it is',
      given: async (w) => {
        await saved(w)
        return { name: 'This week', filter }
      },
    },
    {
      says: 'one that was deleted',
      given: async (w) => {
        await deleted(w)
        return { name: 'This week', filter: {} }
      },
    },
    {
      says: 'by a person',
      given: async () => ({ name: 'Mine', filter: { assignee: 'me' } }),
      by: (w) => w.ana,
    },
  ],
  delete_view: [
    {
      says: 'one',
      given: async (w) => {
        await saved(w)
        return { name: 'This week' }
      },
    },
    {
      says: 'in another spelling',
      given: async (w) => {
        await saved(w)
        return { name: 'THIS WEEK' }
      },
    },
    {
      says: 'one that was restored',
      given: async (w) => {
        await deleted(w)
        await w.scout.call('restore_from_trash', { ids: ['X1'] })
        return { name: 'This week' }
      },
    },
    {
      says: 'one that was saved anew',
      given: async (w) => {
        await deleted(w)
        await saved(w)
        return { name: 'This week' }
      },
    },
    {
      says: 'by a person',
      given: async (w) => {
        await saved(w)
        return { name: 'This week' }
      },
      by: (w) => w.ana,
    },
  ],
}
