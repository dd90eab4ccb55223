import { randomUUID } from 'node:crypto'
import pg from 'pg'
import type { DoneOptions } from '../src/done.ts'

/** The key of every test database: roles are the server's, so their passwords have to be the same in all of them. */
const SEAL_KEY = 'ab'.repeat(32)
const ROLES = 'done_test'

/** An empty database with our schema in it, from which those of tests are copied. */
export const TEMPLATE = 'done_template'

/** Settings by which a test's program opens its database; nothing where the embedded one in its folder is meant. */
export type DatabaseOptions = Pick<DoneOptions, 'database' | 'rolePrefix' | 'sealKey'>

/** The server that the run of tests has started, where it runs on PostgreSQL (test/postgres.ts). */
const server = (): string | undefined => process.env.DONE_TEST_SERVER || undefined

/** Whether this run is on PostgreSQL; else it is on the embedded engine. */
export const onPostgres = (): boolean => server() !== undefined

export const optionsOf = (database: string): Required<DatabaseOptions> => ({
  database,
  rolePrefix: ROLES,
  sealKey: SEAL_KEY,
})

/** The same settings as a program's environment. */
export function environmentOf(options: DatabaseOptions): Record<string, string> {
  const { database, rolePrefix, sealKey } = options
  return {
    ...(database ? { DATABASE_URL: database } : {}),
    ...(rolePrefix ? { DONE_DATABASE_ROLES: rolePrefix } : {}),
    ...(sealKey ? { DONE_SEAL_KEY: sealKey } : {}),
  }
}

/** A database of the test's own, where the run is on PostgreSQL. */
export async function newDatabase(pattern = TEMPLATE): Promise<DatabaseOptions> {
  if (!onPostgres()) return {}
  const name = `w_${randomUUID().replaceAll('-', '')}`
  await asAdmin(addressOf('postgres'), `CREATE DATABASE ${name} TEMPLATE ${pattern} STRATEGY file_copy`)
  return optionsOf(addressOf(name))
}

/** Removes a test's database, whoever is still connected to it. The test need not wait for it. */
export async function dropDatabase({ database }: DatabaseOptions): Promise<void> {
  if (database === undefined) return
  await leaveDatabase({ database })
  await asAdmin(addressOf('postgres'), `DROP DATABASE IF EXISTS ${nameIn(database)} WITH (FORCE)`)
}

/** Ends our own connection to a database. */
export async function leaveDatabase({ database }: DatabaseOptions): Promise<void> {
  if (database === undefined) return
  await (await admins.get(database)?.client)?.end()
  admins.delete(database)
}

/** A copy of a database that nobody is connected to; nothing where it is the embedded one in a folder. */
export async function copyDatabase({ database }: DatabaseOptions): Promise<DatabaseOptions> {
  return database === undefined ? {} : newDatabase(nameIn(database))
}

const nameIn = (address: string): string => new URL(address).pathname.slice(1)

function addressOf(name: string): string {
  const address = new URL(server()!)
  address.pathname = `/${name}`
  return address.href
}

interface Admin {
  client: Promise<pg.Client>
  turn: Promise<unknown>
}

const admins = new Map<string, Admin>()

/** Connects as the owner, whom no wall of ours stops. */
async function adminOf(database: string): Promise<pg.Client> {
  const client = new pg.Client({
    connectionString: database,
    types: { getTypeParser: (oid) => (oid === 20 ? Number : pg.types.getTypeParser(oid)) },
  })
  client.on('error', () => {})
  await client.connect()
  return client
}

/** Runs statements as the owner, and gives the rows of each. The connection is kept, and asked one thing at a time. */
export async function asAdmin(database: string, script: string): Promise<Record<string, unknown>[][]> {
  const admin = admins.get(database) ?? { client: adminOf(database), turn: Promise.resolve() }
  admins.set(database, admin)
  const answer = admin.turn.then(async () => rowsOf(await admin.client, script))
  admin.turn = answer.catch(() => {})
  return answer
}

/** The rows of each statement of a script. */
async function rowsOf(client: pg.Client, script: string): Promise<Record<string, unknown>[][]> {
  const answer = (await client.query(script)) as unknown as pg.QueryResult | pg.QueryResult[]
  return (Array.isArray(answer) ? answer : [answer]).map(({ rows }) => rows)
}
