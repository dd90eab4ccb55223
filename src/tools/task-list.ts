import { z } from 'zod'
import { formatId } from '../model/id.ts'
import { PRIORITIES } from '../model/task.ts'
import { partyNames } from '../store/actor.ts'
import type { ReadTx } from '../store/handle.ts'
import { taskHistory } from '../store/history.ts'
import { labels } from '../store/label.ts'
import { projectNames } from '../store/project.ts'
import { viewNamed } from '../store/saved-view.ts'
import { taskById, taskInTrash } from '../store/task.ts'
import { countTasks, GROUPS, type Group, listTasks, SORTS } from '../store/task-list.ts'
import { detail, page, taskId } from './fields.ts'
import { parseObject } from './parse.ts'
import { inputSchema } from './schema.ts'
import { readFilter, taskFilter, taskFilterInput } from './task-filter.ts'
import { taskRows } from './task-row.ts'
import { read } from './tool.ts'
import { clockOf, listAnswer, moment, sparse, start } from './view.ts'

const list = z.looseObject({ today: z.string(), time_zone: z.string(), showing: z.int() })

export const taskListTools = {
  list_tasks: read({
    title: 'List tasks',
    does: 'Tasks by fields or by a saved view (other arguments then narrow it): exact, counted, paged. due_before is exclusive. By words: search.',
    toolset: 'tasks',
    input: z.strictObject({
      view: z.string().optional(),
      ...taskFilter,
      sort: z.enum(SORTS).optional(),
      ...page,
      detail,
    }),
    output: list,
    http: 'GET /tasks',
    example: { project_id: 'P1', status: ['open'], limit: 10 },
    run: async (tx, { view, sort, limit, cursor, detail, ...filter }) => {
      const merged = view === undefined ? filter : { ...(await filterOfView(tx, view)), ...given(filter) }
      const found = await listTasks(tx, await readFilter(tx, merged), sort ?? 'urgency', { limit, cursor })
      return listAnswer(tx, found, 'tasks', await taskRows(tx, found.rows, detail))
    },
  }),

  count_tasks: read({
    title: 'Count tasks',
    does: 'Counts by status, project, assignee, claim, label, priority or due day. filter: the arguments of list_tasks.',
    toolset: 'tasks',
    input: z.strictObject({
      group_by: z.enum(GROUPS),
      // Told as a plain object, since the schema of list_tasks would be sent twice; read by the same one.
      filter: z.record(z.string(), z.unknown()).optional(),
    }),
    output: z.looseObject({
      today: z.string(),
      total: z.int(),
      counts: z.array(z.looseObject({ count: z.int() })),
    }),
    http: 'GET /task-counts',
    example: { group_by: 'status', filter: { project_id: 'P1' } },
    run: async (tx, { group_by, filter }) => {
      const { counts, groups, sum } = await countTasks(
        tx,
        await readFilter(tx, await readRawFilter(tx, filter ?? {})),
        group_by,
      )
      const name = await groupNames(
        tx,
        group_by,
        counts.map(({ value }) => value),
      )
      return {
        ...clockOf(tx),
        group_by,
        // A task with two labels is counted under each, so that sum would not be a number of tasks.
        ...(group_by === 'label' ? {} : { sum }),
        total: groups,
        showing: counts.length,
        counts: counts.map(({ value, count }) => ({ value: name(value), count })),
        ...(groups > counts.length
          ? { more: 'These are the most frequent; narrow it by filter to see others.' }
          : {}),
      }
    },
  }),

  get_task_history: read({
    title: 'Get a task’s history',
    does: 'Field changes of one task, newest first: old, new, actor, tool, time.',
    toolset: 'tasks',
    noun: 'task',
    input: z.strictObject({ id: taskId, ...page }),
    output: list,
    http: 'GET /tasks/:id/history',
    example: { id: 'T1' },
    run: async (tx, { id, ...page }) => {
      // History outlives the task: what lies in the Trash can still be read here.
      if (!(await taskInTrash(tx, id))) await taskById(tx, id)
      const found = await taskHistory(tx, id, page)
      const name = await partyNames(tx)
      return listAnswer(
        tx,
        found,
        'history',
        found.rows.map(({ data, ...event }) =>
          sparse({
            event: formatId('event', event.id),
            kind: event.kind,
            object: event.object,
            changes: shortened(data),
            by: name(event.actor),
            tool: event.tool,
            at: moment(event.at),
          }),
        ),
      )
    },
  }),
}

/** How much of an old or new text history shows. */
const SHOWN = 2000

/** The changes of an event, long texts cut. */
function shortened(data: string | null): Record<string, unknown> | undefined {
  const { changes } = JSON.parse(data ?? '{}') as { changes?: Record<string, [unknown, unknown]> }
  if (!changes) return undefined
  const cut = (value: unknown) => (typeof value === 'string' ? start(value, SHOWN).text : value)
  return Object.fromEntries(
    Object.entries(changes).map(([field, [old, now]]) => [field, { old: cut(old), new: cut(now) }]),
  )
}

type Filter = z.output<typeof taskFilterInput>

const filterSchema = inputSchema(taskFilterInput)

async function filterOfView(tx: ReadTx, name: string): Promise<Filter> {
  return readRawFilter(tx, JSON.parse((await viewNamed(tx, name)).filter) as Record<string, unknown>)
}

/** A filter as it was said, read by the schema of list_tasks in the caller's zone and now. */
export async function readRawFilter(tx: ReadTx, said: Record<string, unknown>): Promise<Filter> {
  const clock = { now: tx.now, zone: tx.actor.zone }
  const { input } = await parseObject('filter', taskFilterInput, filterSchema, said, clock)
  return input as Filter
}

function given(filter: Filter): Partial<Filter> {
  return Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== undefined))
}

/** What a group's value is called. */
async function groupNames(
  tx: ReadTx,
  group: Group,
  values: readonly (string | number | null)[],
): Promise<(value: string | number | null) => string> {
  if (group === 'priority') return (value) => PRIORITIES[Number(value)]!
  if (group === 'project') {
    const names = await projectNames(
      tx,
      values.map((value) => (value === null ? null : Number(value))),
    )
    return (value) => names.get(Number(value)) ?? 'no project'
  }
  if (group === 'assignee' || group === 'claim') {
    const name = await partyNames(tx)
    return (value) => name(value === null ? null : String(value)) ?? 'nobody'
  }
  if (group === 'label') {
    const names = new Map((await labels(tx)).map((label) => [label.name_key, label.name]))
    return (value) => names.get(String(value)) ?? 'no label'
  }
  return (value) => (value === null ? 'none' : String(value))
}
