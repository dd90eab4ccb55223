import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { newWorld, type World } from '../../test/world.ts'

let world: World
beforeEach(async () => {
  world = await newWorld()
  await world.scout.call('create_task', {
    title: 'Lay the floor',
    steps: ['Measure', 'Order', 'Saw', 'Lay', 'Wax'].map((title) => ({ title })),
  })
})
afterEach(() => world.close())

const titles = async () =>
  ((await world.scout.call('get_task', { id: 'T1' })).steps as { title: string }[]).map((step) => step.title)

describe('a plan', () => {
  it('grows by decomposing and keeps what is there, done steps included (R16)', async () => {
    const { scout } = world
    await scout.call('set_step_status', { id: 'S1', status: 'done' })
    await scout.call('set_step_status', { id: 'S2', status: 'done' })
    const answer = await scout.call('decompose_task', {
      id: 'T1',
      steps: [{ title: 'Dry' }, { title: 'Sweep' }],
      subtasks: [{ title: 'Skirting', description: 'White.' }],
      after: 'S3',
    })
    expect(answer).toMatchObject({ steps_done: '2/7', steps: [{ id: 'S6' }, { id: 'S7' }] })
    expect(answer.subtasks).toEqual([{ id: 'T2', title: 'Skirting', gate: true }])
    expect(await titles()).toEqual(['Measure', 'Order', 'Saw', 'Dry', 'Sweep', 'Lay', 'Wax'])
    const task = await scout.call('get_task', { id: 'T1' })
    expect(task.steps.filter((step: { status: string }) => step.status === 'done')).toHaveLength(2)
    expect(await scout.call('get_task', { id: 'T2' })).toMatchObject({ parent: 'T1', description: 'White.' })
  })

  it('needs steps or subtasks, and a step of its own to stand behind', async () => {
    const { scout } = world
    await scout.call('create_task', { title: 'Other', steps: [{ title: 'Foreign' }] })
    expect(await scout.refused('decompose_task', { id: 'T1' })).toMatchObject({ code: 'invalid_value' })
    expect(await scout.refused('add_step', { task_id: 'T1', title: 'x', after: 'S6' })).toMatchObject({
      message: 'S6 is not a step of T1.',
      details: { allowed: ['S1', 'S2', 'S3', 'S4', 'S5'] },
    })
    const deep = await scout.refused('decompose_task', { id: 'T1', subtasks: [{ title: ' ' }] })
    expect(deep.message).toContain('empty')
  })

  it('names a step of the same title, and repeats an answer for the same key', async () => {
    const { scout } = world
    const input = { task_id: 'T1', title: 'Wax', idempotency_key: 'k1' }
    const first = await scout.call('add_step', input)
    expect(first).toMatchObject({ id: 'S6', likely_duplicate_of: 'S5' })
    expect(await scout.call('add_step', input)).toMatchObject({ id: 'S6', replayed: true })
    expect(await titles()).toHaveLength(6)
  })

  it('has at most 200 steps', async () => {
    const steps = Array.from({ length: 196 }, (_, i) => ({ title: `Step ${i}` }))
    expect(await world.scout.refused('decompose_task', { id: 'T1', steps })).toMatchObject({
      code: 'too_large',
    })
  })
})

describe('the order of steps', () => {
  it('is as given, and only what has to move is written', async () => {
    const { scout } = world
    const moved = await scout.call('reorder_steps', { task_id: 'T1', order: ['S5', 'S1', 'S2', 'S3', 'S4'] })
    expect(moved.steps.map((step: { version: number }) => step.version)).toEqual([2, 1, 1, 1, 1])
    expect(await titles()).toEqual(['Wax', 'Measure', 'Order', 'Saw', 'Lay'])
    const turned = await scout.call('reorder_steps', { task_id: 'T1', order: ['S4', 'S3', 'S2', 'S1', 'S5'] })
    expect(turned.steps.map((step: { id: string }) => step.id)).toEqual(['S4', 'S3', 'S2', 'S1', 'S5'])
  })

  it('must name each step once', async () => {
    const wrong = await world.scout.refused('reorder_steps', {
      task_id: 'T1',
      order: ['S1', 'S2', 'S2', 'S9', 'S4'],
    })
    expect(wrong.message).toContain('missing: S3, S5')
    expect(wrong.message).toContain('not steps of it: S9')
    expect(wrong.message).toContain('named twice: S2')
  })

  it('keeps the place of a deleted step, whatever is added or moved around it', async () => {
    const { scout } = world
    await scout.call('delete_step', { id: 'S3' })
    await scout.call('add_step', { task_id: 'T1', title: 'Dry', after: 'S2' })
    await scout.call('reorder_steps', { task_id: 'T1', order: ['S1', 'S2', 'S6', 'S5', 'S4'] })
    await scout.call('restore_from_trash', { ids: ['S3'] })
    const now = await titles()
    expect(now).toHaveLength(6)
    // New steps can still be put on either side of it.
    for (let i = 0; i < 20; i++)
      await scout.call('add_step', { task_id: 'T1', title: `After ${i}`, after: 'S2' })
    for (let i = 0; i < 20; i++)
      await scout.call('add_step', { task_id: 'T1', title: `Late ${i}`, after: 'S3' })
    expect(await titles()).toHaveLength(46)
  })
})

