import type { Actor } from '../model/actor.ts'
import type { StoredEvent } from '../model/event.ts'
import type { Queries, Scope } from './engine.ts'
import { type DestroyTx, endHandle, eventsOf, openHandle, type ReadTx, type WriteTx } from './handle.ts'
import { MIGRATIONS } from './migrate.ts'
import type { Committed } from './queue.ts'
import { openSqliteEngine } from './sqlite-engine.ts'

/** Reads, behind what a write has done, and makes its answer of both. */
type Last<T> = (tx: ReadTx, value: T) => Promise<T>

/** The account's rows, behind transactions. One store a process; several processes may share its data. */
export interface Store {
  /** Runs in one snapshot, on a connection that is opened read-only. */
  read<T>(actor: Actor, tool: string, run: (tx: ReadTx) => Promise<T>): Promise<T>
  /**
   * Runs as one additive transaction; resolves after the commit is on disk. What the answer shows besides is asked for in
   * `last`: over a network the next write need not wait for that.
   */
  write<T>(actor: Actor, tool: string, run: (tx: WriteTx) => Promise<T>, last?: Last<T>): Promise<T>
  /** Like {@link write}, for calls that may replace or hide what people wrote. */
  destroy<T>(actor: Actor, tool: string, run: (tx: DestroyTx) => Promise<T>, last?: Last<T>): Promise<T>
  /**
   * Called with the events of every commit in an account, of this process and of others, in order, once each. Resolves with
   * what ends it, once nothing that is committed from then on can be missed.
   */
  onEvents(account: number, listener: (events: readonly StoredEvent[]) => void): Promise<() => void>
  /**
   * A number that changes with every commit, of any process, that may change who a credential is or what it may do. What was
   * looked up before holds for as long as it stands. Undefined where the engine can't tell without asking over a network.
   */
  credentialStamp(): number | undefined
  /** Whether the schema is still this program's: a newer one may have brought it up to date since the start. */
  hasOwnSchema(): Promise<boolean>
  /** Writes that wait for their transaction. */
  waiting(): number
  /** Milliseconds since the epoch, by the clock the store was opened with. */
  now(): number
  close(): Promise<void>
}

export interface StoreOptions {
  /** Folder of the data; made with mode 0700 where it is missing. */
  dir: string
  /** Address of a PostgreSQL database, `postgres://…`; without it the embedded one in the folder is opened. */
  database?: string | undefined
  /** How the names of the database's roles begin; `done_` and the database's name by default. */
  rolePrefix?: string | undefined
  /** Milliseconds since the epoch. */
  clock?: () => number
  /** Makes a transaction's name; random in use, its own in tests. */
  randomId: () => string
  /**
   * A keyed hash over a sign-off's text, under the key of these data. `isNew` where there are none yet, so that a key may be
   * made; throws where there are and the key is not at hand.
   */
  sealFor: (isNew: boolean) => (text: string) => string
  /** Where people open Done, for addresses in answers. */
  site: () => string
  /** Refuses where there are no data yet, in place of beginning some. */
  existing?: boolean
  /** Told of each transaction of writes. */
  committed?: Committed | undefined
  /** How long a write waits for other processes before it is refused, in milliseconds. */
  writeWaitMs?: number
}

/** Opens the database, brings its schema up to date, and refuses to start on an altered one. */
export async function openStore(options: StoreOptions): Promise<Store> {
  const clock = options.clock ?? Date.now
  const { engine, seal } = await openEngine(options, clock())

  function handle(actor: Actor, tool: string, queries: Queries, tx: string): DestroyTx {
    const { dialect } = engine
    return openHandle({ queries, dialect, tool, tx, seal }, actor, clock(), options.site())
  }

  async function write<T>(
    effect: Scope['effect'],
    actor: Actor,
    tool: string,
    job: (tx: DestroyTx) => Promise<T>,
    last: Last<T> = async (_tx, value) => value,
  ): Promise<T> {
    let scrubs = false
    const written = await engine.write(
      { account: actor.account, kind: actor.kind, effect },
      async (queries, name) => {
        const tx = handle(actor, tool, queries, name)
        try {
          const done = await job(tx)
          const value = last(tx, done).finally(() => endHandle(tx))
          scrubs = eventsOf(tx).some(({ kind }) => kind === 'redacted')
          return { value, events: eventsOf(tx) }
        } catch (error) {
          endHandle(tx)
          throw error
        }
      },
    )
    if (scrubs) await engine.scrub()
    return written
  }

  return {
    read: (actor, tool, job) =>
      engine.read(actor.account, async (queries) => {
        const tx = handle(actor, tool, queries, 'none')
        try {
          return await job(tx)
        } finally {
          endHandle(tx)
        }
      }),
    write: (actor, tool, job, last) => write('write', actor, tool, job, last),
    destroy: (actor, tool, job, last) => write('destroy', actor, tool, job, last),
    onEvents: engine.feed.listen,
    credentialStamp: engine.credentialStamp,
    hasOwnSchema: async () => (await engine.schemaVersion()) === MIGRATIONS.length,
    waiting: engine.waiting,
    now: clock,
    close: engine.close,
  }
}

async function openEngine(options: StoreOptions, now: number) {
  if (options.database === undefined) return openSqliteEngine(options, now)
  // Loaded where it is wanted: the driver would make every start of the embedded engine slower.
  const { openPostgresEngine } = await import('./postgres-engine.ts')
  return openPostgresEngine(options.database, options)
}
