import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { newWorld, type Worker, type World } from '../../test/world.ts'
import { sweep } from '../jobs/lease-sweep.ts'

const MINUTE = 60_000
const LEASE = 10 * MINUTE

let world: World
beforeEach(async () => {
  world = await newWorld()
})
afterEach(() => world.close())

const task = (title = 'Rotate the certificate', more: Record<string, unknown> = {}) =>
  world.ana.call('create_task', { title, ...more })

describe('a run', () => {
  it('takes the task, shows it whole, and is logged, kept alive and ended', async () => {
    const { scout } = world
    await task('Rotate the certificate', { steps: [{ title: 'Order' }] })
    const started = await scout.call('start_run', { task_id: 'T1', goal: 'Order and install' })
    expect(started).toMatchObject({
      id: 'T1',
      status: 'in_progress',
      claim: 'G1 scout',
      steps: [{ title: 'Order' }],
      run: { id: 'R1', state: 'starting', goal: 'Order and install' },
    })
    expect(started).not.toHaveProperty('resumed')

    world.pass(MINUTE)
    expect(
      await scout.call('log_run_event', { run_id: 'R1', kind: 'action', text: 'Ordered.', progress: 40 }),
    ).toMatchObject({ run: 'R1', seq: 1, kind: 'action', progress: 40 })
    expect(await scout.call('get_run', { id: 'R1' })).toMatchObject({
      state: 'working',
      progress: 40,
      last_events: [{ seq: 1, kind: 'action', material: 'Ordered.' }],
      lease_until: '2026-11-30T08:11:00Z',
    })
    world.pass(MINUTE)
    expect(await scout.call('heartbeat_run', { run_id: 'R1', progress: 50 })).toMatchObject({
      progress: 50,
      lease_until: '2026-11-30T08:12:00Z',
    })
    expect(
      await scout.call('finish_run', {
        id: 'R1',
        outcome: 'failed',
        summary: 'The host is down.',
        tokens: 900,
      }),
    ).toMatchObject({ state: 'failed', task_status: 'open', tokens: 900, summary: 'The host is down.' })
    expect(await scout.call('get_task', { id: 'T1' })).toMatchObject({
      status: 'open',
      run: { id: 'R1', state: 'failed' },
    })
    expect(await scout.call('get_run', { id: 'R1' })).toMatchObject({
      outcome: 'failed',
      summary: { material: 'The host is down.', author: 'G1 scout' },
      log_lines: 2,
    })
  })

  it('of one’s own is resumed, and says that another process with the token is the same agent', async () => {
    const { scout } = world
    await task()
    await scout.call('start_run', { task_id: 'T1' })
    world.pass(MINUTE)
    const again = await scout.call('start_run', { task_id: 'T1', goal: 'Go on' })
    expect(again).toMatchObject({ resumed: true, run: { id: 'R1', goal: 'Go on' } })
    expect(again.resumed_note).toMatch(/same agent/)
    world.pass(MINUTE)
    await scout.call('start_run', { task_id: 'T1', goal: 'Another goal' })
    const log = await scout.call('list_run_events', { run_id: 'R1' })
    expect(log.events.map((each: Record<string, unknown>) => [each.kind, each.material])).toEqual([
      ['resumed', undefined],
      ['resumed', 'Another goal'],
    ])
    expect(await scout.call('get_run', { id: 'R1' })).toMatchObject({ goal: 'Go on' })
  })

  it('sent with a key answers as the first time', async () => {
    const { scout } = world
    await task()
    const first = await scout.call('start_run', { task_id: 'T1', idempotency_key: 'k' })
    expect(first).toMatchObject({ run: { id: 'R1' } })
    expect(await scout.call('start_run', { task_id: 'T1', idempotency_key: 'k' })).toMatchObject({
      replayed: true,
      run: { id: 'R1' },
    })
    expect(await scout.call('list_run_events', { run_id: 'R1' })).toMatchObject({ total: 0, events: [] })
  })

  it('on another task names those that are still open and ends none', async () => {
    const { scout } = world
    await task('One')
    await task('Two')
    await scout.call('start_run', { task_id: 'T1' })
    const second = await scout.call('start_run', { task_id: 'T2' })
    expect(second.other_open_runs).toEqual([{ id: 'R1', task: 'T1', title: 'One', state: 'starting' }])
    expect(await scout.call('get_run', { id: 'R1' })).toMatchObject({ state: 'starting' })
  })

  it('is refused with what to do where the task is not free', async () => {
    const { scout, builder, ana } = world
    await task('Held')
    await task('Blocked')
    await task('Waits', { depends_on: ['T1'] })
    await task('Asked')
    await task('Closed')
    await scout.call('start_run', { task_id: 'T1' })
    await scout.call('block_task', { id: 'T2', reason: 'No access to the host' })
    await scout.call('complete_task', { id: 'T4' })
    await ana.call('complete_task', { id: 'T5' })

    const held = await builder.refused('start_run', { task_id: 'T1' })
    expect(held).toMatchObject({
      code: 'already_claimed',
      details: {
        retry: false,
        current: { holder: 'G1 scout', since: '2026-11-30T08:00:00.000Z', until: '2026-11-30T08:10:00.000Z' },
      },
    })
    for (const [id, code, says] of [
      ['T2', 'blocked', /No access to the host/],
      ['T3', 'blocked', /waits for 1 tasks/],
      ['T4', 'conflict', /A1/],
      ['T5', 'conflict', /is done/],
    ] as const) {
      const refusal = await builder.refused('start_run', { task_id: id })
      expect(refusal).toMatchObject({ code, message: expect.stringMatching(says) })
      expect(refusal.details.next).toMatch(/get_next_task/)
    }
    expect(await builder.call('get_task', { id: 'T3' })).toMatchObject({ status: 'open' })
  })

  it('is its agent’s own', async () => {
    const { scout, builder, ana } = world
    await task()
    await scout.call('start_run', { task_id: 'T1' })
    for (const [tool, input] of [
      ['log_run_event', { run_id: 'R1', kind: 'thought', text: 'Hm' }],
      ['heartbeat_run', { run_id: 'R1' }],
      ['finish_run', { id: 'R1', outcome: 'cancelled' }],
    ] as const) {
      expect(await builder.refused(tool, input)).toMatchObject({ code: 'conflict' })
    }
    expect(await ana.call('finish_run', { id: 'R1', outcome: 'cancelled' })).toMatchObject({
      state: 'cancelled',
      task_status: 'open',
    })
    expect(await scout.call('comment_on_task', { task_id: 'T1', text: 'Why?' })).toMatchObject({ unread: 1 })
  })

  it('can be a person’s too', async () => {
    const { ana, scout } = world
    await task()
    expect(await ana.call('start_run', { task_id: 'T1' })).toMatchObject({
      claim: 'U1 Ana',
      run: { id: 'R1' },
    })
    expect(await scout.refused('start_run', { task_id: 'T1' })).toMatchObject({ code: 'already_claimed' })
    world.pass(MINUTE)
    expect(await ana.call('heartbeat_run', { run_id: 'R1' })).toMatchObject({
      lease_until: '2026-11-30T08:11:00Z',
    })
  })

  it('needs a percentage for its progress and a text for its log', async () => {
    const { scout } = world
    await task()
    await scout.call('start_run', { task_id: 'T1' })
    for (const progress of [-1, 101, 1.5]) {
      expect((await scout.refused('heartbeat_run', { run_id: 'R1', progress })).code).toMatch(
        /invalid_value|too_large/,
      )
    }
    expect(await scout.refused('log_run_event', { run_id: 'R1', kind: 'result', text: '' })).toMatchObject({
      code: 'invalid_value',
    })
    expect(await scout.refused('log_run_event', { run_id: 'R1', kind: 'gossip', text: 'x' })).toMatchObject({
      code: 'invalid_value',
      details: { allowed: ['thought', 'action', 'result', 'error', 'progress'] },
    })
    expect(
      await scout.refused('log_run_event', { run_id: 'R1', kind: 'result', text: 'x'.repeat(50_001) }),
    ).toMatchObject({ code: 'too_large' })
  })
})

