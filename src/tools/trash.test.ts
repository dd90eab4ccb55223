import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { newWorld, type World } from '../../test/world.ts'

let world: World
beforeEach(async () => {
  world = await newWorld()
  const { scout } = world
  await scout.call('create_project', { name: 'Website' })
  await scout.call('create_task', { title: 'Design', project_id: 'P1', steps: [{ title: 'Sketch' }] })
  await scout.call('create_task', { title: 'Colors', parent_id: 'T1' })
  await scout.call('comment_on_task', { task_id: 'T1', text: 'In blue.' })
})
afterEach(() => world.close())

const entries = async (input: Record<string, unknown> = {}) =>
  (await world.scout.call('list_trash', input)).entries

describe('the Trash', () => {
  it('says who put what there, when, and what comes back with it', async () => {
    const { scout, ana } = world
    await scout.call('delete_comment', { id: 'C1' })
    world.pass(3_600_000)
    await ana.call('delete_task', { id: 'T1' })
    expect(await entries()).toEqual([
      expect.objectContaining({
        id: 'X2',
        kind: 'task',
        object: 'T1',
        title: 'Design',
        tasks: 2,
        by: 'U1 Ana',
      }),
      expect.objectContaining({ id: 'X1', kind: 'comment', object: 'C1', material: 'In blue.', of: 'T1' }),
    ])
    expect(await entries({ kinds: ['comment', 'step'] })).toHaveLength(1)
    expect(await entries({ deleted_by: 'me' })).toMatchObject([{ id: 'X1' }])
    expect(await entries({ until: '2026-11-30T09:30' })).toMatchObject([{ id: 'X1' }])
    expect(await entries({ since: '2026-11-30T09:30' })).toMatchObject([{ id: 'X2' }])
  })

  it('shows a narrowed credential what is of its projects', async () => {
    const { scout } = world
    await scout.call('create_task', { title: 'Elsewhere' })
    await scout.call('delete_task', { id: 'T3' })
    await scout.call('delete_step', { id: 'S1' })
    const narrow = await world.agent('narrow', { projects: [1] })
    expect(await narrow.call('list_trash')).toMatchObject({ total: 1, entries: [{ object: 'S1' }] })
    expect(await narrow.refused('restore_from_trash', { ids: ['X1'] })).toMatchObject({ code: 'not_found' })
  })
})

