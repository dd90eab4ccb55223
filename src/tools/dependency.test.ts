import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { newWorld, type World } from '../../test/world.ts'

let world: World
beforeEach(async () => {
  world = await newWorld()
  for (const title of ['Design', 'Build', 'Publish', 'Celebrate'])
    await world.scout.call('create_task', { title })
  await world.scout.call('add_dependency', { id: 'T2', depends_on: ['T1'] })
  await world.scout.call('add_dependency', { id: 'T3', depends_on: ['T2'] })
})
afterEach(() => world.close())

const ids = (rows: { id: string }[]) => rows.map((row) => row.id)

describe('a dependency', () => {
  it('points the right way (R77)', async () => {
    const { scout } = world
    const middle = await scout.call('list_dependencies', { id: 'T2' })
    expect(ids(middle.waits_for)).toEqual(['T1'])
    expect(ids(middle.waited_for_by)).toEqual(['T3'])
    expect(await scout.call('get_task', { id: 'T2' })).toMatchObject({
      waits_for: [{ id: 'T1' }],
      waited_for_by: ['T3'],
      cannot: { start_run: 'it waits for T1' },
    })
    expect((await scout.call('get_task', { id: 'T1' })).can).toContain('start_run')
  })

  it('is followed as far as wanted, and not behind what is finished', async () => {
    const { scout, ana } = world
    expect(await scout.call('list_dependencies', { id: 'T3', direction: 'waits_for' })).toMatchObject({
      waits_for: [
        { id: 'T2', title: 'Build', status: 'open' },
        { id: 'T1', depth: 2, over: 'T2' },
      ],
      deadlocks: [],
    })
    const near = await scout.call('list_dependencies', { id: 'T3', depth: 1 })
    expect(ids(near.waits_for)).toEqual(['T2'])
    expect(near.more).toBe('list_dependencies {"id":"T2","direction":"waits_for"}')
    await ana.call('complete_task', { id: 'T1' })
    expect(ids((await scout.call('list_dependencies', { id: 'T3' })).waits_for)).toEqual(['T2'])
    expect((await scout.call('list_dependencies', { id: 'T2' })).waits_for).toMatchObject([
      { id: 'T1', status: 'done' },
    ])
  })

  it('is never a ring, over parents neither, and the path is shown (75, 76)', async () => {
    const { scout } = world
    expect(await scout.refused('add_dependency', { id: 'T1', depends_on: ['T4', 'T3'] })).toMatchObject({
      code: 'conflict',
      message: 'This would make a ring in which nothing can close: T1 → T3 → T2 → T1.',
    })
    expect(await scout.call('get_task', { id: 'T1' })).not.toHaveProperty('waits_for')
    await scout.call('create_task', { title: 'Colors', parent_id: 'T1' })
    expect((await scout.refused('add_dependency', { id: 'T5', depends_on: ['T3'] })).message).toContain(
      'T5 → T3 → T2 → T1 → T5',
    )
    expect((await scout.refused('add_dependency', { id: 'T5', depends_on: ['T1'] })).message).toContain(
      'T5 → T1 → T5',
    )
  })

  it('is added and dropped once, and can’t be dropped where it never was', async () => {
    const { scout } = world
    expect(await scout.call('add_dependency', { id: 'T4', depends_on: ['T1', 'T3'] })).toMatchObject({
      added: ['T1', 'T3'],
      waits_for: ['T1', 'T3'],
    })
    expect(await scout.call('add_dependency', { id: 'T4', depends_on: ['T3'] })).toMatchObject({
      already: true,
    })
    expect(await scout.call('remove_dependency', { id: 'T4', depends_on: ['T1'] })).toMatchObject({
      removed: ['T1'],
    })
    expect(await scout.call('remove_dependency', { id: 'T4', depends_on: ['T1'] })).toMatchObject({
      already: true,
    })
    expect(await scout.refused('remove_dependency', { id: 'T4', depends_on: ['T2'] })).toMatchObject({
      message: 'T4 does not depend on T2.',
      details: { allowed: ['T3'] },
    })
  })

  it('on something that was done and then deleted blocks as well, and is named', async () => {
    const { scout, ana } = world
    await scout.call('create_tasks', {
      tasks: [
        { title: 'Dig', ref: 'dig' },
        { title: 'Plant', depends_on: ['dig'] },
      ],
    })
    await ana.call('complete_task', { id: 'T5' })
    await scout.call('delete_task', { id: 'T5' })
    const refusal = await scout.refused('complete_task', { id: 'T6' })
    expect(refusal).toMatchObject({ code: 'blocked', details: { allowed: ['T5 Dig (in the Trash, X1)'] } })
  })

  it('on something in the Trash still blocks, and is told as a deadlock with its path', async () => {
    const { scout } = world
    await scout.call('create_task', { title: 'Party', parent_id: 'T4' })
    await scout.call('add_dependency', { id: 'T5', depends_on: ['T3'] })
    await scout.call('delete_task', { id: 'T1' })
    const found = await scout.call('list_dependencies', { id: 'T4' })
    expect(found.deadlocks).toEqual([
      {
        path: 'T4 → T5 → T3 → T2 → T1',
        why: expect.stringContaining('in the Trash'),
        next: 'restore_from_trash {"ids":["X1"]}, or remove_dependency.',
      },
    ])
    expect(found.waits_for).toMatchObject([
      { id: 'T5', by: 'subtask' },
      { id: 'T3' },
      { id: 'T2' },
      { id: 'T1', in_trash: 'X1' },
    ])
    await scout.call('remove_dependency', { id: 'T2', depends_on: ['T1'] })
    expect((await scout.call('list_dependencies', { id: 'T4' })).deadlocks).toEqual([])
  })
})

describe('the dependencies of a project', () => {
  it('are its tasks that wait or are waited for', async () => {
    const { scout } = world
    await scout.call('create_project', { name: 'Website' })
    for (const id of ['T2', 'T3', 'T4']) await scout.call('update_task', { id, project_id: 'P1' })
    expect(await scout.call('list_dependencies', { project_id: 'P1' })).toMatchObject({
      id: 'P1',
      waiting: [
        { id: 'T2', waits_for: ['T1'] },
        { id: 'T3', waits_for: ['T2'] },
      ],
      waited_for: [{ id: 'T2', waited_for_by: ['T3'] }],
    })
    for (const input of [{}, { id: 'T1', project_id: 'P1' }]) {
      expect(await scout.refused('list_dependencies', input)).toMatchObject({ code: 'invalid_value' })
    }
  })

  it('have a far end that a narrowed credential knows of and does not see', async () => {
    const { scout } = world
    await scout.call('create_project', { name: 'Website' })
    await scout.call('update_task', { id: 'T2', project_id: 'P1' })
    const narrow = await world.agent('narrow', { projects: [1] })
    const found = await narrow.call('list_dependencies', { id: 'T2' })
    expect(found).toMatchObject({
      waits_for: [{ id: 'a task you can’t see' }],
      waited_for_by: [{ id: 'a task you can’t see' }],
    })
    expect(JSON.stringify(found)).not.toContain('Design')
    const refused = await narrow.refused('remove_dependency', { id: 'T2', depends_on: ['T1'] })
    expect(refused).toMatchObject({ message: 'T2 does not depend on T1.', details: { allowed: [] } })
  })
})
