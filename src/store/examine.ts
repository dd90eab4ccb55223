import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Actor } from '../model/actor.ts'
import { SQLITE } from './dialect.ts'
import { type ReadTx, sqlOf } from './handle.ts'
import { MIGRATIONS, noData, verifySchema } from './migrate.ts'
import { handleIn, type Reading } from './move-reading.ts'
import { liveSessions } from './session.ts'
import { lookInto } from './sqlite.ts'
import { queriesOn } from './sqlite-engine.ts'
import { tokensOf } from './token.ts'
import { accountNumbers } from './verify.ts'

export interface ExamineOptions {
  /** Folder of the embedded database. */
  dir: string
  /** Address of a PostgreSQL database in place of it. */
  database?: string | undefined
  rolePrefix?: string | undefined
  /** A keyed hash under the key at hand; undefined where there is none. */
  seal: ((text: string) => string) | undefined
  /** Done itself in an account. */
  actorOf: (account: number) => Actor
}

/** What an operator wants to know of data that may be at work. Nothing of it is content, and nothing is changed to know it. */
export interface Examined {
  /** The database's name and version. */
  engine: string
  /** What is wrong with them, in words. */
  faults: { schema?: string; key?: string; rows?: string }
  /** The schema's version, and the one that this program knows. */
  schema: { found: number; known: number }
  /** How much the data take, in bytes; of the log beside an embedded database, too. */
  bytes: number
  logBytes: number
  /** The database server's clock, in milliseconds since the epoch, where it has one of its own. */
  serverTime?: number
  accounts: ExaminedAccount[]
}

export interface ExaminedAccount {
  id: number
  name: string
  createdAt: number
  /** When its newest event happened. */
  newest: number | undefined
  /** The time zones that it and its people are in. */
  zones: string[]
  owners: number
  /** Whether an owner has a password, a passkey, a session or a link that holds. */
  canBeEntered: boolean
  /** Tokens that never expire and hold, with when they were last used, or made where they never were. */
  lasting: { id: number; agent: string; usedAt: number }[]
}

/** Looks at the data of a place. Throws where there are none, and where they can't be opened at all. */
export async function examine(options: ExamineOptions): Promise<Examined> {
  if (options.database !== undefined) {
    const { examinePostgres } = await import('./examine-postgres.ts')
    return examinePostgres({ ...options, database: options.database })
  }
  return examineFile(options)
}

async function examineFile({ dir, seal, actorOf }: ExamineOptions): Promise<Examined> {
  const path = join(dir, 'done.db')
  if (!existsSync(path)) throw noData(dir)
  const db = lookInto(path)
  try {
    db.exec('PRAGMA busy_timeout = 5000')
    const found = Number(db.value('PRAGMA user_version'))
    const faults: Examined['faults'] = {}
    await note(faults, 'schema', () => {
      if (found === MIGRATIONS.length) verifySchema(db)
    })
    await note(faults, 'key', () => {
      if (seal && db.value('SELECT key_check FROM installation') !== seal('the key of this file'))
        throw new Error('The key is not the one that these data were begun with.')
    })
    const reading = { queries: queriesOn(db), dialect: SQLITE, seal: seal ?? String, actorOf }
    const log = `${path}-wal`
    return {
      engine: `SQLite ${db.value('SELECT sqlite_version()')}`,
      schema: { found, known: MIGRATIONS.length },
      bytes: statSync(path).size,
      logBytes: existsSync(log) ? statSync(log).size : 0,
      accounts: await accountsIn(reading, faults),
      faults,
    }
  } finally {
    db.close()
  }
}

/** Keeps the message of what throws. */
export async function note(
  faults: Examined['faults'],
  kind: keyof Examined['faults'],
  look: () => unknown,
): Promise<void> {
  try {
    await look()
  } catch (error) {
    faults[kind] = (error as Error).message
  }
}

/** What is known of the accounts; nothing where their rows can't be read, which is then a fault. */
export async function accountsIn(reading: Reading, faults: Examined['faults']): Promise<ExaminedAccount[]> {
  const accounts: ExaminedAccount[] = []
  await note(faults, 'rows', async () => {
    for (const id of await accountNumbers(handleIn(reading, 0)))
      accounts.push(await accountIn(handleIn(reading, id)))
  })
  return accounts
}

async function accountIn(tx: ReadTx): Promise<ExaminedAccount> {
  const account = await sqlOf(tx)
    .selectFrom('accounts')
    .selectAll()
    .where('id', '=', tx.account)
    .executeTakeFirstOrThrow()
  const newest = await sqlOf(tx)
    .selectFrom('events')
    .select('at')
    .where('account', '=', tx.account)
    .orderBy('at', 'desc')
    .limit(1)
    .executeTakeFirst()
  const people = await sqlOf(tx)
    .selectFrom('people')
    .select(['id', 'role', 'zone'])
    .where('account', '=', tx.account)
    .where('left_at', 'is', null)
    .execute()
  const owners = people.filter(({ role }) => role === 'owner').map(({ id }) => id)
  return {
    id: tx.account,
    name: account.name,
    createdAt: account.created_at,
    newest: newest?.at,
    zones: [...new Set([account.zone, ...people.flatMap(({ zone }) => zone ?? [])])],
    owners: owners.length,
    canBeEntered: (await whoCanEnter(tx)).some((person) => owners.includes(person)),
    lasting: (await tokensOf(tx))
      .filter(({ revoked_at, expires_at }) => revoked_at === null && expires_at === null)
      .map(({ id, agent_name: agent, last_used_at, created_at }) => ({
        id,
        agent,
        usedAt: last_used_at ?? created_at,
      })),
  }
}

/** People who have something to sign in with, or are signed in. */
async function whoCanEnter(tx: ReadTx): Promise<number[]> {
  const passwords = await sqlOf(tx)
    .selectFrom('passwords')
    .select('person')
    .where('account', '=', tx.account)
    .where('replaced_at', 'is', null)
    .execute()
  const passkeys = await sqlOf(tx)
    .selectFrom('passkeys')
    .select('person')
    .where('account', '=', tx.account)
    .where('removed_at', 'is', null)
    .execute()
  const links = await sqlOf(tx)
    .selectFrom('sign_in_links')
    .select('person')
    .where('account', '=', tx.account)
    .where('used_at', 'is', null)
    .where('expires_at', '>', tx.now)
    .execute()
  return [...passwords, ...passkeys, ...links, ...(await liveSessions(tx))].map(({ person }) => person)
}
