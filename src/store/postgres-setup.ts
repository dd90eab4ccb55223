import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto'
import pg from 'pg'
import { AppError } from '../model/error.ts'
import { MIGRATIONS, MOVE_MARK, noData, unfinishedMove } from './migrate.ts'
import { isLost, optionsFor, ROLE_SETTINGS } from './postgres-connect.ts'
import { DESCRIBE, type Roles, SCHEMA, tablesOf, wallsOf } from './postgres-schema.ts'

/** Any number that no other program takes on this database; one process at a time brings the schema up to date. */
export const SETUP_LOCK = 4_747_001

/** The first version with all that the schema says. */
const OLDEST = 15

export interface Setup {
  /** The owner's address: `DATABASE_URL`. */
  url: string
  /** How the roles' names begin. Several installations of one server need several. */
  prefix?: string | undefined
  /** The key's holder, told whether the database is new; throws where a database has a key that is not here. */
  sealFor: (isNew: boolean) => (text: string) => string
  /** Refuses a database without data, in place of beginning some. */
  existing: boolean
  /** How long a server that does not answer is waited for, in milliseconds. */
  waitMs: number
}

/** What the engine works with from then on. */
export interface Ready {
  roles: Roles
  passwordOf: (role: string) => string
  seal: (text: string) => string
}

/**
 * Brings a database to this program's schema, as its owner, in one transaction: tables, walls, and the three roles by which
 * Done works from then on. Refuses a newer or an altered schema and another key. Safe when several processes start at once.
 */
export async function setUp(setup: Setup): Promise<Ready> {
  const until = performance.now() + setup.waitMs
  for (;;) {
    try {
      return await setUpOnce(setup)
    } catch (error) {
      // Nothing of a transaction that broke is left.
      if (!isLost(error)) throw error
      if (performance.now() > until) throw inWords(error)
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }
}

async function setUpOnce(setup: Setup): Promise<Ready> {
  const client = await connect(setup)
  try {
    await client.query('BEGIN')
    await client.query(`SELECT pg_advisory_xact_lock(${SETUP_LOCK})`)
    await refuseOther(client)
    const found = await versionOf(client)
    if (found > MIGRATIONS.length) {
      throw new Error(
        `The data were written by a newer Done (schema ${found}; this program knows ${MIGRATIONS.length}). Update this program.`,
      )
    }
    if (found === 0 && setup.existing) throw noData('The database that DATABASE_URL names')
    const seal = setup.sealFor(found === 0)
    const check = seal('the key of this file')
    if (found > 0) await verifyKey(client, check)
    const roles = await rolesOf(client, setup.prefix, found > 0)
    const passwordOf = (role: string) => seal(`password of ${role}`)
    await makeRoles(client, roles, passwordOf, found === 0)
    if (found === 0) await makeSchema(client)
    await client.query(`SET LOCAL search_path = ${SCHEMA}`)
    if (found < MIGRATIONS.length) await migrate(client, found, roles, check)
    await verifySchema(client, roles)
    await client.query('COMMIT')
    await tryRole(setup.url, roles.app, passwordOf(roles.app))
    return { roles, passwordOf, seal }
  } finally {
    await client.end()
  }
}

/** Connects as the owner, whom none of our walls stops. Throws where the server does not answer in time. */
export async function connect({ url, waitMs }: Pick<Setup, 'url' | 'waitMs'>): Promise<pg.Client> {
  const until = performance.now() + waitMs
  for (;;) {
    let client: pg.Client | undefined
    try {
      // Reads the files of certificates that the address names.
      client = new pg.Client(optionsFor(url))
      client.on('error', () => {})
      await client.connect()
      return client
    } catch (error) {
      await client?.end().catch(() => {})
      if (!isLost(error) || performance.now() > until) throw inWords(error)
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }
}

/** The address holds a password, so it is not repeated. A server that is away for a while may be there at the next call. */
function inWords(error: unknown): Error {
  const said = `The database that DATABASE_URL names can’t be opened: ${(error as Error).message}`
  if (!isLost(error)) return new Error(said, { cause: error })
  const away = new AppError('unavailable', said, {
    retry: true,
    written: false,
    next: 'See that PostgreSQL runs and can be reached, and send the same call again.',
  })
  away.cause = error
  return away
}

/** Makes the schema of a new database. */
export async function makeSchema(client: pg.Client): Promise<void> {
  try {
    await client.query(`CREATE SCHEMA ${SCHEMA}`)
  } catch (error) {
    if ((error as { code?: string }).code !== '42501') throw error
    throw new Error(
      'The role in DATABASE_URL may not make a schema in the database. Make it the owner: ALTER DATABASE … OWNER TO ….',
      { cause: error },
    )
  }
}

/** Throws on a server that is too old, and on a database that can't keep every text. */
export async function refuseOther(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ version: string; encoding: string }>(
    `SELECT current_setting('server_version_num') AS version, current_setting('server_encoding') AS encoding`,
  )
  const major = Math.floor(Number(rows[0]!.version) / 10_000)
  if (major < OLDEST) {
    throw new Error(`PostgreSQL ${major} is too old: ${OLDEST} or newer is needed.`)
  }
  if (rows[0]!.encoding !== 'UTF8') {
    throw new Error(
      `The database keeps texts as ${rows[0]!.encoding}. Make one with UTF8: CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0.`,
    )
  }
}

/** The version of the schema, 0 where there is none. Throws where something else, or half of a move, stands in its place. */
export async function versionOf(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ schema: boolean; ours: boolean; half: boolean }>(
    `SELECT to_regnamespace($1) IS NOT NULL AS schema, to_regclass($2) IS NOT NULL AS ours,
       to_regclass($3) IS NOT NULL AS half`,
    [SCHEMA, `${SCHEMA}.schema_version`, `${SCHEMA}.${MOVE_MARK}`],
  )
  if (!rows[0]!.schema) return 0
  if (rows[0]!.half) throw unfinishedMove('postgres', 'The database that DATABASE_URL names')
  if (!rows[0]!.ours) {
    throw new Error(
      `The database has a schema "${SCHEMA}" of something else. Give another database; nothing was written.`,
    )
  }
  const version = await client.query<{ version: number }>(`SELECT version FROM ${SCHEMA}.schema_version`)
  return version.rows[0]!.version
}

