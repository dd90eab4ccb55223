import { addSource } from '../../src/store/source.ts'
import type { Cases } from '../cases.ts'
import { anaConnects } from '../people.ts'
import type { World } from '../world.ts'

async function notes(w: World): Promise<void> {
  await anaConnects(w, 'notes', {
    'brief.md': 'The brief: rotate the certificate.',
    'other.md': 'Lunch at noon.',
  })
}

async function notesAndTask(w: World): Promise<void> {
  await notes(w)
  await w.scout.call('create_task', { title: 'Rotate' })
}

const after = (state: (w: World) => Promise<unknown>, input: Record<string, unknown>) => async (w: World) => {
  await state(w)
  return input
}

const NOTE = { connector: 'notes', title: 'Decision', text: 'We rotate monthly.' }

export const contextCases: Cases = {
  list_connectors: [
    { says: 'there are none', given: async () => ({}) },
    { says: 'a folder', given: after(notes, {}) },
    {
      says: 'two folders, seen by a person',
      given: async (w) => {
        await notes(w)
        await anaConnects(w, 'archive', {}, false)
        return {}
      },
      by: (w) => w.ana,
    },
    { says: 'with a read token', given: after(notes, {}), by: (w) => w.reader },
    { says: 'another agent', given: after(notes, {}), by: (w) => w.builder },
  ],

  search_context: [
    { says: 'nothing is connected', given: async () => ({ query: 'brief' }) },
    { says: 'a hit', given: after(notes, { query: 'certificate' }) },
    { says: 'nothing is found', given: after(notes, { query: 'zeppelin' }) },
    {
      says: 'in one source, with a read token',
      given: after(notes, { query: 'brief', connectors: ['Notes'] }),
      by: (w) => w.reader,
    },
    {
      says: 'one of two sources has gone',
      given: async (w) => {
        await notes(w)
        await w.done.store.write(w.ana.actor, 'add_folder', (tx) =>
          addSource(tx, {
            name: 'gone',
            kind: 'folder',
            config: { root: '/nowhere/at/all' },
            may_save: false,
          }),
        )
        return { query: 'brief' }
      },
    },
  ],

  read_context: [
    { says: 'an item', given: after(notes, { uri: 'folder:notes/brief.md' }) },
    { says: 'a piece of it', given: after(notes, { uri: 'folder:notes/brief.md', offset: 4, limit: 10 }) },
    { says: 'behind its end', given: after(notes, { uri: 'folder:notes/brief.md', offset: 9000 }) },
    { says: 'with a read token', given: after(notes, { uri: 'folder:notes/other.md' }), by: (w) => w.reader },
    { says: 'by a person', given: after(notes, { uri: 'folder:notes/other.md' }), by: (w) => w.ana },
  ],

  save_context: [
    { says: 'a note', given: after(notes, NOTE) },
    { says: 'a note for a task', given: after(notesAndTask, { ...NOTE, task_id: 'T1' }) },
    { says: 'with a key', given: after(notes, { ...NOTE, idempotency_key: 'decision' }) },
    { says: 'where the name is taken', given: after(notes, { ...NOTE, title: 'brief' }) },
    {
      says: 'for a task whose sign-off was asked',
      given: async (w) => {
        await notesAndTask(w)
        await w.scout.call('complete_task', { id: 'T1' })
        return { ...NOTE, task_id: 'T1' }
      },
    },
    { says: 'by a person', given: after(notes, NOTE), by: (w) => w.ana },
  ],
}
