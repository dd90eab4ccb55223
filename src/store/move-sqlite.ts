import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { partsOf, wordsOf } from '../model/search.ts'
import { SQLITE } from './dialect.ts'
import { MIGRATIONS, MOVE_MARK, rebuildTriggers, unfinishedMove, verifySchema } from './migrate.ts'
import type { MoveOptions } from './move.ts'
import { type Reading, textsOfDocuments, unsignedIn } from './move-reading.ts'
import type { MoveRow, MoveSource, MoveTable, MoveTarget, Rows } from './move-table.ts'
import { assumeStatistics } from './planner.ts'
import { openSqlite, type SqliteConnection } from './sqlite.ts'
import { prepareFile, queriesOn } from './sqlite-engine.ts'

type Options = Pick<MoveOptions, 'dir' | 'seal' | 'actorOf'>

/** Opens the embedded database to read all of it. Throws where there is none, and where its schema or key is another. */
export async function openSqliteSource(options: Options): Promise<MoveSource> {
  const path = join(options.dir, 'done.db')
  if (!existsSync(path)) {
    throw new Error(`${options.dir} holds no Done. Give the folder with done.db and seal.key by --data.`)
  }
  const db = openSqlite(path, 'read')
  try {
    db.exec('PRAGMA busy_timeout = 10000')
    const version = Number(db.value('PRAGMA user_version'))
    if (version === 0 && isMarked(db)) throw unfinishedMove('embedded', path)
    if (version !== MIGRATIONS.length) {
      throw new Error(
        `The data in ${path} are of another version of Done (schema ${version}; this program knows ${MIGRATIONS.length}). Start this program’s server on them once, stop it, and move them then.`,
      )
    }
    verifySchema(db)
    const key = db.value('SELECT key_check FROM installation')
    if (key !== options.seal('the key of this file')) {
      throw new Error(
        `The key that seals sign-offs is not the one that ${options.dir} was begun with. Restore seal.key from a backup, or take DONE_SEAL_KEY out of the environment if it is another’s.`,
      )
    }
    const reading = readingOf(db, options)
    return {
      identity: `${key} ${db.value('SELECT MIN(created_at) FROM accounts')}`,
      rows: (table) => rowsOf(db, table),
      textsOf: (documents) => textsOfDocuments(reading, documents),
      // It changes with every commit of another connection, and this one makes none.
      stamp: async () => String(db.value('PRAGMA data_version')),
      isAtWork: async () => false,
      close: async () => db.close(),
    }
  } catch (error) {
    db.close()
    throw error
  }
}

/** Makes an embedded database to fill, or goes on with one. Throws where the folder has one that is in use. */
export async function openSqliteTarget(options: Options, identity: string): Promise<MoveTarget> {
  const path = prepareFile(options.dir)
  const db = openSqlite(path, 'write')
  try {
    for (const pragma of ['busy_timeout = 10000', 'journal_mode = WAL', 'synchronous = NORMAL'])
      db.exec(`PRAGMA ${pragma}`)
    // Rows come table by table, so references are checked when all are there.
    db.exec('PRAGMA foreign_keys = OFF')
    await transaction(db, async () => prepareTarget(db, path, identity))
  } catch (error) {
    db.close()
    throw error
  }
  const reading = readingOf(db, options)
  let open = true
  const close = async () => {
    if (open) db.close()
    open = false
  }
  return {
    rows: (table) => rowsOf(db, table),
    replace: (table, gone, come, texts) =>
      transaction(db, async () => {
        // Fails where another process finished or gave up this move meanwhile.
        db.prepare(`SELECT source FROM ${MOVE_MARK}`).all([])
        remove(db, table, gone)
        insert(db, table, come)
        if (table.name === 'search_docs') index(db, gone, come, texts)
      }),
    async finish(check) {
      db.exec('PRAGMA synchronous = FULL')
      let fault: string | undefined
      await transaction(db, async () => {
        fault = (await check((table) => rowsOf(db, table))) ?? (await lay(db, reading))
        return fault === undefined
      })
      return fault
    },
    async drop() {
      await close()
      for (const end of ['', '-wal', '-shm']) rmSync(path + end, { force: true })
    },
    close,
  }
}

/** Commits unless it throws or gives false. */
async function transaction(db: SqliteConnection, run: () => Promise<unknown>): Promise<void> {
  db.exec('BEGIN IMMEDIATE')
  try {
    db.exec((await run()) === false ? 'ROLLBACK' : 'COMMIT')
  } catch (error) {
    try {
      db.exec('ROLLBACK')
    } catch {
      // SQLite has already rolled back, as it does when the disk is full.
    }
    throw error
  }
}