/** Gate G8: a key that is not the one by which these sign-offs were sealed is as good as none. */
export async function verifyKey(client: pg.Client, check: string): Promise<void> {
  const { rows } = await client.query<{ key_check: string }>(`SELECT key_check FROM ${SCHEMA}.installation`)
  if (rows[0]?.key_check === check) return
  throw new Error(
    'The key that seals sign-offs is not the one that this database was begun with. Every process needs the same: copy seal.key from the first one’s data folder, or set DONE_SEAL_KEY.',
  )
}

/**
 * Role names, at most 63 bytes as PostgreSQL keeps them. They begin with the prefix, by default `done_` and the database's
 * name; where there are data, as these say themselves, since a dump can be restored under any name. Throws where the prefix
 * is another one.
 */
export async function rolesOf(
  client: pg.Client,
  prefix: string | undefined,
  hasData = false,
): Promise<Roles> {
  const { rows } = await client.query<{ name: string }>('SELECT current_database() AS name')
  const given = prefix === undefined ? undefined : firstBytes(prefix, 50)
  const known = hasData ? await prefixOf(client) : undefined
  if (given !== undefined && known !== undefined && given !== known) {
    throw new Error(
      `The roles of this database begin with ${known}, and DONE_DATABASE_ROLES says ${given}. Set it to ${known}, or leave it out.`,
    )
  }
  const begin = given ?? known ?? firstBytes(`done_${rows[0]!.name}`, 50)
  return { app: `${begin}_app`, people: `${begin}_people`, read: `${begin}_read` }
}

