import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { MIGRATIONS, MOVE_MARK, noData, verifySchema } from './migrate.ts'
import { copyMoment, type MoveOptions } from './move.ts'
import { unsignedIn } from './move-reading.ts'
import { readingOf } from './move-sqlite.ts'
import { lookInto, openSqlite, type SqliteConnection } from './sqlite.ts'
import { TABLES } from './tables.ts'

/** Where the data to copy are: in a folder, or in a database. */
type Place = Pick<MoveOptions, 'dir' | 'rolePrefix' | 'seal' | 'actorOf'> & { database?: string | undefined }

type Check = Pick<Place, 'seal' | 'actorOf'>

/** What a copy holds. */
export interface Copied {
  tables: number
  rows: number
}

/**
 * Writes one moment of all data into a file, while others go on writing: an embedded database, whichever engine they are on.
 * What was deleted is not in it: it holds rows alone, not the file's free pages. Throws where there are no data.
 *
 * @param file has to be there and empty, so that whoever calls says who may read it
 */
export async function copyData(place: Place, file: string): Promise<void> {
  const { database, dir } = place
  if (database === undefined) {
    if (!existsSync(join(dir, 'done.db'))) throw noData(dir)
    return copyFile(join(dir, 'done.db'), file)
  }
  const beside = mkdtempSync(join(dirname(file), '.done-copy-'))
  try {
    await copyMoment({ ...place, database, dir: beside })
    copyFile(join(beside, 'done.db'), file)
  } finally {
    rmSync(beside, { recursive: true, force: true })
  }
}

/**
 * One statement reads one moment, and in WAL mode nobody waits for it. SQLite's backup interface would begin again whenever
 * another process writes, and copies free pages too (https://www.sqlite.org/lang_vacuum.html#vacuuminto).
 */
function copyFile(from: string, to: string): void {
  const db = lookInto(from)
  try {
    // That it writes nothing here SQLite does not see: the statement writes elsewhere.
    db.exec('PRAGMA busy_timeout = 10000; PRAGMA query_only = OFF')
    db.exec(`VACUUM INTO '${to.replaceAll("'", "''")}'`)
  } finally {
    db.close()
  }
}

/**
 * Reads a copy from its first page to its last, and checks that it is whole and this installation's, before anything else is
 * done with it. One by an older program passes. Throws where it is damaged, no Done's, a newer program's, or of another key.
 *
 * @param name what it is called in errors
 */
export function checkCopy(file: string, name: string, seal: Check['seal']): void {
  const db = openWhole(file, name)
  try {
    const version = Number(db.value('PRAGMA user_version'))
    const tables = db.prepare(`SELECT name FROM sqlite_schema WHERE type = 'table'`).all([])
    const has = (table: string) => tables.some((each) => (each as { name: string }).name === table)
    if (has(MOVE_MARK)) {
      throw new Error(
        `${name} is no backup: it holds data that were not moved to the end. Give another file.`,
      )
    }
    if (version === 0 || !has('installation')) {
      throw new Error(`${name} is a database, but not one of Done. Give a file that donectl backup has made.`)
    }
    if (version > MIGRATIONS.length) {
      throw new Error(
        `${name} was written by a newer Done (schema ${version}; this program knows ${MIGRATIONS.length}). Update this program.`,
      )
    }
    if (version === MIGRATIONS.length) sameSchema(db, name)
    if (db.value('SELECT key_check FROM installation') !== seal('the key of this file')) {
      throw new Error(
        `The key that seals sign-offs is not the one that the data in ${name} were begun with, so nothing in them could be checked. Give the seal.key that was kept with this backup, or set DONE_SEAL_KEY.`,
      )
    }
  } finally {
    db.close()
  }
}

function sameSchema(db: SqliteConnection, name: string): void {
  try {
    verifySchema(db)
  } catch (error) {
    throw new Error(`In ${name}: ${(error as Error).message}`, { cause: error })
  }
}

/** Opens a file of which every page can be read. SQLite finds some damage only when it comes to the page. */
function openWhole(file: string, name: string): SqliteConnection {
  let db: SqliteConnection | undefined
  let found: unknown
  try {
    db = openSqlite(file, 'read')
    found = db.value('PRAGMA integrity_check')
    if (found === 'ok') return db
  } catch (error) {
    found = (error as Error).message
  }
  db?.close()
  throw new Error(
    /not a database/.test(String(found))
      ? `${name} is no database. Give a file that donectl backup has made.`
      : `${name} is damaged or not whole (${String(found).split('\n')[0]}). Give another backup.`,
  )
}

/**
 * What a copy of this program's schema holds. Throws where a row names another that is not there, and where a task that needed
 * a person is closed without a sign-off that holds.
 */
export async function readCopy(file: string, name: string, check: Check): Promise<Copied> {
  const db = openSqlite(file, 'read')
  try {
    const [broken] = db.prepare('PRAGMA foreign_key_check').all([]) as { table: string; parent: string }[]
    if (broken)
      throw new Error(`A row of ${broken.table} in ${name} names one of ${broken.parent} that is not there.`)
    const unsigned = await unsignedIn(readingOf(db, check))
    if (unsigned !== undefined) throw new Error(`In ${name}: ${unsigned}.`)
    const tables = Object.keys(TABLES)
    const rows = tables.reduce((sum, table) => sum + Number(db.value(`SELECT COUNT(*) FROM ${table}`)), 0)
    return { tables: tables.length, rows }
  } finally {
    db.close()
  }
}
