import { createHash } from 'node:crypto'
import { type RawBuilder, type SelectQueryBuilder, type SqlBool, sql } from 'kysely'
import { invalid } from '../model/error.ts'
import { type ReadTx, sqlOf, toolOf } from './handle.ts'

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
  const limit = Math.min(Math.max(input.limit ?? 25, 1), 100)
  const tag = tagOf(tx)
  let paged = query.limit(limit + 1)
  if (input.cursor !== undefined)
    paged = paged.where(behind(order, readCursor(input.cursor, tag, order.by.length)))
  for (const [i, key] of order.by.entries()) {
    paged = paged.orderBy(key, order.direction).select(key.as(`sort_key_${i}`)) as unknown as typeof paged
  }
  const found = (await paged.execute()) as (O & Record<string, unknown>)[]
  const more = found.length > limit
  const rows = found.slice(0, limit)
  const cursors = rows.map((row) =>
    writeCursor(
      tag,
      order.by.map((_, i) => row[`sort_key_${i}`]),
    ),
  )
  return {
    rows: rows.map((row) => withoutKeys(row, order.by.length)),
    ...(await count(tx, query)),
    after: (index) => (index < rows.length - 1 || more ? cursors[index] : undefined),
  }
}

/** Counts to {@link COUNTED} and then says "at least". */
async function count<DB, TB extends keyof DB, O>(
  tx: ReadTx,
  query: SelectQueryBuilder<DB, TB, O>,
): Promise<{ total?: number; atLeast?: number }> {
  const bounded = query
    .clearSelect()
    .select(sql<number>`1`.as('one'))
    .limit(COUNTED + 1)
  const { n } = await sqlOf(tx)
    .selectNoFrom(sql<number>`(SELECT COUNT(*) FROM (${bounded}) AS counted)`.as('n'))
    .executeTakeFirstOrThrow()
  return n > COUNTED ? { atLeast: COUNTED } : { total: n }
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
  const bad = invalid('The cursor is not one that this list gave.', {
    next: 'Leave cursor out to begin at the first page.',
  })
  let values: unknown
  try {
    values = JSON.parse(Buffer.from(cursor, 'base64url').toString())
  } catch {
    throw bad
  }
  if (!Array.isArray(values) || values.length !== keys + 1 || values[0] !== tag) throw bad
  if (!values.every((value) => value === null || typeof value === 'string' || typeof value === 'number'))
    throw bad
  return values.slice(1)
}

function withoutKeys<O>(row: O & Record<string, unknown>, keys: number): O {
  for (let i = 0; i < keys; i++) delete row[`sort_key_${i}`]
  return row
}