/** How the names of the roles begin that the walls of a database speak of; undefined where its functions were altered. */
async function prefixOf(client: pg.Client): Promise<string | undefined> {
  const { rows } = await client.query<{ body: string | null }>(
    'SELECT pg_get_function_sqlbody(to_regproc($1)::oid) AS body',
    [`${SCHEMA}.done_actor`],
  )
  return /= '(.*)_people'/.exec(rows[0]?.body ?? '')?.[1]?.replaceAll("''", "'")
}

/** The beginning of a name, in at most so many bytes of UTF-8 and without half a character. */
function firstBytes(name: string, most: number): string {
  let begin = ''
  for (const character of name) {
    if (Buffer.byteLength(begin + character) > most) break
    begin += character
  }
  return begin
}

/**
 * What the server keeps of a password in place of itself (RFC 5803): said so, it does not show in a log of statements. The
 * password is plain ASCII, so there is nothing to prepare.
 */
function verifierOf(password: string): string {
  const [salt, rounds] = [randomBytes(16), 4096]
  const salted = pbkdf2Sync(password, salt, rounds, 32, 'sha256')
  const keyed = (text: string) => createHmac('sha256', salted).update(text).digest()
  const stored = createHash('sha256').update(keyed('Client Key')).digest('base64')
  return `SCRAM-SHA-256$${rounds}:${salt.toString('base64')}$${stored}:${keyed('Server Key').toString('base64')}`
}

/**
 * Makes the three roles where they are missing. Those that are left of an older database get this one's passwords, where the
 * owner may give them; returns those whose password it may not change. Throws where it may make none, and where one of them
 * may do too much.
 */
export async function makeRoles(
  client: pg.Client,
  roles: Roles,
  passwordOf: (role: string) => string,
  isNew = true,
): Promise<string[]> {
  const names = Object.values(roles)
  const { rows } = await client.query<{ rolname: string }>(
    'SELECT rolname FROM pg_roles WHERE rolname = ANY ($1)',
    [names],
  )
  const there = new Set(rows.map(({ rolname }) => rolname))
  const unchanged: string[] = []
  for (const role of names) {
    if (there.has(role) && !isNew) continue
    const name = client.escapeIdentifier(role)
    const password = client.escapeLiteral(verifierOf(passwordOf(role)))
    // Of a role that is there only a superuser may say what it is not; below it is looked at.
    const how = there.has(role)
      ? `ALTER ROLE ${name} LOGIN`
      : `CREATE ROLE ${name} LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOINHERIT`
    await client.query('SAVEPOINT role')
    try {
      await client.query(`${how} PASSWORD ${password}`)
      for (const setting of ROLE_SETTINGS) await client.query(`ALTER ROLE ${name} SET ${setting}`)
      if (role === roles.read) await client.query(`ALTER ROLE ${name} SET default_transaction_read_only = on`)
    } catch (error) {
      if ((error as { code?: string }).code !== '42501') throw error
      await client.query('ROLLBACK TO role')
      if (there.has(role)) {
        unchanged.push(role)
        continue
      }
      throw new Error(
        `The role in DATABASE_URL may not make roles, and Done works under three of its own (${names.join(', ')}). Let it, with ALTER ROLE … CREATEROLE, or have them made (docs/scale-out.md, "Without CREATEROLE").`,
        { cause: error },
      )
    }
  }
  const { rows: unsafe } = await client.query<{ rolname: string }>(
    `SELECT r.rolname FROM pg_roles r WHERE r.rolname = ANY ($1) AND (r.rolsuper OR r.rolbypassrls OR r.rolcreaterole
       OR EXISTS (SELECT 1 FROM pg_auth_members m WHERE m.member = r.oid))`,
    [names],
  )
  if (unsafe.length > 0) {
    throw new Error(
      `The role ${unsafe[0]!.rolname} may do more than Done gave it, so the gate would not hold. Take it out of other roles and take SUPERUSER, BYPASSRLS and CREATEROLE from it.`,
    )
  }
  return unchanged
}

