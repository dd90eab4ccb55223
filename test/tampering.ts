import { join } from 'node:path'
import { openSqlite } from '../src/store/sqlite.ts'
import { triggers } from '../src/store/triggers.ts'
import { asAdmin } from './database.ts'
import type { World } from './world.ts'

/** The hand of whoever owns the database: no trigger, role or reference stops it. What it did can be taken back. */
export interface Owner {
  run(script: string): Promise<void>
  rows(query: string): Promise<Record<string, unknown>[]>
  /** Puts all rows of these tables back to what they were when this began. */
  takeBack(): Promise<void>
  close(): void
}

/** Lays every trigger and reference aside on a world's database; rows of `tables` are kept to be put back. */
export async function ownerOf(world: World, tables: readonly string[]): Promise<Owner> {
  const { database } = world.database
  const putBack = tables.map(
    (table) => `DELETE FROM ${table}; INSERT INTO ${table} SELECT * FROM kept.${table}`,
  )
  if (database !== undefined) {
    const free = 'SET search_path = done; SET session_replication_role = replica'
    const keep = tables.map((table) => `CREATE TABLE kept.${table} AS TABLE done.${table}`)
    await asAdmin(
      database,
      `${free}; DROP SCHEMA IF EXISTS kept CASCADE; CREATE SCHEMA kept; ${keep.join('; ')}`,
    )
    return {
      run: async (script) => void (await asAdmin(database, script)),
      rows: async (query) => (await asAdmin(database, query)).at(-1)!,
      takeBack: async () => void (await asAdmin(database, putBack.join('; '))),
      close: () => void asAdmin(database, 'RESET session_replication_role'),
    }
  }
  const shell = openSqlite(join(world.dir, 'done.db'), 'write')
  shell.exec('PRAGMA busy_timeout = 5000; PRAGMA foreign_keys = OFF; PRAGMA synchronous = OFF')
  for (const text of triggers()) shell.exec(`DROP TRIGGER ${/CREATE TRIGGER (\w+)/.exec(text)![1]}`)
  shell.exec(`ATTACH ':memory:' AS kept`)
  for (const table of tables) shell.exec(`CREATE TABLE kept.${table} AS SELECT * FROM main.${table}`)
  const whole = (script: string) => {
    shell.exec('BEGIN IMMEDIATE')
    try {
      shell.exec(script)
      shell.exec('COMMIT')
    } catch (error) {
      shell.exec('ROLLBACK')
      throw error
    }
  }
  const inMain = putBack.map((text) => text.replace(/(DELETE FROM|INSERT INTO) /g, '$1 main.'))
  return {
    run: async (script) => whole(script),
    rows: async (query) => shell.prepare(query).all([]) as Record<string, unknown>[],
    takeBack: async () => whole(inMain.join('; ')),
    close: () => shell.close(),
  }
}

/** Numbers by chance that are the same at each run (mulberry32). */
export function chance(seed: number): { below(most: number): number; of<T>(list: readonly T[]): T } {
  let state = seed
  const next = () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
  const below = (most: number) => Math.floor(next() * most)
  return { below, of: (list) => list[below(list.length)]! }
}
