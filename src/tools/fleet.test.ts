import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { newWorld, type World } from '../../test/world.ts'
import { agentById } from '../store/credential.ts'
import { askToStop } from '../store/stop.ts'

const LEASE = 10 * 60_000

let world: World
beforeEach(async () => {
  world = await newWorld()
})
afterEach(() => world.close())

describe('the fleet', () => {
  it('shows who needs somebody first, and what each does', async () => {
    const { scout, builder, reader, ana } = world
    const third = await world.agent('third')
    for (const title of ['One', 'Two', 'Three']) {
      await ana.call('create_task', { title, steps: [{ title: 'First step' }] })
    }
    await builder.call('start_run', { task_id: 'T2' })
    world.pass(LEASE)
    await scout.call('start_run', { task_id: 'T1' })
    await scout.call('set_step_status', { id: 'S1', status: 'in_progress' })
    await third.call('start_run', { task_id: 'T3' })
    await third.call('ask_question', { task_id: 'T3', text: 'May I?' })
    await scout.refused('start_run', { task_id: 'T3' })
    await world.done.access.flush()

    const fleet = await reader.call('fleet_status')
    expect(fleet.agents).toMatchObject([
      { agent: 'G2 builder', state: 'stalled', task: 'T2', run: 'R1', lease_until: '2026-11-30T08:10:00Z' },
      { agent: 'G4 third', state: 'waiting', task: 'T3', awaits_answer: 1 },
      {
        agent: 'G1 scout',
        owner: 'U1 Ana',
        state: 'working',
        task: 'T1',
        title: 'One',
        step: 'S1 First step',
        since: '2026-11-30T08:10:00Z',
        lease_until: '2026-11-30T08:20:00Z',
        calls_last_hour: { reads: 0, writes: 3, refusals: 1 },
      },
      { agent: 'G3 reader', state: 'idle' },
    ])
    expect((await reader.call('fleet_status', { active_only: true })).agents).toHaveLength(3)
    expect((await reader.call('fleet_status', { agent_id: 'scout' })).agents).toMatchObject([
      { agent: 'G1 scout' },
    ])
    expect(await reader.call('fleet_status', { limit: 1 })).toMatchObject({
      showing: 1,
      total: 4,
      next_cursor: expect.any(String),
    })
  })

  it('shows claims without a run, other open runs, a wish to stop, and what was closed', async () => {
    const { scout, builder, reader, ana } = world
    for (const title of ['One', 'Two', 'Three', 'Four']) await ana.call('create_task', { title })
    await builder.call('claim_task', { id: 'T1' })
    await scout.call('start_run', { task_id: 'T2' })
    await scout.call('start_run', { task_id: 'T3' })
    await world.autoOk('T4')
    await scout.call('complete_task', { id: 'T4' })
    await world.done.store.write(ana.actor, 'ask_to_stop', async (tx) =>
      askToStop(tx, await agentById(tx, 1)),
    )
    const { agents } = await reader.call('fleet_status', { active_only: true })
    expect(agents).toMatchObject([
      {
        agent: 'G1 scout',
        run: 'R2',
        also: ['R1 on T2: starting'],
        closed: { last_day: 1, ever: 1 },
        stop_asked: '2026-11-30T08:00:00Z by U1 Ana',
      },
      { agent: 'G2 builder', state: 'working', task: 'T1', lease_until: '2026-11-30T08:10:00Z' },
    ])
    world.pass(25 * 3_600_000)
    expect((await reader.call('fleet_status', { agent_id: 'scout' })).agents).toMatchObject([
      { closed: { last_day: 0, ever: 1 } },
    ])
  })
})

describe('members', () => {
  it('are people, then agents, with what their tokens may do', async () => {
    const { reader, scout } = world
    await world.agent('planner', { presets: ['worker', 'planner'] })
    await scout.call('get_me')
    await world.done.access.flush()
    const { members } = await reader.call('list_members')
    expect(members).toMatchObject([
      { id: 'U1', name: 'Ana', kind: 'person', role: 'owner' },
      {
        id: 'G1',
        name: 'scout',
        kind: 'agent',
        owner: 'U1 Ana',
        tokens: 1,
        presets: ['all'],
        scopes: ['read', 'write'],
        last_seen: '2026-11-30T08:00:00Z',
      },
      { id: 'G2' },
      { id: 'G3', scopes: ['read'] },
      { id: 'G4', presets: ['worker+planner'] },
    ])
    expect((await reader.call('list_members', { kind: 'person' })).members).toHaveLength(1)
    const first = await reader.call('list_members', { limit: 2 })
    expect(first).toMatchObject({ total: 5 })
    expect(
      (await reader.call('list_members', { limit: 2, cursor: first.next_cursor })).members,
    ).toMatchObject([{ id: 'G2' }, { id: 'G3' }])
  })
})