/** Roles outlive databases: one that an older key made has that key's password. Throws where it is not the one of this key. */
export async function tryRole(url: string, name: string, password: string): Promise<void> {
  const client = new pg.Client(optionsFor(url, { name, password }))
  client.on('error', () => {})
  try {
    await client.connect()
  } catch (error) {
    if ((error as { code?: string }).code !== '28P01') throw inWords(error)
    throw new Error(
      `The role ${name} has another password than the one made from this key. Where no other installation uses the role, have a superuser give it and its two siblings new ones (docs/scale-out.md, "Without CREATEROLE"); else set DONE_DATABASE_ROLES to another beginning of names.`,
      { cause: error },
    )
  } finally {
    await client.end().catch(() => {})
  }
}

async function migrate(client: pg.Client, found: number, roles: Roles, check: string): Promise<void> {
  await client.query(tablesOf(MIGRATIONS.slice(found)))
  // Before the walls, among which are the grants on it.
  if (found === 0) await nameVersion(client)
  await client.query(wallsOf(SCHEMA, roles))
  if (found === 0) {
    await client.query('INSERT INTO installation (id, key_check) VALUES (1, $1)', [check])
  } else await client.query('UPDATE schema_version SET version = $1', [MIGRATIONS.length])
}

/** Says which schema stands here, for the first time. */
export async function nameVersion(client: pg.Client): Promise<void> {
  await client.query('CREATE TABLE schema_version (version INTEGER NOT NULL)')
  await client.query('INSERT INTO schema_version VALUES ($1)', [MIGRATIONS.length])
}

/**
 * Gate G8: every table, constraint, index, trigger, function, policy and grant must be the built one, or the server does not
 * start. What this program builds is built beside it, in a schema that is rolled back, and the catalogue's words compared:
 * they differ from one version of PostgreSQL to another, so they can't be kept.
 */
export async function verifySchema(client: pg.Client, roles: Roles): Promise<void> {
  const there = await describe(client, SCHEMA, roles)
  const expected = await expectedSchema(client, roles)
  const missing = expected.filter((line) => !there.has(line))
  const strange = [...there].filter((line) => !expected.includes(line))
  const fault = missing[0] ?? strange[0]
  if (fault === undefined) return
  const [kind, name] = fault.split(' ')
  throw new Error(
    `The schema was altered: ${missing[0] === undefined ? 'there is' : 'missing or otherwise is'} the ${kind} ${name} (${fault.slice(0, 200)}). Restore the database from a backup.`,
  )
}

const built = new Map<string, string[]>()

/** Built once a process for each version of PostgreSQL. */
async function expectedSchema(client: pg.Client, roles: Roles): Promise<string[]> {
  const { rows } = await client.query<{ version: string }>(
    `SELECT current_setting('server_version_num') AS version`,
  )
  const key = `${rows[0]!.version} ${Object.values(roles).join()}`
  let lines = built.get(key)
  if (!lines) {
    const beside = `${SCHEMA}_expected`
    await client.query('SAVEPOINT beside')
    await client.query(`CREATE SCHEMA ${beside}`)
    await client.query(`SET LOCAL search_path = ${beside}`)
    await client.query(tablesOf(MIGRATIONS))
    await client.query('CREATE TABLE schema_version (version INTEGER NOT NULL)')
    await client.query(wallsOf(beside, roles))
    lines = [...(await describe(client, beside, roles))]
    await client.query('ROLLBACK TO beside')
    built.set(key, lines)
  }
  return lines
}

async function describe(client: pg.Client, schema: string, roles: Roles): Promise<Set<string>> {
  await client.query(`SET LOCAL search_path = ${schema}`)
  const { rows } = await client.query<{ format: string }>(DESCRIBE, [schema, Object.values(roles)])
  return new Set(rows.map(({ format }) => format.replaceAll(`${SCHEMA}_expected`, SCHEMA)))
}
