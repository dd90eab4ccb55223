import type { Cases } from '../cases.ts'
import type { World } from '../world.ts'

/** The labels ops (red) and web; T1 carries both, T2 carries web. */
const labelled = async (w: World) => {
  await w.scout.call('create_label', { name: 'ops', color: 'red' })
  await w.scout.call('create_label', { name: 'web' })
  await w.scout.call('create_task', { title: 'Rotate', labels: ['ops', 'web'] })
  await w.scout.call('create_task', { title: 'Publish', labels: ['web'] })
}

const deleted = async (w: World) => {
  await labelled(w)
  await w.scout.call('delete_label', { name: 'ops' })
}

const renamed = async (w: World) => {
  await labelled(w)
  await w.scout.call('update_label', { name: 'ops', new_name: 'operations' })
}

export const labelCases: Cases = {
  list_labels: [
    { says: 'none', given: async () => ({}) },
    {
      says: 'two',
      given: async (w) => {
        await labelled(w)
        return {}
      },
    },
    {
      says: 'one of them deleted',
      given: async (w) => {
        await deleted(w)
        return {}
      },
    },
    {
      says: 'a page',
      given: async (w) => {
        await labelled(w)
        return { limit: 1 }
      },
    },
    {
      says: 'by a reader',
      given: async (w) => {
        await renamed(w)
        return {}
      },
      by: (w) => w.reader,
    },
  ],
  create_label: [
    { says: 'a new one', given: async () => ({ name: 'ops', color: '#FF0000' }) },
    {
      says: 'one that exists, in another spelling and color',
      given: async (w) => {
        await labelled(w)
        return { name: 'OPS', color: 'blue' }
      },
    },
    {
      says: 'one that was deleted',
      given: async (w) => {
        await deleted(w)
        return { name: 'ops', color: 'blue' }
      },
    },
    {
      says: 'one that was renamed',
      given: async (w) => {
        await renamed(w)
        return { name: 'ops', color: 'blue' }
      },
    },
    { says: 'by a person', given: async () => ({ name: 'añil' }), by: (w) => w.ana },
  ],
  update_label: [
    {
      says: 'renamed',
      given: async (w) => {
        await labelled(w)
        return { name: 'ops', new_name: 'operations' }
      },
    },
    {
      says: 'recoloured',
      given: async (w) => {
        await labelled(w)
        return { name: 'ops', color: 'blue' }
      },
    },
    {
      says: 'without a color',
      given: async (w) => {
        await labelled(w)
        return { name: 'ops', color: null }
      },
    },
    {
      says: 'merged into another',
      given: async (w) => {
        await labelled(w)
        return { name: 'ops', new_name: 'web', color: 'teal' }
      },
    },
    {
      says: 'another spelling',
      given: async (w) => {
        await labelled(w)
        return { name: 'ops', new_name: 'Ops' }
      },
    },
    {
      says: 'back to its old name',
      given: async (w) => {
        await renamed(w)
        return { name: 'operations', new_name: 'ops' }
      },
    },
    {
      says: 'to a name in the Trash',
      given: async (w) => {
        await deleted(w)
        return { name: 'web', new_name: 'ops' }
      },
    },
    {
      says: 'to what it is',
      given: async (w) => {
        await labelled(w)
        return { name: 'ops', color: 'red' }
      },
      by: (w) => w.ana,
    },
  ],
  delete_label: [
    {
      says: 'one that tasks carry',
      given: async (w) => {
        await labelled(w)
        return { name: 'web' }
      },
    },
    {
      says: 'one that none carries',
      given: async (w) => {
        await w.scout.call('create_label', { name: 'new' })
        return { name: 'NEW' }
      },
    },
    {
      says: 'one that was made anew',
      given: async (w) => {
        await deleted(w)
        await w.scout.call('create_label', { name: 'ops' })
        return { name: 'ops' }
      },
    },
    {
      says: 'one that a signed-off task carries',
      given: async (w) => {
        await labelled(w)
        await w.ana.call('complete_task', { id: 'T1' })
        return { name: 'ops' }
      },
    },
    {
      says: 'by a person',
      given: async (w) => {
        await renamed(w)
        return { name: 'operations' }
      },
      by: (w) => w.ana,
    },
  ],
  label_task: [
    {
      says: 'one',
      given: async (w) => {
        await labelled(w)
        return { ids: ['T2'], labels: ['ops'] }
      },
    },
    {
      says: 'two, one of which has it',
      given: async (w) => {
        await labelled(w)
        return { ids: ['T1', 'T2'], labels: ['ops'] }
      },
    },
    {
      says: 'one that lost it before',
      given: async (w) => {
        await labelled(w)
        await w.scout.call('unlabel_task', { ids: ['T1'], labels: ['ops'] })
        return { ids: ['T1'], labels: ['Ops', 'web'] }
      },
    },
    {
      says: 'one that awaits sign-off',
      given: async (w) => {
        await labelled(w)
        await w.scout.call('complete_task', { id: 'T2' })
        return { ids: ['T2'], labels: ['ops'] }
      },
      by: (w) => w.builder,
    },
    {
      says: 'all that they have, by a person',
      given: async (w) => {
        await labelled(w)
        return { ids: ['T1'], labels: ['ops'] }
      },
      by: (w) => w.ana,
    },
  ],
  unlabel_task: [
    {
      says: 'one',
      given: async (w) => {
        await labelled(w)
        return { ids: ['T1'], labels: ['ops'] }
      },
    },
    {
      says: 'two, of one',
      given: async (w) => {
        await labelled(w)
        return { ids: ['T1', 'T2'], labels: ['ops', 'web'] }
      },
    },
    {
      says: 'what it does not have',
      given: async (w) => {
        await labelled(w)
        return { ids: ['T2'], labels: ['ops'] }
      },
    },
    {
      says: 'a running task',
      given: async (w) => {
        await labelled(w)
        await w.scout.call('start_run', { task_id: 'T1' })
        return { ids: ['T1'], labels: ['web'] }
      },
    },
    {
      says: 'by a person',
      given: async (w) => {
        await labelled(w)
        return { ids: ['T1'], labels: ['web'] }
      },
      by: (w) => w.ana,
    },
  ],
}
