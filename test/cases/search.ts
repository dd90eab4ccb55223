import type { Cases } from '../cases.ts'
import type { World } from '../world.ts'

async function plan(w: World): Promise<void> {
  await w.scout.call('create_task', {
    title: 'Rotate the staging certificate',
    description: 'It expires in May. '.repeat(600),
    steps: [{ title: 'Order it' }, { title: 'Install it', description: 'On both servers.' }],
  })
  await w.scout.call('comment_on_task', { task_id: 'T1', text: 'The café’s certificate is another one.' })
  await w.scout.call('start_run', { task_id: 'T1', goal: 'A fresh certificate' })
  await w.scout.call('attach_artifact', { task_id: 'T1', title: 'Log', text: 'certificate installed' })
}

const after = (input: Record<string, unknown>) => async (w: World) => {
  await plan(w)
  return input
}

export const searchCases: Cases = {
  search: [
    { says: 'one word in things of every kind', given: after({ query: 'certificate' }) },
    { says: 'nothing is found', given: after({ query: 'zeppelin' }) },
    { says: 'two words, one kind', given: after({ query: 'cafe certificate', kinds: ['comment'] }) },
    { says: 'characters of the query language', given: after({ query: '"certi* -NEAR(' }) },
    {
      says: 'open things only, after the task was deleted',
      given: async (w) => {
        await plan(w)
        await w.scout.call('delete_task', { id: 'T1' })
        return { query: 'certificate', include_closed: false }
      },
    },
    {
      says: 'a read token, one a page',
      given: after({ query: 'certificate', limit: 1 }),
      by: (w) => w.reader,
    },
  ],

  get_full_text: [
    { says: 'a description', given: after({ id: 'T1' }) },
    { says: 'the rest of it', given: after({ id: 'T1', offset: 6000, limit: 500 }) },
    { says: 'all steps', given: after({ id: 'T1', part: 'steps' }) },
    { says: 'a comment', given: after({ id: 'C1' }), by: (w) => w.reader },
    { says: 'an artifact', given: after({ id: 'F1' }) },
    { says: 'a run', given: after({ id: 'R1' }), by: (w) => w.ana },
  ],
}
