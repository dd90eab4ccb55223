import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { newWorld, type World } from '../../test/world.ts'

let world: World
beforeEach(async () => {
  world = await newWorld()
})
afterEach(() => world.close())

const filter = { status: ['open'], due_before: 'next monday' }

describe('a saved view', () => {
  it('keeps dates as they were said, so that next week it means next week', async () => {
    const { scout } = world
    await scout.call('create_task', { title: 'Soon', due: '2026-12-05' })
    await scout.call('create_task', { title: 'Later', due: '2026-12-12' })
    expect(await scout.call('save_view', { name: 'This week', filter })).toMatchObject({
      name: 'This week',
      filter,
    })
    expect(await scout.call('list_tasks', { view: 'this week' })).toMatchObject({ total: 1 })
    world.pass(7 * 86_400_000)
    expect(await scout.call('list_tasks', { view: 'this week' })).toMatchObject({ total: 2 })
  })

  it('is replaced by its name, and the old filter stays in the history', async () => {
    const { scout } = world
    await scout.call('save_view', { name: 'Ours', filter })
    const turned = { due_before: 'next monday', status: ['open'] }
    expect(await scout.call('save_view', { name: 'Ours', filter: turned })).toMatchObject({ already: true })
    expect(await scout.call('save_view', { name: 'OURS', filter: { overdue: true } })).toMatchObject({
      replaced: true,
    })
    expect(await scout.call('list_views')).toMatchObject({
      total: 1,
      views: [{ name: 'OURS', filter: { overdue: true } }],
    })
  })

  it('takes the arguments of list_tasks and no others, and only names that exist', async () => {
    const { scout } = world
    const save = (said: Record<string, unknown>) => scout.refused('save_view', { name: 'x', filter: said })
    expect(await save({ tags: ['ops'] })).toMatchObject({
      code: 'unknown_argument',
      details: { allowed: ['labels'] },
    })
    expect(await save({ status: ['finished'] })).toMatchObject({ code: 'invalid_value' })
    expect(await save({ due_before: 'blursday' })).toMatchObject({ code: 'invalid_value' })
    expect(await save({ labels: ['ops'] })).toMatchObject({ code: 'not_found' })
    expect(await save({ assignee: 'nemo' })).toMatchObject({ code: 'not_found' })
    expect(await save({ project_id: 'P9' })).toMatchObject({ code: 'not_found' })
    expect(await scout.call('list_views')).toMatchObject({ total: 0 })
  })

  it('goes to the Trash and comes back; saved anew, it has left the Trash', async () => {
    const { scout } = world
    await scout.call('save_view', { name: 'Ours', filter })
    expect(await scout.call('delete_view', { name: 'ours' })).toMatchObject({ name: 'Ours', trash: 'X1' })
    expect(await scout.call('delete_view', { name: 'Ours' })).toMatchObject({ already: true })
    expect((await scout.refused('list_tasks', { view: 'Ours' })).message).toBe(
      'The view "Ours" is in the Trash (X1).',
    )
    await scout.call('restore_from_trash', { ids: ['Ours'] })
    expect(await scout.call('list_views')).toMatchObject({ views: [{ name: 'Ours', filter }] })
    await scout.call('delete_view', { name: 'Ours' })
    await scout.call('save_view', { name: 'Ours', filter: {} })
    expect(await scout.call('list_trash')).toMatchObject({ total: 0 })
    expect(await scout.refused('delete_view', { name: 'Hours' })).toMatchObject({
      code: 'not_found',
      details: { allowed: ['Ours'] },
    })
  })
})
