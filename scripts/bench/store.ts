import { randomInt } from 'node:crypto'
import { join } from 'node:path'
import { ensureAccount, ensureAgent, issueToken } from '../../src/auth/console.ts'
import { type Done, openDone } from '../../src/done.ts'
import type { AgentActor } from '../../src/model/actor.ts'
import { openSqlite, type SqliteConnection } from '../../src/store/sqlite.ts'
import { words } from './figures.ts'
import { type Recipe, type Recording, recipeOf, type Texts } from './recipe.ts'
import { type Recorded, recordSqlite, type Tape } from './record.ts'

/** An open Done in this process, with an agent to call as. */
export interface Opened {
  done: Done
  account: number
  actor: AgentActor
  call(name: string, args: Record<string, unknown>): Promise<Record<string, unknown>>
}

export interface Where {
  dir: string
  /** A PostgreSQL address; the embedded database where it is left out. */
  database?: string
  /** The key that seals sign-offs there; by default it lies in the folder. */
  sealKey?: string
}

/** Opens a store, with its account, as the agent named bench. */
export async function open({ dir, ...database }: Where, clock?: () => number): Promise<Opened> {
  const done = await openDone({
    dataDir: dir,
    site: () => '',
    ...(clock ? { clock } : {}),
    ...database,
  })
  const account = await ensureAccount(done.store, { owner: 'Ana', zone: () => 'UTC' })
  const actor = await ensureAgent(done.store, account, 'bench')
  return { done, account, actor, call: (name, args) => done.call(actor, name, args) }
}

/** A token of an agent of that name. */
export const tokenOf = ({ done, account }: Opened, name: string): Promise<string> =>
  issueToken(done.store, account, name, { scopes: 'read write' })

/** Title and description of a task with that number. */
export const textsOf = (number: number): Texts => ({
  title: `task ${number}: ${words(4)}`,
  description: words(12),
})

/** The number of a random task out of so many. */
export const anyOf = (size: number): string => `T${1 + randomInt(size)}`

/** Two create_task in a row, each with texts that stand nowhere else and a clock that stands still meanwhile. */
export async function recordCreates(
  where: Where,
  take: () => Recorded[],
): Promise<{ opened: Recorded[]; calls: [Recording, Recording] }> {
  let now = Date.now()
  const store = await open(where, () => now)
  // Caches, counters and connections are as they are in use.
  for (let i = 0; i < 3; i++) await store.call('create_task', { ...textsOf(i) })
  const opened = take()
  const record = async (texts: Texts): Promise<Recording> => {
    now += 1013
    take()
    await store.call('create_task', { ...texts })
    return { ...texts, now, statements: take() }
  }
  const calls: [Recording, Recording] = [
    await record({ title: 'qone', description: 'qtwo qthree' }),
    await record({ title: 'qfour', description: 'qfive qsix' }),
  ]
  await store.done.close()
  return { opened, calls }
}

/** A way to write tasks on a connection of its own, by the statements that the store itself ran. */
export interface Raw {
  db: SqliteConnection
  /** One task's statements; the caller begins and commits. */
  create(texts: Texts): void
  /** The same, of the statements that change something alone. */
  fill(texts: Texts): void
  close(): void
}

/** Records two creations in a folder (which then holds five tasks) and opens it bare. */
export async function openRaw(dir: string): Promise<Raw> {
  const tape = recordSqlite()
  const { opened, calls } = await recordCreates({ dir }, tape.take)
  tape.stop()
  const acting = actingFunctions(tape)
  const db = openSqlite(join(dir, 'done.db'), 'write')
  for (const { sql } of opened) if (WRITER_PRAGMA.test(sql)) db.exec(sql)
  for (const [name, answer] of acting) db.define(name, () => answer)
  const whole = recipeOf(...calls)
  const writes = recipeOf(...calls, ({ changed, sql }) => changed || sql.includes('from "counters"'))
  const run = (sql: string, parameters: unknown[]) => {
    const statement = db.prepare(sql)
    if (statement.reader) return statement.all(parameters) as Record<string, unknown>[]
    statement.run(parameters)
    return []
  }
  const by = (recipe: Recipe) => (texts: Texts) => recipe.make(texts, run)
  return { db, create: by(whole), fill: by(writes), close: () => db.close() }
}

const WRITER_PRAGMA =
  /^PRAGMA (journal_mode|synchronous|foreign_keys|recursive_triggers|trusted_schema|mmap_size|cache_size|temp_store|wal_autocheckpoint|journal_size_limit) *=/i

/** The triggers ask who acts; a bare connection answers as an agent's write would. */
function actingFunctions({ functions }: Tape): Map<string, string> {
  const answers: Record<string, string> = { done_actor: 'agent', done_effect: 'write', done_tx: 'bench' }
  return new Map([...functions].map((name) => [name, answers[name] ?? '']))
}

/** How many tasks share a commit while a store is filled. */
const FILL_BATCH = 5000

/**
 * Fills a fresh folder with so many tasks, numbered from 1, by the writes of create_task itself in large transactions:
 * every derived row, index and counter is as the calls would have left it.
 */
export async function fillBare(dir: string, size: number): Promise<void> {
  const raw = await openRaw(dir)
  raw.db.exec('PRAGMA synchronous = OFF')
  for (let made = 5; made < size; made += FILL_BATCH) {
    raw.db.exec('BEGIN IMMEDIATE')
    for (let i = made; i < Math.min(size, made + FILL_BATCH); i++) raw.fill(textsOf(i + 1))
    raw.db.exec('COMMIT')
  }
  raw.close()
}

/** Fills a fresh folder with just these tasks, by real calls. */
export async function fillTexts(dir: string, tasks: readonly Texts[]): Promise<void> {
  const store = await open({ dir })
  for (let i = 0; i < tasks.length; i += 100)
    await store.call('create_tasks', { tasks: tasks.slice(i, i + 100).map((texts) => ({ ...texts })) })
  await store.done.close()
}

/** Looks through the front door whether the filled store is what it should be; throws where it is not. */
export async function verifyFilled({ call }: Opened, size: number): Promise<void> {
  const { counts } = (await call('count_tasks', { group_by: 'status' })) as { counts: { count: number }[] }
  const total = counts.reduce((sum, { count }) => sum + count, 0)
  if (total !== size) throw new Error(`${total} tasks are counted instead of ${size}.`)
  for (let i = 0; i < 20; i++) {
    const id = `T${6 + randomInt(size - 5)}`
    const task = (await call('get_task', { id })) as { title: string; description: string }
    if (!task.title.startsWith(`task ${id.slice(1)}: `)) throw new Error(`${id} is "${task.title}".`)
    const query = task.title.split(' ').slice(1, 4).join(' ').replace(':', '')
    const found = JSON.stringify(await call('search', { query }))
    if (!found.includes(`"${id}"`)) throw new Error(`search does not find ${id} by "${query}".`)
  }
}
