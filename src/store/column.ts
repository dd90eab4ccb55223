import type { ColumnType } from 'kysely'

/**
 * What a column holds, judged by whose words they are (spec: effects, "Proof"):
 * - `authored`: somebody wrote it. Replacing it when it was not empty is destructive.
 * - `lifecycle`: it moves as work moves (status, claim, read marks, archive). Moving it loses nobody's words.
 * - `hides`: a lifecycle column that takes its row out of ordinary reads while it is set. Setting it is destructive.
 * - `record`: keys, times, counters and the log. Nobody's words.
 *
 * The database's own wall (triggers.ts) and the observer that tests every tool read this declaration.
 */
export type ColumnRole = 'authored' | 'lifecycle' | 'hides' | 'record'

export interface Column<T> {
  readonly role: ColumnRole
  /** Whether words stand in it that people or agents wrote, so that a leaked secret may be among them (redact.ts). */
  readonly words?: boolean
  /** Whether the words are the texts of a JSON value. */
  readonly json?: boolean
  readonly type?: T
}

export const authored = <T>(): Column<T> => ({ role: 'authored', words: true })
export const lifecycle = <T>(): Column<T> => ({ role: 'lifecycle' })
export const hides = <T>(): Column<T> => ({ role: 'hides' })
export const record = <T>(): Column<T> => ({ role: 'record' })

/** Authored, but in a form in which no words of one's own can stand: numbers, dates, ids, zones, rules. */
export const shaped = <T>(column: Column<T>): Column<T> => ({ ...column, words: false })
/** Nobody's own words, but it may repeat some. */
export const quoting = <T>(column: Column<T>): Column<T> => ({ ...column, words: true })
export const inJson = <T>(column: Column<T>): Column<T> => ({ ...column, json: true })

/** A column that an insert may leave to the schema's default. */
export type Defaulted<T> = ColumnType<T, T | undefined, T>
