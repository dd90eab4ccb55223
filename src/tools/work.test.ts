import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { newWorld, type Worker, type World } from '../../test/world.ts'
import { reject } from '../store/approval.ts'
import { requestById } from '../store/request.ts'

const MINUTE = 60_000
const LEASE = 10 * MINUTE

type Answer = Awaited<ReturnType<Worker['call']>>

let world: World
beforeEach(async () => {
  world = await newWorld()
})
afterEach(() => world.close())

const task = (title: string, more: Record<string, unknown> = {}) =>
  world.ana.call('create_task', { title, ...more })

const ids = (answer: Answer): string[] => answer.tasks.map((each: { id: string }) => each.id)

/** Ana sends work of an agent back with a note, as her page does. */
async function sendBack(worker: Worker, id: string, note: string): Promise<void> {
  const { request } = await worker.call('complete_task', { id })
  const { actor } = await world.signInAgain()
  await world.done.store.write(actor, 'reject', async (tx) =>
    reject(tx, await requestById(tx, Number(request.slice(1))), note),
  )
}

describe('a claim', () => {
  it('has one winner, and the holder’s repeat changes nothing', async () => {
    const { scout, builder } = world
    await task('Rotate')
    expect(await scout.call('claim_task', { id: 'T1' })).toMatchObject({
      status: 'in_progress',
      claim: 'G1 scout',
      until: '09:10',
    })
    world.pass(MINUTE)
    expect(await scout.call('claim_task', { id: 'T1' })).toMatchObject({ already: true, until: '09:10' })
    expect(await builder.refused('claim_task', { id: 'T1' })).toMatchObject({
      code: 'already_claimed',
      details: { current: { holder: 'G1 scout' } },
    })
  })

  it('after the lapse is a new one, and the former holder hears that it is gone', async () => {
    const { scout, builder } = world
    await task('Rotate')
    await scout.call('claim_task', { id: 'T1' })
    world.pass(LEASE)
    const again = await scout.call('claim_task', { id: 'T1' })
    expect(again).toMatchObject({ until: '09:20' })
    expect(again).not.toHaveProperty('already')
    world.pass(LEASE)
    await builder.call('claim_task', { id: 'T1' })
    expect(await scout.call('create_task', { title: 'Something else' })).toMatchObject({ unread: 1 })
  })

  it('is given back by its holder or by a person, and by nobody else', async () => {
    const { scout, builder, ana } = world
    await task('Rotate')
    await scout.call('start_run', { task_id: 'T1' })
    expect(await builder.refused('release_task', { id: 'T1' })).toMatchObject({ code: 'already_claimed' })
    const given = { id: 'T1', note: 'Ordered; installing is left.' }
    expect(await scout.call('release_task', given)).toMatchObject({ status: 'open' })
    expect(await scout.call('release_task', given)).toMatchObject({ already: true })
    expect(await scout.call('get_run', { id: 'R1' })).toMatchObject({ state: 'cancelled' })
    expect(await builder.call('start_run', { task_id: 'T1' })).toMatchObject({ claim: 'G2 builder' })

    expect(await ana.call('release_task', { id: 'T1' })).toMatchObject({ status: 'open' })
    expect(await ana.call('get_run', { id: 'R2' })).toMatchObject({ state: 'cancelled' })
    expect(await builder.call('create_task', { title: 'Other' })).toMatchObject({ unread: 1 })
  })
})

