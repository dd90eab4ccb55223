import { chmodSync, closeSync, mkdirSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { Kysely, SqliteDialect } from 'kysely'
import type { Actor } from '../model/actor.ts'
import { AppError } from '../model/error.ts'
import type { EventKind, StoredEvent } from '../model/event.ts'
import { type DestroyTx, eventsOf, openHandle, type ReadTx, type WriteTx } from './handle.ts'
import { migrate, verifySchema } from './migrate.ts'
import { openSqlite, type SqliteConnection } from './sqlite.ts'
import type { Database } from './tables.ts'

type Effect = 'write' | 'destroy'

/** The account's rows, behind transactions. One store a process; several processes may share its file. */
export interface Store {
  /** Runs in one snapshot, on a connection that is opened read-only. */
  read<T>(actor: Actor, tool: string, run: (tx: ReadTx) => Promise<T>): Promise<T>
  /** Runs as one additive transaction; resolves after the commit is on disk. */
  write<T>(actor: Actor, tool: string, run: (tx: WriteTx) => Promise<T>): Promise<T>
  /** Like {@link write}, for calls that may replace or hide what people wrote. */
  destroy<T>(actor: Actor, tool: string, run: (tx: DestroyTx) => Promise<T>): Promise<T>
  /** Called with the events of every commit, of this process and of others on the same file, in order, once each. */
  onEvents(listener: (events: readonly StoredEvent[]) => void): () => void
  /** Milliseconds since the epoch, by the clock the store was opened with. */
  now(): number
  close(): Promise<void>
}

export interface StoreOptions {
  /** Folder of the data; made with mode 0700 where it is missing. */
  dir: string
  /** Milliseconds since the epoch. */
  clock?: () => number
  /** Makes a transaction's name; random in use, its own in tests. */
  randomId: () => string
  /** A keyed hash over a sign-off's text. */
  seal: (text: string) => string
  /** Where people open Done, for addresses in answers. */
  site: () => string
  /** How long a write waits for other processes before it is refused, in milliseconds. */
  writeWaitMs?: number
}

/** Most jobs that share one commit. */
const BATCH = 64

/** Opens the embedded database, migrates it, and refuses to start on an altered schema. */
export function openStore(options: StoreOptions): Store {
  const clock = options.clock ?? Date.now
  const path = prepareFile(options.dir)
  const writer = openWriter(path, clock())
  const reader = openSqlite(path, 'read')
  reader.exec('PRAGMA busy_timeout = 5000')
  const queries = { write: kysely(writer), read: kysely(reader) }
  const scope = { actor: 'none', effect: 'none', tx: 'none' }
  writer.define('done_actor', () => scope.actor)
  writer.define('done_effect', () => scope.effect)
  writer.define('done_tx', () => scope.tx)

  const queue = writeQueue(writer, options.writeWaitMs ?? 10_000)
  // A connection of its own: the reader may be inside a snapshot in which a newer commit can't be seen.
  const watcher = openSqlite(path, 'read')
  const feed = eventFeed(watcher)
  let reads: Promise<unknown> = Promise.resolve()

  function run<T>(
    effect: Effect,
    actor: Actor,
    tool: string,
    job: (tx: DestroyTx) => Promise<T>,
  ): Promise<T> {
    return queue.push(async () => {
      const name = options.randomId()
      Object.assign(scope, { actor: actor.kind, effect, tx: name })
      const tx = openHandle(
        { db: queries.write, tool, tx: name, seal: options.seal },
        actor,
        clock(),
        options.site(),
      )
      const value = await job(tx)
      return { value, settled: () => feed.own(eventsOf(tx)) }
    })
  }

  return {
    read(actor, tool, job) {
      // One connection, one snapshot at a time: the driver is synchronous, so a turn is as short as its queries.
      const turn = reads.then(async () => {
        reader.exec('BEGIN')
        try {
          return await job(
            openHandle(
              { db: queries.read, tool, tx: 'none', seal: options.seal },
              actor,
              clock(),
              options.site(),
            ),
          )
        } finally {
          reader.exec('COMMIT')
        }
      })
      reads = turn.catch(() => {})
      return turn
    },
    write: (actor, tool, job) => run('write', actor, tool, job),
    destroy: (actor, tool, job) => run('destroy', actor, tool, job),
    onEvents: feed.listen,
    now: clock,
    async close() {
      await queue.idle()
      await reads
      feed.stop()
      watcher.close()
      reader.close()
      writer.close()
    },
  }
}

/** The file is made by us, so that it never exists with wider permissions than its owner's. */
function prepareFile(dir: string): string {
  mkdirSync(dir, { recursive: true, mode: 0o700 })
  const path = join(dir, 'done.db')
  closeSync(openSync(path, 'a', 0o600))
  chmodSync(path, 0o600)
  return path
}

function openWriter(path: string, now: number): SqliteConnection {
  const writer = openSqlite(path, 'write')
  try {
    writer.exec('PRAGMA busy_timeout = 10000')
    writer.exec('PRAGMA journal_mode = WAL')
    // FULL: an acknowledged write survives a power cut. recursive_triggers: else REPLACE slips past a delete trigger.
    // trusted_schema: the triggers call our functions (spec: gate, "In the database too").
    for (const pragma of [
      'synchronous = FULL',
      'foreign_keys = ON',
      'recursive_triggers = ON',
      'trusted_schema = ON',
      'mmap_size = 0',
    ])
      writer.exec(`PRAGMA ${pragma}`)
    migrate(writer, path, now)
    verifySchema(writer)
    return writer
  } catch (error) {
    writer.close()
    throw error
  }
}

function kysely(connection: SqliteConnection): Kysely<Database> {
  return new Kysely<Database>({ dialect: new SqliteDialect({ database: connection }) })
}

interface Job {
  run(): Promise<{ value: unknown; settled(): void }>
  resolve(value: unknown): void
  reject(error: unknown): void
}

type Outcome = { ok: true; value: unknown; settled(): void } | { ok: false; error: unknown }

/**
 * One queue for all writes of the process. It drains what waits into one transaction with a savepoint each and answers
 * after the commit, so that many callers share one fsync. Jobs run strictly one after another: run at the same time,
 * the rollback of one would take rows of others.
 */
function writeQueue(writer: SqliteConnection, waitMs: number) {
  const waiting: Job[] = []
  let draining: Promise<void> | undefined

  async function drain(): Promise<void> {
    while (waiting.length > 0) {
      const jobs = waiting.splice(0, BATCH)
      try {
        await begin(writer, waitMs)
      } catch (error) {
        for (const job of jobs) job.reject(error)
        continue
      }
      const outcomes: Outcome[] = []
      for (const job of jobs) outcomes.push(await attempt(writer, job))
      try {
        writer.exec('COMMIT')
      } catch (error) {
        rollBack(writer)
        for (const job of jobs) job.reject(unavailable(error))
        continue
      }
      for (const [i, outcome] of outcomes.entries()) {
        if (outcome.ok) {
          outcome.settled()
          jobs[i]!.resolve(outcome.value)
        } else jobs[i]!.reject(outcome.error)
      }
      // A turn of the loop between batches, so that a flood of writes can't starve the sockets.
      if (waiting.length > 0) await new Promise(setImmediate)
    }
    draining = undefined
  }

  return {
    push<T>(run: () => Promise<{ value: T; settled(): void }>): Promise<T> {
      return new Promise<T>((resolve, reject) => {
        waiting.push({ run, resolve: resolve as (value: unknown) => void, reject })
        draining ??= Promise.resolve().then(drain)
      })
    },
    idle: async () => {
      while (draining) await draining
    },
  }
}

async function attempt(writer: SqliteConnection, job: Job): Promise<Outcome> {
  writer.exec('SAVEPOINT job')
  try {
    const done = await job.run()
    writer.exec('RELEASE job')
    return { ok: true, ...done }
  } catch (error) {
    writer.exec('ROLLBACK TO job')
    writer.exec('RELEASE job')
    return { ok: false, error: explain(error) }
  }
}

/** Tries and backs off: SQLite's own busy timeout blocks the event loop and lets one process starve another. */
async function begin(writer: SqliteConnection, waitMs: number): Promise<void> {
  const until = performance.now() + waitMs
  for (;;) {
    try {
      writer.exec('BEGIN IMMEDIATE')
      return
    } catch (error) {
      if (!isBusy(error) || performance.now() > until) throw unavailable(error)
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 2))
    }
  }
}

