import { z } from 'zod'
import { formatId } from '../model/id.ts'
import { purge } from '../store/purge.ts'
import { idOf } from '../tools/fields.ts'
import { destroy } from '../tools/tool.ts'
import { sparse } from '../tools/view.ts'
import { forPeople } from './operation.ts'

export const trashOperations = {
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
