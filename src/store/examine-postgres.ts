import type pg from 'pg'
import { accountsIn, type Examined, type ExamineOptions, note } from './examine.ts'
import { MIGRATIONS } from './migrate.ts'
import { readingOf } from './move-postgres-source.ts'
import { SCHEMA } from './postgres-schema.ts'
import { connect, refuseOther, rolesOf, verifyKey, verifySchema, versionOf } from './postgres-setup.ts'

/** How long a server that does not answer is waited for, in milliseconds. */
const WAIT_MS = 5000

/** Looks at a PostgreSQL database as its owner, in a transaction that is rolled back: the schema to compare with is built in it. */
export async function examinePostgres({
  database,
  rolePrefix,
  seal,
  actorOf,
}: ExamineOptions & { database: string }): Promise<Examined> {
  const client = await connect({ url: database, waitMs: WAIT_MS })
  try {
    await client.query('BEGIN')
    await refuseOther(client)
    const found = await versionOf(client)
    if (found === 0) throw new Error('The database that DATABASE_URL names holds no Done.')
    const faults: Examined['faults'] = {}
    // A statement that fails would end the transaction for those after it.
    const apart = (kind: keyof Examined['faults'], look: () => Promise<unknown>) =>
      note(faults, kind, async () => {
        await client.query('SAVEPOINT look')
        try {
          await look()
        } finally {
          await client.query('ROLLBACK TO look')
        }
      })
    await apart('key', async () => seal && (await verifyKey(client, seal('the key of this file'))))
    await apart('schema', async () => {
      if (found === MIGRATIONS.length) await verifySchema(client, await rolesOf(client, rolePrefix, true))
    })
    await client.query(`SET LOCAL search_path = ${SCHEMA}`)
    const reading = readingOf(client, { seal: seal ?? String, actorOf })
    return {
      ...(await serverOf(client)),
      schema: { found, known: MIGRATIONS.length },
      logBytes: 0,
      accounts: await accountsIn(reading, faults),
      faults,
    }
  } finally {
    await client.end()
  }
}

async function serverOf(client: pg.Client): Promise<{ engine: string; bytes: number; serverTime: number }> {
  const { rows } = await client.query<{ version: string; bytes: number; now: number }>(
    `SELECT current_setting('server_version') AS version, pg_database_size(current_database()) AS bytes,
       (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now`,
  )
  const { version, bytes, now } = rows[0]!
  return { engine: `PostgreSQL ${version.split(' ')[0]}`, bytes, serverTime: now }
}