function rollBack(writer: SqliteConnection): void {
  try {
    writer.exec('ROLLBACK')
  } catch {
    // SQLite has already rolled back, as it does when the disk is full.
  }
}

const isBusy = (error: unknown): boolean =>
  error instanceof Error && /database is locked|SQLITE_BUSY/.test(error.message)

function unavailable(cause: unknown): AppError {
  const error = new AppError('unavailable', 'The store could not take the write; nothing was written.', {
    retry: true,
    next: 'Send the same call again in a moment.',
  })
  error.cause = cause
  return error
}

/** The database's own walls speak as refusals; what else a driver throws stays a fault of ours. */
function explain(error: unknown): unknown {
  if (error instanceof Error && /^gate: /.test(error.message)) {
    const refusal = new AppError('needs_approval', `The store refused this: ${error.message.slice(6)}.`, {
      written: false,
      next: 'Only a person’s sign-off closes such a task; complete_task asks for it.',
    })
    refusal.cause = error
    return refusal
  }
  return error
}

/** How often other processes' commits are looked for, in milliseconds. */
const POLL_MS = 50

/**
 * Hands on the events of every commit in their order. The commits of this process come at once; those of others are
 * seen by `data_version`, which costs a microsecond a look.
 */
function eventFeed(watcher: SqliteConnection) {
  const listeners = new Set<(events: readonly StoredEvent[]) => void>()
  const latest = () => Number(watcher.value('SELECT COALESCE(MAX(seq), 0) FROM events'))
  let last = 0
  let version: unknown
  let timer: NodeJS.Timeout | undefined

  function catchUp(): void {
    const events = watcher
      .prepare(
        'SELECT seq, account, id, at, actor, tool, kind, task, project, object FROM events WHERE seq > ? ORDER BY seq LIMIT 1000',
      )
      .all([last]) as unknown as (StoredEvent & { kind: EventKind })[]
    if (events.length === 0) return
    last = events.at(-1)!.seq
    for (const listener of listeners) listener(events)
    if (events.length === 1000) catchUp()
  }

  function look(): void {
    const now = watcher.value('PRAGMA data_version')
    if (now === version) return
    version = now
    catchUp()
  }

  return {
    /** Events that this process committed. Others' commits may lie between, so they are read back, not passed on. */
    own(events: readonly StoredEvent[]): void {
      if (events.length > 0 && listeners.size > 0) queueMicrotask(catchUp)
    },
    listen(listener: (events: readonly StoredEvent[]) => void): () => void {
      if (listeners.size === 0) last = latest()
      listeners.add(listener)
      timer ??= setInterval(look, POLL_MS).unref()
      return () => {
        listeners.delete(listener)
        if (listeners.size === 0) {
          clearInterval(timer)
          timer = undefined
        }
      }
    },
    stop(): void {
      clearInterval(timer)
      listeners.clear()
    },
  }
}
