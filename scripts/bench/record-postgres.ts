import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { NAME_BATCH } from '../../src/store/lane.ts'
import { recipeOf, type Texts } from './recipe.ts'
import type { Recorded } from './record.ts'
import { recordCreates, type Where } from './store.ts'

interface Heard extends Recorded {
  client: pg.Client
  /** Statements of ours in one text, without parameters. */
  script: boolean
  name: string | undefined
}

/** One create_task in a plain transaction of its own, by the statements that the store ran for one. */
export interface PlainCreate {
  create(texts: Texts): Promise<void>
  /** How many statements that takes between BEGIN and COMMIT. */
  statements: number
}

/**
 * Records two creations and opens a pool of its own as the same role. A plain transaction: what a session has to say of
 * itself in one text with BEGIN, the account's lock, the statements, COMMIT; no savepoint, and no name for what it is part of.
 */
export async function openPlain(where: Where, connections: number): Promise<PlainCreate> {
  let log: Heard[] = []
  listen((heard) => log.push(heard))
  const { calls } = await recordCreates(where, () => {
    const taken = creation(log)
    log = []
    return taken
  })
  const [first] = calls
  const heard = first.statements as Heard[]
  const named = new Map(heard.map(({ sql, name }) => [sql, name]))
  const statements = (each: readonly Recorded[]) =>
    each.filter((one) => !(one as Heard).script && one.sql !== NAME_BATCH)
  const recipe = recipeOf(
    { ...calls[0], statements: statements(calls[0].statements) },
    { ...calls[1], statements: statements(calls[1].statements) },
  )
  const settings = heard
    .filter(({ script }) => script)
    .flatMap(({ sql }) => sql.split(';'))
    .filter((sql) => /^\s*(SET LOCAL|SELECT pg_advisory_xact_lock)/.test(sql))
  const { host, port, user, password, database } = (
    heard[0]!.client as unknown as { connectionParameters: pg.ClientConfig }
  ).connectionParameters
  const pool = new pg.Pool({ host, port, user, password, database, max: connections } as pg.PoolConfig)

  return {
    async create(texts) {
      const client = await pool.connect()
      const tx = randomUUID()
      const begin = ['BEGIN', ...settings].join('; ').replace(UUID, tx)
      try {
        await client.query(begin)
        await recipe.makeAsync(texts, async (text, values) => {
          const name = named.get(text)
          return (await client.query({ text, values, ...(name ? { name } : {}) })).rows
        })
        await client.query('COMMIT')
        client.release()
      } catch (error) {
        client.release(error as Error)
        throw error
      }
    },
    statements: statements(first.statements).length,
  }
}

const UUID = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/

/** The transaction that created the task: all that its connection ran from BEGIN to COMMIT. */
function creation(log: readonly Heard[]): Heard[] {
  const insert = log.find(({ sql }) => /^insert into "tasks"/i.test(sql))
  if (!insert) return []
  const own = log.filter(({ client }) => client === insert.client)
  const from = own.findLastIndex(({ sql }, i) => i < own.indexOf(insert) && /^BEGIN\b/i.test(sql))
  const to = own.findIndex(({ sql }, i) => i > own.indexOf(insert) && /\bCOMMIT\b/i.test(sql))
  return own.slice(from, to)
}

/** Listens at the driver itself. For good: a process for it. */
function listen(hear: (heard: Heard) => void): void {
  const prototype = pg.Client.prototype as unknown as {
    query(this: pg.Client, ...args: unknown[]): unknown
  }
  const { query } = prototype
  prototype.query = function (...args) {
    const [asked, given] = args as [string | pg.QueryConfig, unknown[] | undefined]
    const config = typeof asked === 'string' ? { text: asked, values: given } : asked
    const heard: Heard = {
      client: this,
      sql: config.text,
      parameters: Array.isArray(config.values) ? config.values : [],
      script: typeof asked === 'string' && !Array.isArray(given),
      name: (config as pg.QueryConfig).name,
      rows: [],
      changed: false,
    }
    hear(heard)
    const answer = query.apply(this, args)
    ;(answer as Promise<pg.QueryResult> | undefined)?.then?.(
      (result) => {
        heard.rows = (result as pg.QueryResult).rows ?? []
      },
      () => {},
    )
    return answer
  }
}
