import { z } from 'zod'
import { invalid } from '../model/error.ts'
import { formatId } from '../model/id.ts'
import { LIMITS } from '../model/task.ts'
import { addDependencies, removeDependencies } from '../store/dependency.ts'
import {
  type Deadlock,
  type Direction,
  deadlocksFrom,
  type Link,
  linkedTasks,
  linksOf,
  type Node,
} from '../store/dependency-graph.ts'
import type { ReadTx } from '../store/handle.ts'
import { projectById } from '../store/project.ts'
import { projectMeant } from '../store/project-name.ts'
import { sees, shownTask } from '../store/sight.ts'
import type { Row } from '../store/tables.ts'
import { taskById } from '../store/task.ts'
import { projectId, taskId } from './fields.ts'
import { taskRows } from './task-row.ts'
import { destroy, read, write } from './tool.ts'
import { clockOf, sparse, start } from './view.ts'

const stored = z.looseObject({ id: z.string(), status: z.string(), version: z.int() })
const ids = z.array(taskId).min(1).max(LIMITS.bulk)

/** Most rows in one direction, so that both fit one answer. */
const MOST = 100

export const dependencyTools = {
  list_dependencies: read({
    title: 'List dependencies',
    does: 'What a task (or a whole project) waits for and what waits for it, transitively, with the path of any deadlock.',
    toolset: 'tasks',
    noun: 'task',
    input: z.strictObject({
      id: taskId.optional(),
      project_id: projectId.optional(),
      direction: z.enum(['waits_for', 'waited_for_by', 'both']).optional(),
      depth: z.int().min(1).max(50).optional(),
    }),
    output: z.looseObject({ id: z.string(), deadlocks: z.array(z.looseObject({ path: z.string() })) }),
    http: 'GET /dependencies',
    example: { id: 'T3' },
    run: async (tx, { id, project_id, direction = 'both', depth = 10 }) => {
      const directions = (['waits_for', 'waited_for_by'] as const).filter(
        (each) => direction === 'both' || direction === each,
      )
      if ((id === undefined) === (project_id === undefined)) {
        throw invalid('list_dependencies needs a task or a project.', { allowed: ['id', 'project_id'] })
      }
      if (id !== undefined) return ofTask(tx, id, directions, depth)
      return ofProject(tx, (await projectMeant(tx, project_id!)).id, directions)
    },
  }),

  add_dependency: write({
    title: 'Add a dependency',
    does: 'Plan order: this task waits for those. Cycles are refused with their path. Changes no claim. Stuck now: block_task.',
    toolset: 'organise',
    noun: 'task',
    convergent: true,
    input: z.strictObject({ id: taskId, depends_on: ids }),
    output: stored,
    http: 'POST /tasks/:id/dependencies',
    example: { id: 'T5', depends_on: ['T1'] },
    run: async (tx, { id, depends_on }) => {
      const task = await taskById(tx, id)
      return answer(tx, task, 'added', await addDependencies(tx, task, depends_on))
    },
  }),

  remove_dependency: destroy({
    title: 'Remove a dependency',
    does: 'Drop a dependency: this task no longer waits for those.',
    toolset: 'organise',
    noun: 'task',
    convergent: true,
    input: z.strictObject({ id: taskId, depends_on: ids }),
    output: stored,
    http: 'DELETE /tasks/:id/dependencies',
    example: { id: 'T3', depends_on: ['T1'] },
    run: async (tx, { id, depends_on }) => {
      const task = await taskById(tx, id)
      return answer(tx, task, 'removed', await removeDependencies(tx, task, depends_on))
    },
  }),
}

async function answer(
  tx: ReadTx,
  task: Row<'tasks'>,
  what: 'added' | 'removed',
  changed: readonly number[],
): Promise<Record<string, unknown>> {
  const [record] = await taskRows(tx, [task], 'detailed')
  if (changed.length === 0) return { ...record, already: true }
  return { ...record, [what]: changed.map((id) => formatId('task', id)) }
}

async function ofTask(
  tx: ReadTx,
  id: number,
  directions: readonly Direction[],
  depth: number,
): Promise<Record<string, unknown>> {
  const task = await taskById(tx, id)
  const answer: Record<string, unknown> = {
    id: formatId('task', id),
    title: task.title,
    status: task.status,
    ...clockOf(tx),
  }
  for (const direction of directions) {
    const { links, more } = await linksOf(tx, id, direction, depth, MOST)
    answer[direction] = links.map((link) => linkRow(tx, link))
    const last = links.findLast((link) => sees(tx, link.node.project))
    if (more && last) {
      answer.more = `list_dependencies {"id":"${formatId('task', last.node.id)}","direction":"${direction}"}`
    }
  }
  return { ...answer, deadlocks: deadlockRows(tx, await deadlocksFrom(tx, [id])) }
}

async function ofProject(
  tx: ReadTx,
  id: number,
  directions: readonly Direction[],
): Promise<Record<string, unknown>> {
  const project = await projectById(tx, id)
  const answer: Record<string, unknown> = {
    id: formatId('project', id),
    name: project.name,
    ...clockOf(tx),
  }
  const members = new Set<number>()
  for (const direction of directions) {
    const { tasks, more } = await linkedTasks(tx, id, direction, MOST)
    for (const { node } of tasks) members.add(node.id)
    answer[direction === 'waits_for' ? 'waiting' : 'waited_for'] = tasks.map(({ node, ends }) => ({
      ...nodeRow(tx, node),
      [direction]: ends.slice(0, 5).map((end) => shownTask(tx, end)),
      ...(ends.length > 5 ? { and_more: ends.length - 5 } : {}),
    }))
    if (more) answer.more = `list_tasks {"project_id":"${formatId('project', id)}"}`
  }
  return { ...answer, deadlocks: deadlockRows(tx, await deadlocksFrom(tx, [...members])) }
}

function linkRow(tx: ReadTx, link: Link): Record<string, unknown> {
  return {
    ...nodeRow(tx, link.node),
    ...(link.depth > 1 ? { depth: link.depth, over: formatId('task', link.of) } : {}),
    ...(link.by === 'dependency' ? {} : { by: link.by === 'parent' ? 'subtask' : 'block' }),
  }
}

function nodeRow(tx: ReadTx, node: Node): Record<string, unknown> {
  const id = shownTask(tx, node)
  if (!sees(tx, node.project)) return { id }
  const trash = node.trash === null ? undefined : formatId('trash', node.trash)
  return sparse({ id, title: start(node.title, 60).text, status: node.status, in_trash: trash })
}

function deadlockRows(tx: ReadTx, deadlocks: readonly Deadlock[]): Record<string, unknown>[] {
  return deadlocks.slice(0, 20).map(({ path, why }) => {
    const shown = path.map((node) => shownTask(tx, node)).join(' → ')
    const end = path.at(-1)!
    return why === 'ring'
      ? { path: shown, why: 'a ring: none of these can close', next: 'Drop one link: remove_dependency.' }
      : {
          path: shown,
          why: 'the last one is in the Trash and still blocks',
          next: `restore_from_trash {"ids":["${formatId('trash', end.trash!)}"]}, or remove_dependency.`,
        }
  })
}
