import type { ActorId } from '../model/actor.ts'
import { conflict, invalid } from '../model/error.ts'
import { formatId } from '../model/id.ts'
import {
  type DestroyTx,
  emit,
  inNumbers,
  type ReadTx,
  readQuery,
  sqlOf,
  type WriteTx,
  writeQuery,
} from './handle.ts'
import { sees, shownTasks } from './sight.ts'
import type { Row } from './tables.ts'
import { taskById } from './task.ts'

/** An edge "from can't close before to": a dependency, a parent that waits for its child, or a block by another task. */
export interface Edge {
  from: number
  to: number
  by: 'dependency' | 'parent' | 'block'
}

const openOf = readQuery((db, p: { account: number; tasks: string }, dialect) =>
  db
    .selectFrom('dependencies as d')
    .innerJoin('tasks as t', (join) =>
      join.onRef('t.account', '=', 'd.account').onRef('t.id', '=', 'd.depends_on'),
    )
    .select(['d.task', 't.id', 't.title', 't.status', 't.trash', 't.project'])
    .where('d.account', '=', p.account)
    .where('d.task', 'in', dialect.numbers(p.tasks))
    .where('d.removed_at', 'is', null)
    .where((eb) => eb.or([eb('t.status', 'not in', ['done', 'cancelled']), eb('t.trash', 'is not', null)]))
    .orderBy('t.id'),
)

/**
 * What each of the tasks still waits for: dependencies that are neither done nor cancelled. A trashed one still blocks.
 */
export async function openDependencies(
  tx: ReadTx,
  tasks: readonly number[],
): Promise<
  Map<number, { id: number; title: string; status: string; trash: number | null; project: number | null }[]>
> {
  const rows = await openOf(tx, { account: tx.account, tasks: JSON.stringify(tasks) })
  const waits = new Map<number, (typeof rows)[number][]>()
  for (const row of rows) waits.set(row.task, [...(waits.get(row.task) ?? []), row])
  return waits
}

const openDependents = readQuery((db, p: { account: number; task: number }) =>
  db
    .selectFrom('dependencies as d')
    .innerJoin('tasks as t', (join) => join.onRef('t.account', '=', 'd.account').onRef('t.id', '=', 'd.task'))
    .select(['t.id', 't.title', 't.project'])
    .where('d.account', '=', p.account)
    .where('d.depends_on', '=', p.task)
    .where('d.removed_at', 'is', null)
    .where('t.trash', 'is', null)
    .where('t.status', 'not in', ['done', 'cancelled'])
    .orderBy('d.task')
    .limit(100),
)

/** Open tasks that wait for this one. */
export function dependentsOf(
  tx: ReadTx,
  task: number,
): Promise<{ id: number; title: string; project: number | null }[]> {
  return openDependents(tx, { account: tx.account, task })
}

const dependencyBetween = readQuery((db, p: { account: number; task: number; target: number }) =>
  db
    .selectFrom('dependencies')
    .select('removed_at')
    .where('account', '=', p.account)
    .where('task', '=', p.task)
    .where('depends_on', '=', p.target),
)

const putDependency = writeQuery((db, p: Row<'dependencies'>) =>
  db
    .insertInto('dependencies')
    .values({
      account: p.account,
      task: p.task,
      depends_on: p.depends_on,
      removed_at: p.removed_at,
      created_at: p.created_at,
      created_by: p.created_by,
    })
    .onConflict((oc) => oc.columns(['account', 'task', 'depends_on']).doUpdateSet({ removed_at: null })),
)

/** Makes a task wait for others; those it already waits for change nothing. Returns what was added. */
export async function addDependencies(
  tx: WriteTx,
  task: Row<'tasks'>,
  dependsOn: readonly number[],
): Promise<number[]> {
  const added: number[] = []
  for (const target of new Set(dependsOn)) {
    const dependency = await taskById(tx, target)
    const [stored] = await dependencyBetween(tx, { account: tx.account, task: task.id, target })
    if (stored && stored.removed_at === null) continue
    await refuseCycle(tx, task.id, dependency.id, 'dependency')
    await putDependency(tx, {
      account: tx.account,
      task: task.id,
      depends_on: target,
      removed_at: null,
      created_at: tx.now,
      created_by: tx.actor.id as ActorId,
    })
    added.push(target)
  }
  if (added.length > 0) {
    await emit(tx, {
      kind: 'dependency_added',
      task: task.id,
      project: task.project,
      changes: { depends_on: [[], added.map((id) => formatId('task', id))] },
    })
  }
  return added
}

/** Drops dependencies. One that was dropped before changes nothing; one that never was is an error. */
export async function removeDependencies(
  tx: DestroyTx,
  task: Row<'tasks'>,
  dependsOn: readonly number[],
): Promise<number[]> {
  const stored = await sqlOf(tx)
    .selectFrom('dependencies')
    .select(['depends_on', 'removed_at'])
    .where('account', '=', tx.account)
    .where('task', '=', task.id)
    .execute()
  const removed: number[] = []
  for (const target of new Set(dependsOn)) {
    const found = stored.find((row) => row.depends_on === target)
    if (!found || !(await seenAmong(tx, [target])).has(target)) {
      const present = stored.filter((row) => row.removed_at === null).map((row) => row.depends_on)
      const seen = await seenAmong(tx, present)
      throw invalid(`${formatId('task', task.id)} does not depend on ${formatId('task', target)}.`, {
        allowed: present.filter((id) => seen.has(id)).map((id) => formatId('task', id)),
        next: 'list_dependencies shows what it waits for.',
      })
    }
    if (found.removed_at !== null) continue
    await sqlOf(tx)
      .updateTable('dependencies')
      .set({ removed_at: tx.now })
      .where('account', '=', tx.account)
      .where('task', '=', task.id)
      .where('depends_on', '=', target)
      .execute()
    removed.push(target)
  }
  if (removed.length > 0) {
    await emit(tx, {
      kind: 'dependency_removed',
      task: task.id,
      project: task.project,
      changes: { depends_on: [removed.map((id) => formatId('task', id)), []] },
    })
  }
  return removed
}