describe('a step', () => {
  it('moves its status with notes that are kept, and the last one closes nothing (R7)', async () => {
    const { scout, builder } = world
    for (const id of ['S1', 'S2', 'S3', 'S4']) await scout.call('set_step_status', { id, status: 'done' })
    const last = await scout.call('set_step_status', { id: 'S5', status: 'failed', note: 'No wax.' })
    expect(last).toMatchObject({ status: 'failed', note: 'No wax.', steps_done: '4/5', version: 1 })
    expect(
      await scout.call('set_step_status', { id: 'S5', status: 'failed', note: 'No wax.' }),
    ).toMatchObject({
      already: true,
    })
    const again = await builder.call('set_step_status', { id: 'S5', status: 'done', note: 'Found some.' })
    expect(again).toMatchObject({ steps_done: '5/5', note: 'Found some.' })
    expect(await scout.call('get_task', { id: 'T1' })).toMatchObject({ status: 'open' })
    expect(await scout.refused('set_step_status', { id: 'S5', status: 'finished' })).toMatchObject({
      details: { allowed: ['pending', 'in_progress', 'done', 'skipped', 'failed'] },
    })
  })

  it('compares a change with what is stored before it looks at the version (R12)', async () => {
    const { scout, builder } = world
    expect(
      await scout.call('update_step', { id: 'S1', title: 'Measure twice', expected_version: 1 }),
    ).toMatchObject({
      version: 2,
    })
    expect(
      await builder.call('update_step', { id: 'S1', title: 'Measure twice', expected_version: 1 }),
    ).toMatchObject({
      already: true,
      version: 2,
    })
    const late = await builder.refused('update_step', { id: 'S1', title: 'Guess', expected_version: 1 })
    expect(late).toMatchObject({
      code: 'conflict',
      details: { written: false, current: { version: 2, title: 'Measure twice' } },
    })
  })

  it('goes to the Trash, can’t be changed there, and comes back as it was', async () => {
    const { scout } = world
    await scout.call('set_step_status', { id: 'S2', status: 'done' })
    expect(await scout.call('delete_step', { id: 'S2' })).toMatchObject({ trash: 'X1' })
    expect(await scout.call('delete_step', { id: 'S2' })).toMatchObject({ trash: 'X1', already: true })
    expect((await scout.refused('update_step', { id: 'S2', title: 'x' })).message).toBe(
      'S2 is in the Trash (X1).',
    )
    await scout.call('restore_from_trash', { ids: ['X1'] })
    expect(await titles()).toEqual(['Measure', 'Order', 'Saw', 'Lay', 'Wax'])
    expect((await scout.call('get_task', { id: 'T1' })).steps[1]).toMatchObject({ status: 'done' })
  })

  it('is out of sight for a credential of other projects, even its place in the Trash', async () => {
    const { scout } = world
    await scout.call('create_project', { name: 'Website' })
    const narrow = await world.agent('narrow', { projects: [1] })
    await scout.call('delete_step', { id: 'S2' })
    for (const id of ['S1', 'S2']) {
      expect((await narrow.refused('delete_step', { id })).message).toBe(`There is no step ${id}.`)
    }
  })
})

describe('steps and the gate', () => {
  it('void the request of the agent that asked, and not another’s', async () => {
    const { scout, builder } = world
    await scout.call('complete_task', { id: 'T1' })
    for (const [name, input] of [
      ['set_step_status', { id: 'S1', status: 'done' }],
      ['update_step', { id: 'S1', title: 'x' }],
      ['reorder_steps', { task_id: 'T1', order: ['S2', 'S1', 'S3', 'S4', 'S5'] }],
      ['delete_step', { id: 'S1' }],
      ['add_step', { task_id: 'T1', title: 'x' }],
      ['decompose_task', { id: 'T1', subtasks: [{ title: 'x' }] }],
    ] as const) {
      expect(await builder.refused(name, input)).toMatchObject({ code: 'conflict', details: { gate: true } })
    }
    const own = await scout.call('set_step_status', { id: 'S1', status: 'done' })
    expect(own).toMatchObject({ request_stale: 'A1', ask_again: 'complete_task {"id":"T1"}' })
  })

  it('are frozen once a person has signed off, in the Trash too', async () => {
    const { scout, ana } = world
    await scout.call('delete_step', { id: 'S5' })
    await ana.call('complete_task', { id: 'T1' })
    for (const [name, input] of [
      ['set_step_status', { id: 'S1', status: 'done' }],
      ['delete_step', { id: 'S1' }],
      ['restore_from_trash', { ids: ['S5'] }],
    ] as const) {
      expect((await scout.refused(name, input)).message).toContain('signed off')
    }
    expect(await ana.call('set_step_status', { id: 'S1', status: 'done' })).toMatchObject({ status: 'done' })
    expect(await scout.call('get_task', { id: 'T1' })).toMatchObject({
      changed_since_sign_off: true,
      status: 'done',
    })
  })
})
