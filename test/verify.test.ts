import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { seal } from '../src/jobs/seal.ts'
import { environmentOf } from './database.ts'
import { forge, without } from './past.ts'
import { donectl } from './process.ts'
import { newWorld, type World } from './world.ts'

let world: World
beforeEach(async () => {
  world = await newWorld()
  await world.scout.call('create_task', { title: 'One' })
  await world.scout.call('create_task', { title: 'Two', steps: [{ title: 'First' }] })
  await world.ana.call('complete_task', { id: 'T1' })
  await seal(world.done.store, world.done.heads)
})
afterEach(() => world.close())

const verify = () => donectl(['verify', '--data', world.dir], environmentOf(world.database))

describe('donectl verify', () => {
  it('says what it looked at, and that it holds', async () => {
    const { code, stdout } = await verify()
    expect(stdout).toMatch(/the schema with its triggers and the key are the right ones\./)
    expect(stdout).toMatch(
      /Account 1: \d+ events in 1 seals \(0 not sealed yet\), closed tasks that needed a person: 1; everything holds\./,
    )
    expect(code).toBe(0)
  })

  it.each([
    ['an event', `UPDATE events SET actor = 'G2' WHERE id = 5`, /Account 1: event 5 was altered/],
    ['an event that is gone', 'DELETE FROM events WHERE id = 5', /Account 1: event 5 is missing/],
    ['a sign-off', `UPDATE sign_offs SET approver = 'U2'`, /Account 1: sign-off 1, of T1, was altered/],
    ['a sign-off that is gone', 'DELETE FROM sign_offs', /Account 1: sign-off 1 is missing/],
    ['a task', `UPDATE tasks SET title = 'Other' WHERE id = 1`, /Account 1: the content of T1 was altered/],
    ['a step', `UPDATE steps SET status = 'skipped'`, /Account 1: the content of T2 was altered/],
  ])('names %s', async (_says, script, place) => {
    await forge(world, script)
    const { code, stdout } = await verify()
    expect(stdout).toMatch(place)
    expect(code).toBe(1)
  })

  it('names a trigger that is missing or altered', async () => {
    const { code, stdout, stderr } = await without(world, 'gate_close', verify)
    expect(stderr).toMatch(/The schema was altered: .*trigger gate_close/)
    expect(stderr).not.toMatch(/ at .*\.[jt]s:\d/)
    expect([code, stdout]).toEqual([1, ''])
  })

  it('says that the key is another one', async () => {
    await forge(world, `UPDATE installation SET key_check = 'x'`)
    const { code, stderr } = await verify()
    expect(stderr).toMatch(/The key that seals sign-offs is not the one/)
    expect(code).toBe(1)
  })
})

describe('a log of which the newest part was cut off', () => {
  const cut = () =>
    forge(
      world,
      `DELETE FROM seals; DELETE FROM events WHERE id > 5; UPDATE counters SET last = 5 WHERE account = 1 AND kind = 'event'`,
    )

  it('is found by verify, starts no server, and is sealed no further', async () => {
    await cut()
    expect((await verify()).stdout).toMatch(
      /the newest part of the log is missing: seal 1, up to event \d+, was seen/,
    )
    const started = await donectl(
      ['serve', '--data', world.dir, '--port', '0'],
      environmentOf(world.database),
    )
    expect(started.stderr).toMatch(/In account 1 the newest part of the log is missing/)
    expect(started.code).toBe(1)
    await world.scout.call('create_task', { title: 'Three' })
    const { store, heads } = world.done
    await expect(seal(store, heads)).rejects.toThrow(/The log is not sealed any further: in account 1/)
    rmSync(heads.path)
    expect(await seal(store, heads)).toBeGreaterThan(0)
  })

  it('can’t be told from a torn file beside the database, which is said', async () => {
    const { path } = world.done.heads
    expect(JSON.parse(readFileSync(path, 'utf8'))).toMatchObject({ 1: { id: 1 } })
    writeFileSync(path, '{"1":')
    expect((await verify()).stderr).toMatch(/log\.head can’t be read/)
  })
})

it('holds while two processes write and seal the same log', async () => {
  const other = await world.another()
  const both = [world.done, other]
  for (let round = 0; round < 5; round++) {
    await Promise.all(
      both.flatMap((done, i) =>
        Array.from({ length: 10 }, (_, n) =>
          done.call(world.scout.actor, 'create_task', { title: `${round} ${i} ${n}` }),
        ),
      ),
    )
    await Promise.all(both.map(({ store, heads }) => seal(store, heads)))
  }
  await other.close()
  const { code, stdout } = await verify()
  expect(stdout).toMatch(/\(0 not sealed yet\).*everything holds/)
  expect(code).toBe(0)
  expect(join(world.dir, 'log.head')).toBe(world.done.heads.path)
})