function prepareTarget(db: SqliteConnection, path: string, identity: string): void {
  if (Number(db.value('PRAGMA user_version')) > 0) {
    throw new Error(
      `${path} holds the data of a Done, which are never overwritten. Give a folder without done.db by --data.`,
    )
  }
  if (isMarked(db)) {
    const [mark] = db.prepare(`SELECT source, version FROM ${MOVE_MARK}`).all([]) as {
      source: string
      version: number
    }[]
    if (mark!.source === identity && mark!.version === MIGRATIONS.length) return
    throw new Error(
      `${path} holds an unfinished move of other data, or by another version of Done. Remove done.db, or give another folder by --data.`,
    )
  }
  if (Number(db.value('SELECT COUNT(*) FROM sqlite_schema')) > 0) {
    throw new Error(`${path} is a database of something else. Give another folder by --data.`)
  }
  for (const { sqlite } of MIGRATIONS) db.exec(sqlite)
  // Built when all rows are there, which takes a fraction of the time.
  for (const name of indexes(db).keys()) db.exec(`DROP INDEX ${name}`)
  db.exec(`CREATE TABLE ${MOVE_MARK} (source TEXT NOT NULL, version INTEGER NOT NULL)`)
  db.prepare(`INSERT INTO ${MOVE_MARK} VALUES (?, ?)`).run([identity, MIGRATIONS.length])
}

const isMarked = (db: SqliteConnection): boolean =>
  db.value(`SELECT name FROM sqlite_schema WHERE name = '${MOVE_MARK}'`) !== undefined

/** The indexes that have a text, by name. */
function indexes(db: SqliteConnection): Map<string, string> {
  const rows = db
    .prepare(`SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL ORDER BY rowid`)
    .all([]) as { name: string; sql: string }[]
  return new Map(rows.map(({ name, sql }) => [name, sql]))
}

/** Each chunk is a query of its own, so that rows can be written in between. */
async function* rowsOf(db: SqliteConnection, { name, columns, key, chunk }: MoveTable): Rows {
  const select = `SELECT ${columns.join(', ')} FROM ${name}`
  const end = `ORDER BY ${key.join(', ')} LIMIT ${chunk}`
  const first = db.prepare(`${select} ${end}`)
  const next = db.prepare(`${select} WHERE (${key.join(', ')}) > (${key.map(() => '?').join(', ')}) ${end}`)
  let rows = first.all([]) as MoveRow[]
  while (rows.length > 0) {
    yield rows
    const last = rows.at(-1)!
    rows = next.all(key.map((column) => last[column])) as MoveRow[]
  }
}

function remove(db: SqliteConnection, { name, key }: MoveTable, rows: readonly MoveRow[]): void {
  const statement = db.prepare(
    `DELETE FROM ${name} WHERE ${key.map((column) => `${column} = ?`).join(' AND ')}`,
  )
  for (const row of rows) statement.run(key.map((column) => row[column]))
}

function insert(db: SqliteConnection, { name, columns }: MoveTable, rows: readonly MoveRow[]): void {
  const statement = db.prepare(
    `INSERT INTO ${name} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`,
  )
  for (const row of rows) statement.run(columns.map((column) => row[column]))
}

/** The two indexes of full text keep no text of their own, so they are filled from the rows. */
function index(
  db: SqliteConnection,
  gone: readonly MoveRow[],
  come: readonly MoveRow[],
  texts: ReadonlyMap<number, string>,
): void {
  for (const [table, formOf] of [
    ['search_words', wordsOf],
    ['search_parts', partsOf],
  ] as const) {
    const remove = db.prepare(`DELETE FROM ${table} WHERE rowid = ?`)
    for (const { doc } of gone) remove.run([doc])
    const insert = db.prepare(`INSERT INTO ${table} (rowid, text) VALUES (?, ?)`)
    for (const { doc } of come) insert.run([doc, formOf(texts.get(doc as number) ?? '')])
  }
}

/** Everything beside the rows. Gives what is wrong with them where something is. */
async function lay(db: SqliteConnection, reading: Reading): Promise<string | undefined> {
  const built = openSqlite(':memory:', 'write')
  for (const { sqlite } of MIGRATIONS) built.exec(sqlite)
  try {
    for (const text of indexes(built).values()) db.exec(text)
  } catch (error) {
    if (!/^UNIQUE/.test((error as Error).message)) throw error
    return `two rows stand where one may: ${(error as Error).message}`
  } finally {
    built.close()
  }
  const [broken] = db.prepare('PRAGMA foreign_key_check').all([]) as { table: string; parent: string }[]
  if (broken) return `a row of ${broken.table} names one of ${broken.parent} that is not there`
  assumeStatistics(db)
  const unsigned = await unsignedIn(reading)
  if (unsigned !== undefined) return unsigned
  db.exec(`DROP TABLE ${MOVE_MARK}`)
  rebuildTriggers(db)
  db.exec(`PRAGMA user_version = ${MIGRATIONS.length}`)
  verifySchema(db)
  return undefined
}

/** Reads a file as the tools do. */
export const readingOf = (
  db: SqliteConnection,
  { seal, actorOf }: Pick<Options, 'seal' | 'actorOf'>,
): Reading => ({
  queries: queriesOn(db),
  dialect: SQLITE,
  seal,
  actorOf,
})
