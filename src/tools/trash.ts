import { z } from 'zod'
import { invalid } from '../model/error.ts'
import { formatId, formatIdOr } from '../model/id.ts'
import { LIMITS } from '../model/task.ts'
import { partyNamed, partyNames } from '../store/actor.ts'
import type { ReadTx } from '../store/handle.ts'
import { type Restored, restore } from '../store/restore.ts'
import { taskById } from '../store/task.ts'
import { listTrash, TRASH_KINDS, tasksInEntry } from '../store/trash.ts'
import { instant, page, party } from './fields.ts'
import { staleNotes } from './task-answer.ts'
import { read, write } from './tool.ts'
import { listAnswer, moment, sparse, start } from './view.ts'

export const trashTools = {
  list_trash: read({
    title: 'List the Trash',
    does: 'What is in the Trash: who put it there, when, what comes back with it.',
    toolset: 'trash',
    input: z.strictObject({
      kinds: z.array(z.enum(TRASH_KINDS)).optional(),
      deleted_by: party.optional(),
      since: instant('backward').optional(),
      until: instant('backward').optional(),
      ...page,
    }),
    output: z.looseObject({ showing: z.int(), entries: z.array(z.looseObject({ id: z.string() })) }),
    http: 'GET /trash',
    example: {},
    run: async (tx, { kinds, deleted_by, since, until, ...page }) => {
      const by = deleted_by === undefined ? undefined : await partyNamed(tx, deleted_by)
      if (by === null) throw invalid('deleted_by is somebody: an id, a name, me or owner.')
      const found = await listTrash(tx, { kinds, by, since, until }, page)
      const name = await partyNames(tx)
      const rows = []
      for (const entry of found.rows) {
        // What others wrote is shown as material; a title says what the thing is.
        const title = { [entry.kind === 'comment' ? 'material' : 'title']: start(entry.title, 90).text }
        rows.push(
          sparse({
            id: formatId('trash', entry.id),
            kind: entry.kind,
            object: entry.object,
            ...title,
            of: entry.kind === 'task' ? undefined : formatIdOr('task', entry.task),
            project: entry.kind === 'project' ? undefined : formatIdOr('project', entry.project),
            tasks: (await tasksInEntry(tx, entry)) || undefined,
            by: name(entry.by),
            at: moment(entry.at),
          }),
        )
      }
      return listAnswer(tx, found, 'entries', rows)
    },
  }),

  restore_from_trash: write({
    title: 'Restore from the Trash',
    does: 'Bring things back as they were: tasks, projects, comments, steps, labels, views, artifacts. All or none.',
    toolset: 'trash',
    convergent: true,
    input: z.strictObject({
      ids: z
        .array(z.string().min(1).max(200))
        .min(1)
        .max(LIMITS.bulk)
        .describe('X12, or T12, P3, S40, C9, F4, or the name of a label or view.'),
    }),
    output: z.looseObject({ restored: z.array(z.looseObject({ kind: z.string(), id: z.string() })) }),
    http: 'POST /trash/restore',
    example: { ids: ['X1'] },
    run: async (tx, { ids }) => {
      const { restored, stale } = await restore(tx, [...new Set(ids)])
      const rows = []
      for (const each of restored) rows.push(await restoredRow(tx, each))
      return {
        restored: rows,
        ...(restored.every((each) => each.already) ? { already: true } : {}),
        ...staleNotes(stale),
      }
    },
  }),
}

async function restoredRow(tx: ReadTx, each: Restored): Promise<Record<string, unknown>> {
  const task = each.kind === 'task' ? await taskById(tx, Number(each.object.slice(1))) : undefined
  return {
    ...sparse({
      trash: formatIdOr('trash', each.entry),
      kind: each.kind,
      id: each.object,
      title: each.kind === 'comment' ? undefined : start(each.title, 90).text,
      status: task?.status,
      version: task?.version,
      tasks: each.tasks || undefined,
    }),
    ...(each.already ? { already: true } : {}),
  }
}
