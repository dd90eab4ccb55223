import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { onPostgres } from '../../test/database.ts'
import { newWorld, type World } from '../../test/world.ts'
import { openDone } from '../done.ts'
import type { StoredEvent } from '../model/event.ts'
import { emit, sqlOf, type WriteTx } from './handle.ts'
import { migrate } from './migrate.ts'
import { first } from './migrations/0001-first.ts'
import { insertRow } from './row.ts'
import { openSqlite } from './sqlite.ts'
import { TABLES } from './tables.ts'

let world: World
beforeEach(async () => {
  world = await newWorld()
})
afterEach(() => world.close())

const store = () => world.done.store

describe('the write queue', () => {
  it('rolls back the one that failed and keeps the others of its batch', async () => {
    const writes = Array.from({ length: 40 }, (_, i) =>
      store().write(world.scout.actor, 'test', async (tx) => {
        await emit(tx, { kind: 'created', data: { i } })
        await Promise.resolve()
        if (i % 4 === 0) throw new Error(`job ${i}`)
        return i
      }),
    )
    const outcomes = await Promise.allSettled(writes)
    expect(outcomes.filter((each) => each.status === 'rejected')).toHaveLength(10)
    const stored = await countEvents(`data LIKE '%"i":%'`)
    expect(stored).toBe(30)
  })

  it('keeps the others also where what nobody waited for has failed', async () => {
    const note = (id: number) => ({
      account: world.account,
      id,
      task: 1,
      step: null,
      run: null,
      kind: 'summary' as const,
      text: `Note ${id}`,
      by: 'G1' as const,
      at: 0,
    })
    // The fourth takes a number that the third has taken.
    const outcomes = await Promise.allSettled(
      [1, 2, 3, 3, 4, 5].map((id) =>
        store().write(world.scout.actor, 'test', async (tx) => {
          await emit(tx, { kind: 'created', data: { id } })
          await insertRow(tx, 'notes', note(id))
          return id
        }),
      ),
    )
    expect(outcomes.map(({ status }) => status)).toEqual([
      'fulfilled',
      'fulfilled',
      'fulfilled',
      'rejected',
      'fulfilled',
      'fulfilled',
    ])
    expect((await rows<{ id: number }>('SELECT id FROM notes ORDER BY id')).map(({ id }) => id)).toEqual([
      1, 2, 3, 4, 5,
    ])
    expect(await countEvents(`data LIKE '%"id":%'`)).toBe(5)
  })

  it('tells nobody before the commit, and gives numbers without gaps', async () => {
    const before = await countEvents('1 = 1')
    await Promise.all(
      Array.from({ length: 70 }, () => world.scout.call('create_task', { title: 'One of many' })),
    )
    const { total } = await world.scout.call('list_tasks', { limit: 1 })
    expect(total).toBe(70)
    const ids = await rows<{ id: number }>('SELECT id FROM events ORDER BY id')
    expect(ids.map(({ id }) => id)).toEqual(Array.from({ length: before + 70 }, (_, i) => i + 1))
  })

  it('tells of events in their order, once, and not of what was rolled back', async () => {
    const heard: StoredEvent[] = []
    const stop = await store().onEvents(world.account, (events) => heard.push(...events))
    await world.scout.call('create_task', { title: 'First' })
    await world.scout.refused('update_tasks', { ids: ['T1', 'T9'], patch: { priority: 'high' } })
    await world.scout.call('create_task', { title: 'Second' })
    await new Promise((resolve) => setTimeout(resolve, 120))
    stop()
    expect(heard.map(({ kind, task }) => [kind, task])).toEqual([
      ['created', 1],
      ['created', 2],
    ])
  })

  it('hears of the commits of another process on the same file', async () => {
    const other = await world.another()
    const heard: StoredEvent[] = []
    const stop = await store().onEvents(world.account, (events) => heard.push(...events))
    await other.call(world.scout.actor, 'create_task', { title: 'From elsewhere' })
    await new Promise((resolve) => setTimeout(resolve, 200))
    stop()
    await other.close()
    expect(heard.map(({ kind }) => kind)).toEqual(['created'])
  })
})

