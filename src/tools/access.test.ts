import { afterEach, beforeEach, expect, it } from 'vitest'
import { newWorld, type World } from '../../test/world.ts'
import { credentialUse } from '../auth/credential-use.ts'
import type { Store } from '../store/store.ts'
import { accessLog } from './access.ts'

let world: World
beforeEach(async () => {
  world = await newWorld()
})
afterEach(() => world.close())

/** The store on a disk that is full until it is not. */
function fullDisk(store: Store): { store: Store; hasRoom(): void } {
  let full = true
  const write: Store['write'] = (...args) =>
    full ? Promise.reject(new Error('database or disk is full')) : store.write(...args)
  return {
    store: { ...store, write },
    hasRoom() {
      full = false
    },
  }
}

it('writes calls and refusals down the next time where it could not, with what came since', async () => {
  const disk = fullDisk(world.done.store)
  const access = accessLog(disk.store)
  const { actor } = world.scout
  const refusal = await world.scout.refused('get_task', { id: 'T99' })
  access.count(actor, 'get_digest', false)
  await access.refuse(actor, 'get_task', refusal)
  await expect(access.flush()).rejects.toThrow('disk is full')
  access.count(actor, 'get_digest', false)
  disk.hasRoom()
  await access.flush()
  await access.flush()
  expect(await world.look(`SELECT tool, calls FROM access WHERE tool = 'get_digest'`)).toEqual([
    { tool: 'get_digest', calls: 2 },
  ])
  expect(await world.look(`SELECT tool, code FROM refusals WHERE tool = 'get_task'`)).toEqual([
    { tool: 'get_task', code: 'not_found' },
  ])
})

it('writes the last use of a token down the next time where it could not', async () => {
  const disk = fullDisk(world.done.store)
  const uses = credentialUse(disk.store)
  const { actor } = world.scout
  const token = Number(actor.credential.split(':')[1])
  uses.saw(actor)
  await expect(uses.flush()).rejects.toThrow('disk is full')
  disk.hasRoom()
  await uses.flush()
  const at = world.done.store.now()
  expect(await world.look(`SELECT last_used_at FROM token_use WHERE token = ${token}`)).toEqual([
    { last_used_at: at },
  ])
  world.pass(1000)
  await uses.flush()
  expect(await world.look(`SELECT last_used_at FROM token_use WHERE token = ${token}`)).toEqual([
    { last_used_at: at },
  ])
})

it('writes down what a caller has named, whatever letters it has', async () => {
  await world.scout.refused('create_task', { 'not\0there': 1 })
  await world.scout.refused('no\0tool', {})
  await world.done.access.flush()
  expect(await world.look('SELECT tool FROM access ORDER BY tool')).toEqual([
    { tool: 'create_task' },
    { tool: 'no\ufffdtool' },
  ])
  expect(await world.look(`SELECT tool FROM refusals WHERE message LIKE '%not\ufffdthere%'`)).toEqual([
    { tool: 'create_task' },
  ])
})
