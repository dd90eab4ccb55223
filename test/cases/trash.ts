import type { Cases } from '../cases.ts'
import type { World } from '../world.ts'

/** P1 with T1 (steps S1, S2, label ops, comment C1, artifact F1) and its subtask T2. */
const project = async (w: World) => {
  await w.scout.call('create_project', { name: 'Website' })
  await w.scout.call('create_label', { name: 'ops' })
  await w.scout.call('create_task', {
    title: 'Design',
    project_id: 'P1',
    labels: ['ops'],
    steps: [{ title: 'Sketch' }, { title: 'Draw' }],
  })
  await w.scout.call('create_task', { title: 'Colors', parent_id: 'T1' })
  await w.scout.call('comment_on_task', { task_id: 'T1', text: 'In blue.' })
  await w.scout.call('attach_artifact', { task_id: 'T1', title: 'Palette', text: '#00f' })
  await w.scout.call('save_view', { name: 'Ours', filter: { project_id: 'P1' } })
}

const gone = async (w: World, ...calls: [name: string, input: Record<string, unknown>][]) => {
  await project(w)
  for (const [name, input] of calls) await w.scout.call(name, input)
}

const task: [string, Record<string, unknown>] = ['delete_task', { id: 'T1' }]
const whole: [string, Record<string, unknown>] = ['delete_project', { id: 'P1', name: 'Website' }]
const step: [string, Record<string, unknown>] = ['delete_step', { id: 'S1' }]

export const trashCases: Cases = {
  list_trash: [
    { says: 'nothing', given: async () => ({}) },
    {
      says: 'a project',
      given: async (w) => {
        await gone(w, whole)
        return {}
      },
    },
    {
      says: 'of one kind',
      given: async (w) => {
        await gone(w, step, task)
        return { kinds: ['step'] }
      },
    },
    {
      says: 'by somebody, of late',
      given: async (w) => {
        await gone(w, task)
        return { deleted_by: 'scout', since: 'yesterday' }
      },
    },
    {
      says: 'a page, by a reader',
      given: async (w) => {
        await gone(w, step, task)
        return { limit: 1 }
      },
      by: (w) => w.reader,
    },
  ],
  restore_from_trash: [
    {
      says: 'a task with its subtask',
      given: async (w) => {
        await gone(w, task)
        return { ids: ['X1'] }
      },
    },
    {
      says: 'a task by its own id',
      given: async (w) => {
        await gone(w, task)
        return { ids: ['T1'] }
      },
    },
    {
      says: 'a project',
      given: async (w) => {
        await gone(w, whole)
        return { ids: ['X1'] }
      },
    },
    {
      says: 'a step and its task, in whatever order',
      given: async (w) => {
        await gone(w, step, task)
        return { ids: ['S1', 'X2'] }
      },
    },
    {
      says: 'a comment, a label, a view and an artifact',
      given: async (w) => {
        await gone(
          w,
          ['delete_comment', { id: 'C1' }],
          ['delete_label', { name: 'ops' }],
          ['delete_view', { name: 'Ours' }],
          ['delete_artifact', { id: 'F1' }],
        )
        return { ids: ['C1', 'ops', 'Ours', 'F1'] }
      },
    },
    {
      says: 'a task that awaits sign-off',
      given: async (w) => {
        await gone(w, ['complete_task', { id: 'T2' }], ['delete_task', { id: 'T2' }])
        return { ids: ['T2'] }
      },
    },
    {
      says: 'what is not there',
      given: async (w) => {
        await project(w)
        return { ids: ['T1'] }
      },
    },
    {
      says: 'a label that was made anew',
      given: async (w) => {
        await gone(w, ['delete_label', { name: 'ops' }], ['create_label', { name: 'ops' }])
        return { ids: ['X1'] }
      },
    },
    {
      says: 'by a person',
      given: async (w) => {
        await gone(w, step)
        return { ids: ['X1'] }
      },
      by: (w) => w.ana,
    },
  ],
}
