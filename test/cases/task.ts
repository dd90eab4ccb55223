import type { Cases } from '../cases.ts'
import type { World } from '../world.ts'

export const id = { id: 'T1' }

/** Adds one more task, the first of them T1. */
export const one = (w: World, fields: Record<string, unknown> = {}) =>
  w.scout.call('create_task', { title: 'Order tiles', ...fields })

/** The task is there, and something has happened to it. */
export const after = async (w: World, ...calls: (() => Promise<unknown>)[]) => {
  await one(w)
  for (const call of calls) await call()
}

export const taskCases: Cases = {
  get_task: [
    {
      says: 'an open task',
      given: async (w) => {
        await one(w)
        return id
      },
    },
    {
      says: 'a task that waits for a person',
      given: async (w) => {
        await after(w, () => w.scout.call('complete_task', id))
        return id
      },
    },
    {
      says: 'a closed one',
      given: async (w) => {
        await after(w, () => w.ana.call('complete_task', id))
        return id
      },
    },
    {
      says: 'in short',
      given: async (w) => {
        await one(w)
        return { ...id, detail: 'concise' }
      },
    },
    {
      says: 'with steps',
      given: async (w) => {
        await one(w, { steps: [{ title: 'Measure' }] })
        return id
      },
      by: (w) => w.ana,
    },
  ],
  create_task: [
    { says: 'the first one', given: async () => ({ title: 'Order tiles' }) },
    {
      says: 'with everything',
      given: async (w) => {
        await one(w)
        return {
          title: 'Lay tiles',
          description: '# How',
          priority: 'high',
          due: '2026-12-07',
          scheduled: 'tomorrow',
          estimate: 60,
          assignee: 'builder',
          depends_on: ['T1'],
          steps: [{ title: 'Measure' }],
        }
      },
    },
    {
      says: 'a likely duplicate',
      given: async (w) => {
        await one(w)
        return { title: 'Order tiles' }
      },
    },
    {
      says: 'under a parent that waits',
      given: async (w) => {
        await after(w, () => w.scout.call('complete_task', id))
        return { title: 'Part', parent_id: 'T1' }
      },
    },
    {
      says: 'a recurring one, by a person',
      given: async () => ({ title: 'Backup', recurrence: 'every monday', due: '2026-12-07' }),
      by: (w) => w.ana,
    },
  ],
  create_tasks: [
    { says: 'two', given: async () => ({ tasks: [{ title: 'One' }, { title: 'Two' }] }) },
    {
      says: 'with order',
      given: async () => ({
        tasks: [
          { title: 'Lay', depends_on: ['order'] },
          { ref: 'order', title: 'Order' },
        ],
      }),
    },
    {
      says: 'a tree',
      given: async () => ({
        tasks: [
          { ref: 'floor', title: 'Floor' },
          { title: 'Lay', parent_id: 'floor' },
        ],
      }),
    },
    {
      says: 'that wait for an older one',
      given: async (w) => {
        await one(w)
        return { tasks: [{ title: 'Lay', depends_on: ['T1'] }] }
      },
    },
    {
      says: 'with steps, by a person',
      given: async () => ({ tasks: [{ title: 'Lay', steps: [{ title: 'Measure' }] }] }),
      by: (w) => w.ana,
    },
  ],
  complete_task: [
    {
      says: 'one that needs a person',
      given: async (w) => {
        await one(w)
        return { ...id, summary: 'Ordered.' }
      },
    },
    {
      says: 'an auto-OK one',
      given: async (w) => {
        await after(w, () => w.autoOk('T1'))
        return { ...id, summary: 'Ordered.' }
      },
    },
    {
      says: 'by a person',
      given: async (w) => {
        await one(w)
        return id
      },
      by: (w) => w.ana,
    },
    {
      says: 'one for which another waits',
      given: async (w) => {
        await after(w, () => one(w, { title: 'Lay', depends_on: ['T1'], assignee: 'builder' }))
        return id
      },
      by: (w) => w.ana,
    },
    {
      says: 'a recurring one',
      given: async (w) => {
        await one(w, { recurrence: 'every monday', due: '2026-11-30' })
        return id
      },
      by: (w) => w.ana,
    },
    {
      says: 'a subtask',
      given: async (w) => {
        await after(w, () => one(w, { title: 'Part', parent_id: 'T1' }))
        return { id: 'T2' }
      },
      by: (w) => w.ana,
    },
  ],
  cancel_task: [
    {
      says: 'one that needs a person',
      given: async (w) => {
        await one(w)
        return { ...id, reason: 'Not needed.' }
      },
    },
    {
      says: 'an auto-OK one',
      given: async (w) => {
        await after(w, () => w.autoOk('T1'))
        return { ...id, reason: 'Not needed.' }
      },
    },
    {
      says: 'by a person',
      given: async (w) => {
        await one(w)
        return { ...id, reason: 'Not needed.' }
      },
      by: (w) => w.ana,
    },
    {
      says: 'a recurring one',
      given: async (w) => {
        await one(w, { recurrence: 'daily' })
        return { ...id, reason: 'Skip.' }
      },
      by: (w) => w.ana,
    },
    {
      says: 'what an agent asked to have done',
      given: async (w) => {
        await after(w, () => w.scout.call('complete_task', id))
        return { ...id, reason: 'No.' }
      },
      by: (w) => w.ana,
    },
  ],
  reopen_task: [
    {
      says: 'a done one',
      given: async (w) => {
        await after(w, () => w.ana.call('complete_task', id))
        return { ...id, reason: 'Wrong.' }
      },
    },
    {
      says: 'a cancelled one',
      given: async (w) => {
        await after(w, () => w.ana.call('cancel_task', { ...id, reason: 'x' }))
        return id
      },
    },
    {
      says: 'one’s own request',
      given: async (w) => {
        await after(w, () => w.scout.call('complete_task', id))
        return id
      },
    },
    {
      says: 'an agent’s request, by a person',
      given: async (w) => {
        await after(w, () => w.scout.call('complete_task', id))
        return { ...id, reason: 'Wait.' }
      },
      by: (w) => w.ana,
    },
    {
      says: 'one that is open',
      given: async (w) => {
        await one(w)
        return id
      },
    },
  ],
  delete_task: [
    {
      says: 'an open one',
      given: async (w) => {
        await one(w)
        return id
      },
    },
    {
      says: 'with a subtask',
      given: async (w) => {
        await after(w, () => one(w, { title: 'Part', parent_id: 'T1' }))
        return id
      },
    },
    {
      says: 'that awaits a person',
      given: async (w) => {
        await after(w, () => w.scout.call('complete_task', id))
        return id
      },
    },
    {
      says: 'a signed-off one',
      given: async (w) => {
        await after(w, () => w.ana.call('complete_task', id))
        return id
      },
    },
    {
      says: 'by a person',
      given: async (w) => {
        await one(w)
        return id
      },
      by: (w) => w.ana,
    },
  ],
}
