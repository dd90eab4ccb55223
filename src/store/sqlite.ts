import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { SqliteDatabase } from 'kysely'

/** The oldest SQLite we run on: before it, a WAL reset could corrupt a file that several processes write. */
const OLDEST_SQLITE = [3, 51, 3]

/** What Done needs of a SQLite driver, in the shape that Kysely's stock dialect takes. */
export interface SqliteConnection extends SqliteDatabase {
  exec(sql: string): void
  /** One statement without values, prepared once: transactions begin and end with every call. */
  say(sql: string): void
  /** Registers a SQL function; it may change its answer between calls. */
  define(name: string, answer: () => string): void
  /** The single value of a one-row query or pragma. */
  value(sql: string): unknown
}

/** Opens a file with `node:sqlite` where its library is new enough, else with better-sqlite3. */
export function openSqlite(path: string, mode: 'write' | 'read'): SqliteConnection {
  const connection = hasOwnSqlite() ? openBuiltIn(path, mode) : openBetterSqlite(path, mode)
  const version = String(connection.value('SELECT sqlite_version()'))
  if (!isAtLeast(version)) {
    connection.close()
    throw new Error(
      `SQLite ${version} is too old: ${OLDEST_SQLITE.join('.')} or newer is needed. Update Node.js.`,
    )
  }
  return connection
}

/**
 * Opens a file to look at it, and leaves its folder as it was: a reader must make a log beside a file at rest and leaves it
 * there, where only a writer takes it away. Where a log is, the file is in use or was left by a crash, and a reader adds nothing.
 */
export function lookInto(path: string): SqliteConnection {
  if (existsSync(`${path}-wal`)) return openSqlite(path, 'read')
  const connection = openSqlite(path, 'write')
  connection.exec('PRAGMA query_only = ON')
  return connection
}

const require = createRequire(import.meta.url)

function hasOwnSqlite(): boolean {
  return process.versions.sqlite !== undefined && isAtLeast(process.versions.sqlite)
}

function isAtLeast(version: string): boolean {
  const parts = version.split('.').map(Number)
  for (const [i, least] of OLDEST_SQLITE.entries()) {
    if ((parts[i] ?? 0) !== least) return (parts[i] ?? 0) > least
  }
  return true
}

type Statement = ReturnType<SqliteDatabase['prepare']>

/** Prepared once per text: preparing costs 8 to 41 us, more than most of the statements themselves. */
function cached(prepare: (sql: string) => Statement): (sql: string) => Statement {
  const statements = new Map<string, Statement>()
  return (sql) => {
    let statement = statements.get(sql)
    if (!statement) {
      if (statements.size >= 2000) statements.clear()
      statement = prepare(sql)
      statements.set(sql, statement)
    }
    return statement
  }
}

function openBuiltIn(path: string, mode: 'write' | 'read'): SqliteConnection {
  const { DatabaseSync } = quietly(() => require('node:sqlite') as typeof import('node:sqlite'))
  const db = new DatabaseSync(path, { readOnly: mode === 'read' })
  const prepare = cached((sql) => {
    const statement = db.prepare(sql)
    const reader = statement.columns().length > 0
    return {
      reader,
      all: (parameters) => statement.all(...(parameters as never[])),
      run: (parameters) => statement.run(...(parameters as never[])),
      iterate: (parameters) => statement.iterate(...(parameters as never[])),
    }
  })
  return {
    prepare,
    exec: (sql) => db.exec(sql),
    say: (sql) => void prepare(sql).run([]),
    close: () => db.close(),
    define: (name, answer) => db.function(name, answer),
    value: (sql) => Object.values(db.prepare(sql).get() ?? {})[0],
  }
}

function openBetterSqlite(path: string, mode: 'write' | 'read'): SqliteConnection {
  const Database = require('better-sqlite3') as typeof import('better-sqlite3')
  const db = new Database(path, { readonly: mode === 'read' })
  const prepare = cached((sql) => db.prepare(sql) as unknown as Statement)
  return {
    prepare,
    exec: (sql) => void db.exec(sql),
    say: (sql) => void prepare(sql).run([]),
    close: () => void db.close(),
    define: (name, answer) => void db.function(name, answer),
    value: (sql) => db.prepare(sql).pluck().get(),
  }
}

/** node:sqlite announces itself as experimental on stderr, which a person at a terminal can do nothing about. */
function quietly<T>(load: () => T): T {
  const emitWarning = process.emitWarning
  process.emitWarning = (() => {}) as typeof process.emitWarning
  try {
    return load()
  } finally {
    process.emitWarning = emitWarning
  }
}
