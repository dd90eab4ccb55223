import { createHash } from 'node:crypto'
import { closeSync, existsSync, openSync } from 'node:fs'
import generated from '../generated/hashes.json' with { type: 'json' }
import type { Migration } from './migration.ts'
import { first } from './migrations/0001-first.ts'
import { assumeStatistics } from './planner.ts'
import { openSqlite, type SqliteConnection } from './sqlite.ts'
import { triggers } from './triggers.ts'

/** In order; the position is the schema's version. Forward only. */
export const MIGRATIONS: readonly Migration[] = [first]

/**
 * Brings a file to this program's schema, each step in a transaction of its own, after a copy of the file was put beside
 * it. Refuses a file of a newer program. Safe when several processes start at once: the later one finds the work done.
 */
export function migrate(
  db: SqliteConnection,
  path: string,
  now: number,
  migrations: readonly Migration[] = MIGRATIONS,
): void {
  db.exec('PRAGMA busy_timeout = 10000')
  const found = Number(db.value('PRAGMA user_version'))
  if (found === 0 && Number(db.value('SELECT COUNT(*) FROM sqlite_schema')) > 0) {
    if (db.value(`SELECT name FROM sqlite_schema WHERE name = '${MOVE_MARK}'`))
      throw unfinishedMove('embedded', path)
    throw new Error(`${path} is a database of something else. Give another data folder; nothing was written.`)
  }
  if (found > migrations.length) {
    throw new Error(
      `The data in ${path} were written by a newer Done (schema ${found}; this program knows ${migrations.length}). Update this program.`,
    )
  }
  if (found > 0 && found < migrations.length) backUp(db, path, found, now)
  for (let version = found; version < migrations.length; version++) {
    db.exec('BEGIN IMMEDIATE')
    try {
      if (Number(db.value('PRAGMA user_version')) === version) {
        db.exec(migrations[version]!.sqlite)
        rebuildTriggers(db)
        assumeStatistics(db)
        db.exec(`PRAGMA user_version = ${version + 1}`)
      }
      db.exec('COMMIT')
    } catch (error) {
      db.exec('ROLLBACK')
      throw error
    }
  }
  db.exec('PRAGMA busy_timeout = 0')
}

/** The table that stands in a database until everything is moved into it (move.ts). */
export const MOVE_MARK = 'move'

export function unfinishedMove(to: 'postgres' | 'embedded', place: string): Error {
  return new Error(
    `${place} holds data that were not moved to the end. Run the donectl migrate-engine --to ${to}, or the donectl restore, that began it again: it goes on where it stopped. Until then the data are where they came from.`,
  )
}

/** For who looks after data, and must not begin some by a slip of the pen. */
export function noData(place: string): Error {
  return new Error(`${place} holds no data of Done. Name where they are, or begin some with donectl serve.`)
}

/**
 * Gate G8: the text of every table, index and trigger must be the built one, or the server does not start. That it is shows
 * in its hash; it is built again, to compare with, only where something differs.
 */
export function verifySchema(db: SqliteConnection): void {
  const found = schemaOf(db)
  if (hashOf(found) === generated.sqlite) return
  const expected = builtSchema()
  for (const [name, text] of expected) {
    if (found.get(name) !== text) {
      throw new Error(
        `The schema was altered: ${found.has(name) ? `${name} has another text` : `${name} is missing`}. Restore the data folder from a backup.`,
      )
    }
  }
  for (const name of found.keys()) {
    if (!expected.has(name)) throw new Error(`The schema was altered: ${name} does not belong there.`)
  }
}

/** The hash of the schema that this program builds; `npm run generate` writes it down. */
export const schemaHash = (): string => hashOf(builtSchema())

const hashOf = (schema: ReadonlyMap<string, string>): string =>
  createHash('sha256')
    .update(JSON.stringify([...schema]))
    .digest('hex')

function builtSchema(): Map<string, string> {
  const db = openSqlite(':memory:', 'write')
  try {
    for (const { sqlite } of MIGRATIONS) db.exec(sqlite)
    rebuildTriggers(db)
    return schemaOf(db)
  } finally {
    db.close()
  }
}

function schemaOf(db: SqliteConnection): Map<string, string> {
  const rows = db
    .prepare(
      `SELECT type || ' ' || name AS name, sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' ORDER BY 1`,
    )
    .all([]) as { name: string; sql: string }[]
  return new Map(rows.map((row) => [row.name, row.sql]))
}

/** Triggers are built from the code, so every migration lays them anew. */
export function rebuildTriggers(db: SqliteConnection): void {
  const old = db.prepare(`SELECT name FROM sqlite_schema WHERE type = 'trigger'`).all([]) as {
    name: string
  }[]
  for (const { name } of old) db.exec(`DROP TRIGGER ${name}`)
  for (const trigger of triggers()) db.exec(trigger)
}

function backUp(db: SqliteConnection, path: string, version: number, now: number): void {
  const copy = `${path}.schema-${version}.${now}.backup`
  // Made by us first, so that the copy is never readable by others.
  if (!existsSync(copy)) closeSync(openSync(copy, 'wx', 0o600))
  else return
  db.exec(`VACUUM INTO '${copy.replaceAll("'", "''")}'`)
}
