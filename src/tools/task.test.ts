import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { newWorld, type World } from '../../test/world.ts'

let world: World
beforeEach(async () => {
  world = await newWorld()
})
afterEach(() => world.close())

describe('a task on its way', () => {
  it('is created, read, and waits for a person when an agent completes it', async () => {
    const { scout, ana } = world
    const created = await scout.call('create_task', {
      title: 'Rotate the staging certificate',
      due: 'tomorrow',
      steps: [{ title: 'Order' }],
    })
    expect(created).toMatchObject({
      id: 'T1',
      status: 'open',
      due: '2026-12-01',
      steps: '0/1',
      understood: { due: '2026-12-01' },
    })

    const completed = await scout.call('complete_task', { id: 'T1', summary: 'Rotated.' })
    expect(completed).toMatchObject({
      status: 'awaiting_approval',
      request: 'A1',
      page: 'http://127.0.0.1:4747/sign-off/A1',
    })
    expect(await scout.call('complete_task', { id: 't1', summary: 'Rotated.' })).toMatchObject({
      already: true,
      request: 'A1',
    })

    expect(await ana.call('complete_task', { id: 'T1' })).toMatchObject({ status: 'done' })
    const task = await scout.call('get_task', { id: 'T1' })
    expect(task).toMatchObject({
      status: 'done',
      approval: { state: 'approved', decided_by: 'U1 Ana' },
      summary: 'Rotated.',
    })
  })

  it('comes back open, not blocked, when what blocked it was finished meanwhile', async () => {
    const { scout, ana } = world
    await scout.call('create_tasks', { tasks: [{ title: 'Install' }, { title: 'Deliver' }] })
    await scout.call('block_task', { id: 'T1', by: 'T2' })
    await scout.call('complete_task', { id: 'T1' })
    await ana.call('complete_task', { id: 'T2' })
    expect(await scout.call('update_task', { id: 'T1', title: 'Install it' })).toMatchObject({
      request_stale: 'A1',
      status: 'open',
    })
    expect(await scout.call('get_task', { id: 'T1' })).not.toHaveProperty('blocked_by')
  })

  it('takes a better summary from who asked, without asking again', async () => {
    const { scout } = world
    await scout.call('create_task', { title: 'Write the copy' })
    await scout.call('complete_task', { id: 'T1', summary: 'Writen.' })
    const corrected = await scout.call('complete_task', { id: 'T1', summary: 'Written.' })
    expect(corrected).toMatchObject({ request: 'A1', status: 'awaiting_approval' })
    expect(corrected).not.toHaveProperty('already')
    expect(await scout.call('get_task', { id: 'T1' })).toMatchObject({ summary: 'Written.' })
  })

  it('ends the run of whoever worked on it when a person closes it', async () => {
    const { scout, ana } = world
    await scout.call('create_task', { title: 'Dig' })
    await scout.call('start_run', { task_id: 'T1' })
    await ana.call('complete_task', { id: 'T1' })
    expect(await scout.call('get_run', { id: 'R1' })).toMatchObject({ state: 'succeeded' })
    expect(await scout.call('list_my_tasks')).toMatchObject({ total: 0 })
  })

  it('keeps a request on the whole from being voided by another agent through a part', async () => {
    const { scout, builder } = world
    await scout.call('create_tasks', {
      tasks: [
        { title: 'The house', ref: 'house' },
        { title: 'The roof', parent_id: 'house' },
      ],
    })
    await world.autoOk('T2')
    await scout.call('complete_task', { id: 'T2' })
    await scout.call('complete_task', { id: 'T1' })
    expect(await builder.refused('reopen_task', { id: 'T2' })).toMatchObject({ code: 'conflict' })
    expect(await scout.call('reopen_task', { id: 'T2' })).toMatchObject({
      status: 'open',
      request_stale: 'A1',
      ask_again: 'complete_task {"id":"T1"}',
    })
  })

  it('goes to the Trash, and a second delete says so', async () => {
    const { scout } = world
    await scout.call('create_task', { title: 'A mistake' })
    expect(await scout.call('delete_task', { id: 'T1' })).toMatchObject({ trash: 'X1', tasks: 1 })
    expect(await scout.call('delete_task', { id: 'T1' })).toMatchObject({ trash: 'X1', already: true })
    expect(await scout.refused('get_task', { id: 'T1' })).toMatchObject({
      code: 'not_found',
      message: 'T1 is in the Trash (X1).',
    })
  })

  it('can be read and not written with a read token', async () => {
    const { reader, scout } = world
    await scout.call('create_task', { title: 'Look at me' })
    expect(await reader.call('get_task', { id: 'T1' })).toMatchObject({ title: 'Look at me' })
    expect(await reader.refused('delete_task', { id: 'T1' })).toMatchObject({ code: 'scope' })
  })
})

describe('bad input', () => {
  it('is refused with a character that not every database keeps', async () => {
    expect(await world.scout.refused('create_task', { title: 'One', description: 'a\0b' })).toMatchObject({
      code: 'invalid_value',
      message: expect.stringContaining('description holds the character NUL'),
    })
    const steps = [{ title: 'Fine' }, { title: 'Fine', description: '\0' }]
    expect(await world.scout.refused('create_task', { title: 'One', steps })).toMatchObject({
      message: expect.stringContaining('steps.1.description'),
    })
  })

  it('is refused with the right name or what is allowed', async () => {
    const { scout } = world
    const body = await scout.refused('create_task', { title: 'x', deadline: 'tomorrow' })
    expect(body).toMatchObject({ code: 'unknown_argument', details: { allowed: ['due'] } })
    const status = await scout.refused('create_task', { title: 'x', status: 'done' })
    expect(status.details.next).toMatch(/verbs/)
    expect(await scout.refused('create_task', { title: 'x', priority: 'highest' })).toMatchObject({
      code: 'invalid_value',
      details: { allowed: ['urgent', 'high', 'normal', 'low'] },
    })
    expect(await scout.refused('get_task', { id: '9999' })).toMatchObject({ code: 'not_found' })
    // What is not there is said before what is missing, so that a way round the gate is always told as one.
    expect(await scout.refused('create_task', { status: 'done' })).toMatchObject({ code: 'unknown_argument' })
    const odd = JSON.parse('{"title":"x","__proto__":{"auto_ok":true}}') as Record<string, unknown>
    expect(await scout.refused('create_task', odd)).toMatchObject({ code: 'unknown_argument' })
  })
})