describe('a block', () => {
  it('needs a reason or a task, frees the claim, and is lifted', async () => {
    const { scout } = world
    await task('Rotate')
    await scout.call('start_run', { task_id: 'T1' })
    expect(await scout.refused('block_task', { id: 'T1' })).toMatchObject({ code: 'invalid_value' })
    const block = { id: 'T1', reason: 'No access to the host' }
    expect(await scout.call('block_task', block)).toMatchObject({ status: 'blocked' })
    expect(await scout.call('block_task', block)).toMatchObject({ already: true })
    expect(await scout.call('get_task', { id: 'T1' })).toMatchObject({
      blocked: { reason: 'No access to the host', by: 'G1 scout' },
      run: { state: 'cancelled' },
    })
    expect(await scout.call('unblock_task', { id: 'T1' })).toMatchObject({ status: 'open' })
    expect(await scout.call('unblock_task', { id: 'T1' })).toMatchObject({ already: true })
  })

  it('by another task lifts itself when that closes', async () => {
    const { scout, ana } = world
    await task('Rotate')
    await task('Get access')
    await scout.call('block_task', { id: 'T1', by: 'T2' })
    expect(await scout.call('get_task', { id: 'T1' })).toMatchObject({
      status: 'blocked',
      blocked_by: 'T2',
      blocked: { reason: 'T2 has to be finished first.' },
    })
    await ana.call('complete_task', { id: 'T2' })
    expect(await scout.call('get_task', { id: 'T1' })).toMatchObject({ status: 'open' })
    expect(await scout.refused('block_task', { id: 'T1', by: 'T2' })).toMatchObject({
      code: 'invalid_value',
      message: 'T2 is done, so T1 need not wait for it.',
    })
  })

  it('that would make a ring is refused with the path, over dependencies, parents and blocks', async () => {
    const { scout } = world
    await task('One')
    await task('Two', { depends_on: ['T1'] })
    await task('Child of two', { parent_id: 'T2' })
    await task('Four')
    await scout.call('block_task', { id: 'T3', by: 'T4' })
    for (const [id, by, path] of [
      ['T1', 'T2', 'T1 → T2 → T1'],
      ['T3', 'T2', 'T3 → T2 → T3'],
      ['T4', 'T2', 'T4 → T2 → T3 → T4'],
    ] as const) {
      if (id === 'T3') await scout.call('unblock_task', { id })
      if (id === 'T4') await scout.call('block_task', { id: 'T3', by: 'T4' })
      const refusal = await scout.refused('block_task', { id, by })
      expect(refusal.code).toBe('conflict')
      expect(refusal.message).toContain(path)
    }
    expect(await scout.refused('block_task', { id: 'T1', by: 'T1' })).toMatchObject({ code: 'invalid_value' })
    expect(await scout.refused('block_task', { id: 'T3', by: 'T1' })).toMatchObject({
      code: 'conflict',
      details: { next: expect.stringMatching(/add_dependency/) },
    })
  })

  it('is refused on a task that is closed, asked or held by another', async () => {
    const { scout, builder, ana } = world
    await task('Closed')
    await task('Asked')
    await task('Held')
    await ana.call('complete_task', { id: 'T1' })
    await scout.call('complete_task', { id: 'T2' })
    await scout.call('claim_task', { id: 'T3' })
    expect(await builder.refused('block_task', { id: 'T1', reason: 'x' })).toMatchObject({ code: 'conflict' })
    expect(await builder.refused('block_task', { id: 'T2', reason: 'x' })).toMatchObject({ code: 'conflict' })
    expect(await builder.refused('block_task', { id: 'T3', reason: 'x' })).toMatchObject({
      code: 'already_claimed',
    })
    expect(await ana.call('block_task', { id: 'T3', reason: 'Wait for the audit' })).toMatchObject({
      status: 'blocked',
    })
  })

  it('comes back with a request that is dropped, so it can’t be lifted meanwhile', async () => {
    const { scout } = world
    await task('Rotate')
    await scout.call('block_task', { id: 'T1', reason: 'No access' })
    await scout.call('complete_task', { id: 'T1' })
    expect(await scout.refused('unblock_task', { id: 'T1' })).toMatchObject({ code: 'conflict' })
  })
})

