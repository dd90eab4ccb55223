import { createHash } from 'node:crypto'
import { type RawBuilder, type SelectQueryBuilder, type SqlBool, sql } from 'kysely'
import { invalid } from '../model/error.ts'
import type { Dialect } from './dialect.ts'
import { type ReadTx, sqlOf, toolOf } from './handle.ts'
import { type VisibleTasks, visibleTasksQuery } from './sight.ts'
import type { Database } from './tables.ts'

export interface PageInput {
  /** Rows wanted: 25 by default, 100 at most. */
  limit?: number | undefined
  cursor?: string | undefined
}

/** A list's order. The keys together must be unique and none null, so that no row is skipped or shown twice. */
export interface Order {
  by: readonly RawBuilder<unknown>[]
  direction: 'asc' | 'desc'
}

export interface Page<T> {
  rows: T[]
  /** Exact to 1,000; above that {@link atLeast}. */
  total?: number
  atLeast?: number
  /** The cursor that continues behind a row of this page; absent behind the last row of all. */
  after(index: number): string | undefined
}

const COUNTED = 1000

/**
 * One page of a query by keyset: the cursor holds the last row's sort keys, so rows that come or go between two pages
 * neither repeat nor hide others. The count is bounded, so a list costs the same in a large account.
 */
export async function pageOf<DB, TB extends keyof DB, O>(
  tx: ReadTx,
  query: SelectQueryBuilder<DB, TB, O>,
  order: Order,
  input: PageInput,
): Promise<Page<O>> {
  return readPage(tx, order, input, {
    rows: (limit, last) => pagedQuery(query, order, limit, last).execute(),
    count: async () => (await countQuery(sqlOf(tx), query).executeTakeFirstOrThrow()).n,
  })
}

/** {@link pageOf} of a query of visible tasks that is compiled once: its first page, the one behind a cursor, its count. */
export function tasksPage<V extends object, O>(
  build: (tasks: VisibleTasks, values: V, dialect: Dialect) => SelectQueryBuilder<Database, 'tasks', O>,
  order: Order,
): (tx: ReadTx, values: V, input: PageInput) => Promise<Page<O>> {
  type Paged = V & { limit: number }
  const keys = order.by.map((_, i) => `last_key_${i}`)
  const first = visibleTasksQuery((tasks, p: Paged, dialect) =>
    pagedQuery(build(tasks, p, dialect), order, p.limit),
  )
  const next = visibleTasksQuery((tasks, p: Paged & Record<string, unknown>, dialect) =>
    pagedQuery(
      build(tasks, p, dialect),
      order,
      p.limit,
      keys.map((key) => p[key]),
    ),
  )
  const count = visibleTasksQuery((tasks, p: V, dialect, db) => countQuery(db, build(tasks, p, dialect)))
  return (tx, values, input) =>
    readPage(tx, order, input, {
      rows: (limit, last) => {
        if (!last) return first(tx, { ...values, limit })
        return next(tx, { ...values, limit, ...Object.fromEntries(keys.map((key, i) => [key, last[i]])) })
      },
      count: async () => (await count(tx, values))[0]!.n,
    })
}

interface Queries<O> {
  /** So many rows, behind the last one's sort keys where these are given. */
  rows(limit: number, last: readonly unknown[] | undefined): Promise<O[]>
  /** Up to one more than {@link COUNTED}. */
  count(): Promise<number>
}

async function readPage<O>(
  tx: ReadTx,
  order: Order,
  input: PageInput,
  queries: Queries<O>,
): Promise<Page<O>> {
  const limit = Math.min(Math.max(input.limit ?? 25, 1), 100)
  const tag = tagOf(tx)
  const last = input.cursor === undefined ? undefined : readCursor(input.cursor, tag, order.by.length)
  const found = (await queries.rows(limit + 1, last)) as (O & Record<string, unknown>)[]
  const more = found.length > limit
  const rows = found.slice(0, limit)
  const keys = rows.map((row) => order.by.map((_, i) => row[`sort_key_${i}`]))
  const n = await queries.count()
  return {
    rows: rows.map((row) => withoutKeys(row, order.by.length)),
    ...(n > COUNTED ? { atLeast: COUNTED } : { total: n }),
    after: (index) => (index < rows.length - 1 || more ? writeCursor(tag, keys[index]!) : undefined),
  }
}

function pagedQuery<DB, TB extends keyof DB, O>(
  query: SelectQueryBuilder<DB, TB, O>,
  order: Order,
  limit: number,
  last?: readonly unknown[],
): SelectQueryBuilder<DB, TB, O> {
  let paged = query.limit(limit)
  if (last) paged = paged.where(behind(order, last))
  for (const [i, key] of order.by.entries()) {
    paged = paged.orderBy(key, order.direction).select(key.as(`sort_key_${i}`)) as unknown as typeof paged
  }
  return paged
}

/** Counts to one more than {@link COUNTED}. */
function countQuery<DB, TB extends keyof DB, O>(
  db: ReturnType<typeof sqlOf>,
  query: SelectQueryBuilder<DB, TB, O>,
) {
  const bounded = query
    .clearSelect()
    .select(sql<number>`1`.as('one'))
    .limit(COUNTED + 1)
  return db.selectNoFrom(sql<number>`(SELECT COUNT(*) FROM (${bounded}) AS counted)`.as('n'))
}

/** A row-value comparison, which an index in this order answers by one seek. */
function behind(order: Order, values: readonly unknown[]): RawBuilder<SqlBool> {
  const keys = sql.join([...order.by])
  const last = sql.join([...values])
  return order.direction === 'asc' ? sql`(${keys}) > (${last})` : sql`(${keys}) < (${last})`
}

/** A cursor is good for the list that gave it. */
export function tagOf(tx: ReadTx): string {
  return createHash('sha256')
    .update(`${tx.account}:${toolOf(tx)}`)
    .digest('base64url')
    .slice(0, 6)
}

export function writeCursor(tag: string, values: readonly unknown[]): string {
  return Buffer.from(JSON.stringify([tag, ...values])).toString('base64url')
}

export function readCursor(cursor: string, tag: string, keys: number): unknown[] {
  const bad = () =>
    invalid('The cursor is not one that this list gave.', {
      next: 'Leave cursor out to begin at the first page.',
    })
  let values: unknown
  try {
    values = JSON.parse(Buffer.from(cursor, 'base64url').toString())
  } catch {
    throw bad()
  }
  if (!Array.isArray(values) || values.length !== keys + 1 || values[0] !== tag) throw bad()
  if (!values.every((value) => value === null || typeof value === 'string' || typeof value === 'number'))
    throw bad()
  return values.slice(1)
}

function withoutKeys<O>(row: O & Record<string, unknown>, keys: number): O {
  for (let i = 0; i < keys; i++) delete row[`sort_key_${i}`]
  return row
}
