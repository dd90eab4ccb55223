import type pg from 'pg'
import { POSTGRES } from './dialect.ts'
import { MIGRATIONS } from './migrate.ts'
import type { MoveOptions } from './move.ts'
import { type Reading, textsOfDocuments } from './move-reading.ts'
import type { MoveRow, MoveSource, MoveTable, Rows } from './move-table.ts'
import { queriesOn } from './postgres-connect.ts'
import { type Roles, SCHEMA } from './postgres-schema.ts'
import { connect, refuseOther, rolesOf, verifyKey, verifySchema, versionOf } from './postgres-setup.ts'
import { TABLES } from './tables.ts'

/** How long a server that does not answer is waited for, in milliseconds. */
const WAIT_MS = 10_000

/** Connects as the owner, for work that may take long. */
export async function connectForMove(url: string): Promise<pg.Client> {
  const client = await connect({ url, waitMs: WAIT_MS })
  await client.query(
    `SET search_path = ${SCHEMA}; SET statement_timeout = 0; SET idle_in_transaction_session_timeout = 0`,
  )
  return client
}

type Options = Pick<MoveOptions, 'database' | 'rolePrefix' | 'seal' | 'actorOf'>

/** As {@link openPostgresSource}, but what is read is one moment, whatever is written meanwhile: it can't change. */
export async function openPostgresMoment(options: Options): Promise<MoveSource> {
  const { client, ...source } = await openSource(options)
  await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
  return {
    ...source,
    rows: (table) => rowsOf(client, table),
    stamp: async () => 'one moment',
    isAtWork: async () => false,
  }
}

/** Opens a PostgreSQL database to read all of it. Throws where there is no Done, and where its schema or key is another. */
export async function openPostgresSource(options: Options): Promise<MoveSource> {
  const { client: _, ...source } = await openSource(options)
  return source
}

async function openSource(options: Options): Promise<MoveSource & { client: pg.Client }> {
  const client = await connectForMove(options.database)
  try {
    const roles = await verifySource(client, options)
    await client.query('SET default_transaction_read_only = on')
    const { rows } = await client.query<{ identity: string }>(
      `SELECT key_check || ' ' || COALESCE((SELECT MIN(created_at) FROM accounts), 0) AS identity FROM installation`,
    )
    const reading = readingOf(client, options)
    return {
      client,
      identity: rows[0]!.identity,
      rows: (table) => snapshot(client, rowsOf(client, table)),
      textsOf: (documents) => textsOfDocuments(reading, documents),
      stamp: () => stampOf(client),
      isAtWork: () => isAtWork(client, roles),
      close: () => client.end(),
    }
  } catch (error) {
    await client.end()
    throw error
  }
}

async function verifySource(
  client: pg.Client,
  { seal, rolePrefix }: Pick<Options, 'seal' | 'rolePrefix'>,
): Promise<Roles> {
  await client.query('BEGIN')
  await refuseOther(client)
  const version = await versionOf(client)
  if (version === 0) throw new Error('The database that DATABASE_URL names holds no Done.')
  if (version !== MIGRATIONS.length) {
    throw new Error(
      `The data are of another version of Done (schema ${version}; this program knows ${MIGRATIONS.length}). Start this program’s server on them once, stop it, and move them then.`,
    )
  }
  await verifyKey(client, seal('the key of this file'))
  const roles = await rolesOf(client, rolePrefix, true)
  await verifySchema(client, roles)
  await client.query('ROLLBACK')
  return roles
}

/** Whoever works on a database has a connection by which it hears of changes. */
async function isAtWork(client: pg.Client, roles: Roles): Promise<boolean> {
  const { rows } = await client.query(
    'SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND usename = ANY ($1) LIMIT 1',
    [Object.values(roles)],
  )
  return rows.length > 0
}

export const readingOf = (
  client: pg.Client,
  { seal, actorOf }: Pick<Options, 'seal' | 'actorOf'>,
): Reading => ({ queries: queriesOn(client), dialect: POSTGRES, seal, actorOf })

/** Runs a reading inside a snapshot of its own. */
export async function* snapshot(client: pg.Client, rows: Rows): Rows {
  await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
  try {
    yield* rows
  } finally {
    await client.query('COMMIT')
  }
}

/** The rows of a table by a cursor, inside a transaction. */
export async function* rowsOf(
  client: pg.Client,
  { name, columns, key, chunk }: MoveTable,
): AsyncGenerator<readonly MoveRow[]> {
  const cursor = `move_${name}`
  await client.query(
    `DECLARE ${cursor} NO SCROLL CURSOR FOR SELECT ${columns.join(', ')} FROM ${name} ORDER BY ${key.join(', ')}`,
  )
  try {
    for (;;) {
      const { rows } = await client.query<MoveRow>(`FETCH ${chunk} FROM ${cursor}`)
      if (rows.length === 0) return
      yield rows
    }
  } finally {
    await client.query(`CLOSE ${cursor}`)
  }
}

/** Every row names the transaction that wrote it, so that none comes, changes or goes without a trace in these figures. */
async function stampOf(client: pg.Client): Promise<string> {
  const { rows } = await client.query<{ stamp: string }>(
    Object.keys(TABLES)
      .map(
        (table) =>
          `SELECT format('${table} %s %s %s', COUNT(*), SUM(xmin::text::bigint), MAX(xmin::text::bigint)) AS stamp FROM ${table}`,
      )
      .join(' UNION ALL '),
  )
  return rows
    .map(({ stamp }) => stamp)
    .sort()
    .join()
}
