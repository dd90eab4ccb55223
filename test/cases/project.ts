import type { Cases } from '../cases.ts'
import type { World } from '../world.ts'

const project = (w: World, fields: Record<string, unknown> = {}) =>
  w.scout.call('create_project', { name: 'Website', description: 'All of www.', ...fields })

/** P1 with T1 and its subtask T2, T3 that waits for T1, and T4 that awaits sign-off. */
const full = async (w: World) => {
  await project(w)
  await w.scout.call('create_task', { title: 'Design', project_id: 'P1', assignee: 'Ana' })
  await w.scout.call('create_task', { title: 'Colors', parent_id: 'T1' })
  await w.scout.call('create_task', { title: 'Build', project_id: 'P1', depends_on: ['T1'] })
  await w.scout.call('create_task', { title: 'build', project_id: 'P1' })
  await w.scout.call('complete_task', { id: 'T4' })
}

/** P1, in which all is finished. */
const finished = async (w: World) => {
  await project(w)
  await w.scout.call('create_task', { title: 'Design', project_id: 'P1' })
  await w.ana.call('complete_task', { id: 'T1' })
}

const id = { id: 'P1' }
const deletion = { id: 'P1', name: 'Website' }

export const projectCases: Cases = {
  list_projects: [
    { says: 'none', given: async () => ({}) },
    {
      says: 'one',
      given: async (w) => {
        await full(w)
        return {}
      },
    },
    {
      says: 'archived ones too',
      given: async (w) => {
        await finished(w)
        await w.scout.call('archive_project', id)
        return { include_archived: true }
      },
    },
    {
      says: 'a page',
      given: async (w) => {
        await project(w)
        await project(w, { name: 'Move' })
        return { limit: 1 }
      },
    },
    {
      says: 'by a reader',
      given: async (w) => {
        await full(w)
        return {}
      },
      by: (w) => w.reader,
    },
  ],
  get_project: [
    {
      says: 'an empty one',
      given: async (w) => {
        await project(w)
        return id
      },
    },
    {
      says: 'a full one',
      given: async (w) => {
        await full(w)
        return id
      },
    },
    {
      says: 'a finished one',
      given: async (w) => {
        await finished(w)
        return id
      },
    },
    {
      says: 'an archived one',
      given: async (w) => {
        await finished(w)
        await w.scout.call('archive_project', id)
        return id
      },
    },
    {
      says: 'by a person',
      given: async (w) => {
        await full(w)
        return id
      },
      by: (w) => w.ana,
    },
  ],
  get_project_progress: [
    {
      says: 'of an empty one',
      given: async (w) => {
        await project(w)
        return id
      },
    },
    {
      says: 'of a full one',
      given: async (w) => {
        await full(w)
        return { ...id, days: 7 }
      },
    },
    {
      says: 'of a finished one',
      given: async (w) => {
        await finished(w)
        return { ...id, days: 1 }
      },
    },
    {
      says: 'a week later',
      given: async (w) => {
        await full(w)
        w.pass(7 * 86_400_000)
        return { ...id, days: 180 }
      },
    },
    {
      says: 'by a reader',
      given: async (w) => {
        await full(w)
        return id
      },
      by: (w) => w.reader,
    },
  ],
  create_project: [
    { says: 'a first one', given: async () => ({ name: 'Website' }) },
    { says: 'one with a description', given: async () => ({ name: 'Website', description: 'All of www.' }) },
    {
      says: 'one whose name is taken',
      given: async (w) => {
        await project(w)
        return { name: 'website' }
      },
    },
    {
      says: 'one whose name lies in the Trash',
      given: async (w) => {
        await project(w)
        await w.scout.call('delete_project', deletion)
        return { name: 'Website' }
      },
    },
    { says: 'by a person', given: async () => ({ name: 'Umzug in 東京' }), by: (w) => w.ana },
  ],
  update_project: [
    {
      says: 'its name',
      given: async (w) => {
        await project(w)
        return { ...id, name: 'Site' }
      },
    },
    {
      says: 'its description cleared',
      given: async (w) => {
        await project(w)
        return { ...id, description: null }
      },
    },
    {
      says: 'to what it is',
      given: async (w) => {
        await project(w)
        return { ...id, name: 'Website', expected_version: 7 }
      },
    },
    {
      says: 'another spelling',
      given: async (w) => {
        await project(w)
        return { ...id, name: 'WEBSITE', expected_version: 1 }
      },
    },
    {
      says: 'a first description',
      given: async (w) => {
        await project(w, { description: '' })
        return { ...id, description: 'New.' }
      },
    },
    {
      says: 'by a person',
      given: async (w) => {
        await full(w)
        return { ...id, description: 'Only www.' }
      },
      by: (w) => w.ana,
    },
  ],
  archive_project: [
    {
      says: 'an empty one',
      given: async (w) => {
        await project(w)
        return id
      },
    },
    {
      says: 'a finished one',
      given: async (w) => {
        await finished(w)
        return id
      },
    },
    {
      says: 'one whose open task lies in the Trash',
      given: async (w) => {
        await project(w)
        await w.scout.call('create_task', { title: 'Design', project_id: 'P1' })
        await w.scout.call('delete_task', { id: 'T1' })
        return id
      },
    },
    {
      says: 'one whose open task is auto-OK',
      given: async (w) => {
        await project(w)
        await w.scout.call('create_task', { title: 'Design', project_id: 'P1' })
        await w.autoOk('T1')
        return id
      },
    },
    {
      says: 'by a person',
      given: async (w) => {
        await finished(w)
        return id
      },
      by: (w) => w.ana,
    },
  ],
  unarchive_project: [
    {
      says: 'one that is not archived',
      given: async (w) => {
        await project(w)
        return id
      },
    },
    {
      says: 'an archived one',
      given: async (w) => {
        await project(w)
        await w.scout.call('archive_project', id)
        return id
      },
    },
    {
      says: 'a finished one',
      given: async (w) => {
        await finished(w)
        await w.scout.call('archive_project', id)
        return id
      },
    },
    {
      says: 'an hour later, by another agent',
      given: async (w) => {
        await project(w)
        await w.scout.call('archive_project', id)
        w.pass(3_600_000)
        return id
      },
      by: (w) => w.builder,
    },
    {
      says: 'by a person',
      given: async (w) => {
        await project(w)
        await w.scout.call('archive_project', id)
        return id
      },
      by: (w) => w.ana,
    },
  ],
  delete_project: [
    {
      says: 'an empty one',
      given: async (w) => {
        await project(w)
        return deletion
      },
    },
    {
      says: 'a full one',
      given: async (w) => {
        await full(w)
        return deletion
      },
    },
    {
      says: 'an archived one',
      given: async (w) => {
        await finished(w)
        await w.scout.call('archive_project', id)
        return deletion
      },
    },
    {
      says: 'one whose task another works on',
      given: async (w) => {
        await full(w)
        await w.builder.call('start_run', { task_id: 'T1' })
        return deletion
      },
    },
    {
      says: 'one whose task is a part of another project’s',
      given: async (w) => {
        await project(w, { name: 'Move' })
        await w.scout.call('create_project', { name: 'Website' })
        await w.scout.call('create_task', { title: 'Move all', project_id: 'P1' })
        await w.scout.call('create_task', { title: 'Move www', parent_id: 'T1', project_id: 'P2' })
        return { id: 'P2', name: 'Website' }
      },
    },
    {
      says: 'by a person',
      given: async (w) => {
        await full(w)
        return deletion
      },
      by: (w) => w.ana,
    },
  ],
}