describe('my tasks', () => {
  it('come with why and what can be done: sent back first, then held, left, assigned', async () => {
    const { scout } = world
    await task('Assigned, later', { assignee: 'scout', due: '2026-12-20' })
    await task('Assigned, sooner', { assignee: 'scout', due: '2026-12-05' })
    await task('Left')
    await task('Held')
    await task('Sent back', { due: '2026-12-24' })
    await task('Somebody else’s', { assignee: 'builder' })
    await scout.call('start_run', { task_id: 'T3' })
    await sendBack(scout, 'T5', 'The port is wrong.')
    world.pass(LEASE)
    await scout.call('claim_task', { id: 'T4' })

    const mine = await scout.call('list_my_tasks')
    expect(mine).toMatchObject({ showing: 5, total: 5, today: '2026-11-30', time_zone: 'Europe/Madrid' })
    expect(mine.tasks).toMatchObject([
      { id: 'T5', why: 'sent back by U1 Ana', sent_back: { request: 'A1', note: 'The port is wrong.' } },
      {
        id: 'T4',
        why: 'you hold it, until 09:20',
        can: ['start_run', 'release_task', 'block_task', 'complete_task'],
      },
      { id: 'T3', why: 'you left R1 (stalled) open on it' },
      { id: 'T2', why: 'assigned to you' },
      { id: 'T1', why: 'assigned to you' },
    ])
    expect(ids(await scout.call('list_my_tasks', { due_before: '2026-12-20' }))).toEqual(['T2'])
    expect(ids(await scout.call('list_my_tasks', { due_before: '2026-12-25' }))).toEqual(['T5', 'T2', 'T1'])

    await scout.call('complete_task', { id: 'T5' })
    expect(ids(await scout.call('list_my_tasks'))).toEqual(['T4', 'T3', 'T2', 'T1'])
  })

  it('come in pages without a repeat or a gap, whatever is inserted between', async () => {
    const { scout } = world
    for (let i = 1; i <= 30; i++) await task(`Task ${i}`, { assignee: 'scout' })
    for (const id of ['T30', 'T29', 'T28']) await scout.call('start_run', { task_id: id })
    for (const limit of [1, 2, 3, 7, 100]) {
      const seen: string[] = []
      let cursor: string | undefined
      do {
        const page: Answer = await scout.call('list_my_tasks', {
          limit,
          ...(cursor ? { cursor } : {}),
        })
        expect(page.showing).toBeLessThanOrEqual(limit)
        seen.push(...ids(page))
        cursor = page.next_cursor
        if (limit === 7 && seen.length === 7) await task('Between', { assignee: 'scout', priority: 'urgent' })
      } while (cursor)
      const whole = limit === 100 ? 31 : 30
      expect(seen).toHaveLength(whole)
      expect(new Set(seen).size).toBe(whole)
      expect(seen.slice(0, 3)).toEqual(['T28', 'T29', 'T30'])
    }
    expect(await scout.refused('list_my_tasks', { cursor: 'nonsense' })).toMatchObject({
      code: 'invalid_value',
    })
  })

  it('stay within an answer when there are a thousand long ones (R4)', async () => {
    const { scout } = world
    for (let i = 0; i < 10; i++) {
      await world.ana.call('create_tasks', {
        tasks: Array.from({ length: 100 }, (_, j) => ({
          title: `Task ${i * 100 + j} ${'with a long title '.repeat(8)}`,
          description: 'x'.repeat(2048),
          assignee: 'scout',
        })),
      })
    }
    const mine = await scout.call('list_my_tasks', {})
    expect(JSON.stringify(mine).length).toBeLessThan(40_000)
    expect(mine).toMatchObject({ showing: 25, total: 1000, next_cursor: expect.any(String) })
    const detailed = await scout.call('list_my_tasks', { detail: 'detailed', limit: 100 })
    expect(JSON.stringify(detailed).length).toBeLessThan(40_000)
  })
})

