import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { newWorld, type World } from '../../test/world.ts'

let world: World
beforeEach(async () => {
  world = await newWorld()
  await world.scout.call('create_label', { name: 'ops', color: 'red' })
  await world.scout.call('create_label', { name: 'web' })
  await world.scout.call('create_task', { title: 'Rotate', labels: ['ops', 'web'] })
  await world.scout.call('create_task', { title: 'Publish', labels: ['web'] })
})
afterEach(() => world.close())

const labelsOf = async (id: string) => (await world.scout.call('get_task', { id })).labels ?? []
const all = async () =>
  ((await world.scout.call('list_labels')).labels as { name: string; tasks: number }[]).map(
    ({ name, tasks }) => `${name} ${tasks}`,
  )

describe('a label', () => {
  it('is made sure of, whatever its spelling, and stays as it is', async () => {
    const { scout } = world
    expect(await scout.call('create_label', { name: ' ÓPS ', color: 'blue' })).toMatchObject({
      name: 'ops',
      color: 'red',
      already: true,
      note: expect.stringContaining('kept its color'),
    })
    expect(await scout.call('create_label', { name: 'qa → cleanup', color: '#0A0B0C' })).toMatchObject({
      color: '#0a0b0c',
    })
    expect(await all()).toEqual(['ops 1', 'qa → cleanup 0', 'web 2'])
    expect(await scout.refused('create_label', { name: 'x', color: 'mauve' })).toMatchObject({
      details: { allowed: expect.arrayContaining(['red', '#rrggbb']) },
    })
  })

  it('that is unknown is an error with near names, and nothing was labelled (R17)', async () => {
    const { scout } = world
    expect(await scout.refused('label_task', { ids: ['T2', 'T1'], labels: ['ops', 'opps'] })).toMatchObject({
      code: 'not_found',
      message: 'There is no label "opps".',
      details: { allowed: ['ops'] },
    })
    expect(await labelsOf('T2')).toEqual(['web'])
    expect(await scout.refused('label_task', { ids: ['T2', 'T99'], labels: ['ops'] })).toMatchObject({
      code: 'not_found',
    })
    expect(await labelsOf('T2')).toEqual(['web'])
  })

  it('goes on many tasks and off them, and tells which changed', async () => {
    const { scout } = world
    expect(await scout.call('label_task', { ids: ['T1', 'T2'], labels: ['ops'] })).toMatchObject({
      changed: ['T2'],
    })
    expect(await scout.call('label_task', { ids: ['T1', 'T2'], labels: ['OPS'] })).toMatchObject({
      changed: [],
      already: true,
    })
    expect(await scout.call('unlabel_task', { ids: ['T1', 'T2'], labels: ['web'] })).toMatchObject({
      changed: ['T1', 'T2'],
      tasks: [
        { id: 'T1', labels: ['ops'] },
        { id: 'T2', labels: ['ops'] },
      ],
    })
    expect(await scout.call('unlabel_task', { ids: ['T1'], labels: ['web'] })).toMatchObject({
      already: true,
    })
  })
})

describe('renaming a label', () => {
  it('renames it everywhere; the old name says what it is called now', async () => {
    const { scout } = world
    const rename = { name: 'ops', new_name: 'Operations' }
    expect(await scout.call('update_label', rename)).toMatchObject({
      name: 'Operations',
      color: 'red',
      tasks: 1,
    })
    expect(await scout.call('update_label', rename)).toMatchObject({ name: 'Operations', already: true })
    expect(await labelsOf('T1')).toEqual(['Operations', 'web'])
    expect(await scout.refused('label_task', { ids: ['T2'], labels: ['ops'] })).toMatchObject({
      code: 'not_found',
      message: 'The label "ops" is called "Operations" now.',
      details: { allowed: ['Operations'] },
    })
    await scout.call('update_label', { name: 'operations', new_name: 'ops' })
    expect(await all()).toEqual(['ops 1', 'web 2'])
    expect(await labelsOf('T1')).toEqual(['ops', 'web'])
  })

  it('to a name that exists merges the two', async () => {
    const { scout } = world
    const merge = { name: 'web', new_name: 'OPS' }
    expect(await scout.call('update_label', merge)).toMatchObject({
      name: 'ops',
      color: 'red',
      merged: true,
      tasks: 2,
    })
    expect(await scout.call('update_label', merge)).toMatchObject({ name: 'ops', already: true })
    expect(await all()).toEqual(['ops 2'])
    expect(await labelsOf('T1')).toEqual(['ops'])
    const { events } = await scout.call('list_activity', { kinds: ['label_changed'], limit: 1 })
    expect(events[0]).toMatchObject({ object: 'web' })
  })

  it('only recolours or respells where the name stays', async () => {
    const { scout } = world
    expect(await scout.call('update_label', { name: 'ops', new_name: 'Ops', color: null })).toEqual({
      name: 'Ops',
    })
    expect(await labelsOf('T1')).toEqual(['Ops', 'web'])
    expect(await scout.refused('update_label', { name: 'nope', color: 'red' })).toMatchObject({
      code: 'not_found',
    })
  })

  it('leaves the old name free for a new label', async () => {
    const { scout } = world
    await scout.call('update_label', { name: 'ops', new_name: 'operations' })
    expect(await scout.call('create_label', { name: 'ops', color: 'green' })).toEqual({
      name: 'ops',
      color: 'green',
    })
    expect(await all()).toEqual(['operations 1', 'ops 0', 'web 2'])
  })
})