/** Which of the tasks are in projects that the caller can see, the Trash included: a trashed one still blocks. */
async function seenAmong(tx: ReadTx, tasks: readonly number[]): Promise<Set<number>> {
  if (tx.actor.projects === undefined) return new Set(tasks)
  const rows = await sqlOf(tx)
    .selectFrom('tasks')
    .select(['id', 'project'])
    .where('account', '=', tx.account)
    .where('id', 'in', inNumbers(tx, tasks))
    .execute()
  return new Set(rows.filter((row) => sees(tx, row.project)).map((row) => row.id))
}

/** Refuses an edge that would close a ring over dependencies, parents and blocks, and shows the ring. */
export async function refuseCycle(tx: ReadTx, from: number, to: number, by: Edge['by']): Promise<void> {
  if (from === to) {
    throw invalid(
      `${formatId('task', from)} can’t ${by === 'parent' ? 'be its own parent' : 'wait for itself'}.`,
    )
  }
  const path = await pathBetween(tx, to, from)
  if (!path) return
  const ring = (await shownTasks(tx, [from, ...path])).join(' → ')
  throw conflict(`This would make a ring in which nothing can close: ${ring}.`, {
    next: 'Drop one of these links first: remove_dependency, unblock_task, or update_task with parent_id.',
  })
}

/** The shortest way over "can't close before" from one task to another, ends included, if there is one. */
export async function pathBetween(tx: ReadTx, from: number, to: number): Promise<number[] | undefined> {
  const cameFrom = new Map<number, number | null>([[from, null]])
  let front = [from]
  while (front.length > 0) {
    if (cameFrom.has(to)) break
    const edges = await edgesFrom(tx, front)
    front = []
    for (const { from: source, to: target } of edges) {
      if (cameFrom.has(target)) continue
      cameFrom.set(target, source)
      front.push(target)
    }
  }
  if (!cameFrom.has(to)) return undefined
  const path: number[] = []
  for (let at: number | null | undefined = to; at != null; at = cameFrom.get(at)) path.unshift(at)
  return path
}

/** Every "can't close before" edge that leaves these tasks. */
export async function edgesFrom(tx: ReadTx, tasks: readonly number[]): Promise<Edge[]> {
  const dependencies = await sqlOf(tx)
    .selectFrom('dependencies')
    .select(['task as from', 'depends_on as to'])
    .where('account', '=', tx.account)
    .where('task', 'in', inNumbers(tx, tasks))
    .where('removed_at', 'is', null)
    .execute()
  const children = await sqlOf(tx)
    .selectFrom('tasks')
    .select(['parent as from', 'id as to'])
    .where('account', '=', tx.account)
    .where('parent', 'in', inNumbers(tx, tasks))
    .where('trash', 'is', null)
    .execute()
  const blocks = await sqlOf(tx)
    .selectFrom('tasks')
    .select(['id as from', 'blocked_by as to'])
    .where('account', '=', tx.account)
    .where('id', 'in', inNumbers(tx, tasks))
    .where('status', '=', 'blocked')
    .where('blocked_by', 'is not', null)
    .where('trash', 'is', null)
    .execute()
  return [
    ...dependencies.map((edge): Edge => ({ ...edge, by: 'dependency' })),
    ...children.map((edge): Edge => ({ from: edge.from!, to: edge.to, by: 'parent' })),
    ...blocks.map((edge): Edge => ({ from: edge.from, to: edge.to!, by: 'block' })),
  ]
}

/** Every "can't close before" edge that arrives at these tasks. */
export async function edgesTo(tx: ReadTx, tasks: readonly number[]): Promise<Edge[]> {
  const dependencies = await sqlOf(tx)
    .selectFrom('dependencies')
    .select(['task as from', 'depends_on as to'])
    .where('account', '=', tx.account)
    .where('depends_on', 'in', inNumbers(tx, tasks))
    .where('removed_at', 'is', null)
    .execute()
  const parents = await sqlOf(tx)
    .selectFrom('tasks')
    .select(['parent as from', 'id as to'])
    .where('account', '=', tx.account)
    .where('id', 'in', inNumbers(tx, tasks))
    .where('parent', 'is not', null)
    .where('trash', 'is', null)
    .execute()
  const blocked = await sqlOf(tx)
    .selectFrom('tasks')
    .select(['id as from', 'blocked_by as to'])
    .where('account', '=', tx.account)
    .where('blocked_by', 'in', inNumbers(tx, tasks))
    .where('status', '=', 'blocked')
    .where('trash', 'is', null)
    .execute()
  return [
    ...dependencies.map((edge): Edge => ({ ...edge, by: 'dependency' })),
    ...parents.map((edge): Edge => ({ from: edge.from!, to: edge.to, by: 'parent' })),
    ...blocked.map((edge): Edge => ({ from: edge.from, to: edge.to!, by: 'block' })),
  ]
}
