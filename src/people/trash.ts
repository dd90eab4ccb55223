import { z } from 'zod'
import { formatId } from '../model/id.ts'
import { partyNames } from '../store/actor.ts'
import type { ReadTx } from '../store/handle.ts'
import { purge } from '../store/purge.ts'
import { pendingInEntry } from '../store/request.ts'
import type { Row } from '../store/tables.ts'
import { listTrash, tasksInEntry } from '../store/trash.ts'
import { idOf } from '../tools/fields.ts'
import { destroy, read } from '../tools/tool.ts'
import { moment, sparse } from '../tools/view.ts'
import { forPeople } from './operation.ts'

/** How far back deletions are listed, in milliseconds. */
const RECENT_MS = 7 * 86_400_000

export const trashOperations = {
  list_deletions: forPeople(
    'viewer',
    read({
      title: 'List what agents deleted',
      does: 'Tasks and projects that agents moved to the Trash in the last 7 days and that are still there, newest first, out of the newest 100 entries, with the requests for sign-off that waited in them.',
      toolset: 'trash',
      input: z.strictObject({}),
      output: z.looseObject({ deletions: z.array(z.looseObject({ id: z.string() })) }),
      http: 'GET /deletions',
      example: {},
      run: async (tx) => {
        const name = await partyNames(tx)
        const filter = { kinds: ['task', 'project'] as const, since: tx.now - RECENT_MS }
        const { rows } = await listTrash(tx, filter, { limit: 100 })
        const byAgents = rows.filter(({ by }) => by.startsWith('G'))
        return { deletions: await Promise.all(byAgents.map((entry) => deletion(tx, entry, name))) }
      },
    }),
  ),

  purge: forPeople(
    'owner',
    destroy({
      title: 'Purge from the Trash',
      does: 'Removes an entry of the Trash for good, with everything under it. Its title must be repeated. Tasks that were signed off stay as empty shells, for the record.',
      toolset: 'trash',
      noun: 'trash',
      convergent: true,
      input: z.strictObject({ id: idOf('trash'), title: z.string() }),
      output: z.looseObject({ id: z.string(), purged: z.literal(true) }),
      http: 'DELETE /trash/:id',
      example: { id: 'X1', title: 'Old pricing notes' },
      run: async (tx, { id, title }) => {
        const { already, tasks, kept } = await purge(tx, id, title)
        return { ...sparse({ id: formatId('trash', id), purged: true, tasks, kept, already }) }
      },
    }),
    'fresh',
  ),
}

async function deletion(
  tx: ReadTx,
  entry: Row<'trash'>,
  name: (id: string | null | undefined) => string | undefined,
) {
  const { id, kind, object, title, by, at } = entry
  return {
    id: formatId('trash', id),
    kind,
    object,
    title,
    tasks: await tasksInEntry(tx, entry),
    by: name(by) ?? by,
    at: moment(at),
    /** Requests that waited for a person. */
    requests: (await pendingInEntry(tx, id)).map((request) => formatId('request', request)),
  }
}

/** What an agent deleted, in a list of it. */
export type Deletion = Awaited<ReturnType<typeof deletion>>
