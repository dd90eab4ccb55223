import { createHash } from 'node:crypto'
import { Socket } from 'node:net'
import {
  HandleEmptyInListsPlugin,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  replaceWithNoncontingentExpression,
} from 'kysely'
import pg from 'pg'
import type { Queries, Result } from './engine.ts'
import { openNumbers } from './numbers.ts'
import { SCHEMA } from './postgres-schema.ts'
import type { Database } from './tables.ts'

/** int8 and numeric arrive as texts; all of ours are within what a number holds. */
const NUMBERS = new Set([pg.types.builtins.INT8, pg.types.builtins.NUMERIC])
const types: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
    NUMBERS.has(oid) ? Number : pg.types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser,
}

/**
 * A socket that sends what one turn of the program says in one piece: a call to the system costs more than most of what the
 * driver says at a time.
 */
class GatheringSocket extends Socket {
  #gathers = false

  override write(...args: unknown[]): boolean {
    if (!this.#gathers) {
      this.#gathers = true
      this.cork()
      process.nextTick(() => {
        this.#gathers = false
        this.uncork()
      })
    }
    return super.write(...(args as [Uint8Array]))
  }
}

/** How to connect as a role; the owner's own address has its name and password in it. */
export function optionsFor(url: string, role?: { name: string; password: string }): pg.ClientConfig {
  const address = new URL(url)
  if (role) {
    address.username = ''
    address.password = ''
    // As parameters, since an address over a local socket has no host before which a name could stand.
    address.searchParams.set('user', role.name)
    address.searchParams.set('password', role.password)
  }
  return {
    connectionString: address.href,
    types,
    keepAlive: true,
    connectionTimeoutMillis: 5000,
    application_name: 'done',
    // What nobody waits for travels with what follows.
    pipeline: true,
    stream: () => new GatheringSocket(),
  }
}

/** A pool that outlives the server's restarts: a connection that breaks while nobody uses it is forgotten. */
export function openPool(options: pg.ClientConfig, max: number): pg.Pool {
  const pool = new pg.Pool({ ...options, max, idleTimeoutMillis: 60_000 })
  pool.on('error', () => {})
  pool.on('connect', (client) => {
    client.on('error', () => {})
  })
  return pool
}

/** Most prepared statements a process names; what comes after is parsed at each use. */
const MOST_NAMED = 2000
const names = new Map<string, string>()

/** The name of a prepared statement: by its text, so that it means the same in every process behind a pooler. */
function nameOf(sql: string): string | undefined {
  let name = names.get(sql)
  if (name === undefined && names.size < MOST_NAMED) {
    name = createHash('sha256').update(sql).digest('base64url').slice(0, 22)
    names.set(sql, name)
  }
  return name
}

const connections = new WeakMap<pg.ClientBase, Queries>()

/** Queries on one connection, whose transactions somebody else begins and ends. */
export function queriesOn(client: pg.ClientBase): Queries {
  const found = connections.get(client)
  if (found) return found
  let sent: Promise<unknown>[] = []

  /** A transaction in which one has failed takes nothing more, so the first failure is the one to tell of. */
  async function settled(): Promise<void> {
    const all = sent
    sent = []
    for (const each of all) await each
  }

  function ask(sql: string, parameters: readonly unknown[]): Promise<pg.QueryResult> {
    const name = nameOf(sql)
    return client.query({ text: sql, values: [...parameters], ...(name ? { name } : {}) })
  }

  async function run<R>(sql: string, parameters: readonly unknown[]): Promise<Result<R>> {
    try {
      const { rows, rowCount, command } = await ask(sql, parameters)
      return { rows: rows as R[], affected: command === 'SELECT' ? 0 : (rowCount ?? 0) }
    } catch (error) {
      await settled()
      throw error
    }
  }

  function later(sql: string, parameters: readonly unknown[]): void {
    const answer = ask(sql, parameters)
    answer.catch(() => {})
    sent.push(answer)
  }

  const rows = async <R>(sql: string, parameters: readonly unknown[]): Promise<R[]> =>
    (await run<R>(sql, parameters)).rows

  const queries = { db: builderOn(run), run, rows, later, numbers: openNumbers(), settled }
  connections.set(client, queries)
  return queries
}

function builderOn(run: Queries['run']): Kysely<Database> {
  const nothing = async () => {}
  const connection = {
    async executeQuery<R>({ sql, parameters }: { sql: string; parameters: readonly unknown[] }) {
      const { rows, affected } = await run<R>(sql, parameters)
      return { rows, numAffectedRows: BigInt(affected) }
    },
    streamQuery(): never {
      throw new Error('Streams are not used here.')
    },
  }
  return new Kysely<Database>({
    // Nothing is in an empty list, which SQLite knows and PostgreSQL takes for a mistake.
    plugins: [new HandleEmptyInListsPlugin({ strategy: replaceWithNoncontingentExpression })],
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createIntrospector: (each) => new PostgresIntrospector(each),
      createQueryCompiler: () => new PostgresQueryCompiler(),
      createDriver: () => ({
        init: nothing,
        acquireConnection: async () => connection,
        releaseConnection: nothing,
        beginTransaction: nothing,
        commitTransaction: nothing,
        rollbackTransaction: nothing,
        destroy: nothing,
      }),
    },
  })
}

/**
 * Whether an error says that the connection or the transaction is lost through no fault of the query, so that the same may
 * be tried again (https://www.postgresql.org/docs/current/errcodes-appendix.html): broken and refused connections, a server
 * that starts or stops, transactions that lost against others, and connections whose prepared statements are from before a
 * table gained a column.
 */
export function isLost(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const { code = '' } = error as Error & { code?: string }
  return (
    /^(08|57P0[1-5]|53300|40001|40P01|55P03)/.test(code) ||
    /^(ECONN|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EHOST|ENET)/.test(code) ||
    (code === '0A000' && /^cached plan must not change/.test(error.message)) ||
    /^Connection terminated|connection timeout|timeout exceeded when trying to connect|Client has encountered|Client was closed/i.test(
      error.message,
    )
  )
}

/** Whether a write was refused because the primary has become a replica: it is elsewhere by now. */
export function isReplica(error: unknown): boolean {
  return error instanceof Error && (error as Error & { code?: string }).code === '25006'
}

/** What every session of ours begins with, kept by the role itself so that it also holds behind a pooler. */
export const ROLE_SETTINGS = [
  `search_path = ${SCHEMA}`,
  `statement_timeout = '60s'`,
  `lock_timeout = '10s'`,
  `idle_in_transaction_session_timeout = '60s'`,
  `timezone = 'UTC'`,
  // What was acknowledged is on disk, whatever the server's own default.
  'synchronous_commit = on',
] as const
