import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { anaRejects } from '../../test/people.ts'
import { newWorld, type World } from '../../test/world.ts'
import { nextNumber } from '../store/handle.ts'
import { ROW_CHARACTERS } from './task-row.ts'
import { sizeOf } from './text.ts'
import { MOST_CHARACTERS } from './view.ts'

let world: World
beforeEach(async () => {
  world = await newWorld()
})
afterEach(() => world.close())

describe('a task', () => {
  it('with five hundred dependencies says how many are shown, and where the rest is', async () => {
    const { scout } = world
    const title = 'A title that is as long as titles of people who explain are, '.repeat(7)
    const dependencies = await many(500, (i) => ({ title: `${i} ${title}` }))
    await scout.call('create_task', { title: 'Waits' })
    for (const some of hundreds(dependencies)) {
      await scout.call('add_dependency', { id: 'T501', depends_on: some })
    }
    await many(90, (i) => ({ title: `${i} waits`, depends_on: ['T501'] }))
    const task = await scout.call('get_task', { id: 'T501' })
    expect(sizeOf(task)).toBeLessThanOrEqual(MOST_CHARACTERS)
    expect(task.waits_for).toHaveLength(30)
    expect(task.waited_for_by).toHaveLength(30)
    expect(task.more).toEqual([
      'list_dependencies {"id":"T501","direction":"waits_for","depth":1}',
      'list_dependencies {"id":"T501","direction":"waited_for_by","depth":1}',
    ])
    expect(task.description).toBeUndefined()
  })

  it('that was sent back with a long note shows its beginning once, and the call for the rest', async () => {
    const { scout } = world
    const note = `First: ${'the certificate of the staging host is still the old one; '.repeat(845)}`.slice(
      0,
      49_000,
    )
    await scout.call('create_task', { title: 'Rotate' })
    await scout.call('complete_task', { id: 'T1', summary: 'Rotated. '.repeat(5000) })
    await anaRejects(world, 'A1', note)
    const task = await scout.call('get_task', { id: 'T1' })
    expect(sizeOf(task)).toBeLessThan(6000)
    expect(task.news.sent_back.note).toBe(note.slice(0, 1000))
    expect(task.approval).not.toHaveProperty('note')
    expect(await whole('note', task)).toBe(note)
    expect(await whole('summary', task)).toBe('Rotated. '.repeat(5000))
    await scout.call('block_task', { id: 'T1', reason: 'Down. '.repeat(1000) })
    expect(await whole('reason', await scout.call('get_task', { id: 'T1' }))).toBe('Down. '.repeat(1000))
  })

  it.each([
    ['words', 'Wörter, über die man spricht. '],
    ['lines', '\n'],
    ['quotes', '"\\'],
    ['what JSON writes as six characters', '\u0001'],
  ])('full of %s fits into one answer, by get_task and start_run', async (_, each) => {
    const { scout, builder } = world
    const text = (length: number) => `x${each.repeat(length)}`.slice(0, length - 1).concat('x')
    // Names and titles are on one line and hold nothing that is not seen.
    const line = (length: number) => '"'.repeat(length)
    const labels = numbers(50).map((i) => `${i}${line(58)}`)
    await Promise.all(labels.map((name) => scout.call('create_label', { name })))
    const dependencies = await many(60, (i) => ({ title: `${i}${line(490)}` }))
    const description = text(100_000)
    const steps = numbers(200).map(() => ({ title: line(500), description: text(2000) }))
    await scout.call('create_task', { title: line(500), description, labels, steps })
    // What is attached to a task is hashed with all that it holds, so this one gets its long texts last.
    const { id } = await scout.call('create_task', { title: line(500), labels })
    await many(100, (i) => ({ title: `${i}${line(490)}`, parent_id: id }))
    await Promise.all([
      ...numbers(6).map(() => builder.call('comment_on_task', { task_id: id, text: text(50_000) })),
      ...numbers(100).map((i) =>
        scout.call('attach_artifact', { task_id: id, title: `${i}${line(490)}`, text: text(2000) }),
      ),
    ])
    await scout.call('update_task', { id, description })
    await scout.call('decompose_task', { id, steps })
    const others = await many(12, () => ({ title: line(500) }))
    await Promise.all(others.map((other) => scout.call('start_run', { task_id: other })))
    const { run } = await scout.call('start_run', { task_id: id, goal: text(2000) })
    await Promise.all([
      ...numbers(6).map(() => scout.call('ask_question', { task_id: id, text: text(10_000) })),
      ...numbers(3).map(() =>
        scout.call('log_run_event', { run_id: run.id, kind: 'thought', text: text(50_000) }),
      ),
    ])
    const started = await scout.call('start_run', { task_id: id, goal: text(1999) })
    expect(sizeOf(started)).toBeLessThanOrEqual(MOST_CHARACTERS)
    await scout.call('add_dependency', { id, depends_on: dependencies })
    await scout.call('block_task', { id, reason: text(50_000) })
    const task = await scout.call('get_task', { id })
    expect(sizeOf(task)).toBeLessThanOrEqual(MOST_CHARACTERS)
    expect(task.more.length).toBeGreaterThan(5)
    await Promise.all(
      task.more.map((call: string) => {
        const [, name, input] = /^(\w+) (.*)$/.exec(call)!
        return scout.call(name!, JSON.parse(input!))
      }),
    )
  })
})

