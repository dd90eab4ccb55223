import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { anaRejects } from '../../test/people.ts'
import { newWorld, type World } from '../../test/world.ts'

let world: World
beforeEach(async () => {
  world = await newWorld()
})
afterEach(() => world.close())

describe('a request for sign-off', () => {
  it('is one a task, however often it is asked (R9), and is found with what exactly was asked', async () => {
    const { scout, reader } = world
    await scout.call('create_task', { title: 'Rotate' })
    expect(await scout.call('request_approval', { task_id: 'T1', summary: 'Rotated.' })).toMatchObject({
      status: 'awaiting_approval',
      request: 'A1',
    })
    expect(await scout.call('complete_task', { id: 'T1' })).toMatchObject({ request: 'A1', already: true })
    expect(await scout.call('request_approval', { task_id: 'T1' })).toMatchObject({
      request: 'A1',
      already: true,
    })
    expect(await reader.call('list_approvals')).toMatchObject({
      total: 1,
      approvals: [{ id: 'A1', state: 'pending' }],
    })
    expect(await reader.call('get_approval', { id: 'A1' })).toMatchObject({
      state: 'pending',
      task: 'T1',
      asks: 'done',
      by: 'G1 scout',
      page: 'http://127.0.0.1:4747/sign-off/A1',
      content_version: 1,
      content_hash: expect.stringMatching(/^[0-9a-f]{64}$/),
      material: 'Rotated.',
      author: 'G1 scout',
    })
  })

  it('can’t ask for two ends at once', async () => {
    const { scout } = world
    await scout.call('create_task', { title: 'Rotate' })
    await scout.call('request_approval', { task_id: 'T1' })
    const refusal = await scout.refused('request_approval', { task_id: 'T1', for: 'cancelled' })
    expect(refusal).toMatchObject({ code: 'conflict', details: { written: false } })
  })

  it('asks a person even where the task is auto-OK', async () => {
    const { scout, ana } = world
    await scout.call('create_task', { title: 'Rotate' })
    await world.autoOk('T1')
    expect(await scout.call('request_approval', { task_id: 'T1' })).toMatchObject({
      status: 'awaiting_approval',
    })
    await ana.call('complete_task', { id: 'T1' })
    expect(await scout.call('get_approval', { id: 'A1' })).toMatchObject({
      state: 'approved',
      decided_by: 'U1 Ana',
      signed_off: { by: 'U1 Ana', session_began: 'console_link' },
    })
  })

  it('leaves the list while its task lies in the Trash (R9)', async () => {
    const { scout } = world
    await scout.call('create_task', { title: 'Rotate' })
    await scout.call('complete_task', { id: 'T1' })
    await scout.call('delete_task', { id: 'T1' })
    expect(await scout.call('list_approvals', { state: ['pending'] })).toMatchObject({ total: 0 })
    expect(await scout.call('get_approval', { id: 'A1' })).toMatchObject({ state: 'pending', in_trash: 'X1' })
  })

  it('carries the note of a rejection to the agent (R9)', async () => {
    const { scout } = world
    await scout.call('create_task', { title: 'Rotate' })
    await scout.call('complete_task', { id: 'T1' })
    await anaRejects(world, 'A1', 'The old one is still served.')
    expect(await scout.call('get_approval', { id: 'A1' })).toMatchObject({
      state: 'rejected',
      note: 'The old one is still served.',
      next: expect.stringContaining('complete_task {"id":"T1"}'),
    })
    expect(await scout.call('list_approvals', { task_id: 'T1', state: ['rejected'] })).toMatchObject({
      approvals: [{ note: 'The old one is still served.', decided_by: 'U1 Ana' }],
    })
    expect((await scout.call('get_task', { id: 'T1' })).news.sent_back.note).toBe(
      'The old one is still served.',
    )
  })

  it('tells that the task has changed since', async () => {
    const { scout } = world
    await scout.call('create_task', { title: 'Rotate' })
    await scout.call('complete_task', { id: 'T1' })
    await scout.call('update_task', { id: 'T1', title: 'Rotate both' })
    expect(await scout.call('get_approval', { id: 'A1' })).toMatchObject({
      state: 'stale',
      changed_since: true,
    })
  })

  it('can be waited for', async () => {
    const { scout } = world
    await scout.call('create_task', { title: 'Rotate' })
    await scout.call('complete_task', { id: 'T1' })
    const waiting = scout.call('get_approval', { id: 'A1', wait_seconds: 50 })
    await new Promise((resolve) => setTimeout(resolve, 50))
    await anaRejects(world, 'A1', 'Not yet.')
    expect(await waiting).toMatchObject({ state: 'rejected', note: 'Not yet.' })
    const before = performance.now()
    const other = await scout.call('complete_task', { id: 'T1' })
    await scout.call('get_approval', { id: other.request, wait_seconds: 1 })
    expect(performance.now() - before).toBeGreaterThan(900)
  })

  it('of another project is not there for a narrowed credential', async () => {
    const { scout } = world
    await scout.call('create_project', { name: 'Website' })
    await scout.call('create_task', { title: 'Elsewhere' })
    await scout.call('complete_task', { id: 'T1' })
    const narrow = await world.agent('narrow', { projects: [1] })
    expect(await narrow.call('list_approvals')).toMatchObject({ total: 0 })
    expect(await narrow.refused('get_approval', { id: 'A1' })).toMatchObject({ code: 'not_found' })
  })
})
