import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ATTACKS, attackedWorld } from '../../test/attacks.ts'
import { onPostgres } from '../../test/database.ts'
import { without } from '../../test/past.ts'
import { sampleWorld } from '../../test/sample.ts'
import type { World } from '../../test/world.ts'
import { sqlOf } from './handle.ts'
import { CONTENT_TABLES } from './tables.ts'
import { rules } from './triggers.ts'

const names = rules().map(({ name }) => name)

/**
 * What PostgreSQL refuses without the trigger as well: nobody was granted to change or remove a sign-off, and it has no
 * REPLACE, which takes the place of a row with the same key.
 */
const HELD_TWICE = new Set(['gate_sign_off_update', 'gate_sign_off_delete', 'gate_task_id_is_new'])

/** Thrown when a statement went through, so that it is rolled back and the next one finds the same account. */
class Passed extends Error {}

/** Whether the store lets a statement through with this hand. Nothing of it stays. */
async function passes(
  world: World,
  kind: 'agent' | 'system' | 'person',
  effect: 'write' | 'destroy',
  statement: string,
): Promise<boolean> {
  const actor =
    kind === 'person' ? world.ana.actor : ({ ...world.scout.actor, kind } as typeof world.scout.actor)
  try {
    return await world.done.store[effect](actor, 'test', async (tx) => {
      const { numAffectedRows } = await sql.raw(statement).execute(sqlOf(tx))
      // What changed no row is taken back as well: a table of the connection's own would stand in the way of what follows.
      throw numAffectedRows === 0n ? new Error('No row was changed.') : new Passed()
    })
  } catch (error) {
    return error instanceof Passed
  }
}

describe('mutants: each trigger of the gate taken out in turn', () => {
  let world: World
  let refused: { hand: 'agent' | 'system' | 'person'; statement: string; way: string }[]

  beforeAll(async () => {
    world = await attackedWorld()
    refused = []
    for (const hand of ['agent', 'system', 'person'] as const) {
      for (const [way, statement] of ATTACKS) {
        if (!(await passes(world, hand, 'destroy', statement))) refused.push({ hand, statement, way })
      }
    }
  })
  afterAll(() => world.close())

  it.each(names.filter((name) => name.startsWith('gate_')))(
    '%s: an attack gets through without it',
    async (name) => {
      const through: string[] = []
      await without(world, name, async () => {
        for (const { hand, statement, way } of refused) {
          if (await passes(world, hand, 'destroy', statement)) through.push(`${hand}: ${way}`)
        }
      })
      if (onPostgres() && HELD_TWICE.has(name)) return expect(through).toEqual([])
      expect(through.length).toBeGreaterThan(0)
    },
  )
})

describe('the promise of a call that is not destructive', () => {
  let world: World
  beforeAll(async () => {
    world = await sampleWorld()
  })
  afterAll(() => world.close())

  const columns = Object.entries(CONTENT_TABLES).flatMap(([table, declared]) =>
    Object.entries(declared).map(([column, { role }]) => ({ table, column, role })),
  )

  it.each(columns.filter(({ role }) => role === 'authored'))(
    '$table $column is not replaced',
    async ({ table, column }) => {
      const filled = `${column} IS NOT NULL AND CAST(${column} AS TEXT) <> ''`
      const other = await anotherValue(world, table, column)
      expect(
        await passes(world, 'person', 'write', `UPDATE ${table} SET ${column} = ${other} WHERE ${filled}`),
      ).toBe(false)
    },
  )

  it.each(columns.filter(({ role }) => role === 'hides'))(
    'no row of $table is hidden by $column',
    async ({ table, column }) => {
      expect(
        await passes(world, 'person', 'write', `UPDATE ${table} SET ${column} = '1' WHERE ${column} IS NULL`),
      ).toBe(false)
    },
  )

  it.each(Object.keys(CONTENT_TABLES).filter((table) => !['replies', 'search_docs'].includes(table)))(
    'no row of %s goes',
    async (table) => {
      expect(await passes(world, 'person', 'write', `DELETE FROM ${table}`)).toBe(false)
      expect(await passes(world, 'agent', 'destroy', `DELETE FROM ${table}`)).toBe(false)
    },
  )
})

/** SQL for a value of the column's type that is not the one that stands there. */
async function anotherValue(world: World, table: string, column: string): Promise<string> {
  const [declared] = await world.look<{ type: string }>(
    onPostgres()
      ? `SELECT data_type AS type FROM information_schema.columns WHERE table_schema = 'done' AND table_name = '${table}' AND column_name = '${column}'`
      : `SELECT lower(type) AS type FROM pragma_table_info('${table}') WHERE name = '${column}'`,
  )
  const { type } = declared!
  if (type === 'integer' || type === 'bigint') return `${column} + 1`
  if (type === 'blob' || type === 'bytea') return `substr(${column}, 2)`
  return `${column} || '!'`
}
