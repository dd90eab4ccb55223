import { z } from 'zod'
import { formatId } from '../model/id.ts'
import { NAME_LIMIT, readColor } from '../model/label.ts'
import { LIMITS } from '../model/task.ts'
import type { ReadTx } from '../store/handle.ts'
import { addLabels, labelCount, labelPage, labelsOf, removeLabels } from '../store/label.ts'
import { changeLabel, createLabel, trashLabel } from '../store/label-change.ts'
import type { Row } from '../store/tables.ts'
import { tasksByIds } from '../store/task.ts'
import { clearable, line, page, taskIds, text } from './fields.ts'
import { sizeOf } from './text.ts'
import { destroy, read, write } from './tool.ts'
import { listAnswer, sparse } from './view.ts'

const stored = z.looseObject({ name: z.string() })
const tagged = z.looseObject({ labels: z.array(z.string()), changed: z.array(z.string()) })

const color = z.string().transform(readColor)
const labelNames = z.array(text(NAME_LIMIT)).min(1).max(LIMITS.labels)

export const labelTools = {
  list_labels: read({
    title: 'List labels',
    does: 'Labels with counts of tasks, and of open ones.',
    toolset: 'organise',
    input: z.strictObject(page),
    output: z.looseObject({ showing: z.int(), labels: z.array(stored) }),
    http: 'GET /labels',
    example: {},
    run: async (tx, page) => {
      const found = await labelPage(tx, page)
      const rows = []
      for (const label of found.rows) {
        const { tasks, open, atLeast } = await labelCount(tx, label.name_key)
        rows.push({ ...echo(label), tasks, open, ...(atLeast ? { counts_at_least: true } : {}) })
      }
      return listAnswer(tx, found, 'labels', rows)
    },
  }),

  create_label: write({
    title: 'Create a label',
    does: 'Make sure a label exists; one that exists stays as it is.',
    toolset: 'organise',
    convergent: true,
    input: z.strictObject({ name: line(NAME_LIMIT), color: color.optional() }),
    output: stored,
    http: 'POST /labels',
    example: { name: 'urgent-fix', color: 'red' },
    run: async (tx, { name, color }) => {
      const { label, already } = await createLabel(tx, { name, color })
      return {
        ...echo(label),
        ...(already ? { already } : {}),
        ...(color !== undefined && color !== label.color
          ? { note: 'It kept its color; update_label changes it.' }
          : {}),
      }
    },
  }),

  update_label: destroy({
    title: 'Update a label',
    does: 'Rename or recolour a label everywhere; a new name that exists merges the two.',
    toolset: 'organise',
    convergent: true,
    input: z.strictObject({
      name: line(NAME_LIMIT),
      new_name: line(NAME_LIMIT).optional(),
      color: clearable(color),
    }),
    output: stored,
    http: 'PATCH /labels/:name',
    example: { name: 'ops', new_name: 'operations' },
    run: async (tx, { name, new_name, color }) => {
      const { label, changed, merged, tasks } = await changeLabel(tx, name, { newName: new_name, color })
      return { ...echo(label), ...sparse({ merged, tasks }), ...(changed ? {} : { already: true }) }
    },
  }),

  delete_label: destroy({
    title: 'Delete a label',
    does: 'Take a label off everything, to the Trash.',
    toolset: 'organise',
    convergent: true,
    input: z.strictObject({ name: line(NAME_LIMIT) }),
    output: z.looseObject({ name: z.string(), trash: z.string() }),
    http: 'DELETE /labels/:name',
    example: { name: 'web' },
    run: async (tx, { name }) => {
      const { label, entry, tasks, already } = await trashLabel(tx, name)
      const trash = formatId('trash', entry)
      return {
        name: label.name,
        trash,
        ...(already
          ? { already }
          : { tasks, next: `restore_from_trash {"ids":["${trash}"]} puts it back on ${tasks} tasks.` }),
      }
    },
  }),

  label_task: write({
    title: 'Label tasks',
    does: 'Add labels to tasks; removes none. All or none.',
    toolset: 'organise',
    convergent: true,
    input: z.strictObject({ ids: taskIds, labels: labelNames }),
    output: tagged,
    http: 'POST /task-labels',
    example: { ids: ['T1', 'T3'], labels: ['ops'] },
    run: async (tx, { ids, labels }) => {
      const tasks = await tasksByIds(tx, [...new Set(ids)])
      return answer(tx, tasks, labels, await addLabels(tx, tasks, labels))
    },
  }),

  unlabel_task: destroy({
    title: 'Unlabel tasks',
    does: 'Take labels off tasks. All or none.',
    toolset: 'organise',
    convergent: true,
    input: z.strictObject({ ids: taskIds, labels: labelNames }),
    output: tagged,
    http: 'DELETE /task-labels',
    example: { ids: ['T2'], labels: ['ops'] },
    run: async (tx, { ids, labels }) => {
      const tasks = await tasksByIds(tx, [...new Set(ids)])
      return answer(tx, tasks, labels, await removeLabels(tx, tasks, labels))
    },
  }),
}

function echo(label: Row<'labels'>): { name: string; color?: string } {
  return { name: label.name, ...(label.color === null ? {} : { color: label.color }) }
}

/** How many characters of labels an answer shows; of the tasks behind that it gives only the ids. */
const SHOWN = 20_000

async function answer(
  tx: ReadTx,
  tasks: readonly Row<'tasks'>[],
  labels: readonly string[],
  changed: readonly number[],
): Promise<Record<string, unknown>> {
  const now = await labelsOf(
    tx,
    tasks.map((task) => task.id),
  )
  let left = SHOWN
  const rows = tasks.map((task) => {
    const id = formatId('task', task.id)
    const row = { id, labels: now.get(task.id) ?? [] }
    left -= sizeOf(row)
    return left >= 0 ? row : { id }
  })
  return {
    labels,
    changed: changed.map((id) => formatId('task', id)),
    tasks: rows,
    ...(left < 0 ? { more: `get_task {"id":"${rows.at(-1)!.id}"} shows the labels of one.` } : {}),
    ...(changed.length > 0 ? {} : { already: true }),
  }
}
