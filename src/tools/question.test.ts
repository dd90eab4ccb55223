import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { anaAnswers } from '../../test/people.ts'
import { newWorld, type World } from '../../test/world.ts'
import { HOLD_MS } from '../store/question.ts'

let world: World
beforeEach(async () => {
  world = await newWorld()
})
afterEach(() => world.close())

const HOUR = 3_600_000

describe('a question', () => {
  it('goes to the owner, who is told, and its answer comes back', async () => {
    const { scout, ana, reader } = world
    expect(
      await scout.call('ask_question', { text: 'Which colour?', choices: ['Red', 'Blue'] }),
    ).toMatchObject({
      id: 'Q1',
      state: 'open',
      of: 'U1 Ana',
      choices: ['Red', 'Blue'],
    })
    expect(await ana.call('list_notifications')).toMatchObject({
      notifications: [{ kind: 'asked', object: 'Q1' }],
    })
    const waiting = reader.call('get_question', { id: 'Q1', wait_seconds: 50 })
    await new Promise((resolve) => setTimeout(resolve, 50))
    await anaAnswers(world, 'Q1', 'Blue')
    expect(await waiting).toMatchObject({ state: 'answered', answer: 'Blue', answered_by: 'U1 Ana' })
    expect(await scout.call('list_questions', { state: 'open' })).toMatchObject({ total: 0 })
    expect(await scout.call('list_questions', { state: 'answered' })).toMatchObject({
      questions: [{ answer: 'Blue' }],
    })
  })

  it('goes to people only, and not to oneself', async () => {
    const { scout, ana } = world
    for (const to of ['builder', 'me', 'nobody']) {
      expect(await scout.refused('ask_question', { text: 'May I?', to })).toMatchObject({
        code: 'invalid_value',
      })
    }
    expect(await ana.refused('ask_question', { text: 'May I?' })).toMatchObject({ code: 'invalid_value' })
    expect(await scout.refused('ask_question', { text: ' ' })).toMatchObject({ code: 'invalid_value' })
    expect(await scout.refused('ask_question', { text: 'x'.repeat(10_001) })).toMatchObject({
      code: 'too_large',
    })
  })

  it('is asked once with a key, and twice without', async () => {
    const { scout } = world
    await scout.call('ask_question', { text: 'Which colour?', idempotency_key: 'k' })
    expect(await scout.call('ask_question', { text: 'Which colour?', idempotency_key: 'k' })).toMatchObject({
      id: 'Q1',
      replayed: true,
    })
    expect(await scout.call('ask_question', { text: 'Which colour?' })).toMatchObject({ id: 'Q2' })
  })

  it('holds its task: the claim stays while a person thinks, and one lease longer', async () => {
    const { scout, builder } = world
    await scout.call('create_task', { title: 'Rotate' })
    await scout.call('start_run', { task_id: 'T1' })
    await scout.call('ask_question', { text: 'May I restart it?', task_id: 'T1' })
    world.pass(20 * HOUR)
    expect(await builder.refused('start_run', { task_id: 'T1' })).toMatchObject({ code: 'already_claimed' })
    expect(await scout.call('get_task', { id: 'T1' })).toMatchObject({
      status: 'in_progress',
      run: { state: 'waiting' },
    })
    await scout.call('log_run_event', { run_id: 'R1', kind: 'thought', text: 'Still waiting.' })
    world.pass(HOUR)
    expect(await builder.refused('claim_task', { id: 'T1' })).toMatchObject({ code: 'already_claimed' })

    await anaAnswers(world, 'Q1', 'Yes')
    expect(await scout.call('get_task', { id: 'T1' })).toMatchObject({
      status: 'in_progress',
      run: { state: 'working' },
    })
    world.pass(11 * 60_000)
    expect(await scout.call('get_task', { id: 'T1' })).toMatchObject({
      status: 'open',
      run: { state: 'stalled' },
    })
    expect(await builder.call('claim_task', { id: 'T1' })).toMatchObject({ claim: 'G2 builder' })
  })

  it('without an answer holds its task a week', async () => {
    const { scout, builder } = world
    await scout.call('create_task', { title: 'Rotate' })
    await scout.call('start_run', { task_id: 'T1' })
    await scout.call('ask_question', { text: 'May I?', task_id: 'T1' })
    world.pass(HOLD_MS + 1)
    expect(await builder.call('claim_task', { id: 'T1' })).toMatchObject({ claim: 'G2 builder' })
  })

  it('that does not hold leaves the lease as it is, and nobody’s claim is held by another’s question', async () => {
    const { scout, builder } = world
    await scout.call('create_task', { title: 'Rotate' })
    await scout.call('start_run', { task_id: 'T1' })
    await scout.call('ask_question', { text: 'Which first?', task_id: 'T1', hold_task: false })
    await builder.call('ask_question', { text: 'Is this mine?', task_id: 'T1' })
    world.pass(HOUR)
    expect(await scout.call('get_task', { id: 'T1' })).toMatchObject({ status: 'open' })
  })

  it('of another project, or without a task by another, is not there for a narrowed credential', async () => {
    const { scout } = world
    await scout.call('create_project', { name: 'Website' })
    await scout.call('create_task', { title: 'Here', project_id: 'P1' })
    await scout.call('create_task', { title: 'Elsewhere' })
    for (const task_id of ['T1', 'T2', undefined])
      await scout.call('ask_question', { text: 'May I?', ...(task_id ? { task_id } : {}) })
    const narrow = await world.agent('narrow', { projects: [1] })
    expect(await narrow.call('list_questions')).toMatchObject({ total: 1, questions: [{ id: 'Q1' }] })
    expect(await narrow.refused('get_question', { id: 'Q2' })).toMatchObject({ code: 'not_found' })
    expect(await narrow.refused('get_question', { id: 'Q3' })).toMatchObject({ code: 'not_found' })
  })
})
