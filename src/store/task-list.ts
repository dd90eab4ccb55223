import { type ExpressionBuilder, type RawBuilder, type SqlBool, sql } from 'kysely'
import type { ActorId } from '../model/actor.ts'
import { isClosed, type Status } from '../model/task.ts'
import type { Dialect } from './dialect.ts'
import { dialectOf, type ReadTx } from './handle.ts'
import { type Order, type Page, type PageInput, tasksPage } from './page.ts'
import type { VisibleTasks } from './sight.ts'
import type { Database, Row } from './tables.ts'
import { visibleTasks } from './task.ts'

/** Which tasks a list shows; what is undefined does not narrow. */
export interface TaskFilter {
  project?: number | undefined
  status?: readonly Status[] | undefined
  /** Null means nobody. */
  assignee?: ActorId | null | undefined
  claimedBy?: ActorId | null | undefined
  labels?: readonly string[] | undefined
  priority?: readonly number[] | undefined
  /** Canonical dates; a due date on the day itself is in. */
  dueAfter?: string | undefined
  /** Exclusive. */
  dueBefore?: string | undefined
  /** Due before this local date; never on it, never undated. */
  overdueOn?: string | undefined
  parent?: number | undefined
  updatedSince?: number | undefined
  /** Closed tasks too; asking for a closed status says so as well. */
  includeClosed: boolean
}

export const SORTS = ['urgency', 'due', 'created', 'updated', 'closed'] as const
export type Sort = (typeof SORTS)[number]

/** Priority, then due (none last), then id: the account's one idea of what comes first. */
export const URGENCY: Order = {
  by: [sql`tasks.priority`, sql`COALESCE(tasks.due, '~')`, sql`tasks.id`],
  direction: 'asc',
}

const ORDERS: Record<Sort, Order> = {
  urgency: URGENCY,
  due: { by: [sql`COALESCE(tasks.due, '~')`, sql`tasks.id`], direction: 'asc' },
  created: { by: [sql`tasks.created_at`, sql`tasks.id`], direction: 'desc' },
  updated: { by: [sql`tasks.updated_at`, sql`tasks.id`], direction: 'desc' },
  closed: { by: [sql`COALESCE(tasks.closed_at, 0)`, sql`tasks.id`], direction: 'desc' },
}

type Listed = (tx: ReadTx, values: FilterValues, page: PageInput) => Promise<Page<Row<'tasks'>>>

/** Compiled by what the filter asks for. Most calls ask for the same few things, so more than these start anew. */
const listed = new Map<string, Listed>()
const MOST_LISTED = 200

/** A page of tasks that the caller can see. */
export function listTasks(
  tx: ReadTx,
  filter: TaskFilter,
  sort: Sort,
  page: PageInput,
): Promise<Page<Row<'tasks'>>> {
  const key = `${sort} ${shapeOf(filter)}`
  let list = listed.get(key)
  if (!list) {
    if (listed.size >= MOST_LISTED) listed.clear()
    list = tasksPage(
      (tasks, p: FilterValues, dialect) => filtered(tasks, filter, p, dialect).selectAll('tasks'),
      ORDERS[sort],
    )
    listed.set(key, list)
  }
  return list(tx, valuesOf(tx, filter), page)
}

/** What tasks can be counted by. */
export const GROUPS = ['status', 'project', 'assignee', 'claim', 'label', 'priority', 'due_day'] as const
export type Group = (typeof GROUPS)[number]

/** How many groups a count shows. */
const SHOWN = 100

/** How many tasks there are for each value; the value null stands for none. Of many values the most frequent are shown. */
export async function countTasks(
  tx: ReadTx,
  filter: TaskFilter,
  group: Group,
): Promise<{ counts: { value: string | number | null; count: number }[]; groups: number; sum: number }> {
  const key = groupKey(tx, group)
  let query = filteredTasks(tx, filter)
  if (group === 'label') {
    query = query.leftJoin('task_labels as tl', (join) =>
      join
        .onRef('tl.account', '=', 'tasks.account')
        .onRef('tl.task', '=', 'tasks.id')
        .on('tl.removed_at', 'is', null)
        .on('tl.trash', 'is', null),
    ) as unknown as typeof query
  }
  // The windows are counted over all groups, before the limit.
  const counts = await query
    .select([key.as('value'), sql<number>`COUNT(*)`.as('count')])
    .select([sql<number>`COUNT(*) OVER ()`.as('groups'), sql<number>`SUM(COUNT(*)) OVER ()`.as('sum')])
    // By its name: PostgreSQL takes an expression with parameters for another one where it stands again.
    .groupBy(sql`value`)
    .orderBy('count', 'desc')
    .orderBy('value', (order) => order.asc().nullsFirst())
    .limit(SHOWN)
    .execute()
  return { counts, groups: counts[0]?.groups ?? 0, sum: counts[0]?.sum ?? 0 }
}