describe('the next task', () => {
  it('is the most urgent free one, and says why and what was passed over', async () => {
    const { scout, builder } = world
    await task('Blocked', { priority: 'urgent' })
    await task('Held', { priority: 'urgent' })
    await task('Another’s', { priority: 'urgent', assignee: 'builder' })
    await task('Waits', { priority: 'urgent', depends_on: ['T2'] })
    await task('Parent', { priority: 'urgent' })
    await task('Free, and due', { priority: 'high', due: '2026-12-01' })
    await task('Free, not due', { priority: 'high' })
    await task('Child', { parent_id: 'T5', priority: 'low' })
    await task('Asked', { priority: 'urgent' })
    await scout.call('block_task', { id: 'T1', reason: 'No access' })
    await builder.call('claim_task', { id: 'T2' })
    await builder.call('complete_task', { id: 'T9' })

    const next = await scout.call('get_next_task')
    expect(next).toMatchObject({
      task: { id: 'T6', can: ['start_run', 'block_task', 'complete_task'] },
      why: ['priority high', 'due tomorrow', 'assigned to nobody', 'free, and waits for nothing'],
      next: 'start_run {"task_id":"T6"}',
      passed_over: {
        total: 6,
        reasons: {
          'is blocked': 1,
          'somebody else works on it': 1,
          'is assigned to somebody else': 1,
          'waits for other tasks': 1,
          'has open subtasks, which come first': 1,
          'waits for a person’s decision': 1,
        },
      },
    })
    expect(next.passed_over.examples).toHaveLength(5)
    // It takes nothing: the same again.
    expect(await scout.call('get_next_task')).toEqual(next)
    expect(await builder.call('get_next_task')).toMatchObject({ task: { id: 'T3' }, unfinished: ['T2'] })
  })

  it('is one whose question nobody has answered for a week, as the hold has lapsed', async () => {
    const { scout, builder } = world
    await scout.call('create_task', { title: 'Choose the tiles' })
    await scout.call('start_run', { task_id: 'T1' })
    await scout.call('ask_question', { task_id: 'T1', text: 'Green or blue?' })
    await scout.call('release_task', { id: 'T1' })
    world.pass(7 * 86_400_000 - MINUTE)
    expect(await builder.call('get_next_task')).toMatchObject({ task: null })
    world.pass(2 * MINUTE)
    expect(await builder.call('get_next_task')).toMatchObject({ task: { id: 'T1' } })
  })

  it('is the same that start_run then takes, until nothing is left', async () => {
    const { scout } = world
    await task('One')
    await task('Two', { depends_on: ['T1'] })
    await scout.call('start_run', { task_id: (await scout.call('get_next_task')).task.id })
    const none = await scout.call('get_next_task')
    expect(none).toMatchObject({
      task: null,
      passed_over: { total: 2, reasons: { 'you hold it already': 1, 'waits for other tasks': 1 } },
      unfinished: ['T1'],
    })
  })

  it('narrows by project and by labels', async () => {
    const { scout } = world
    await scout.call('create_label', { name: 'ops' })
    await task('Urgent', { priority: 'urgent' })
    await task('Labelled', { labels: ['ops'] })
    expect(await scout.call('get_next_task', { labels: ['ops'] })).toMatchObject({
      task: { id: 'T2' },
      passed_over: { total: 0 },
    })
    expect(await scout.refused('get_next_task', { labels: ['opps'] })).toMatchObject({
      code: 'not_found',
      details: { allowed: ['ops'] },
    })
  })
})

describe('eight agents on one task', () => {
  it('have one winner each of 20 rounds, by claim and by run (R13)', async () => {
    const agents: Worker[] = []
    for (let i = 0; i < 8; i++) agents.push(await world.agent(`agent ${i}`))
    for (let round = 1; round <= 20; round++) {
      await task(`Claim ${round}`)
      await task(`Run ${round}`)
      for (const [tool, id] of [
        ['claim_task', { id: `T${round * 2 - 1}` }],
        ['start_run', { task_id: `T${round * 2}` }],
      ] as const) {
        const answers = await Promise.allSettled(agents.map((agent) => agent.call(tool, id)))
        const won = answers.findIndex((each) => each.status === 'fulfilled')
        expect(answers.filter((each) => each.status === 'fulfilled')).toHaveLength(1)
        for (const each of answers) {
          if (each.status === 'fulfilled') continue
          expect(each.reason).toMatchObject({
            code: 'already_claimed',
            details: {
              current: { holder: expect.stringMatching(`agent ${won}`), since: expect.any(String) },
            },
          })
        }
      }
    }
  })
})