describe('the engine itself', () => {
  it('refuses every write on a connection that reads', async () => {
    const smuggled = store().read(world.scout.actor, 'test', (tx) =>
      sql`INSERT INTO counters VALUES (1, 'task', 99)`.execute(sqlOf(tx as WriteTx)),
    )
    await expect(smuggled).rejects.toThrow(/readonly|read-only/)
  })

  it('refuses to replace or hide anything in a call that was not declared destructive', async () => {
    await world.scout.call('create_task', { title: 'Mine', due: '2026-12-01' })
    const attempts = [
      `UPDATE tasks SET priority = 0 WHERE id = 1`,
      `UPDATE tasks SET due = NULL WHERE id = 1`,
      `UPDATE tasks SET trash = 1 WHERE id = 1`,
      `UPDATE people SET name = 'Eve'`,
      `UPDATE agents SET name = 'eve' WHERE id = 1`,
      `DELETE FROM events`,
      `DELETE FROM agents`,
    ]
    for (const statement of attempts) {
      const additive = store().write(world.ana.actor, 'test', (tx) => sql.raw(statement).execute(sqlOf(tx)))
      await expect(additive, statement).rejects.toThrow(/effect: |not destructive|only a person purges/)
    }
    expect(await world.scout.call('get_task', { id: 'T1' })).toMatchObject({
      due: '2026-12-01',
      priority: 'normal',
    })
  })

  it('fills a column that was empty in any write', async () => {
    await world.scout.call('create_task', { title: 'Mine' })
    await store().write(world.scout.actor, 'test', (tx) =>
      sql`UPDATE tasks SET estimate = 5 WHERE id = 1`.execute(sqlOf(tx)),
    )
    expect(await world.scout.call('get_task', { id: 'T1' })).toMatchObject({ estimate: 5 })
  })
})

describe.skipIf(onPostgres())('the key that seals sign-offs', () => {
  it('is made once, and a database does not open without it or with another', async () => {
    await world.done.close()
    const path = join(world.dir, 'seal.key')
    const key = readFileSync(path, 'utf8')
    const open = () => openDone({ dataDir: world.dir, site: () => '' })
    writeFileSync(path, 'ab'.repeat(32))
    await expect(open()).rejects.toThrow(/not the one that this data folder was begun with/)
    rmSync(path)
    await expect(open()).rejects.toThrow(/missing or holds no key/)
    writeFileSync(path, key)
    await (await open()).close()
    world = await newWorld()
  })
})

describe.skipIf(onPostgres())('the file', () => {
  it('is its owner’s alone', () => {
    for (const name of readdirSync(world.dir))
      expect(statSync(join(world.dir, name)).mode & 0o077, name).toBe(0)
  })

  it('has exactly the tables and columns that are declared', async () => {
    const columns = await rows<{ name: string }>(
      `SELECT m.name || '.' || c.name AS name FROM sqlite_schema m, pragma_table_info(m.name) c
       WHERE m.type = 'table' AND m.name NOT LIKE 'search_words%' AND m.name NOT LIKE 'search_parts%' AND m.name NOT LIKE 'sqlite_%'`,
    )
    const declared = Object.entries(TABLES).flatMap(([table, names]) =>
      Object.keys(names).map((name) => `${table}.${name}`),
    )
    expect(columns.map(({ name }) => name).sort()).toEqual(declared.sort())
  })

  it('is copied before a migration, and refused when a newer program wrote it', async () => {
    await world.done.close()
    const path = join(world.dir, 'done.db')
    const db = openSqlite(path, 'write')
    migrate(db, path, 42, [first, { sqlite: 'CREATE TABLE later (id INTEGER)', postgres: '' }])
    expect(db.value('PRAGMA user_version')).toBe(2)
    db.close()
    expect(readdirSync(world.dir)).toContain('done.db.schema-1.42.backup')
    expect(statSync(join(world.dir, 'done.db.schema-1.42.backup')).mode & 0o077).toBe(0)
    await expect(openDone({ dataDir: world.dir, site: () => '' })).rejects.toThrow(/newer Done/)
    const copy = openSqlite(join(world.dir, 'done.db.schema-1.42.backup'), 'read')
    expect(copy.value('PRAGMA user_version')).toBe(1)
    copy.close()
    world = await newWorld()
  })
})

function rows<T>(statement: string): Promise<T[]> {
  return store().read(
    world.scout.actor,
    'test',
    async (tx) => (await sql<T>`${sql.raw(statement)}`.execute(sqlOf(tx))).rows,
  )
}

async function countEvents(where: string): Promise<number> {
  const [row] = await rows<{ n: number }>(`SELECT COUNT(*) AS n FROM events WHERE ${where}`)
  return row!.n
}