describe('a lease', () => {
  it('is extended by every write of its holder that changes something, and by no repeat', async () => {
    const { scout } = world
    await task('Rotate', { steps: [{ title: 'Order' }] })
    await scout.call('start_run', { task_id: 'T1' })
    world.pass(5 * MINUTE)
    await scout.call('set_step_status', { id: 'S1', status: 'done' })
    expect(await scout.call('get_run', { id: 'R1' })).toMatchObject({ lease_until: '2026-11-30T08:15:00Z' })
    world.pass(MINUTE)
    await scout.call('set_step_status', { id: 'S1', status: 'done' })
    expect(await scout.call('get_run', { id: 'R1' })).toMatchObject({ lease_until: '2026-11-30T08:15:00Z' })
  })

  it('that lapses frees the task at once and leaves the run stalled, to be resumed', async () => {
    const { scout } = world
    await task()
    await scout.call('start_run', { task_id: 'T1' })
    world.pass(LEASE)
    expect(await scout.call('get_task', { id: 'T1' })).toMatchObject({
      status: 'open',
      run: { state: 'stalled' },
    })
    const lost = await scout.refused('heartbeat_run', { run_id: 'R1' })
    expect(lost).toMatchObject({ code: 'conflict', details: { next: expect.stringMatching(/start_run/) } })
    expect(
      await scout.call('log_run_event', { run_id: 'R1', kind: 'result', text: 'Compiled at last' }),
    ).toMatchObject({ claim_lost: true })
    expect(await scout.call('get_run', { id: 'R1' })).toMatchObject({ state: 'stalled' })
    expect(await scout.call('start_run', { task_id: 'T1' })).toMatchObject({
      resumed: true,
      status: 'in_progress',
      run: { id: 'R1', state: 'working' },
    })
  })

  it('that lapsed is written down by the sweep, and the late report is recorded (R15)', async () => {
    const { scout, reader } = world
    await task()
    await scout.call('start_run', { task_id: 'T1' })
    world.pass(LEASE)
    expect(await sweep(world.done.store)).toBe(1)
    expect(await sweep(world.done.store)).toBe(0)
    expect(await reader.call('fleet_status')).toMatchObject({
      agents: [{ agent: 'G1 scout', state: 'stalled', task: 'T1', run: 'R1' }, {}, {}],
    })
    const ended = await scout.call('finish_run', { id: 'R1', outcome: 'succeeded', summary: 'Done at last' })
    expect(ended).toMatchObject({ state: 'succeeded', unread: 1 })
    expect(ended).not.toHaveProperty('late')
    const twice = await scout.call('finish_run', { id: 'R1', outcome: 'succeeded', summary: 'Done at last' })
    expect(twice).toMatchObject({ ...ended, already: true })
  })

  it('taken by another is not given back by a late report', async () => {
    const { scout, builder } = world
    await task()
    await scout.call('start_run', { task_id: 'T1' })
    world.pass(LEASE)
    await builder.call('start_run', { task_id: 'T1' })
    expect(await scout.refused('heartbeat_run', { run_id: 'R1' })).toMatchObject({ code: 'already_claimed' })
    await scout.call('finish_run', { id: 'R1', outcome: 'failed' })
    expect(await scout.call('get_task', { id: 'T1' })).toMatchObject({
      status: 'in_progress',
      claim: 'G2 builder',
      run: { id: 'R2' },
    })
  })

  it('of a task that awaits approval or of one in the Trash is nothing for the sweep', async () => {
    const { scout } = world
    await task('Asked')
    await task('Trashed')
    await scout.call('start_run', { task_id: 'T1' })
    await scout.call('complete_task', { id: 'T1' })
    await scout.call('start_run', { task_id: 'T2' })
    await scout.call('delete_task', { id: 'T2' })
    world.pass(LEASE)
    expect(await sweep(world.done.store)).toBe(0)
    expect(await scout.call('get_task', { id: 'T1' })).toMatchObject({ status: 'awaiting_approval' })
  })
})

