import { ringsIn } from '../model/ring.ts'
import { isClosed, OPEN_STATUSES } from '../model/task.ts'
import { type Edge, edgesFrom, edgesTo } from './dependency.ts'
import { inNumbers, type ReadTx, sqlOf } from './handle.ts'
import { sees } from './sight.ts'
import type { Row } from './tables.ts'
import { visibleTasks } from './task.ts'

/** What is told of a task at either end of a link. */
export type Node = Pick<Row<'tasks'>, 'id' | 'title' | 'status' | 'project' | 'trash'>

/** A task that another waits for, or that waits for another, however far away. */
export interface Link {
  node: Node
  depth: number
  /** The task over which it was reached. */
  of: number
  by: Edge['by']
}

export type Direction = 'waits_for' | 'waited_for_by'

/**
 * What a task waits for, or what waits for it, over dependencies and over parents, which wait for their open subtasks.
 * Nearest first. A task that is closed, in the Trash or out of the caller's sight is shown and not looked behind.
 */
export async function linksOf(
  tx: ReadTx,
  task: number,
  direction: Direction,
  depth: number,
  most: number,
): Promise<{ links: Link[]; more: boolean }> {
  const links: Link[] = []
  const seen = new Set([task])
  let front = [task]
  for (let level = 1; level <= depth && front.length > 0; level++) {
    const reached = await neighbours(tx, front, direction)
    front = []
    for (const { node, of, by } of reached) {
      // What is finished further away holds nothing up any more.
      if (seen.has(node.id) || (level > 1 && isFinished(node))) continue
      if (links.length === most) return { links, more: true }
      seen.add(node.id)
      links.push({ node, depth: level, of, by })
      if (isOpen(node) && sees(tx, node.project)) front.push(node.id)
    }
  }
  return { links, more: front.length > 0 && (await neighbours(tx, front, direction)).length > 0 }
}

/** Why tasks can never close as things stand. */
export interface Deadlock {
  /** From the task that is stuck to what it is stuck on; a ring ends where it begins. */
  path: Node[]
  why: 'ring' | 'in_trash'
}

/** How many tasks are looked at in search of deadlocks. */
const LOOKED_AT = 1000

/** Rings, and waits for something that lies in the Trash, on the way from these tasks over dependencies and parents. */
export async function deadlocksFrom(tx: ReadTx, tasks: readonly number[]): Promise<Deadlock[]> {
  const edges: Edge[] = []
  const nodes = await nodesById(tx, tasks)
  const cameFrom = new Map<number, number | null>(tasks.map((task) => [task, null]))
  let front = [...nodes.values()].filter(isOpen).map((node) => node.id)
  while (front.length > 0 && cameFrom.size < LOOKED_AT) {
    const reached = await neighbours(tx, front, 'waits_for')
    front = []
    for (const { node, of, by } of reached) {
      edges.push({ from: of, to: node.id, by })
      if (cameFrom.has(node.id)) continue
      nodes.set(node.id, node)
      cameFrom.set(node.id, of)
      if (isOpen(node)) front.push(node.id)
    }
  }
  const pathTo = (id: number): Node[] => {
    const path: Node[] = []
    for (let at: number | null | undefined = id; at != null; at = cameFrom.get(at))
      path.unshift(nodes.get(at)!)
    return path
  }
  return [
    ...ringsIn(edges).map((ring): Deadlock => ({ path: ring.map((id) => nodes.get(id)!), why: 'ring' })),
    ...[...nodes.values()]
      .filter((node) => node.trash !== null && cameFrom.get(node.id) !== null)
      .map((node): Deadlock => ({ path: pathTo(node.id), why: 'in_trash' }))
      // Of what the caller can't see it is not told either how it stands.
      .filter(({ path }) => path.every((node) => sees(tx, node.project))),
  ]
}

/** A ring that these tasks are on or lead to, if there is one. */
export async function ringFrom(tx: ReadTx, tasks: readonly number[]): Promise<number[] | undefined> {
  const edges: Edge[] = []
  const seen = new Set(tasks)
  let front = [...seen]
  while (front.length > 0) {
    const next = await edgesFrom(tx, front)
    edges.push(...next)
    front = [...new Set(next.map((edge) => edge.to))].filter((id) => !seen.has(id))
    for (const id of front) seen.add(id)
  }
  return ringsIn(edges)[0]
}

/** Open tasks of a project that wait for something, or for which something waits, by number. */
export async function linkedTasks(
  tx: ReadTx,
  project: number,
  direction: Direction,
  most: number,
): Promise<{ tasks: { node: Node; ends: Node[] }[]; more: boolean }> {
  const [own, far] =
    direction === 'waits_for' ? (['task', 'depends_on'] as const) : (['depends_on', 'task'] as const)
  const linked = sqlOf(tx)
    .selectFrom('dependencies as d')
    .innerJoin('tasks as f', (join) =>
      join.onRef('f.account', '=', 'd.account').onRef('f.id', '=', `d.${far}`),
    )
    .select(`d.${own} as id`)
    .where('d.account', '=', tx.account)
    .where('d.removed_at', 'is', null)
    .where((eb) =>
      direction === 'waits_for'
        ? eb.or([eb('f.status', 'in', [...OPEN_STATUSES]), eb('f.trash', 'is not', null)])
        : eb.and([eb('f.status', 'in', [...OPEN_STATUSES]), eb('f.trash', 'is', null)]),
    )
  const found = await visibleTasks(tx)
    .select(['tasks.id', 'tasks.title', 'tasks.status', 'tasks.project', 'tasks.trash'])
    .where('tasks.project', '=', project)
    .where('tasks.status', 'in', [...OPEN_STATUSES])
    .where('tasks.id', 'in', linked)
    .orderBy('tasks.id')
    .limit(most + 1)
    .execute()
  const shown = found.slice(0, most)
  const reached = await neighbours(
    tx,
    shown.map((task) => task.id),
    direction,
  )
  return {
    tasks: shown.map((node) => ({
      node,
      ends: reached
        .filter(({ of, by, node: end }) => of === node.id && by === 'dependency' && !isFinished(end))
        .map((each) => each.node),
    })),
    more: found.length > most,
  }
}

/** The tasks one link away. Finished subtasks hold nothing up, and nobody in the Trash waits. */
async function neighbours(
  tx: ReadTx,
  tasks: readonly number[],
  direction: Direction,
): Promise<{ node: Node; of: number; by: Edge['by'] }[]> {
  const forward = direction === 'waits_for'
  const edges = await (forward ? edgesFrom : edgesTo)(tx, tasks)
  const nodes = await nodesById(
    tx,
    edges.map((edge) => (forward ? edge.to : edge.from)),
  )
  return edges
    .map((edge) => ({
      node: nodes.get(forward ? edge.to : edge.from)!,
      of: forward ? edge.from : edge.to,
      by: edge.by,
    }))
    .filter(({ node, by }) => (by !== 'parent' && forward) || isOpen(node))
    .sort((a, b) => a.node.id - b.node.id)
}

async function nodesById(tx: ReadTx, ids: readonly number[]): Promise<Map<number, Node>> {
  const rows = await sqlOf(tx)
    .selectFrom('tasks')
    .select(['id', 'title', 'status', 'project', 'trash'])
    .where('account', '=', tx.account)
    .where('id', 'in', inNumbers(tx, ids))
    .execute()
  return new Map(rows.map((row) => [row.id, row]))
}

const isOpen = (node: Node): boolean => node.trash === null && !isClosed(node.status)

/** What is in the Trash still blocks, whatever its status. */
const isFinished = (node: Node): boolean => node.trash === null && isClosed(node.status)
