import type { Cases } from '../cases.ts'
import { after, id, one } from './task.ts'

export const taskEditCases: Cases = {
  update_task: [
    {
      says: 'a new title',
      given: async (w) => {
        await one(w)
        return { ...id, title: 'Order slates' }
      },
    },
    {
      says: 'cleared fields',
      given: async (w) => {
        await one(w, { due: '2026-12-01', assignee: 'builder' })
        return { ...id, due: null, assignee: null }
      },
    },
    {
      says: 'that voids one’s own request',
      given: async (w) => {
        await after(w, () => w.scout.call('complete_task', id))
        return { ...id, description: 'More' }
      },
    },
    {
      says: 'of an auto-OK task',
      given: async (w) => {
        await after(w, () => w.autoOk('T1'))
        return { ...id, title: 'Order slates' }
      },
    },
    {
      says: 'of a signed-off task, by a person',
      given: async (w) => {
        await after(w, () => w.ana.call('complete_task', id))
        return { ...id, description: 'Late' }
      },
      by: (w) => w.ana,
    },
    {
      says: 'with the version',
      given: async (w) => {
        await one(w)
        return { ...id, priority: 'high', expected_version: 1 }
      },
    },
  ],
  update_tasks: [
    {
      says: 'one patch for two',
      given: async (w) => {
        await after(w, () => one(w))
        return { ids: ['T1', 'T2'], patch: { priority: 'low' } }
      },
    },
    {
      says: 'different values',
      given: async (w) => {
        await after(w, () => one(w))
        return {
          updates: [
            { id: 'T1', title: 'A' },
            { id: 'T2', due: '2026-12-24' },
          ],
        }
      },
    },
    {
      says: 'that is so already',
      given: async (w) => {
        await one(w)
        return { ids: ['T1'], patch: { priority: 'normal' } }
      },
    },
    {
      says: 'all labels off',
      given: async (w) => {
        await w.scout.call('create_label', { name: 'ops' })
        await one(w, { labels: ['ops'] })
        return { ids: ['T1'], patch: { labels: null } }
      },
    },
    {
      says: 'a new parent',
      given: async (w) => {
        await after(w, () => one(w))
        return { updates: [{ id: 'T2', parent_id: 'T1' }] }
      },
    },
    {
      says: 'by a person',
      given: async (w) => {
        await one(w)
        return { ids: ['T1'], patch: { assignee: 'me' } }
      },
      by: (w) => w.ana,
    },
  ],
  merge_tasks: [
    {
      says: 'a twin',
      given: async (w) => {
        await after(w, () => one(w))
        return { ...id, duplicates: ['T2'] }
      },
    },
    {
      says: 'two twins',
      given: async (w) => {
        await after(
          w,
          () => one(w),
          () => one(w),
        )
        return { ...id, duplicates: ['T2', 'T3'] }
      },
    },
    {
      says: 'one that others wait for',
      given: async (w) => {
        await after(
          w,
          () => one(w),
          () => one(w, { depends_on: ['T2'] }),
        )
        return { ...id, duplicates: ['T2'] }
      },
    },
    {
      says: 'one with a subtask',
      given: async (w) => {
        await after(
          w,
          () => one(w),
          () => one(w, { title: 'Part', parent_id: 'T2' }),
        )
        return { ...id, duplicates: ['T2'] }
      },
    },
    {
      says: 'by a person',
      given: async (w) => {
        await after(w, () => one(w))
        return { ...id, duplicates: ['T2'] }
      },
      by: (w) => w.ana,
    },
  ],
  set_recurrence: [
    {
      says: 'a first rule',
      given: async (w) => {
        await one(w)
        return { ...id, rule: 'every monday' }
      },
    },
    {
      says: 'another rule',
      given: async (w) => {
        await one(w, { recurrence: 'daily' })
        return { ...id, rule: 'FREQ=WEEKLY;BYDAY=FR' }
      },
    },
    {
      says: 'none any more',
      given: async (w) => {
        await one(w, { recurrence: 'daily' })
        return { ...id, rule: null }
      },
    },
    {
      says: 'counted from completion',
      given: async (w) => {
        await one(w, { due: '2026-12-01' })
        return { ...id, rule: 'every 2 weeks', anchor: 'completion' }
      },
    },
    {
      says: 'by a person, in Spanish',
      given: async (w) => {
        await one(w)
        return { ...id, rule: 'cada lunes' }
      },
      by: (w) => w.ana,
    },
  ],
}
