import type pg from 'pg'
import { AppError, invalid } from '../model/error.ts'
import type { StoredEvent } from '../model/event.ts'
import { POSTGRES } from './dialect.ts'
import type { Engine, Queries, Scope } from './engine.ts'
import { type EventSource, eventFeed } from './feed.ts'
import { laneOf } from './postgres-commit.ts'
import { isLost, openPool, optionsFor, queriesOn } from './postgres-connect.ts'
import { openNotices } from './postgres-notices.ts'
import { SCHEMA } from './postgres-schema.ts'
import { connect, type Ready, setUp } from './postgres-setup.ts'
import { type WriteQueue, writeQueue } from './queue.ts'
import type { StoreOptions } from './store.ts'
import { EVENT_COLUMNS } from './stream.ts'
import { TABLES } from './tables.ts'

/** Connections of one process: for reads, for agents' writes, and for what persons decide. */
const POOL = { read: 8, app: 8, people: 2 } as const

/**
 * Opens a PostgreSQL database: any number of processes may do so at once. Returns the engine and the seal of its sign-offs.
 * Where SQLite has its one writer, an account has a lock that a transaction takes first, so that the writes of an account
 * run one after another whichever process makes them, and their events are numbered in the order of their commits.
 */
export async function openPostgresEngine(
  url: string,
  options: Pick<
    StoreOptions,
    'randomId' | 'writeWaitMs' | 'sealFor' | 'rolePrefix' | 'existing' | 'committed'
  >,
): Promise<{ engine: Engine; seal: Ready['seal'] }> {
  const waitMs = options.writeWaitMs ?? 10_000
  const { roles, passwordOf, seal } = await setUp({
    url,
    prefix: options.rolePrefix,
    sealFor: options.sealFor,
    existing: options.existing ?? false,
    waitMs,
  })
  const as = (role: string) => optionsFor(url, { name: role, password: passwordOf(role) })
  const pools = {
    read: openPool(as(roles.read), POOL.read),
    app: openPool(as(roles.app), POOL.app),
    people: openPool(as(roles.people), POOL.people),
  }
  const feed = eventFeed(eventsIn(read))
  const notices = openNotices(as(roles.read), feed)
  const lanes = new Map<string, WriteQueue>()

  function lane({ account, kind }: Scope): WriteQueue {
    const hand = kind === 'person' ? 'people' : 'app'
    const key = `${account} ${hand}`
    let queue = lanes.get(key)
    if (!queue) {
      queue = writeQueue(
        laneOf({
          pool: pools[hand],
          account,
          lane: `${options.randomId()} ${hand}`,
          waitMs,
          randomId: options.randomId,
          tell(events) {
            feed.own(events)
            if (events.length > 0) notices.tell(account)
          },
        }),
        options.committed,
      )
      lanes.set(key, queue)
    }
    return queue
  }

  async function read<T>(account: number, run: (queries: Queries) => Promise<T>): Promise<T> {
    const until = performance.now() + waitMs
    for (;;) {
      try {
        return await readOnce(pools.read, account, run)
      } catch (error) {
        // A read may be tried as often as one likes.
        if (!isLost(error)) throw error
        if (performance.now() > until) throw unreadable(error)
        await new Promise((resolve) => setTimeout(resolve, 50 + Math.random() * 100))
      }
    }
  }

  const engine: Engine = {
    dialect: POSTGRES,
    read,
    write: (scope, run) => lane(scope).push(scope, run),
    feed,
    scrub: () => scrub(url, waitMs),
    // A credential is looked up at each request, so that a revocation holds at once in every process.
    credentialStamp: () => undefined,
    schemaVersion: () =>
      read(0, async ({ rows }) => {
        const [found] = await rows<{ version: number }>('SELECT version FROM schema_version', [])
        return found!.version
      }),
    waiting: () => [...lanes.values()].reduce((sum, queue) => sum + queue.waiting(), 0),
    async close() {
      await Promise.all([...lanes.values()].map((queue) => queue.idle()))
      feed.stop()
      await notices.close()
      await Promise.all(Object.values(pools).map((pool) => pool.end()))
    },
  }
  return { engine, seal }
}

/**
 * Removes the versions of rows that nobody sees any more, as the tables' owner. What the server's own log and its archive hold,
 * and what is left of them in pages until these are written again, is beyond a client's reach (docs/scale-out.md).
 */
async function scrub(url: string, waitMs: number): Promise<void> {
  const owner = await connect({ url, waitMs })
  try {
    await owner.query(
      `VACUUM ${Object.keys(TABLES)
        .map((table) => `${SCHEMA}.${table}`)
        .join(', ')}`,
    )
  } finally {
    await owner.end()
  }
}

/** One snapshot, which the server itself keeps from writing: by the transaction, by the role's setting and by its grants. */
async function readOnce<T>(
  pool: pg.Pool,
  account: number,
  run: (queries: Queries) => Promise<T>,
): Promise<T> {
  const client = await pool.connect()
  // Neither the beginning nor the end is waited for: they travel with the queries between them.
  const begun = client.query(
    `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL done.account = '${account}'`,
  )
  begun.catch(() => {})
  let broken: Error | undefined
  try {
    const value = await run(queriesOn(client))
    await begun
    return value
  } catch (error) {
    if (isLost(error)) broken = error as Error
    // Of all that a caller says only a cursor's values reach a query without being read before.
    if (/^22(P02|003)$/.test((error as { code?: string }).code ?? ''))
      throw invalid('The cursor is not one that this list gave.', {
        next: 'Leave cursor out to begin at the first page.',
      })
    throw error
  } finally {
    if (!broken) client.query('ROLLBACK').catch(() => {})
    client.release(broken)
  }
}

function eventsIn(read: Engine['read']): EventSource {
  return {
    latest: (account) =>
      read(account, async ({ db }) => {
        const newest = await db
          .selectFrom('events')
          .select('id')
          .where('account', '=', account)
          .orderBy('id', 'desc')
          .limit(1)
          .executeTakeFirst()
        return newest?.id ?? 0
      }),
    after: (account, id, limit) =>
      read(account, async ({ db }) => {
        const rows = await db
          .selectFrom('events')
          .select(EVENT_COLUMNS)
          .where('account', '=', account)
          .where('id', '>', id)
          .orderBy('id')
          .limit(limit)
          .execute()
        return rows as StoredEvent[]
      }),
  }
}

function unreadable(cause: unknown): AppError {
  const error = new AppError('unavailable', 'The database can’t be reached.', {
    retry: true,
    written: false,
    next: 'Send the same call again in a moment.',
  })
  error.cause = cause
  return error
}
