import { isAbsolute } from 'node:path'
import { z } from 'zod'
import { AppError, invalid } from '../model/error.ts'
import { addSource, removeSource } from '../store/source.ts'
import { destroy, writeOutside } from '../tools/tool.ts'
import { forPeople } from './operation.ts'

const sourceName = z.string().trim().min(1).max(40)

export const sourceOperations = {
  add_folder: forPeople(
    'owner',
    writeOutside({
      title: 'Connect a folder',
      does: 'Lets agents search and read the text and Markdown files below a folder of this machine and, where you say so, save new ones. Never out of the folder, and never a change of a file.',
      toolset: 'context',
      convergent: true,
      input: z.strictObject({
        name: sourceName.describe('What agents call it.'),
        path: z.string().min(1).max(4096).describe('Absolute.'),
        may_save: z.boolean().optional(),
      }),
      output: z.looseObject({ name: z.string(), kind: z.string() }),
      http: 'POST /sources',
      example: { name: 'handbook', path: '/srv/handbook' },
      run: async (port, { name, path, may_save = false }) => {
        if (!isAbsolute(path)) throw invalid(`"${path.slice(0, 80)}" is not an absolute path.`)
        const source = { name, kind: 'folder', config: { root: path }, may_save }
        const { state, detail } = await port.outside.connect(source).health()
        if (state !== 'ok') {
          throw new AppError('unavailable', `The folder can’t be used: ${detail ?? 'it does not answer.'}`, {
            written: false,
            next: 'Check the path and what the user of the server may read there.',
          })
        }
        const { already } = await port.write((tx) => addSource(tx, source))
        return { name, kind: 'folder', may_save, ...(already ? { already: true } : {}) }
      },
    }),
    'fresh',
  ),

  remove_source: forPeople(
    'owner',
    destroy({
      title: 'Disconnect a source',
      does: 'Agents can reach it no more. What they brought into tasks from it stays.',
      toolset: 'context',
      convergent: true,
      input: z.strictObject({ name: sourceName }),
      output: z.looseObject({ name: z.string(), removed: z.literal(true) }),
      http: 'DELETE /sources/:name',
      example: { name: 'notes' },
      run: async (tx, { name }) => {
        const removed = await removeSource(tx, name)
        return { name: removed.name, removed: true, ...(removed.already ? { already: true } : {}) }
      },
    }),
  ),
}