function groupKey(tx: ReadTx, group: Group): RawBuilder<string | number | null> {
  const keys: Record<Group, RawBuilder<string | number | null>> = {
    status: statusNow(tx.now),
    project: sql`tasks.project`,
    assignee: sql`tasks.assignee`,
    claim: sql`CASE WHEN tasks.claim_until > ${tx.now} THEN tasks.claimed_by END`,
    label: sql`tl.label`,
    priority: sql`tasks.priority`,
    due_day: sql`substr(tasks.due, 1, 10)`,
  }
  return keys[group]
}

/** A task whose lease has lapsed reads as open at once. */
function statusNow(now: number): RawBuilder<string> {
  return sql`CASE WHEN tasks.status = 'in_progress' AND (tasks.claim_until IS NULL OR tasks.claim_until <= ${now}) THEN 'open' ELSE tasks.status END`
}

function filteredTasks(tx: ReadTx, filter: TaskFilter): VisibleTasks {
  return filtered(visibleTasks(tx), filter, valuesOf(tx, filter), dialectOf(tx))
}

/** What a filter's conditions compare with; lists as JSON, labels as `label0`, `label1` … */
type FilterValues = Omit<TaskFilter, 'status' | 'priority' | 'labels' | 'includeClosed'> & {
  account: number
  now: number
  status: string
  priority: string
  [label: `label${number}`]: string
}

function valuesOf(tx: ReadTx, filter: TaskFilter): FilterValues {
  const { status, priority, labels = [], includeClosed: _, ...single } = filter
  return {
    ...single,
    account: tx.account,
    now: tx.now,
    status: JSON.stringify(status ?? []),
    priority: JSON.stringify(priority ?? []),
    ...Object.fromEntries(labels.map((label, i) => [`label${i}`, label])),
  }
}

/** What {@link filtered} asks of a filter, without the values: the same for all filters that make the same query. */
function shapeOf(filter: TaskFilter): string {
  const { status, labels, ...single } = filter
  const asked = Object.entries(single).flatMap(([name, value]) => {
    if (value === undefined || value === false) return []
    return value === null ? `no ${name}` : name
  })
  const closed = status && (status.some(isClosed) ? 'closed status' : 'status')
  return [...asked, closed, `${labels?.length ?? 0} labels`].join()
}

/** `p` has the filter's values, or what stands for them; `filter` says which of them are asked for. */
function filtered(tasks: VisibleTasks, filter: TaskFilter, p: FilterValues, dialect: Dialect): VisibleTasks {
  let query = tasks
  const closedWanted = filter.includeClosed || filter.status?.some(isClosed)
  // Spelled out, not bound: a partial index is chosen by the text of its condition.
  if (!closedWanted) query = query.where(sql<SqlBool>`tasks.status NOT IN ('done', 'cancelled')`)
  if (filter.project !== undefined) query = query.where('tasks.project', '=', p.project!)
  if (filter.status !== undefined) query = query.where(statusNow(p.now), 'in', dialect.texts(p.status))
  if (filter.assignee === null) query = query.where('tasks.assignee', 'is', null)
  else if (filter.assignee !== undefined) query = query.where('tasks.assignee', '=', p.assignee!)
  if (filter.claimedBy === null) {
    query = query.where((eb) =>
      eb.or([eb('tasks.claimed_by', 'is', null), eb('tasks.claim_until', '<=', p.now)]),
    )
  } else if (filter.claimedBy !== undefined) {
    query = query.where('tasks.claimed_by', '=', p.claimedBy!).where('tasks.claim_until', '>', p.now)
  }
  for (const i of (filter.labels ?? []).keys()) {
    query = query.where((eb) => eb('tasks.id', 'in', taggedWith(eb, p.account, p[`label${i}`]!)))
  }
  if (filter.priority !== undefined) query = query.where('tasks.priority', 'in', dialect.numbers(p.priority))
  if (filter.dueAfter !== undefined) query = query.where('tasks.due', '>=', p.dueAfter!)
  if (filter.dueBefore !== undefined) query = query.where('tasks.due', '<', p.dueBefore!)
  if (filter.overdueOn !== undefined) query = query.where('tasks.due', '<', p.overdueOn!)
  if (filter.parent !== undefined) query = query.where('tasks.parent', '=', p.parent!)
  if (filter.updatedSince !== undefined) query = query.where('tasks.updated_at', '>=', p.updatedSince!)
  return query
}

function taggedWith(eb: ExpressionBuilder<Database, 'tasks'>, account: number, label: string) {
  return eb
    .selectFrom('task_labels')
    .select('task_labels.task')
    .where('task_labels.account', '=', account)
    .where('task_labels.label', '=', label)
    .where('task_labels.removed_at', 'is', null)
    .where('task_labels.trash', 'is', null)
}
