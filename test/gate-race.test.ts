import { expect, it } from 'vitest'
import { AppError } from '../src/model/error.ts'
import { approve } from '../src/store/approval.ts'
import { newestRequestOf } from '../src/store/request.ts'
import { taskById } from '../src/store/task.ts'
import { unsignedClosings } from '../src/store/verify.ts'
import { systemActor } from '../src/tools/access.ts'
import { times } from './times.ts'
import { newWorld } from './world.ts'

const ROUNDS = times(100, 2000)

/**
 * Ways 15 to 17: approve, change, reopen and close at once, through three stores on one file, as three processes have them.
 * Whatever comes first, nothing is closed but by a sign-off of exactly what then stands.
 */
it(`${ROUNDS} races of approve, change, reopen and close: none closed wrongly`, {
  timeout: 600_000,
}, async () => {
  const world = await newWorld()
  const others = await Promise.all([1, 2].map(() => world.another()))
  const [second, third] = [others[0]!, others[1]!]
  const settle = async (calls: Promise<unknown>[]) => {
    for (const each of await Promise.allSettled(calls)) {
      if (each.status === 'rejected' && !(each.reason instanceof AppError)) throw each.reason
    }
  }
  let approved = 0
  for (let round = 1; round <= ROUNDS; round++) {
    const { id } = await world.scout.call('create_task', { title: `Round ${round}` })
    await world.scout.call('complete_task', { id })
    const number = Number(String(id).slice(1))
    const page = await world.done.store.read(world.ana.actor, 'test', (tx) => taskById(tx, number))
    const sign = (store: typeof second.store) =>
      store.write(world.ana.actor, 'sign_off', async (tx) => {
        const request = await newestRequestOf(tx, number)
        return approve(tx, request!, { version: page.content_version, hash: page.content_hash })
      })
    await settle([
      sign(world.done.store),
      second.call(world.scout.actor, 'update_task', { id, title: `Something else ${round}` }),
      third.call(world.scout.actor, round % 2 ? 'reopen_task' : 'complete_task', { id }),
      sign(second.store),
      third.call(world.builder.actor, 'add_step', { task_id: id, title: 'One more' }),
    ])
    const task = await world.done.store.read(world.ana.actor, 'test', (tx) => taskById(tx, number))
    if (task.status === 'done') {
      approved++
      expect(task.title, 'what was signed is what stands').toBe(`Round ${round}`)
      expect(task.content_hash).toBe(page.content_hash)
    }
  }
  expect(await world.done.store.read(systemActor(1), 'verify', unsignedClosings)).toEqual([])
  console.log(`gate races: ${ROUNDS} rounds, ${approved} signed off, none closed wrongly`)
  for (const other of others) await other.close()
  await world.close()
})
