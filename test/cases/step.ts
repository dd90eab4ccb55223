import type { Cases } from '../cases.ts'
import type { World } from '../world.ts'

/** T1 with the steps S1, S2 and S3. */
const plan = async (w: World) => {
  await w.scout.call('create_task', {
    title: 'Lay the floor',
    steps: [{ title: 'Measure' }, { title: 'Order', description: 'Oak, 20 mm.' }, { title: 'Lay' }],
  })
}

/** T1 with its steps, and then something has happened. */
const after = async (w: World, ...calls: [name: string, input: Record<string, unknown>][]) => {
  await plan(w)
  for (const [name, input] of calls) await w.scout.call(name, input)
}

const done = (id: string): [string, Record<string, unknown>] => ['set_step_status', { id, status: 'done' }]
const started: [string, Record<string, unknown>] = ['start_run', { task_id: 'T1' }]
const blocked: [string, Record<string, unknown>] = ['block_task', { id: 'T1', reason: 'No oak.' }]
const completed: [string, Record<string, unknown>] = ['complete_task', { id: 'T1' }]

export const stepCases: Cases = {
  decompose_task: [
    {
      says: 'steps on a bare task',
      given: async (w) => {
        await w.scout.call('create_task', { title: 'Lay the floor' })
        return { id: 'T1', steps: [{ title: 'Measure' }, { title: 'Order', description: 'Oak.' }] }
      },
    },
    {
      says: 'steps behind one of three, two of them done',
      given: async (w) => {
        await after(w, done('S1'), done('S2'))
        return { id: 'T1', steps: [{ title: 'Dry' }], after: 'S2' }
      },
    },
    {
      says: 'subtasks of a task that the caller works on',
      given: async (w) => {
        await after(w, started)
        return { id: 'T1', subtasks: [{ title: 'Kitchen' }, { title: 'Hall' }] }
      },
    },
    {
      says: 'steps and subtasks of a blocked task',
      given: async (w) => {
        await after(w, blocked)
        return { id: 'T1', steps: [{ title: 'Call' }], subtasks: [{ title: 'Find oak' }] }
      },
    },
    {
      says: 'a task that awaits sign-off, by who asked',
      given: async (w) => {
        await after(w, completed)
        return { id: 'T1', steps: [{ title: 'Wax' }] }
      },
    },
    {
      says: 'a signed-off task, by a person',
      given: async (w) => {
        await plan(w)
        await w.ana.call('complete_task', { id: 'T1' })
        return { id: 'T1', steps: [{ title: 'Wax' }] }
      },
      by: (w) => w.ana,
    },
  ],
  add_step: [
    {
      says: 'at the end',
      given: async (w) => {
        await plan(w)
        return { task_id: 'T1', title: 'Wax' }
      },
    },
    {
      says: 'behind the first',
      given: async (w) => {
        await plan(w)
        return { task_id: 'T1', title: 'Draw', after: 'S1' }
      },
    },
    {
      says: 'where one was deleted',
      given: async (w) => {
        await after(w, ['delete_step', { id: 'S2' }])
        return { task_id: 'T1', title: 'Pine', after: 'S1' }
      },
    },
    {
      says: 'on a running task',
      given: async (w) => {
        await after(w, started)
        return { task_id: 'T1', title: 'Wax' }
      },
    },
    {
      says: 'by a person, voiding a request',
      given: async (w) => {
        await after(w, completed)
        return { task_id: 'T1', title: 'Wax' }
      },
      by: (w) => w.ana,
    },
  ],
  update_step: [
    {
      says: 'its title',
      given: async (w) => {
        await plan(w)
        return { id: 'S1', title: 'Measure twice' }
      },
    },
    {
      says: 'a first description',
      given: async (w) => {
        await plan(w)
        return { id: 'S1', description: 'In mm.' }
      },
    },
    {
      says: 'its description cleared',
      given: async (w) => {
        await plan(w)
        return { id: 'S2', description: null }
      },
    },
    {
      says: 'nothing new, with a version of long ago',
      given: async (w) => {
        await plan(w)
        return { id: 'S1', title: 'Measure', expected_version: 99 }
      },
    },
    {
      says: 'with the version that it has, on a running task',
      given: async (w) => {
        await after(w, started)
        return { id: 'S3', title: 'Glue', expected_version: 1 }
      },
    },
    {
      says: 'on a task that awaits sign-off, by a person',
      given: async (w) => {
        await after(w, completed)
        return { id: 'S3', title: 'Glue' }
      },
      by: (w) => w.ana,
    },
  ],
  set_step_status: [
    {
      says: 'done',
      given: async (w) => {
        await plan(w)
        return { id: 'S1', status: 'done' }
      },
    },
    {
      says: 'failed, with a note',
      given: async (w) => {
        await plan(w)
        return { id: 'S1', status: 'failed', note: 'The ruler broke.' }
      },
    },
    {
      says: 'the last one of all',
      given: async (w) => {
        await after(w, done('S1'), done('S2'))
        return { id: 'S3', status: 'done' }
      },
    },
    {
      says: 'the same status with another note',
      given: async (w) => {
        await after(w, ['set_step_status', { id: 'S1', status: 'skipped', note: 'Known.' }])
        return { id: 'S1', status: 'skipped', note: 'Known from last year.' }
      },
    },
    {
      says: 'on a running task',
      given: async (w) => {
        await after(w, started)
        return { id: 'S1', status: 'in_progress' }
      },
    },
    {
      says: 'on a blocked task, by a person',
      given: async (w) => {
        await after(w, blocked)
        return { id: 'S1', status: 'done', note: 'I did it.' }
      },
      by: (w) => w.ana,
    },
    {
      says: 'after the lease has lapsed',
      given: async (w) => {
        await after(w, started)
        w.pass(11 * 60_000)
        return { id: 'S1', status: 'done' }
      },
    },
  ],
  reorder_steps: [
    {
      says: 'turned round',
      given: async (w) => {
        await plan(w)
        return { task_id: 'T1', order: ['S3', 'S2', 'S1'] }
      },
    },
    {
      says: 'one moved up',
      given: async (w) => {
        await plan(w)
        return { task_id: 'T1', order: ['S3', 'S1', 'S2'] }
      },
    },
    {
      says: 'as it is',
      given: async (w) => {
        await plan(w)
        return { task_id: 'T1', order: ['S1', 'S2', 'S3'] }
      },
    },
    {
      says: 'past a deleted one',
      given: async (w) => {
        await after(w, ['delete_step', { id: 'S2' }])
        return { task_id: 'T1', order: ['S3', 'S1'] }
      },
    },
    {
      says: 'on a running task',
      given: async (w) => {
        await after(w, started)
        return { task_id: 'T1', order: ['S2', 'S3', 'S1'] }
      },
    },
    {
      says: 'on one that awaits sign-off, by a person',
      given: async (w) => {
        await after(w, completed)
        return { task_id: 'T1', order: ['S2', 'S3', 'S1'] }
      },
      by: (w) => w.ana,
    },
  ],
  delete_step: [
    {
      says: 'one of three',
      given: async (w) => {
        await plan(w)
        return { id: 'S2' }
      },
    },
    {
      says: 'one that is done',
      given: async (w) => {
        await after(w, done('S1'))
        return { id: 'S1' }
      },
    },
    {
      says: 'one that was restored',
      given: async (w) => {
        await after(w, ['delete_step', { id: 'S1' }], ['restore_from_trash', { ids: ['X1'] }])
        return { id: 'S1' }
      },
    },
    {
      says: 'on a running task',
      given: async (w) => {
        await after(w, started)
        return { id: 'S3' }
      },
    },
    {
      says: 'on a signed-off task, by a person',
      given: async (w) => {
        await plan(w)
        await w.ana.call('complete_task', { id: 'T1' })
        return { id: 'S3' }
      },
      by: (w) => w.ana,
    },
  ],
}
