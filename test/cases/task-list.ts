import type { Cases } from '../cases.ts'
import type { World } from '../world.ts'
import { after, id, one } from './task.ts'

export const taskListCases: Cases = {
  list_tasks: [
    { says: 'none', given: async () => ({}) },
    {
      says: 'two',
      given: async (w) => {
        await after(w, () => one(w))
        return {}
      },
    },
    {
      says: 'by status',
      given: async (w) => {
        await one(w)
        return { status: ['open', 'done'] }
      },
    },
    {
      says: 'overdue ones in full',
      given: async (w) => {
        await one(w, { due: '2026-11-01' })
        return { overdue: true, detail: 'detailed' }
      },
    },
    {
      says: 'a page, by a reader',
      given: async (w) => {
        await after(w, () => one(w))
        return { limit: 1, sort: 'created' }
      },
      by: (w) => w.reader,
    },
  ],
  count_tasks: ['status', 'project', 'assignee', 'claim', 'label', 'priority', 'due_day'].map((group_by) => ({
    says: `by ${group_by}`,
    given: async (w: World) => {
      await one(w, { assignee: 'builder', due: '2026-12-01' })
      return { group_by }
    },
  })),
  get_task_history: [
    {
      says: 'of a new task',
      given: async (w) => {
        await one(w)
        return id
      },
    },
    {
      says: 'after a change',
      given: async (w) => {
        await after(w, () => w.scout.call('update_task', { ...id, title: 'Order slates' }))
        return id
      },
    },
    {
      says: 'of a trashed task',
      given: async (w) => {
        await after(w, () => w.scout.call('delete_task', id))
        return id
      },
    },
    {
      says: 'one row',
      given: async (w) => {
        await after(w, () => w.scout.call('complete_task', id))
        return { ...id, limit: 1 }
      },
    },
    {
      says: 'by a reader',
      given: async (w) => {
        await one(w)
        return id
      },
      by: (w) => w.reader,
    },
  ],
}
