import { expect, it } from 'vitest'
import { newWorld } from '../../test/world.ts'
import { formFor, requireForm } from './form.ts'
import { requestById } from './request.ts'
import { taskById } from './task.ts'

it('a form is good for 15 minutes, in its session, for its request and content', async () => {
  const world = await newWorld()
  const { scout, ana } = world
  await scout.call('create_tasks', { tasks: [{ title: 'One' }, { title: 'Two' }] })
  await scout.call('complete_task', { id: 'T1' })
  await scout.call('complete_task', { id: 'T2' })
  const read = world.done.store.read
  const form = await read(ana.actor, 'test', async (tx) =>
    formFor(tx, await requestById(tx, 1), await taskById(tx, 1)),
  )
  const check = (who = ana, request = 1, shown = form) =>
    read(who.actor, 'test', async (tx) => requireForm(tx, await requestById(tx, request), shown))

  await expect(check()).resolves.toBeUndefined()
  await expect(check(await world.signInAgain())).rejects.toThrow('not one that this session was shown')
  await expect(check(ana, 2)).rejects.toThrow('not one that this session was shown')
  await expect(check(ana, 1, { ...form, version: form.version + 1 })).rejects.toThrow('not one that')
  world.pass(15 * 60_000)
  await expect(check()).resolves.toBeUndefined()
  world.pass(1)
  await expect(check()).rejects.toThrow('older than 15 minutes')
  await world.close()
})
