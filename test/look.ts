import { join } from 'node:path'
import { openSqlite } from '../src/store/sqlite.ts'
import { asAdmin, type DatabaseOptions } from './database.ts'

type Rows = Record<string, unknown>[]

/** The rows of several queries, asked of the database itself past all of our code. */
export async function lookAt(
  dir: string,
  { database }: DatabaseOptions,
  queries: readonly string[],
): Promise<Rows[]> {
  if (database !== undefined) {
    const [, ...rows] = await asAdmin(database, ['SET search_path = done', ...queries].join(';\n'))
    return rows
  }
  const db = openSqlite(join(dir, 'done.db'), 'read')
  db.exec('PRAGMA busy_timeout = 5000')
  try {
    return queries.map((query) => db.prepare(query).all([]) as Rows)
  } finally {
    db.close()
  }
}

/** {@link lookAt} for one query. */
export async function lookInto<T = Record<string, unknown>>(
  dir: string,
  database: DatabaseOptions,
  query: string,
): Promise<T[]> {
  return (await lookAt(dir, database, [query]))[0] as T[]
}