describe('a concise row', () => {
  it.each([
    ['words', 'm'],
    ['quotes', '"'],
  ])('stays within 80 tokens, full of %s', async (_, each) => {
    const { scout, ana } = world
    // Ids of an account with a million tasks.
    await world.done.store.write(ana.actor, 'test', async (tx) => {
      await nextNumber(tx, 'task', 999_900)
      await nextNumber(tx, 'project', 99_990)
    })
    const long = (length: number) => each.repeat(length - 1).concat('x')
    const worker = await world.agent('m'.repeat(60))
    const { id: project } = await scout.call('create_project', { name: long(200) })
    const labels = numbers(4).map((i) => `${i}${long(59)}`)
    await Promise.all(labels.map((name) => scout.call('create_label', { name })))
    const [parent, ...waits] = await many(5, () => ({ title: 'Before', project_id: project }))
    const { id } = await scout.call('create_task', {
      title: long(500),
      project_id: project,
      parent_id: parent,
      priority: 'urgent',
      due: '2026-12-07T09:00[America/Argentina/ComodRivadavia]',
      scheduled: '2026-12-06T09:00[America/Argentina/ComodRivadavia]',
      labels,
      assignee: worker.actor.id,
      steps: numbers(200).map(() => ({ title: 'Step' })),
    })
    await worker.call('complete_task', { id })
    await anaRejects(world, 'A1', 'No.')
    await worker.call('start_run', { task_id: id })
    await worker.call('ask_question', { task_id: id, text: 'May I?' })
    await scout.call('add_dependency', { id, depends_on: waits })
    for (const lister of [worker, scout]) {
      const { tasks } = await lister.call('list_tasks', { assignee: worker.actor.id })
      expect(JSON.stringify(tasks[0]).length).toBeLessThanOrEqual(ROW_CHARACTERS)
      expect(tasks[0]).toMatchObject({
        id,
        title: expect.stringMatching(/…$/),
        status: 'in_progress',
        priority: 'urgent',
        due: '2026-12-07T09:00[America/Argentina/ComodRivadavia]',
        project,
        assignee: worker.actor.id,
        claim: worker.actor.id,
        waits_for: expect.arrayContaining([waits[0]]),
        gate: true,
      })
      expect(tasks[0]).not.toHaveProperty('scheduled')
    }
  })

  it('says all that there is where it is short', async () => {
    const { scout } = world
    await scout.call('create_label', { name: 'ops' })
    await scout.call('create_project', { name: 'Website' })
    await scout.call('create_task', {
      title: 'Rotate the staging certificate',
      project_id: 'P1',
      priority: 'high',
      due: '2026-12-02',
      labels: ['ops'],
      assignee: 'owner',
      steps: [{ title: 'Order' }, { title: 'Install' }],
    })
    await scout.call('claim_task', { id: 'T1' })
    expect((await scout.call('list_tasks')).tasks).toEqual([
      {
        id: 'T1',
        title: 'Rotate the staging certificate',
        status: 'in_progress',
        priority: 'high',
        due: '2026-12-02',
        project: 'P1 Website',
        assignee: 'U1 Ana',
        claim: 'G1 scout',
        until: '09:10',
        steps: '0/2',
        labels: ['ops'],
        gate: true,
        version: 1,
      },
    ])
  })
})

/** From 0 on. */
const numbers = (count: number): number[] => Array.from({ length: count }, (_, i) => i)

async function many(count: number, task: (i: number) => Record<string, unknown>): Promise<string[]> {
  const ids: string[] = []
  for (const some of hundreds(numbers(count).map(task))) {
    const { tasks } = await world.scout.call('create_tasks', { tasks: some })
    ids.push(...tasks.map((each: { id: string }) => each.id))
  }
  return ids
}

function hundreds<T>(list: readonly T[]): T[][] {
  return Array.from({ length: Math.ceil(list.length / 100) }, (_, i) => list.slice(i * 100, i * 100 + 100))
}

/** A text that an answer began, read to its end by the call that the answer gives. */
async function whole(part: string, task: Record<string, any>): Promise<string> {
  const call = task.more.find((each: string) => each.includes(`"part":"${part}"`))
  let input = JSON.parse(/^get_full_text (.*)$/.exec(call)![1]!)
  let text =
    part === 'note' ? task.news.sent_back.note : part === 'reason' ? task.blocked.reason : task.summary
  while (input) {
    const piece = await world.scout.call('get_full_text', input)
    text += piece.text
    input = piece.next && JSON.parse(/^get_full_text (.*)$/.exec(piece.next)![1]!)
  }
  return text
}
