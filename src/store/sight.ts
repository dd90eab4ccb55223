import type { Compilable, SelectQueryBuilder } from 'kysely'
import { AppError } from '../model/error.ts'
import { formatId } from '../model/id.ts'
import type { Dialect } from './dialect.ts'
import { type ReadTx, readQuery, type sqlOf } from './handle.ts'
import type { Database } from './tables.ts'

/** What a credential that is narrowed to projects is told of anything outside them (spec: product, "Who acts"). */
const UNSEEN = { T: 'a task you can’t see', P: 'a project you can’t see' } as const

/** Whether the caller sees what lies in a project. What lies in none is seen only by a credential that is not narrowed. */
export function sees(tx: ReadTx, project: number | null): boolean {
  const { projects } = tx.actor
  return projects === undefined || (project !== null && projects.includes(project))
}

type Reader = ReturnType<typeof sqlOf>

/** What a query of tasks begins with: the table, narrowed to what the caller sees, and nothing selected yet. */
export type VisibleTasks = SelectQueryBuilder<Database, 'tasks', Record<never, never>>

/**
 * A query of the tasks that the caller can see (as `visibleTasks` of task.ts), compiled once for credentials that see the
 * whole account and once for those that are narrowed to projects.
 */
export function visibleTasksQuery<V extends object, R>(
  build: (tasks: VisibleTasks, values: V, dialect: Dialect, db: Reader) => Compilable<R>,
): (tx: ReadTx, values: V) => Promise<R[]> {
  type Values = V & { account: number; projects: string | undefined }
  const [whole, narrowed] = [false, true].map((narrow) =>
    readQuery((db, p: Values, dialect) => {
      const tasks = db
        .selectFrom('tasks')
        .where('tasks.account', '=', p.account)
        .where('tasks.trash', 'is', null)
      const seen = narrow ? tasks.where('tasks.project', 'in', dialect.numbers(p.projects!)) : tasks
      return build(seen, p, dialect, db)
    }),
  )
  return (tx, values) => {
    const { projects } = tx.actor
    const run = projects === undefined ? whole! : narrowed!
    return run(tx, { ...values, account: tx.account, projects: projects && JSON.stringify(projects) })
  }
}

const projectsOfTasks = readQuery((db, p: { account: number; tasks: string }, dialect) =>
  db
    .selectFrom('tasks')
    .select(['id', 'project'])
    .where('account', '=', p.account)
    .where('id', 'in', dialect.numbers(p.tasks)),
)

/** A task's id or, where the caller can't see it, that there is one. */
export function shownTask(tx: ReadTx, task: { id: number; project: number | null }): string {
  return sees(tx, task.project) ? formatId('task', task.id) : UNSEEN.T
}

/** {@link shownTask} of tasks of which only the numbers are at hand, in their order. */
export async function shownTasks(tx: ReadTx, ids: readonly number[]): Promise<string[]> {
  const names = ids.map((id) => formatId('task', id))
  const shown = await shownIds(tx, names)
  return names.map((name) => shown(name) as string)
}

/**
 * How public ids of tasks and projects are shown that stand in stored texts and events. Anything else is shown as it is.
 * `ids` are those that will be asked for, among whatever else.
 */
export async function shownIds(tx: ReadTx, ids: readonly unknown[]): Promise<(id: unknown) => unknown> {
  if (tx.actor.projects === undefined) return (id) => id
  const tasks = ids.flatMap((id) => (kindOf(id) === 'T' ? [Number((id as string).slice(1))] : []))
  const rows = await projectsOfTasks(tx, { account: tx.account, tasks: JSON.stringify(tasks) })
  const seen = new Set(
    rows.filter(({ project }) => sees(tx, project)).map(({ id }) => formatId('task', id) as unknown),
  )
  return (id) => {
    const kind = kindOf(id)
    if (kind === undefined || seen.has(id)) return id
    return kind === 'P' && sees(tx, Number((id as string).slice(1))) ? id : UNSEEN[kind]
  }
}

function kindOf(id: unknown): keyof typeof UNSEEN | undefined {
  return typeof id === 'string' && /^[TP]\d+$/.test(id) ? (id[0] as keyof typeof UNSEEN) : undefined
}

/** Fields of an event that name tasks and projects. */
const NAMING = ['depends_on', 'parent', 'project', 'by'] as const

/** Events as the caller may read them: the ids that they carry of what it can't see are not shown. */
export async function eventsInSight<E extends { object: string | null; data?: string | null }>(
  tx: ReadTx,
  events: readonly E[],
): Promise<E[]> {
  if (tx.actor.projects === undefined) return [...events]
  const read = events.map((event) => ({
    event,
    data: JSON.parse(event.data ?? '{}') as Record<string, unknown> & { changes?: Record<string, unknown> },
  }))
  const named = read.flatMap(({ event, data }) => [
    event.object,
    ...NAMING.flatMap((field) => [data[field], data.changes?.[field]]),
  ])
  const shown = await shownIds(tx, named.flat(2))
  const inside = (fields: Record<string, unknown>) =>
    Object.fromEntries(
      Object.entries(fields).map(([field, value]) => [
        field,
        (NAMING as readonly string[]).includes(field) ? deeply(value, shown) : value,
      ]),
    )
  return read.map(({ event, data }) => {
    const object = shown(event.object) as string | null
    const { trash, ...rest } = inside(data)
    // An entry of the Trash is no more to be seen than what it holds.
    const kept = { ...rest, ...(trash !== undefined && object === event.object ? { trash } : {}) }
    const changes = data.changes && { changes: inside(data.changes) }
    return { ...event, object, ...(event.data ? { data: JSON.stringify({ ...kept, ...changes }) } : {}) }
  })
}

function deeply(value: unknown, shown: (id: unknown) => unknown): unknown {
  return Array.isArray(value) ? value.map((each) => deeply(each, shown)) : shown(value)
}

/** A credential that is narrowed to projects touches nothing that it can't see. `what` are the tasks, `deed` what is refused. */
export function refuseOutOfSight(
  tx: ReadTx,
  tasks: readonly { project: number | null }[],
  what: string,
  deed: string,
): void {
  if (tasks.every((task) => sees(tx, task.project))) return
  throw new AppError('scope', `${what} in projects that this credential can’t see.`, {
    written: false,
    next: `Ask a person, or an agent with a wider credential, to ${deed}.`,
  })
}