describe('a report after the end', () => {
  it('is kept in the log once, and what nobody had reported is filled in', async () => {
    const { scout } = world
    await task()
    await scout.call('start_run', { task_id: 'T1' })
    await scout.call('complete_task', { id: 'T1', summary: 'Rotated.' })
    const report = { id: 'R1', outcome: 'succeeded', summary: 'Rotated.' }
    expect(await scout.call('finish_run', report)).toMatchObject({ already: true, state: 'succeeded' })

    const late = { ...report, tokens: 5000, cost: 0.4 }
    expect(await scout.call('finish_run', late)).toMatchObject({ late: true, tokens: 5000, cost: 0.4 })
    expect(await scout.call('finish_run', late)).toMatchObject({ already: true })
    const other = { id: 'R1', outcome: 'failed', summary: 'It broke.' }
    expect(await scout.call('finish_run', other)).toMatchObject({ late: true, state: 'succeeded' })
    expect(await scout.call('finish_run', other)).toMatchObject({ already: true })
    expect(await scout.call('finish_run', late)).toMatchObject({ already: true })
    expect(
      await scout.call('log_run_event', { run_id: 'R1', kind: 'result', text: 'One more thing' }),
    ).toMatchObject({ late: true })
    const log = await scout.call('list_run_events', { run_id: 'R1' })
    expect(log.events).toMatchObject([{ late: true }, { late: true }, { late: true }])
    expect(log.events).toHaveLength(3)
    expect(await scout.refused('heartbeat_run', { run_id: 'R1' })).toMatchObject({ code: 'conflict' })
  })
})

