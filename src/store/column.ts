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
  readonly type?: T
}

export const authored = <T>(): Column<T> => ({ role: 'authored' })
export const lifecycle = <T>(): Column<T> => ({ role: 'lifecycle' })
export const hides = <T>(): Column<T> => ({ role: 'hides' })
export const record = <T>(): Column<T> => ({ role: 'record' })

/** A column that an insert may leave to the schema's default. */
export type Defaulted<T> = ColumnType<T, T | undefined, T>
