import { chmodSync, closeSync, existsSync, mkdirSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { Kysely } from 'kysely'
import { AppError } from '../model/error.ts'
import type { StoredEvent } from '../model/event.ts'
import { SQLITE } from './dialect.ts'
import type { Engine, Queries, Result } from './engine.ts'
import { type EventFeed, type EventSource, eventFeed } from './feed.ts'
import { groupCommit, isBusy } from './group-commit.ts'
import { migrate, noData, verifySchema } from './migrate.ts'
import { openNumbers } from './numbers.ts'
import { writeQueue } from './queue.ts'
import { openSqlite, type SqliteConnection } from './sqlite.ts'
import { sqliteDialect } from './sqlite-compiler.ts'
import type { StoreOptions } from './store.ts'
import { EVENT_COLUMNS } from './stream.ts'
import type { Database } from './tables.ts'

/** Who acts on the writer's connection while no job runs; the triggers let nobody by that name through. */
const NOBODY = { actor: 'none', effect: 'none', tx: 'none' }

/**
 * How much of the file a connection keeps at hand, in KiB (negative, as SQLite has it). By default it is 2 MB, and in an
 * account of a hundred thousand tasks every page of an index is then fetched from the system again.
 */
const CACHE = -32_768

/** Opens the embedded database, migrates it, and refuses to start on an altered schema. */
export function openSqliteEngine(
  options: StoreOptions,
  now: number,
): { engine: Engine; seal: (text: string) => string } {
  const isNew = !existsSync(join(options.dir, 'done.db'))
  if (isNew && options.existing) throw noData(options.dir)
  const seal = options.sealFor(isNew)
  const path = prepareFile(options.dir)
  const writer = openWriter(path, now, seal)
  const reader = openSqlite(path, 'read')
  reader.exec(`PRAGMA busy_timeout = 5000; PRAGMA cache_size = ${CACHE}`)
  const queries = { write: queriesOn(writer), read: queriesOn(reader) }
  const scope = { ...NOBODY }
  writer.define('done_actor', () => scope.actor)
  writer.define('done_effect', () => scope.effect)
  writer.define('done_tx', () => scope.tx)

  // A connection of its own: the reader may be inside a snapshot in which a newer commit can't be seen.
  const watcher = openSqlite(path, 'read')
  const feed = eventFeed(eventsIn(watcher))
  const looking = watchFile(watcher, feed)
  const stamp = stampOf(watcher)
  const queue = writeQueue(
    groupCommit({
      writer,
      queries: queries.write,
      waitMs: options.writeWaitMs ?? 10_000,
      randomId: options.randomId,
      act: (as) => Object.assign(scope, as ?? NOBODY),
      committed: stamp.forget,
      tell: feed.own,
    }),
    options.committed,
  )
  let reads: Promise<unknown> = Promise.resolve()

  const engine: Engine = {
    dialect: SQLITE,
    read(_account, run) {
      // One connection, one snapshot at a time: the driver is synchronous, so a turn is as short as its queries.
      const turn = reads.then(async () => {
        reader.say('BEGIN')
        try {
          return await run(queries.read)
        } finally {
          reader.say('COMMIT')
        }
      })
      reads = turn.catch(() => {})
      return turn
    },
    write: queue.push,
    feed,
    scrub: () => scrub(path, options.writeWaitMs ?? 10_000),
    credentialStamp: stamp.read,
    schemaVersion: async () => Number(watcher.value('PRAGMA user_version')),
    waiting: queue.waiting,
    async close() {
      await queue.idle()
      await reads
      clearInterval(looking)
      feed.stop()
      watcher.close()
      reader.close()
      writer.close()
    },
  }
  return { engine, seal }
}

/**
 * Writes the file anew without what rows have held before, and empties the log beside it. On a connection of its own, which
 * tries and backs off as the writer does. Throws where other processes leave it no room.
 */
async function scrub(path: string, waitMs: number): Promise<void> {
  const until = performance.now() + waitMs
  const tried = async (attempt: () => boolean): Promise<void> => {
    while (!attempt()) {
      if (performance.now() > until) {
        throw new AppError(
          'unavailable',
          'The text was taken out, and the file could not be cleaned of what stood there before: another process was at work.',
          { next: 'Send the same call again.' },
        )
      }
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }
  const db = openSqlite(path, 'write')
  try {
    await tried(() => {
      try {
        db.exec('VACUUM')
        return true
      } catch (error) {
        if (!isBusy(error)) throw error
        return false
      }
    })
    await tried(() => db.value('PRAGMA wal_checkpoint(TRUNCATE)') === 0)
  } finally {
    db.close()
  }
}

/** How often other processes' commits are looked for, in milliseconds. */
const LOOK_MS = 50

/** Another process's commit shows in `data_version`, which costs a microsecond a look. */
function watchFile(watcher: SqliteConnection, feed: EventFeed): NodeJS.Timeout {
  const look = watcher.prepare('PRAGMA data_version')
  let version: number | undefined
  return setInterval(() => {
    if (feed.following().size === 0) return
    const [now] = look.all([]) as { data_version: number }[]
    if (now!.data_version === version) return
    version = now!.data_version
    feed.changed()
  }, LOOK_MS).unref()
}

function eventsIn(watcher: SqliteConnection): EventSource {
  const latest = watcher.prepare('SELECT COALESCE(MAX(id), 0) AS id FROM events WHERE account = ?')
  const after = watcher.prepare(`SELECT ${EVENT_COLUMNS.join(', ')} FROM events WHERE account = ? AND id > ?
    ORDER BY id LIMIT ?`)
  return {
    latest: async (account) => (latest.all([account]) as { id: number }[])[0]!.id,
    after: async (account, id, limit) => after.all([account, id, limit]) as StoredEvent[],
  }
}

/**
 * `data_version` tells of any commit; only then is the number read. It is asked once for all requests that one turn of the
 * loop has brought, and again after each commit of our own: what is sent after a revocation was answered comes later.
 */
function stampOf(watcher: SqliteConnection): { read(): number; forget(): void } {
  const versions = watcher.prepare('PRAGMA data_version')
  const stamps = watcher.prepare('SELECT credentials FROM installation')
  let version: unknown
  let stamp = 0
  let fresh = false
  const forget = () => {
    fresh = false
  }
  return {
    forget,
    read() {
      if (fresh) return stamp
      fresh = true
      setImmediate(forget)
      const [now] = versions.all([]) as { data_version: number }[]
      if (now!.data_version !== version) {
        stamp = (stamps.all([]) as { credentials: number }[])[0]!.credentials
        version = now!.data_version
      }
      return stamp
    },
  }
}

/** The file is made by us, so that it never exists with wider permissions than its owner's. */
export function prepareFile(dir: string): string {
  mkdirSync(dir, { recursive: true, mode: 0o700 })
  const path = join(dir, 'done.db')
  closeSync(openSync(path, 'a', 0o600))
  chmodSync(path, 0o600)
  return path
}

function openWriter(path: string, now: number, seal: (text: string) => string): SqliteConnection {
  const writer = openSqlite(path, 'write')
  try {
    writer.exec('PRAGMA busy_timeout = 10000')
    writer.exec('PRAGMA journal_mode = WAL')
    // FULL: an acknowledged write survives a power cut. recursive_triggers: else REPLACE slips past a delete trigger.
    // trusted_schema: the triggers call our functions (spec: gate, "In the database too"). temp_store: what a savepoint
    // keeps for going back would be written to a file beyond 64 kB, at every job.
    for (const pragma of [
      'synchronous = FULL',
      'foreign_keys = ON',
      'recursive_triggers = ON',
      'trusted_schema = ON',
      'mmap_size = 0',
      'temp_store = MEMORY',
      // Twice the usual 1000 pages: full text and indexes write the same pages again and again, which then go over once.
      'wal_autocheckpoint = 2000',
      `cache_size = ${CACHE}`,
    ])
      writer.exec(`PRAGMA ${pragma}`)
    migrate(writer, path, now)
    verifySchema(writer)
    verifyKey(writer, seal)
    return writer
  } catch (error) {
    writer.close()
    throw error
  }
}

/** Gate G8: a key that is not the one by which this file's sign-offs were sealed is as good as none. */
function verifyKey(writer: SqliteConnection, seal: (text: string) => string): void {
  const check = seal('the key of this file')
  const stored = () => writer.value('SELECT key_check FROM installation')
  if (stored() === undefined) {
    writer.exec('PRAGMA busy_timeout = 10000')
    writer.prepare('INSERT OR IGNORE INTO installation (id, key_check) VALUES (1, ?)').run([check])
    writer.exec('PRAGMA busy_timeout = 0')
  }
  if (stored() !== check) {
    throw new Error(
      'The key that seals sign-offs is not the one that this data folder was begun with. Restore seal.key from a backup.',
    )
  }
}

/** Queries on a connection. The driver is synchronous, so nothing is waited for but the turn. */
export function queriesOn(connection: SqliteConnection): Queries {
  return {
    db: new Kysely<Database>({ dialect: sqliteDialect(connection) }),
    async run<R>(sql: string, parameters: readonly unknown[]): Promise<Result<R>> {
      const statement = connection.prepare(sql)
      if (statement.reader) return { rows: statement.all(parameters) as R[], affected: 0 }
      return { rows: [], affected: Number(statement.run(parameters).changes) }
    },
    rows: async <R>(sql: string, parameters: readonly unknown[]) =>
      connection.prepare(sql).all(parameters) as R[],
    later: (sql, parameters) => void connection.prepare(sql).run(parameters),
    numbers: openNumbers(),
    settled: async () => {},
  }
}