describe('lists of runs', () => {
  it('narrow by task, agent, state and start', async () => {
    const { scout, builder, reader } = world
    for (const title of ['One', 'Two', 'Three', 'Four']) await task(title)
    await scout.call('start_run', { task_id: 'T1' })
    await scout.call('finish_run', { id: 'R1', outcome: 'cancelled' })
    await builder.call('start_run', { task_id: 'T1' })
    await builder.call('start_run', { task_id: 'T2' })
    world.pass(LEASE)
    await scout.call('start_run', { task_id: 'T3' })
    await scout.call('start_run', { task_id: 'T4' })
    await scout.call('ask_question', { text: 'Which one?', task_id: 'T4' })

    const states = async (input: Record<string, unknown>) =>
      (await reader.call('list_runs', input)).runs.map(
        (run: Record<string, unknown>) => `${run.id} ${run.state}`,
      )
    expect(await states({})).toEqual([
      'R5 waiting',
      'R4 starting',
      'R3 stalled',
      'R2 stalled',
      'R1 cancelled',
    ])
    expect(await states({ task_id: 'T1' })).toEqual(['R2 stalled', 'R1 cancelled'])
    expect(await states({ agent_id: 'builder' })).toEqual(['R3 stalled', 'R2 stalled'])
    expect(await states({ state: ['stalled', 'cancelled'] })).toEqual([
      'R3 stalled',
      'R2 stalled',
      'R1 cancelled',
    ])
    expect(await states({ state: 'waiting' })).toEqual(['R5 waiting'])
    expect(await states({ since: '2026-11-30T09:05' })).toEqual(['R5 waiting', 'R4 starting'])
    const first = await reader.call('list_runs', { limit: 2 })
    expect(first).toMatchObject({ showing: 2, total: 5 })
    expect(await states({ limit: 2, cursor: first.next_cursor })).toEqual(['R3 stalled', 'R2 stalled'])
  })

  it('show a long log in pages that fit', async () => {
    const { scout } = world
    await task()
    await scout.call('start_run', { task_id: 'T1' })
    for (let i = 1; i <= 60; i++) {
      await scout.call('log_run_event', {
        run_id: 'R1',
        kind: i % 2 ? 'action' : 'result',
        text: `${i} ${'x'.repeat(3000)}`,
      })
    }
    const seen: number[] = []
    let after = 0
    for (;;) {
      const log = await scout.call('list_run_events', { run_id: 'R1', after, limit: 100 })
      expect(JSON.stringify(log).length).toBeLessThan(40_000)
      expect(log.total).toBe(60)
      seen.push(...log.events.map((each: { seq: number }) => each.seq))
      if (log.next_after === undefined) break
      after = log.next_after
    }
    expect(seen).toEqual(Array.from({ length: 60 }, (_, i) => i + 1))
    expect(
      await scout.call('list_run_events', { run_id: 'R1', kinds: ['result'], limit: 100 }),
    ).toMatchObject({
      total: 30,
    })
    const one = await scout.call('list_run_events', { run_id: 'R1', after: 4, limit: 1 })
    expect(one.events[0].material).toHaveLength(3002)
  })

  it('show a narrowed credential its own projects alone', async () => {
    const { ana, scout } = world
    await ana.call('create_project', { name: 'Website' })
    await task('Inside', { project_id: 'P1' })
    await task('Outside')
    await scout.call('start_run', { task_id: 'T1' })
    await scout.call('start_run', { task_id: 'T2' })
    const narrow: Worker = await world.agent('narrow', { projects: [1] })
    expect((await narrow.call('list_runs')).runs).toMatchObject([{ id: 'R1' }])
    expect(await narrow.refused('get_run', { id: 'R2' })).toMatchObject({ code: 'not_found' })
    const fleet = await narrow.call('fleet_status', { agent_id: 'scout' })
    expect(JSON.stringify(fleet)).not.toMatch(/Outside|T2/)
  })
})
