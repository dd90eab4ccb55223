import type { Cases } from '../cases.ts'
import type { World } from '../world.ts'

const LEASE = 10 * 60_000

/** A task of Ana's. */
async function task(w: World, more: Record<string, unknown> = {}) {
  return String((await w.ana.call('create_task', { title: 'Rotate the certificate', ...more })).id)
}

/** Evidence on a new task, by scout. */
async function attached(w: World, more: Record<string, unknown> = { text: 'All tests pass.' }) {
  const task_id = await task(w)
  const { id } = await w.scout.call('attach_artifact', { task_id, title: 'Report', ...more })
  return { task_id, id: String(id) }
}

const FILE = {
  name: 'report.csv',
  media_type: 'text/csv',
  base64: Buffer.from('a,b\n1,2\n').toString('base64'),
}

export const artifactCases: Cases = {
  attach_artifact: [
    {
      says: 'a link',
      given: async (w) => ({ task_id: await task(w), title: 'Run', url: 'https://ci.example.org/512' }),
    },
    {
      says: 'a text',
      given: async (w) => ({ task_id: await task(w), title: 'Notes', text: 'Tout est prêt. 完了' }),
    },
    {
      says: 'a file from a run',
      given: async (w) => {
        const task_id = await task(w)
        await w.scout.call('start_run', { task_id })
        return { task_id, run_id: 'R1', title: 'Report', file: FILE }
      },
    },
    {
      says: 'to a subtask',
      given: async (w) => ({
        task_id: await task(w, { parent_id: await task(w) }),
        title: 'Log',
        text: 'ok',
      }),
    },
    {
      says: 'after one’s own request, which it voids',
      given: async (w) => {
        const id = await task(w)
        await w.scout.call('complete_task', { id })
        return { task_id: id, title: 'Forgotten', text: 'The report' }
      },
    },
    {
      says: 'to a blocked task, by a person',
      given: async (w) => {
        const id = await task(w)
        await w.scout.call('block_task', { id, reason: 'No access' })
        return { task_id: id, title: 'Access', url: 'http://wiki.example.org/access' }
      },
      by: (w) => w.ana,
    },
    {
      says: 'with a lapsed lease, the same again',
      given: async (w) => {
        const { task_id } = await attached(w)
        await w.scout.call('start_run', { task_id })
        w.pass(LEASE)
        return { task_id, title: 'Report', text: 'All tests pass.' }
      },
    },
  ],

  delete_artifact: [
    { says: 'a text', given: async (w) => ({ id: (await attached(w)).id }) },
    {
      says: 'a file, with its other name',
      given: async (w) => ({ artifact_id: (await attached(w, { file: FILE })).id }),
    },
    {
      says: 'a link, under one’s own request, which it voids',
      given: async (w) => {
        const { id, task_id } = await attached(w, { url: 'https://example.org/' })
        await w.scout.call('complete_task', { id: task_id })
        return { id }
      },
    },
    { says: 'another’s', given: async (w) => ({ id: (await attached(w)).id }), by: (w) => w.builder },
    {
      says: 'one that is in the Trash already',
      given: async (w) => {
        const { id } = await attached(w)
        await w.scout.call('delete_artifact', { id })
        return { id }
      },
    },
    { says: 'by a person', given: async (w) => ({ id: (await attached(w)).id }), by: (w) => w.ana },
  ],
}