describe('deleting a label', () => {
  it('takes it off everything, and restoring puts it back', async () => {
    const { scout } = world
    expect(await scout.call('delete_label', { name: 'WEB' })).toMatchObject({
      name: 'web',
      trash: 'X1',
      tasks: 2,
    })
    expect(await scout.call('delete_label', { name: 'web' })).toMatchObject({ trash: 'X1', already: true })
    expect(await labelsOf('T1')).toEqual(['ops'])
    expect((await scout.refused('label_task', { ids: ['T1'], labels: ['web'] })).message).toBe(
      'The label "web" is in the Trash (X1).',
    )
    expect(await scout.call('restore_from_trash', { ids: ['web'] })).toMatchObject({
      restored: [{ trash: 'X1', kind: 'label', id: 'web', tasks: 2 }],
    })
    expect(await labelsOf('T1')).toEqual(['ops', 'web'])
    expect(await labelsOf('T2')).toEqual(['web'])
  })

  it('and making it anew gives an empty one, to which the old tasks can still be restored', async () => {
    const { scout } = world
    await scout.call('delete_label', { name: 'web' })
    await scout.call('create_label', { name: 'web' })
    expect(await all()).toEqual(['ops 1', 'web 0'])
    await scout.call('restore_from_trash', { ids: ['X1'] })
    expect(await all()).toEqual(['ops 1', 'web 2'])
  })
})

describe('an answer about labels', () => {
  it('fits, and says where the rest is, when many tasks have as many as they can', async () => {
    const { scout } = world
    const labels = Array.from({ length: 48 }, (_, i) => `${String(i).padStart(2, '0')}${'x'.repeat(48)}`)
    for (const name of labels) await scout.call('create_label', { name })
    const { tasks } = await scout.call('create_tasks', {
      tasks: Array.from({ length: 100 }, (_, i) => ({ title: `Task ${i}` })),
    })
    const ids = tasks.map((task: { id: string }) => task.id)
    const answer = await scout.call('label_task', { ids, labels })
    expect(answer.changed).toEqual(ids)
    expect(answer.tasks).toHaveLength(100)
    expect(answer.tasks[0].labels).toHaveLength(48)
    expect(answer.tasks.at(-1)).toEqual({ id: ids.at(-1) })
    expect(answer.more).toBe(`get_task {"id":"${ids.at(-1)}"} shows the labels of one.`)
    expect(await labelsOf(ids.at(-1))).toHaveLength(48)
    expect(await scout.call('unlabel_task', { ids, labels })).not.toHaveProperty('more')
  })
})

describe('a credential narrowed to projects', () => {
  it('can’t take a label off tasks that it does not see', async () => {
    const { scout } = world
    await scout.call('create_project', { name: 'Website' })
    await scout.call('update_task', { id: 'T2', project_id: 'P1' })
    const narrow = await world.agent('narrow', { projects: [1] })
    for (const [name, input] of [
      ['delete_label', { name: 'web' }],
      ['update_label', { name: 'web', new_name: 'site' }],
      ['update_label', { name: 'web', color: 'red' }],
    ] as const)
      expect(await narrow.refused(name, input)).toMatchObject({ code: 'scope' })
    expect((await narrow.call('list_labels')).labels).toMatchObject([
      { name: 'ops', tasks: 0 },
      { name: 'web', tasks: 1 },
    ])
    await narrow.call('unlabel_task', { ids: ['T2'], labels: ['web'] })
    expect(await labelsOf('T1')).toEqual(['ops', 'web'])
  })
})
