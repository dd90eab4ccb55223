import { join } from 'node:path'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ATTACKS, attackedWorld } from '../../test/attacks.ts'
import { sampleWorld } from '../../test/sample.ts'
import type { World } from '../../test/world.ts'
import { sqlOf } from './handle.ts'
import { openSqlite } from './sqlite.ts'
import { CONTENT_TABLES } from './tables.ts'
import { triggers } from './triggers.ts'

const names = triggers().map((text) => /CREATE TRIGGER (\w+)/.exec(text)![1]!)

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
    await world.done.store[effect](actor, 'test', async (tx) => {
      const { numAffectedRows } = await sql.raw(statement).execute(sqlOf(tx))
      if (numAffectedRows !== 0n) throw new Passed()
    })
    return false
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
      const shell = openSqlite(join(world.dir, 'done.db'), 'write')
      shell.exec('PRAGMA busy_timeout = 5000')
      const text = triggers().find((each) => each.startsWith(`CREATE TRIGGER ${name} `))!
      shell.exec(`DROP TRIGGER ${name}`)
      const through: string[] = []
      for (const { hand, statement, way } of refused) {
        if (await passes(world, hand, 'destroy', statement)) through.push(`${hand}: ${way}`)
      }
      shell.exec(text)
      shell.close()
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
      const filled = `${column} IS NOT NULL AND ${column} <> ''`
      const other = `CASE typeof(${column}) WHEN 'integer' THEN ${column} + 1 WHEN 'blob' THEN x'00' ELSE ${column} || '!' END`
      expect(
        await passes(world, 'person', 'write', `UPDATE ${table} SET ${column} = ${other} WHERE ${filled}`),
      ).toBe(false)
    },
  )

  it.each(columns.filter(({ role }) => role === 'hides'))(
    'no row of $table is hidden by $column',
    async ({ table, column }) => {
      expect(
        await passes(world, 'person', 'write', `UPDATE ${table} SET ${column} = 1 WHERE ${column} IS NULL`),
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
