import { z } from 'zod'
import { formatId } from '../model/id.ts'
import { NAME_LIMIT } from '../model/label.ts'
import { partyNames } from '../store/actor.ts'
import { saveView, trashView, viewPage } from '../store/saved-view.ts'
import type { Row } from '../store/tables.ts'
import { line, page } from './fields.ts'
import { readFilter } from './task-filter.ts'
import { readRawFilter } from './task-list.ts'
import { destroy, read } from './tool.ts'
import { listAnswer, moment } from './view.ts'

const stored = z.looseObject({ name: z.string(), filter: z.looseObject({}) })

export const savedViewTools = {
  list_views: read({
    title: 'List saved views',
    does: 'Saved views (named filters). list_tasks takes one as view.',
    toolset: 'organise',
    input: z.strictObject(page),
    output: z.looseObject({ showing: z.int(), views: z.array(stored) }),
    http: 'GET /views',
    example: {},
    run: async (tx, page) => {
      const found = await viewPage(tx, page)
      const name = await partyNames(tx)
      const rows = found.rows.map((view) => ({
        ...echo(view),
        by: name(view.created_by),
        created: moment(view.created_at),
      }))
      return listAnswer(tx, found, 'views', rows)
    },
  }),

  save_view: destroy({
    title: 'Save a view',
    does: 'Save a named filter, replacing the one of that name. filter: the arguments of list_tasks; dates in words stay words.',
    toolset: 'organise',
    convergent: true,
    input: z.strictObject({
      name: line(NAME_LIMIT),
      // Told as a plain object, since the schema of list_tasks would be sent twice; read by the same one.
      filter: z.record(z.string(), z.unknown()),
    }),
    output: stored,
    http: 'POST /views',
    example: { name: 'This week', filter: { due_before: 'next monday', labels: ['ops'] } },
    run: async (tx, { name, filter }) => {
      const read = await readRawFilter(tx, filter)
      // A view that could not be shown is not saved: unknown names and dates are refused here.
      await readFilter(tx, read)
      const { view, changed, replaced } = await saveView(tx, { name, filter })
      return {
        ...echo(view),
        ...(replaced ? { replaced } : {}),
        ...(changed ? {} : { already: true }),
      }
    },
  }),

  delete_view: destroy({
    title: 'Delete a saved view',
    does: 'Move a saved view to the Trash. Its tasks stay.',
    toolset: 'organise',
    convergent: true,
    input: z.strictObject({ name: line(NAME_LIMIT) }),
    output: z.looseObject({ name: z.string(), trash: z.string() }),
    http: 'DELETE /views/:name',
    example: { name: 'This week' },
    run: async (tx, { name }) => {
      const { view, entry, already } = await trashView(tx, name)
      const trash = formatId('trash', entry)
      return {
        name: view.name,
        trash,
        ...(already ? { already } : { next: `restore_from_trash {"ids":["${trash}"]} brings it back.` }),
      }
    },
  }),
}

function echo(view: Row<'views'>): Record<string, unknown> {
  return { name: view.name, filter: JSON.parse(view.filter) }
}
