import type { Insertable, Updateable } from 'kysely'
import { laterQuery, type WriteTx } from './handle.ts'
import type { Database } from './tables.ts'

type Values = Record<string, unknown>
type Write = ReturnType<typeof laterQuery<Values>>

/** By what is done, the table and the columns, of which the program's own code gives few combinations. */
const compiled = new Map<string, Write>()

function compiledFor(kind: 'insert' | 'update', table: string, columns: readonly string[]): Write {
  const key = `${kind} ${table} ${columns.join()}`
  let query = compiled.get(key)
  if (!query) {
    query = kind === 'insert' ? insertOf(table as 'tasks', columns) : updateOf(table as 'tasks', columns)
    compiled.set(key, query)
  }
  return query
}

const placesOf = (columns: readonly string[], values: Values): never =>
  Object.fromEntries(columns.map((column) => [column, values[column]])) as never

const insertOf = (table: 'tasks', columns: readonly string[]): Write =>
  laterQuery<Values>((db, p) => db.insertInto(table).values(placesOf(columns, p)))

const updateOf = (table: 'tasks', columns: readonly string[]): Write =>
  laterQuery<Values>((db, p) =>
    db
      .updateTable(table)
      .set(placesOf(columns, p))
      .where('account', '=', p.account as number)
      .where('id', '=', p.id as number),
  )

/** Columns with a value; one that is undefined is left to the schema's default, or as it is. */
const columnsOf = (row: object): string[] =>
  Object.keys(row).filter((column) => (row as Values)[column] !== undefined)

/** Inserts a row; the query is compiled once for each set of columns. */
export async function insertRow<T extends keyof Database>(
  tx: WriteTx,
  table: T,
  row: Insertable<Database[T]>,
): Promise<void> {
  compiledFor('insert', table, columnsOf(row))(tx, row as Values)
}

/** Tables whose rows go by the account and a number. */
type Numbered = {
  [T in keyof Database]: 'account' | 'id' extends keyof Database[T] ? T : never
}[keyof Database]

/** Changes columns of a row of the account, by its number; compiled once for each set of columns. */
export async function updateById<T extends Numbered>(
  tx: WriteTx,
  table: T,
  id: number,
  columns: Omit<Updateable<Database[T]>, 'account' | 'id'>,
): Promise<void> {
  compiledFor('update', table, columnsOf(columns))(tx, { ...columns, account: tx.account, id })
}
