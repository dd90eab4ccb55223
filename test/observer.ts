import type { ColumnRole } from '../src/store/column.ts'
import { MIGRATIONS } from '../src/store/migrate.ts'
import { openSqlite } from '../src/store/sqlite.ts'
import { CONTENT_TABLES } from '../src/store/tables.ts'
import type { World } from './world.ts'

type Rows = Map<string, Record<string, unknown>>

/** Every row of every content table, as values. */
export type Snapshot = Map<string, Rows>

/** What differs between two snapshots, in the words of spec/effects. */
export interface Difference {
  /** Tables with rows that were not there before. */
  added: string[]
  /** Tables of which a row is gone. */
  gone: string[]
  /** Authored columns of which a value that was not empty is another now. */
  replaced: string[]
  /** Columns that took their row out of ordinary reads. */
  hidden: string[]
  /** Everything else that moved. */
  moved: string[]
}

/** Asks the database itself, so that nothing of ours can tell it a story. */
export async function snapshot(world: Pick<World, 'looked'>): Promise<Snapshot> {
  const tables = Object.keys(CONTENT_TABLES)
  const found = await world.looked(
    tables.map((table) => `SELECT * FROM ${table} ORDER BY ${KEYS.get(table)!.join(', ')}`),
  )
  // The full text itself, which PostgreSQL keeps in this table and SQLite beside it.
  for (const row of found[tables.indexOf('search_docs')]!)
    for (const column of ['folded', 'pieces']) delete row[column]
  return new Map(
    tables.map((table, i) => [
      table,
      new Map(
        found[i]!.map((row) => [
          KEYS.get(table)!
            .map((name) => String(row[name]))
            .join('|'),
          row,
        ]),
      ),
    ]),
  )
}

/** The columns of each table's primary key. */
const KEYS: ReadonlyMap<string, string[]> = keysOf(MIGRATIONS.map(({ sqlite }) => sqlite).join(''))

function keysOf(schema: string): Map<string, string[]> {
  const db = openSqlite(':memory:', 'write')
  db.exec(schema)
  const keys = Object.keys(CONTENT_TABLES).map((table): [string, string[]] => {
    const columns = db.prepare(`SELECT name FROM pragma_table_info('${table}') WHERE pk > 0`).all([])
    return [table, (columns as { name: string }[]).map(({ name }) => name)]
  })
  db.close()
  return new Map(keys)
}

export function difference(before: Snapshot, after: Snapshot): Difference {
  const found = {
    added: new Set<string>(),
    gone: new Set<string>(),
    replaced: new Set<string>(),
    hidden: new Set<string>(),
    moved: new Set<string>(),
  }
  for (const [table, rows] of after) {
    const old = before.get(table)!
    for (const key of old.keys()) if (!rows.has(key)) found.gone.add(table)
    for (const [key, row] of rows) {
      const was = old.get(key)
      if (!was) {
        found.added.add(table)
        continue
      }
      for (const [column, value] of Object.entries(row)) {
        if (same(was[column], value)) continue
        const name = `${table}.${column}`
        const role = roleOf(table, column)
        if (role === 'authored' && was[column] !== null && was[column] !== '') found.replaced.add(name)
        else if (role === 'hides' && was[column] === null) found.hidden.add(name)
        else found.moved.add(name)
      }
    }
  }
  return Object.fromEntries(
    Object.entries(found).map(([kind, names]) => [kind, [...names].sort()]),
  ) as unknown as Difference
}

export function isEmpty(difference: Difference): boolean {
  return Object.values(difference).every((names) => names.length === 0)
}

function same(a: unknown, b: unknown): boolean {
  if (a instanceof Uint8Array && b instanceof Uint8Array) return Buffer.compare(a, b) === 0
  return a === b
}

function roleOf(table: string, column: string): ColumnRole {
  const columns = CONTENT_TABLES[table as keyof typeof CONTENT_TABLES] as Record<string, { role: ColumnRole }>
  const declared = columns[column]
  if (!declared) throw new Error(`${table}.${column} is not declared in tables.ts.`)
  return declared.role
}
