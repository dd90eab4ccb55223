import type { Cases } from '../cases.ts'
import type { World } from '../world.ts'

/** T2 waits for T1, T3 for T2; T4 is free. All but T4 in P1. */
const chain = async (w: World) => {
  await w.scout.call('create_project', { name: 'Website' })
  await w.scout.call('create_task', { title: 'Design', project_id: 'P1' })
  await w.scout.call('create_task', { title: 'Build', project_id: 'P1', depends_on: ['T1'] })
  await w.scout.call('create_task', { title: 'Publish', project_id: 'P1', depends_on: ['T2'] })
  await w.scout.call('create_task', { title: 'Celebrate' })
}

const then = async (w: World, name: string, input: Record<string, unknown>) => {
  await chain(w)
  await w.scout.call(name, input)
}

export const dependencyCases: Cases = {
  list_dependencies: [
    {
      says: 'of one in the middle',
      given: async (w) => {
        await chain(w)
        return { id: 'T2' }
      },
    },
    {
      says: 'one way, one step far',
      given: async (w) => {
        await chain(w)
        return { id: 'T3', direction: 'waits_for', depth: 1 }
      },
    },
    {
      says: 'of a project',
      given: async (w) => {
        await chain(w)
        return { project_id: 'P1' }
      },
    },
    {
      says: 'on something in the Trash',
      given: async (w) => {
        await then(w, 'delete_task', { id: 'T1' })
        return { id: 'T3' }
      },
    },
    {
      says: 'of none, by a reader',
      given: async (w) => {
        await chain(w)
        return { id: 'T4' }
      },
      by: (w) => w.reader,
    },
  ],
  add_dependency: [
    {
      says: 'a new one',
      given: async (w) => {
        await chain(w)
        return { id: 'T4', depends_on: ['T3'] }
      },
    },
    {
      says: 'one that stands and one that does not',
      given: async (w) => {
        await chain(w)
        return { id: 'T3', depends_on: ['T2', 'T4'] }
      },
    },
    {
      says: 'one that was removed',
      given: async (w) => {
        await then(w, 'remove_dependency', { id: 'T2', depends_on: ['T1'] })
        return { id: 'T2', depends_on: ['T1'] }
      },
    },
    {
      says: 'of a running task',
      given: async (w) => {
        await then(w, 'start_run', { task_id: 'T1' })
        return { id: 'T1', depends_on: ['T4'] }
      },
    },
    {
      says: 'by a person',
      given: async (w) => {
        await chain(w)
        return { id: 'T4', depends_on: ['T1', 'T2'] }
      },
      by: (w) => w.ana,
    },
  ],
  remove_dependency: [
    {
      says: 'the only one',
      given: async (w) => {
        await chain(w)
        return { id: 'T2', depends_on: ['T1'] }
      },
    },
    {
      says: 'on one in the Trash',
      given: async (w) => {
        await then(w, 'delete_task', { id: 'T1' })
        return { id: 'T2', depends_on: ['T1'] }
      },
    },
    {
      says: 'one that was removed before',
      given: async (w) => {
        await then(w, 'remove_dependency', { id: 'T3', depends_on: ['T2'] })
        return { id: 'T3', depends_on: ['T2'] }
      },
    },
    {
      says: 'one of two',
      given: async (w) => {
        await then(w, 'add_dependency', { id: 'T3', depends_on: ['T4'] })
        return { id: 'T3', depends_on: ['T4'] }
      },
    },
    {
      says: 'by a person',
      given: async (w) => {
        await chain(w)
        return { id: 'T3', depends_on: ['T2'] }
      },
      by: (w) => w.ana,
    },
  ],
}
