import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { newWorld, type World } from '../../test/world.ts'
import { callsSince, refusalsSince } from '../store/access.ts'
import { expire } from './expiry.ts'
import { sweep } from './lease-sweep.ts'
import { startJobs } from './poller.ts'

const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE

let world: World
beforeEach(async () => {
  world = await newWorld()
})
afterEach(() => world.close())

describe('the sweep', () => {
  it('frees what has lapsed, tells the holder, and touches nothing else', async () => {
    const { scout, builder, ana } = world
    for (const title of ['Lapsed', 'Kept alive', 'Asked', 'Held for an answer']) {
      await ana.call('create_task', { title })
    }
    for (const id of ['T1', 'T2', 'T3', 'T4']) await scout.call('start_run', { task_id: id })
    await scout.call('complete_task', { id: 'T3' })
    await scout.call('ask_question', { task_id: 'T4', text: 'May I?' })
    world.pass(9 * MINUTE)
    await scout.call('heartbeat_run', { run_id: 'R2' })
    world.pass(2 * MINUTE)

    expect(await sweep(world.done.store)).toBe(1)
    const status = async (id: string) => (await ana.call('get_task', { id })).status
    expect(await Promise.all(['T1', 'T2', 'T3', 'T4'].map(status))).toEqual([
      'open',
      'in_progress',
      'awaiting_approval',
      'in_progress',
    ])
    expect(await builder.call('start_run', { task_id: 'T1' })).toMatchObject({ claim: 'G2 builder' })
    expect(await scout.call('list_activity', { task_id: 'T1', kinds: ['lease_lapsed'] })).toMatchObject({
      total: 1,
    })
    expect(await scout.call('create_task', { title: 'Other' })).toMatchObject({ unread: 1 })
  })

  it('takes many in bounded batches', async () => {
    const { scout, ana } = world
    for (let i = 0; i < 3; i++) {
      await ana.call('create_tasks', {
        tasks: Array.from({ length: 50 }, (_, j) => ({ title: `Task ${i * 50 + j}` })),
      })
    }
    for (let id = 1; id <= 150; id++) await scout.call('claim_task', { id: `T${id}` })
    world.pass(10 * MINUTE)
    expect(await sweep(world.done.store)).toBe(150)
    expect(await sweep(world.done.store)).toBe(0)
  })
})

describe('the expiry', () => {
  it('drops keys after a day, and refusals at the gate only after 90', async () => {
    const { scout, reader } = world
    await scout.call('create_task', { title: 'Once', idempotency_key: 'k' })
    await reader.refused('create_task', { title: 'No' })
    await scout.refused('get_task', { id: 'T99' })
    await world.done.access.flush()
    const left = () =>
      world.done.store.read(scout.actor, 'test', async (tx) => {
        return {
          refusals: (await refusalsSince(tx, 0)).length,
          calls: (await callsSince(tx, ['G1', 'G3'], 0)).length,
        }
      })
    expect(await left()).toEqual({ refusals: 2, calls: 3 })
    world.pass(DAY + MINUTE)
    await expire(world.done.store)
    expect(await left()).toEqual({ refusals: 1, calls: 0 })
    expect(await scout.call('create_task', { title: 'Twice', idempotency_key: 'k' })).toMatchObject({
      id: 'T2',
    })
    world.pass(90 * DAY)
    await expire(world.done.store)
    expect(await left()).toEqual({ refusals: 0, calls: 0 })
  })
})

describe('the poller', () => {
  it('does its rounds until it is stopped, and one job’s failure stops no other', async () => {
    const { scout, ana, done } = world
    await ana.call('create_task', { title: 'Lapsed' })
    await scout.call('claim_task', { id: 'T1' })
    world.pass(10 * MINUTE)
    const failures: string[] = []
    const jobs = startJobs(
      { ...done, access: { flush: () => Promise.reject(new Error('disk full')) } },
      { everyMs: 5, failed: (job) => failures.push(job) },
    )
    await expect
      .poll(() => scout.call('list_activity', { kinds: ['lease_lapsed'] }))
      .toMatchObject({ total: 1 })
    await jobs.stop()
    expect(failures).toContain('access')
    const rounds = failures.length
    await new Promise((resolve) => setTimeout(resolve, 30))
    expect(failures).toHaveLength(rounds)
  })
})
