import { type RawBuilder, sql } from 'kysely'

/** What the engines say differently inside a query; all else is one text for both. */
export interface Dialect {
  readonly engine: 'sqlite' | 'postgres'
  /** The items of a JSON array as rows, so that lists of every length share one prepared statement. */
  numbers(list: readonly number[]): RawBuilder<number>
  texts(list: readonly string[]): RawBuilder<string>
  /** Locks what a job is about to take, and passes over what another process has taken. Part of a subquery. */
  readonly skipLocked: RawBuilder<unknown>
}

/** SQLite has one writer, so nothing is ever taken by another. */
export const SQLITE: Dialect = {
  engine: 'sqlite',
  numbers: (list) => sql`(SELECT value FROM json_each(${JSON.stringify(list)}))`,
  texts: (list) => sql`(SELECT value FROM json_each(${JSON.stringify(list)}))`,
  skipLocked: sql``,
}

export const POSTGRES: Dialect = {
  engine: 'postgres',
  numbers: (list) =>
    sql`(SELECT value::bigint FROM json_array_elements_text(${JSON.stringify(list)}::json) AS items (value))`,
  texts: (list) =>
    sql`(SELECT value FROM json_array_elements_text(${JSON.stringify(list)}::json) AS items (value))`,
  skipLocked: sql`FOR UPDATE SKIP LOCKED`,
}
