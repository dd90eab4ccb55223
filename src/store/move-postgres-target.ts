import type pg from 'pg'
import { piecesOf } from '../model/search.ts'
import { fold } from '../model/suggest.ts'
import { MIGRATIONS, MOVE_MARK } from './migrate.ts'
import type { MoveOptions } from './move.ts'
import { connectForMove, readingOf, rowsOf, snapshot } from './move-postgres-source.ts'
import { unsignedIn } from './move-reading.ts'
import type { MoveRow, MoveTable, MoveTarget } from './move-table.ts'
import { SCHEMA, tablesOf, wallsOf } from './postgres-schema.ts'
import {
  makeRoles,
  makeSchema,
  nameVersion,
  refuseOther,
  rolesOf,
  SETUP_LOCK,
  tryRole,
  verifySchema,
} from './postgres-setup.ts'
import { own } from './search-index.ts'
import { TABLES } from './tables.ts'

/** Any number that no other program takes on this database; one move at a time. */
const MOVE_LOCK = 4_747_003

type Options = Pick<MoveOptions, 'database' | 'rolePrefix' | 'seal' | 'actorOf'>

/** Makes the schema to fill, or goes on with one. Throws where the database has one that is in use. */
export async function openPostgresTarget(options: Options, identity: string): Promise<MoveTarget> {
  const writer = await connectForMove(options.database)
  // Of its own, since a cursor can't be read across the transactions of what is written.
  const reader = await connectForMove(options.database).catch(async (error: unknown) => {
    await writer.end()
    throw error
  })
  const close = async () => {
    await Promise.all([reader.end(), writer.end()])
  }
  try {
    await transaction(writer, () => prepareTarget(writer, options, identity))
    // What a crash of the server takes is copied again by the next move; the last commit is waited for.
    await writer.query('SET synchronous_commit = off')
    const types = await typesOf(writer)
    return {
      rows: (table) => snapshot(reader, rowsOf(reader, table)),
      replace: (table, gone, come, texts) =>
        transaction(writer, async () => {
          if (gone.length > 0) await remove(writer, table, types, gone)
          if (come.length > 0) await insert(writer, table, types, come, texts)
        }),
      async finish(check) {
        let fault: string | undefined
        await transaction(writer, async () => {
          await writer.query(`SET LOCAL synchronous_commit = on; SELECT pg_advisory_xact_lock(${SETUP_LOCK});
            LOCK TABLE ${Object.keys(TABLES).join(', ')} IN EXCLUSIVE MODE`)
          fault = (await check((table) => rowsOf(writer, table))) ?? (await lay(writer, options))
          return fault === undefined
        })
        return fault
      },
      drop: async () => void (await writer.query(`DROP SCHEMA ${SCHEMA} CASCADE`)),
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

/** Commits unless it throws or gives false. */
async function transaction(client: pg.Client, run: () => Promise<unknown>): Promise<void> {
  await client.query('BEGIN')
  try {
    await client.query((await run()) === false ? 'ROLLBACK' : 'COMMIT')
  } catch (error) {
    // Where the connection is lost the server rolls back by itself, and what was lost is the error to tell.
    await client.query('ROLLBACK').catch(() => {})
    throw error
  }
}

async function prepareTarget(client: pg.Client, options: Options, identity: string): Promise<void> {
  const { rows: locks } = await client.query<{ taken: boolean }>(
    `SELECT pg_try_advisory_lock(${MOVE_LOCK}) AS taken`,
  )
  if (!locks[0]!.taken) throw new Error('Another donectl migrate-engine is at work on this database.')
  await client.query(`SELECT pg_advisory_xact_lock(${SETUP_LOCK})`)
  await refuseOther(client)
  const { rows } = await client.query<{ used: boolean; marked: boolean }>(
    'SELECT to_regnamespace($1) IS NOT NULL AS used, to_regclass($2) IS NOT NULL AS marked',
    [SCHEMA, `${SCHEMA}.${MOVE_MARK}`],
  )
  const { used, marked } = rows[0]!
  if (used && !marked) {
    throw new Error(
      `The database that DATABASE_URL names has a schema "${SCHEMA}" already, and nothing in it is ever overwritten. Give an empty database: CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0.`,
    )
  }
  if (used) await refuseOtherMove(client, identity)
  else await makeTables(client, identity)
  // They are made at the end; that the owner may not is better known before everything is copied.
  await client.query('SAVEPOINT roles')
  const roles = await rolesOf(client, options.rolePrefix)
  const unchanged = await makeRoles(client, roles, passwordBy(options.seal))
  await client.query('ROLLBACK TO roles')
  for (const role of unchanged) await tryRole(options.database, role, passwordBy(options.seal)(role))
}

async function refuseOtherMove(client: pg.Client, identity: string): Promise<void> {
  const { rows } = await client.query<{ source: string; version: number }>(
    `SELECT source, version FROM ${MOVE_MARK}`,
  )
  if (rows[0]?.source === identity && rows[0].version === MIGRATIONS.length) return
  throw new Error(
    `The database that DATABASE_URL names holds an unfinished move of other data, or by another version of Done. Remove it with DROP SCHEMA ${SCHEMA} CASCADE, or give another database.`,
  )
}

async function makeTables(client: pg.Client, identity: string): Promise<void> {
  await makeSchema(client)
  await client.query(tablesOf(MIGRATIONS))
  // Built when all rows are there, which takes a fraction of the time.
  for (const { table, name } of await references(client, SCHEMA))
    await client.query(`ALTER TABLE ${table} DROP CONSTRAINT ${name}`)
  for (const { name } of await indexes(client, SCHEMA)) await client.query(`DROP INDEX ${name}`)
  await client.query(`CREATE TABLE ${MOVE_MARK} (source TEXT NOT NULL, version INTEGER NOT NULL)`)
  await client.query(`INSERT INTO ${MOVE_MARK} VALUES ($1, $2)`, [identity, MIGRATIONS.length])
}

const passwordBy = (seal: (text: string) => string) => (role: string) => seal(`password of ${role}`)

/** The references of a schema, in words that do not name it while it is the one that is searched. */
async function references(client: pg.Client, schema: string) {
  const { rows } = await client.query<{ table: string; name: string; text: string }>(
    `SELECT t.relname AS "table", c.conname AS name, pg_get_constraintdef(c.oid) AS text
     FROM pg_constraint c JOIN pg_class t ON t.oid = c.conrelid
     WHERE c.contype = 'f' AND c.connamespace = $1::text::regnamespace ORDER BY c.oid`,
    [schema],
  )
  return rows
}

/** The indexes of a schema that no constraint stands for. */
async function indexes(client: pg.Client, schema: string) {
  const { rows } = await client.query<{ name: string; text: string }>(
    `SELECT c.relname AS name, pg_get_indexdef(c.oid) AS text
     FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
     WHERE c.relnamespace = $1::text::regnamespace
       AND NOT EXISTS (SELECT 1 FROM pg_constraint k WHERE k.conindid = c.oid) ORDER BY c.oid`,
    [schema],
  )
  return rows
}

type Types = ReadonlyMap<string, string>

/** The types of all columns, by `table.column`. */
async function typesOf(client: pg.Client): Promise<Types> {
  const { rows } = await client.query<{ name: string; type: string }>(
    `SELECT c.relname || '.' || a.attname AS name, format_type(a.atttypid, a.atttypmod) AS type
     FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
     WHERE c.relnamespace = $1::text::regnamespace AND a.attnum > 0`,
    [SCHEMA],
  )
  return new Map(rows.map(({ name, type }) => [name, type]))
}

/** Columns of rows as one list each, so that a chunk of any length is one statement. */
function unnested(types: Types, table: string, columns: readonly string[]): string {
  const lists = columns.map(
    (column, i) => `$${i + 1}::${types.get(`${table}.${column}`)!.replace('[]', '')}[]`,
  )
  return `unnest(${lists.join(', ')})`
}

const valuesOf = (columns: readonly string[], rows: readonly MoveRow[]): unknown[][] =>
  columns.map((column) => rows.map((row) => row[column]))

async function remove(
  client: pg.Client,
  { name, key }: MoveTable,
  types: Types,
  rows: readonly MoveRow[],
): Promise<void> {
  await client.query(
    `DELETE FROM ${name} WHERE (${key.join(', ')}) IN (SELECT * FROM ${unnested(types, name, key)})`,
    valuesOf(key, rows),
  )
}

async function insert(
  client: pg.Client,
  table: MoveTable,
  types: Types,
  rows: readonly MoveRow[],
  texts: ReadonlyMap<number, string>,
): Promise<void> {
  const { name, columns } = table
  const into = [...columns]
  const given: string[] = [...columns]
  const lists = valuesOf(columns, rows)
  if (name === 'search_docs') {
    into.push('folded', 'pieces')
    // A list of lists has to be even, so the pieces of a document come as one text.
    given.push('folded', `string_to_array(pieces, E'\\n')`)
    const indexed = rows.map(({ account, doc }) => {
      const text = texts.get(doc as number) ?? ''
      return [fold(text), own(account as number, [...piecesOf(text)]).join('\n')]
    })
    lists.push(...[0, 1].map((i) => indexed.map((each) => each[i])))
  }
  try {
    // What numbers itself keeps the numbers that it has.
    await client.query(
      `INSERT INTO ${name} (${into.join(', ')}) OVERRIDING SYSTEM VALUE
       SELECT ${given.join(', ')} FROM ${unnested(types, name, into)} AS n (${into.join(', ')})`,
      lists,
    )
  } catch (error) {
    throw unkeepable(table, rows) ?? error
  }
}

/** SQLite keeps the character NUL in a text, and PostgreSQL can't. */
function unkeepable({ name, columns, key }: MoveTable, rows: readonly MoveRow[]): Error | undefined {
  for (const row of rows) {
    const column = columns.find((each) => typeof row[each] === 'string' && row[each].includes('\0'))
    if (column === undefined) continue
    return new Error(
      `${name} (${key.map((each) => `${each} ${row[each]}`).join(', ')}) has the character NUL in ${column}, which PostgreSQL keeps in no text. Change that text where it is now, and run the same command again.`,
    )
  }
  return undefined
}

/** Everything beside the rows. Gives what is wrong with them where something is. */
async function lay(client: pg.Client, options: Options): Promise<string | undefined> {
  try {
    await layIndexes(client)
  } catch (error) {
    const { code = '', message } = error as Error & { code?: string }
    // Integrity constraint violation (https://www.postgresql.org/docs/current/errcodes-appendix.html).
    if (!code.startsWith('23')) throw error
    return message
  }
  await goOnNumbering(client)
  await client.query(`ANALYZE ${Object.keys(TABLES).join(', ')}`)
  const unsigned = await unsignedIn(readingOf(client, options))
  if (unsigned !== undefined) return unsigned
  const roles = await rolesOf(client, options.rolePrefix)
  await makeRoles(client, roles, passwordBy(options.seal))
  await client.query(`DROP TABLE ${MOVE_MARK}`)
  await nameVersion(client)
  await client.query(wallsOf(SCHEMA, roles))
  await verifySchema(client, roles)
  return undefined
}

/** What numbers its rows by itself goes on behind the last. */
async function goOnNumbering(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ table: string; column: string }>(
    `SELECT c.relname AS "table", a.attname AS "column" FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
     WHERE c.relnamespace = $1::text::regnamespace AND a.attidentity <> ''`,
    [SCHEMA],
  )
  for (const { table, column } of rows)
    await client.query(
      `SELECT setval(pg_get_serial_sequence('${SCHEMA}.${table}', '${column}'), COALESCE(MAX(${column}), 0) + 1, false) FROM ${table}`,
    )
}

/** What {@link makeTables} took away, read from the same tables built beside these. */
async function layIndexes(client: pg.Client): Promise<void> {
  const beside = `${SCHEMA}_expected`
  await client.query(`SAVEPOINT beside; CREATE SCHEMA ${beside}; SET LOCAL search_path = ${beside}`)
  await client.query(tablesOf(MIGRATIONS))
  const [laid, named] = [await indexes(client, beside), await references(client, beside)]
  await client.query('ROLLBACK TO beside')
  await client.query(`SET LOCAL maintenance_work_mem = '256MB'`)
  for (const { text } of laid) await client.query(text.replace(` ON ${beside}.`, ` ON ${SCHEMA}.`))
  for (const { table, name, text } of named)
    await client.query(`ALTER TABLE ${table} ADD CONSTRAINT ${name} ${text}`)
}
