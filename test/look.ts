import { join } from 'node:path'
import { openSqlite, type SqliteConnection } from '../src/store/sqlite.ts'
import { asAdmin, type DatabaseOptions } from './database.ts'

type Rows = Record<string, unknown>[]

/** Asks the database itself, past all of our code. */
export interface Lookout {
  /** The rows of one query. */
  look<T = Record<string, unknown>>(query: string): Promise<T[]>
  /** The rows of several queries in one go. */
  looked(queries: readonly string[]): Promise<Rows[]>
  close(): void
}

/** A look into the data of a folder, on a connection of its own that is opened at the first question and kept. */
export function lookoutOn(dir: string, { database }: DatabaseOptions): Lookout {
  let db: SqliteConnection | undefined

  function open(): SqliteConnection {
    const opened = openSqlite(join(dir, 'done.db'), 'read')
    opened.exec('PRAGMA busy_timeout = 5000')
    return opened
  }

  async function looked(queries: readonly string[]): Promise<Rows[]> {
    if (database !== undefined) {
      const [, ...rows] = await asAdmin(database, ['SET search_path = done', ...queries].join(';\n'))
      return rows
    }
    db ??= open()
    return queries.map((query) => db!.prepare(query).all([]) as Rows)
  }

  return {
    looked,
    look: async <T>(query: string) => (await looked([query]))[0] as T[],
    close: () => db?.close(),
  }
}

/** The rows of several queries, on a connection that is closed again. */
export async function lookOnce(
  dir: string,
  database: DatabaseOptions,
  queries: readonly string[],
): Promise<Rows[]> {
  const lookout = lookoutOn(dir, database)
  try {
    return await lookout.looked(queries)
  } finally {
    lookout.close()
  }
}
