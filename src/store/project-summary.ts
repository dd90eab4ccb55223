import type { ActorId } from '../model/actor.ts'
import { fold } from '../model/suggest.ts'
import { OPEN_STATUSES } from '../model/task.ts'
import { holderOf } from './claim.ts'
import { openDependencies } from './dependency.ts'
import { inNumbers, type ReadTx, sqlOf } from './handle.ts'
import type { Row } from './tables.ts'
import { visibleTasks } from './task.ts'

/** How far the tasks of one project are counted; above that a count says "at least". */
const COUNTED = 1000

/** How many open tasks are looked at for members, labels and duplicates. */
const LOOKED_AT = 2000

export interface ProjectCounts {
  open: number
  /** Of the open ones: awaiting sign-off, blocked, or waiting for another task. */
  waiting: number
  closed: number
  /** True where a count stopped at {@link COUNTED}. */
  atLeast: boolean
}

/** Counts of a project's tasks, at a cost that does not grow with it. */
export async function projectCounts(tx: ReadTx, project: number): Promise<ProjectCounts> {
  const open = await openTasksOf(tx, project, COUNTED + 1)
  const closed = await visibleTasks(tx)
    .select('tasks.id')
    .where('tasks.project', '=', project)
    .where('tasks.status', 'in', ['done', 'cancelled'])
    .limit(COUNTED + 1)
    .execute()
  const counted = open.slice(0, COUNTED)
  const waits = await openDependencies(
    tx,
    counted.map((task) => task.id),
  )
  return {
    open: counted.length,
    waiting: counted.filter((task) => isHeld(task.status) || waits.has(task.id)).length,
    closed: Math.min(closed.length, COUNTED),
    atLeast: open.length > COUNTED || closed.length > COUNTED,
  }
}

/** Exactly how many tasks are open; read from an index alone. */
export async function openCount(tx: ReadTx, project: number): Promise<number> {
  const { n } = await visibleTasks(tx)
    .select((eb) => eb.fn.countAll<number>().as('n'))
    .where('tasks.project', '=', project)
    .where('tasks.status', 'in', [...OPEN_STATUSES])
    .executeTakeFirstOrThrow()
  return n
}

/** Open tasks of a project, as many as wanted. */
export function openTasksOf(tx: ReadTx, project: number, limit: number): Promise<Row<'tasks'>[]> {
  return visibleTasks(tx)
    .selectAll('tasks')
    .where('tasks.project', '=', project)
    .where('tasks.status', 'in', [...OPEN_STATUSES])
    .limit(limit)
    .execute()
}

export interface ProjectSummary {
  /** Who has open tasks here: assigned, or at work now. Most first. */
  members: { id: ActorId; tasks: number }[]
  labels: { name: string; tasks: number }[]
  /** Numbers of open tasks that carry the same title. */
  duplicates: number[][]
}

/** Who and what a project is made of, from its open tasks. */
export async function projectSummary(tx: ReadTx, project: number): Promise<ProjectSummary> {
  const open = await openTasksOf(tx, project, LOOKED_AT)
  const members = new Map<ActorId, number>()
  const titles = new Map<string, number[]>()
  for (const task of open) {
    for (const id of new Set([task.assignee, holderOf(task, tx.now)])) {
      if (id) members.set(id, (members.get(id) ?? 0) + 1)
    }
    const key = fold(task.title.trim())
    titles.set(key, [...(titles.get(key) ?? []), task.id])
  }
  return {
    members: [...members]
      .map(([id, tasks]) => ({ id, tasks }))
      .sort((a, b) => b.tasks - a.tasks || (a.id < b.id ? -1 : 1)),
    labels: await labelsIn(
      tx,
      open.map((task) => task.id),
    ),
    duplicates: [...titles.values()].filter((ids) => ids.length > 1).map((ids) => ids.sort((a, b) => a - b)),
  }
}

async function labelsIn(tx: ReadTx, tasks: readonly number[]): Promise<{ name: string; tasks: number }[]> {
  return sqlOf(tx)
    .selectFrom('task_labels as tl')
    .innerJoin('labels as l', (join) =>
      join.onRef('l.account', '=', 'tl.account').onRef('l.name_key', '=', 'tl.label'),
    )
    .select((eb) => ['l.name', eb.fn.countAll<number>().as('tasks')])
    .where('tl.account', '=', tx.account)
    .where('tl.task', 'in', inNumbers(tx, tasks))
    .where('tl.removed_at', 'is', null)
    .where('tl.trash', 'is', null)
    .groupBy('l.name')
    .orderBy('tasks', 'desc')
    .orderBy('l.name')
    .limit(50)
    .execute()
}

const isHeld = (status: string): boolean => status === 'awaiting_approval' || status === 'blocked'