describe('restoring', () => {
  it('brings a task back with its pending request, and closes nothing (R7, R9)', async () => {
    const { scout, ana } = world
    await scout.call('complete_task', { id: 'T2' })
    await scout.call('delete_task', { id: 'T1' })
    expect(await scout.call('list_approvals', { state: ['pending'] })).toMatchObject({ total: 0 })
    expect(await scout.call('restore_from_trash', { ids: ['T1'] })).toMatchObject({
      restored: [{ trash: 'X1', id: 'T1', status: 'open', tasks: 2 }],
    })
    expect(await scout.call('list_approvals', { state: ['pending'] })).toMatchObject({ total: 1 })
    expect(await scout.call('get_task', { id: 'T2' })).toMatchObject({
      status: 'awaiting_approval',
      approval: { id: 'A1', state: 'pending' },
    })
    expect(await ana.call('complete_task', { id: 'T2' })).toMatchObject({ status: 'done' })
  })

  it('is done once; a repeat, by entry or by thing, finds it there', async () => {
    const { scout } = world
    await scout.call('delete_task', { id: 'T1' })
    await scout.call('restore_from_trash', { ids: ['X1'] })
    for (const id of ['X1', 'T1', 't1 Design']) {
      expect(await scout.call('restore_from_trash', { ids: [id] })).toMatchObject({ already: true })
    }
    expect(await entries()).toEqual([])
    expect(await scout.refused('restore_from_trash', { ids: ['X9'] })).toMatchObject({ code: 'not_found' })
    expect(await scout.refused('restore_from_trash', { ids: ['never was'] })).toMatchObject({
      code: 'not_found',
    })
  })

  it('leaves what was in the Trash before, and needs its place first', async () => {
    const { scout } = world
    await scout.call('delete_step', { id: 'S1' })
    await scout.call('delete_task', { id: 'T2' })
    await scout.call('delete_task', { id: 'T1' })
    await scout.call('delete_project', { id: 'P1', name: 'Website' })
    const restore = (...ids: string[]) => scout.refused('restore_from_trash', { ids })
    expect((await restore('X1')).message).toBe('T1 is in the Trash (X3).')
    expect(await restore('X2')).toMatchObject({
      code: 'conflict',
      message: 'T2 belongs to T1, which is in the Trash itself (X3).',
      details: { next: 'Restore both: restore_from_trash {"ids":["X3","X2"]}.' },
    })
    expect((await restore('X3', 'X2')).message).toBe('T1 belongs to P1, which is in the Trash itself (X4).')
    expect(await entries()).toHaveLength(4)

    await scout.call('restore_from_trash', { ids: ['X4'] })
    await scout.call('restore_from_trash', { ids: ['X3'] })
    const task = await scout.call('get_task', { id: 'T1' })
    expect(task).not.toHaveProperty('subtasks')
    expect(task).not.toHaveProperty('steps')
    await scout.call('restore_from_trash', { ids: ['X1', 'X2'] })
    expect(await scout.call('get_task', { id: 'T1' })).toMatchObject({
      subtasks: [{ id: 'T2' }],
      steps: [{ id: 'S1' }],
    })
  })

  it('in one call needs no order', async () => {
    const { scout } = world
    await scout.call('delete_step', { id: 'S1' })
    await scout.call('delete_task', { id: 'T2' })
    await scout.call('delete_task', { id: 'T1' })
    await scout.call('delete_project', { id: 'P1', name: 'Website' })
    expect((await scout.call('restore_from_trash', { ids: ['S1', 'T2', 'T1', 'P1'] })).restored).toHaveLength(
      4,
    )
    expect(await scout.call('get_task', { id: 'T1' })).toMatchObject({
      subtasks: [{ id: 'T2' }],
      steps: [{ id: 'S1' }],
    })
  })

  it('is all or none', async () => {
    const { scout } = world
    await scout.call('delete_comment', { id: 'C1' })
    await scout.call('delete_task', { id: 'T2' })
    await scout.call('delete_task', { id: 'T1' })
    await scout.refused('restore_from_trash', { ids: ['X2', 'X1'] })
    expect(await entries()).toHaveLength(3)
  })

  it('is refused where the name is taken, or the parent is closed', async () => {
    const { scout, ana } = world
    await scout.call('delete_project', { id: 'P1', name: 'Website' })
    await scout.call('create_project', { name: 'website' })
    expect((await scout.refused('restore_from_trash', { ids: ['P1'] })).message).toBe(
      'P2 is called "website" already.',
    )
    await scout.call('update_project', { id: 'P2', name: 'Other' })
    await scout.call('restore_from_trash', { ids: ['P1'] })

    await scout.call('delete_task', { id: 'T2' })
    await ana.call('complete_task', { id: 'T1' })
    expect(await scout.refused('restore_from_trash', { ids: ['T2'] })).toMatchObject({
      message: 'T2 is open and T1, of which it is a part, is done.',
    })
  })

  it('changes the meaning of the parent: another’s request is not voided, one’s own is', async () => {
    const { scout, builder } = world
    await scout.call('delete_task', { id: 'T2' })
    await scout.call('complete_task', { id: 'T1' })
    expect(await builder.refused('restore_from_trash', { ids: ['T2'] })).toMatchObject({
      code: 'conflict',
      details: { gate: true },
    })
    expect(await scout.call('restore_from_trash', { ids: ['T2'] })).toMatchObject({ request_stale: 'A1' })
  })

  it('makes no ring out of links that were made in the meantime', async () => {
    const { scout } = world
    await scout.call('create_task', { title: 'Decide', project_id: 'P1' })
    await scout.call('add_dependency', { id: 'T2', depends_on: ['T3'] })
    await scout.call('delete_task', { id: 'T2' })
    await scout.call('add_dependency', { id: 'T3', depends_on: ['T1'] })
    const ring = await scout.refused('restore_from_trash', { ids: ['T2'] })
    expect(ring.message).toContain('T2 → T3 → T1 → T2')
    await scout.call('remove_dependency', { id: 'T3', depends_on: ['T1'] })
    await scout.call('restore_from_trash', { ids: ['T2'] })
  })
})
