import { afterEach, beforeEach, expect, it } from 'vitest'
import { forge } from '../../test/past.ts'
import { newWorld, type World } from '../../test/world.ts'
import { systemActor } from '../tools/access.ts'
import { reopenUnsigned, unsignedClosings } from './verify.ts'

let world: World
beforeEach(async () => {
  world = await newWorld()
})
afterEach(() => world.close())

const unsigned = async () =>
  (await world.done.store.read(systemActor(1), 'verify', unsignedClosings)).map((task) => task.id)

it('finds what was closed, swapped or signed past the program, and puts it back to open', async () => {
  const { scout, ana } = world
  for (const title of ['One', 'Two', 'Three', 'Four', 'Free']) await scout.call('create_task', { title })
  await world.autoOk('T5')
  for (const id of ['T1', 'T2', 'T5']) await ana.call('complete_task', { id })
  await ana.call('update_task', { id: 'T2', description: 'A note after the fact.' })
  expect(await unsigned()).toEqual([])

  await forge(world, `UPDATE tasks SET status = 'done', closed_at = 1, closed_by = 'U1' WHERE id = 3`)
  await forge(world, `UPDATE tasks SET title = 'Another', content_hash = 'forged' WHERE id = 1`)
  await forge(
    world,
    `INSERT INTO sign_offs SELECT account, 90, 4, NULL, content_version, content_hash, 'done', 'U1', 's', 'console_link',
    'person', NULL, 'tx', 'forged', 5 FROM tasks WHERE id = 4; UPDATE tasks SET status = 'done', closed_at = 5 WHERE id = 4`,
  )
  expect(await unsigned()).toEqual([1, 3, 4])

  expect(await world.done.store.write(systemActor(1), 'verify', reopenUnsigned)).toEqual([1, 3, 4])
  expect(await unsigned()).toEqual([])
  const { tasks } = await scout.call('list_tasks', { status: ['open'] })
  expect(tasks.map((task: { id: string }) => task.id).sort()).toEqual(['T1', 'T3', 'T4'])
  const { notifications } = await ana.call('list_notifications')
  expect(notifications.filter((each: { kind: string }) => each.kind === 'reopened')).toHaveLength(3)
})
