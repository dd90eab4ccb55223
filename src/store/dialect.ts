import { type RawBuilder, sql } from 'kysely'

/** What the engines say differently inside a query; all else is one text for both. */
export interface Dialect {
  readonly engine: 'sqlite' | 'postgres'
  /** The items of a JSON array as rows, so that lists of every length share one prepared statement. */
  numbers(json: string): RawBuilder<number>
  texts(json: string): RawBuilder<string>
  /** Whether a text holds another one, or bytes hold others, exactly. */
  holds(column: RawBuilder<unknown>, text: string): RawBuilder<boolean>
  holdsBytes(column: RawBuilder<unknown>, bytes: Uint8Array): RawBuilder<boolean>
  /** Locks what a job is about to take, and passes over what another process has taken. Part of a subquery. */
  readonly skipLocked: RawBuilder<unknown>
}

/** SQLite has one writer, so nothing is ever taken by another. */
export const SQLITE: Dialect = {
  engine: 'sqlite',
  numbers: (json) => sql`(SELECT value FROM json_each(${json}))`,
  texts: (json) => sql`(SELECT value FROM json_each(${json}))`,
  holds: (column, text) => sql`instr(${column}, ${text}) > 0`,
  holdsBytes: (column, bytes) => sql`instr(${column}, ${bytes}) > 0`,
  skipLocked: sql``,
}

export const POSTGRES: Dialect = {
  engine: 'postgres',
  numbers: (json) =>
    sql`(SELECT value::bigint FROM json_array_elements_text(${json}::json) AS items (value))`,
  texts: (json) => sql`(SELECT value FROM json_array_elements_text(${json}::json) AS items (value))`,
  holds: (column, text) => sql`strpos(${column}, ${text}) > 0`,
  holdsBytes: (column, bytes) => sql`position(${bytes}::bytea IN ${column}) > 0`,
  skipLocked: sql`FOR UPDATE SKIP LOCKED`,
}
