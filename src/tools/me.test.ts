import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { anaAnswers, anaRejects } from '../../test/people.ts'
import { newWorld, type World } from '../../test/world.ts'

let world: World
beforeEach(async () => {
  world = await newWorld()
})
afterEach(() => world.close())

describe('who am I', () => {
  it('tells an agent its owner, rights, day, open runs and the contract', async () => {
    const { scout, ana, reader } = world
    await scout.call('create_task', { title: 'Rotate' })
    await scout.call('start_run', { task_id: 'T1' })
    const me = await scout.call('get_me')
    expect(me).toMatchObject({
      id: 'G1',
      kind: 'agent',
      owner: 'U1 Ana',
      scopes: ['read', 'write'],
      today: '2026-11-30',
      time_zone: 'Europe/Madrid',
      limits: { title: 500 },
      runs: [{ id: 'R1', task: 'T1 Rotate', state: 'starting' }],
      tools_hash: expect.stringMatching(/^[0-9a-f]{64}$/),
    })
    expect(await ana.call('get_me')).toMatchObject({
      id: 'U1',
      kind: 'person',
      role: 'owner',
      tools_hash: me.tools_hash,
    })
    expect(await reader.call('get_me')).toMatchObject({ scopes: ['read'] })
  })

  it('tells a narrowed credential what it is narrowed to', async () => {
    await world.scout.call('create_project', { name: 'Website' })
    const narrow = await world.agent('narrow', { presets: ['worker'], projects: [1] })
    expect(await narrow.call('get_me')).toMatchObject({ presets: ['worker'], projects: ['P1 Website'] })
  })
})

describe('the digest', () => {
  it('puts a decision with its note and an answer before an agent, once', async () => {
    const { scout } = world
    await scout.call('create_task', { title: 'Rotate' })
    await scout.call('complete_task', { id: 'T1' })
    await anaRejects(world, 'A1', 'The old one is still served.')
    await scout.call('start_run', { task_id: 'T1' })
    await scout.call('ask_question', { text: 'May I restart it?', task_id: 'T1' })
    await anaAnswers(world, 'Q1', 'Yes, at night.')
    const digest = await scout.call('get_digest')
    expect(digest).toMatchObject({
      today: '2026-11-30',
      new: 2,
      decisions: {
        count: 1,
        rows: [{ kind: 'rejected', task: 'T1', material: 'The old one is still served.' }],
      },
      answers: {
        count: 1,
        rows: [{ object: 'Q1', material: 'Yes, at night.', next: 'get_question {"id":"Q1"}' }],
      },
      unfinished_runs: { count: 1, rows: [{ id: 'R1', next: 'start_run {"task_id":"T1"}' }] },
    })
    expect(digest).not.toHaveProperty('overdue')
    expect(await scout.call('get_digest')).toEqual(digest)
    const seen = /mark_notifications_read (.*)/.exec(digest.when_seen)![1]!
    await scout.call('mark_notifications_read', JSON.parse(seen))
    expect(await scout.call('get_digest')).toMatchObject({ new: 0 })
    expect(await scout.call('get_digest', { since: '2026-11-01' })).toMatchObject({ new: 2 })
  })

  it('puts before a person what needs a person', async () => {
    const { scout, builder, ana } = world
    await scout.call('create_task', { title: 'Late', due: '2026-11-29' })
    await scout.call('create_task', { title: 'Due today', due: '2026-11-30' })
    await builder.call('create_task', { title: 'Late' })
    await scout.call('complete_task', { id: 'T2' })
    await scout.call('create_task', { title: 'Stuck' })
    await scout.call('block_task', { id: 'T4', reason: 'No key.' })
    await scout.call('create_task', { title: 'Left behind' })
    await scout.call('start_run', { task_id: 'T5' })
    await scout.call('ask_question', { text: 'Which colour?' })
    await scout.call('create_task', { title: 'A mistake' })
    await scout.call('delete_task', { id: 'T6' })
    world.pass(3_600_000)
    const digest = await ana.call('get_digest')
    expect(digest).toMatchObject({
      sign_offs: { count: 1, rows: [{ id: 'A1', task: 'T2', page: 'http://127.0.0.1:4747/sign-off/A1' }] },
      questions: { count: 1, rows: [{ id: 'Q1', material: 'Which colour?' }] },
      stalled_runs: { count: 1, rows: [{ id: 'R1', agent: 'G1 scout' }] },
      overdue: { count: 1, rows: [{ id: 'T1', due: '2026-11-29' }] },
      blocked: { count: 1, rows: [{ id: 'T4', material: 'No key.', by: 'G1 scout' }] },
      deletions: { count: 1, rows: [{ id: 'X1', object: 'T6', next: 'restore_from_trash {"ids":["X1"]}' }] },
      likely_duplicates: {
        count: 1,
        rows: [{ tasks: ['T1', 'T3'], next: 'merge_tasks {"id":"T1","duplicates":["T3"]}' }],
      },
    })
    expect(await scout.call('get_digest', { scope: 'account' })).toMatchObject({ sign_offs: { count: 1 } })
  })

  it('looks at one project by id or name, and refuses one that is not there', async () => {
    const { scout, ana } = world
    await scout.call('create_project', { name: 'Website' })
    await scout.call('create_task', { title: 'In it', project_id: 'P1', due: '2026-11-01' })
    await scout.call('create_task', { title: 'Outside', due: '2026-11-01' })
    for (const scope of ['P1', 'website']) {
      expect(await ana.call('get_digest', { scope })).toMatchObject({
        overdue: { count: 1, rows: [{ id: 'T1' }] },
      })
    }
    expect(await ana.refused('get_digest', { scope: 'Websit' })).toMatchObject({
      code: 'not_found',
      details: { allowed: expect.arrayContaining(['P1 Website']) },
    })
    const narrow = await world.agent('narrow', { projects: [1] })
    expect(await narrow.call('get_digest', { scope: 'account' })).toMatchObject({
      overdue: { rows: [{ id: 'T1' }] },
    })
  })

  it('knows a project by name among hundreds, archived ones too, and is told the ids of those that are near', async () => {
    const { scout, ana } = world
    await Promise.all(
      Array.from({ length: 120 }, (_, i) => scout.call('create_project', { name: `Archive ${i}` })),
    )
    const { id } = await scout.call('create_project', { name: 'Wébsite' })
    await scout.call('archive_project', { id })
    expect(await ana.call('get_digest', { scope: ' website ' })).toMatchObject({ scope: ' website ' })
    expect((await ana.refused('get_digest', { scope: 'websit' })).details.allowed).toEqual([
      'me',
      'account',
      `${id} Wébsite`,
    ])
  })

  it('tells people of agents that answer each other in circles (R23)', async () => {
    const { scout, builder, ana } = world
    await scout.call('create_task', { title: 'Talk', assignee: 'builder' })
    for (let i = 0; i < 8; i++) {
      await scout.call('comment_on_task', { task_id: 'T1', text: `Thank you, ${i}.` })
      await builder.call('comment_on_task', { task_id: 'T1', text: `You are welcome, ${i}.` })
    }
    expect(await ana.call('get_digest')).toMatchObject({
      loops: {
        count: 1,
        rows: [{ task: 'T1', agents: ['G2 builder', 'G1 scout'], next: 'list_comments {"task_id":"T1"}' }],
      },
    })
  })

  it('stops waiting when the process is about to end', async () => {
    const ending = await world.another()
    const wait = () => ending.call(world.scout.actor, 'get_digest', { wait_seconds: 50 })
    const waiting = wait()
    await new Promise((resolve) => setTimeout(resolve, 100))
    ending.stopWaiting()
    for (const answer of [await waiting, await wait()]) expect(answer).toMatchObject({ new: 0 })
    await ending.close()
  })

  it('waits until there is news, and no longer', async () => {
    const { scout } = world
    await scout.call('create_task', { title: 'Rotate' })
    await scout.call('complete_task', { id: 'T1' })
    const waiting = scout.call('get_digest', { wait_seconds: 50 })
    await new Promise((resolve) => setTimeout(resolve, 100))
    await anaRejects(world, 'A1', 'Not yet.')
    expect(await waiting).toMatchObject({ new: 1, decisions: { count: 1 } })
  })

  it('drops a sign-off whose task went to the Trash (R9)', async () => {
    const { scout, ana } = world
    await scout.call('create_task', { title: 'Rotate' })
    await scout.call('complete_task', { id: 'T1' })
    await scout.call('delete_task', { id: 'T1' })
    expect(await ana.call('get_digest')).not.toHaveProperty('sign_offs')
    await scout.call('restore_from_trash', { ids: ['T1'] })
    expect(await ana.call('get_digest')).toMatchObject({ sign_offs: { count: 1 } })
  })

  it('stays short however much there is (R4)', async () => {
    const { scout, ana } = world
    const long = 'd'.repeat(2000)
    for (let i = 0; i < 4; i++) {
      await scout.call('create_tasks', {
        tasks: Array.from({ length: 60 }, (_, n) => ({
          title: `"\\n${n % 30}" ${'t'.repeat(200)}`,
          description: long,
          due: '2026-11-01',
        })),
      })
    }
    for (let i = 1; i <= 12; i++)
      await scout.call('ask_question', { text: `"${i}" `.repeat(400), task_id: `T${i}` })
    for (let i = 1; i <= 12; i++) await scout.call('block_task', { id: `T${i}`, reason: '"\n'.repeat(500) })
    const digest = await ana.call('get_digest')
    expect(JSON.stringify(digest).length).toBeLessThan(40_000)
    expect(digest).toMatchObject({
      overdue: { at_least: 100, all: 'list_tasks {"overdue":true}' },
      questions: { count: 12, all: 'list_questions {"state":"open"}' },
    })
    expect(digest.overdue.rows).toHaveLength(5)
  })

  it.each([
    ['Pacific/Auckland', '2026-11-30T10:30:00Z', '2026-11-30'],
    ['America/Los_Angeles', '2026-12-01T07:30:00Z', '2026-11-30'],
  ])('knows what is overdue at half past eleven at night in %s (R21)', async (zone, at, today) => {
    world.pass(Date.parse(at) - world.done.store.now())
    const there = { ...world.ana.actor, zone }
    const call = (name: string, input: object) => world.done.call(there, name, input)
    for (const due of ['today', 'yesterday', 'tomorrow']) await call('create_task', { title: due, due })
    await call('create_task', { title: 'undated' })
    const digest = await call('get_digest', {})
    expect(digest).toMatchObject({
      today,
      time_zone: zone,
      overdue: { count: 1, rows: [{ id: 'T2', due: '2026-11-29' }] },
    })
  })
})

describe('notifications', () => {
  it('are the caller’s own, newest first, and are marked up to one', async () => {
    const { scout, builder, ana } = world
    await scout.call('create_task', { title: 'Rotate' })
    for (const note of ['First.', 'Second.']) {
      await scout.call('complete_task', { id: 'T1' })
      const { approvals } = await scout.call('list_approvals', { state: ['pending'] })
      await anaRejects(world, approvals[0].id, note)
    }
    const { notifications } = await scout.call('list_notifications')
    expect(notifications).toMatchObject([
      { kind: 'rejected', unread: true, material: 'Second.', by: 'U1 Ana', task: 'T1' },
      { kind: 'rejected', unread: true, material: 'First.' },
    ])
    expect(await builder.call('list_notifications')).toMatchObject({ total: 0 })
    expect(await builder.refused('mark_notifications_read', { up_to: notifications[0].id })).toMatchObject({
      code: 'not_found',
    })
    expect(await scout.call('mark_notifications_read', { up_to: notifications[1].id })).toMatchObject({
      marked: 1,
      unread: 1,
    })
    expect(await scout.call('list_notifications', { unread_only: true })).toMatchObject({ total: 1 })
    expect(await ana.call('list_notifications')).toMatchObject({ total: 2 })
  })

  it('of other projects stay unread for a narrowed credential', async () => {
    const { scout } = world
    await scout.call('create_project', { name: 'Website' })
    await scout.call('create_task', { title: 'Elsewhere' })
    await scout.call('create_task', { title: 'Here', project_id: 'P1' })
    for (const id of ['T1', 'T2']) await scout.call('complete_task', { id })
    await anaRejects(world, 'A1', 'No.')
    await anaRejects(world, 'A2', 'No.')
    const narrow = await world.agent('scout', { projects: [1] })
    const { notifications } = await narrow.call('list_notifications')
    expect(notifications).toMatchObject([{ task: 'T2' }])
    await narrow.call('mark_notifications_read', { up_to: notifications[0].id })
    expect((await scout.call('list_notifications', { unread_only: true })).notifications).toMatchObject([
      { task: 'T1' },
    ])
  })
})

describe('the log', () => {
  it('is read by task, project, actor, kind and time', async () => {
    const { scout, builder } = world
    await scout.call('create_project', { name: 'Website' })
    await scout.call('create_task', { title: 'Here', project_id: 'P1' })
    world.pass(3_600_000)
    await builder.call('comment_on_task', { task_id: 'T1', text: 'Hello' })
    await builder.call('create_task', { title: 'Elsewhere' })
    const kinds = async (input: object) =>
      (await scout.call('list_activity', { ...input })).events.map((event: { kind: string }) => event.kind)
    expect(await kinds({ task_id: 'T1' })).toEqual(['commented', 'created'])
    expect(await kinds({ project_id: 'P1' })).toEqual(['commented', 'created', 'project_created'])
    expect(await kinds({ actor: 'builder' })).toEqual(['created', 'commented'])
    expect(await kinds({ kinds: ['created'], until: '2026-11-30T08:30' })).toEqual([])
    expect(await kinds({ kinds: ['created'], since: '2026-11-30T09:30' })).toEqual(['created'])
    expect(await scout.refused('list_activity', { kinds: ['create'] })).toMatchObject({
      code: 'invalid_value',
      details: { allowed: expect.arrayContaining(['created']) },
    })
    expect(await scout.refused('list_activity', { actor: 'nobody' })).toMatchObject({ code: 'invalid_value' })
  })

  it('shows a narrowed credential its projects only, and nothing of a task that left them', async () => {
    const { scout } = world
    await scout.call('create_project', { name: 'Website' })
    await scout.call('create_task', { title: 'Stays', project_id: 'P1' })
    await scout.call('create_task', { title: 'Leaves', project_id: 'P1' })
    await scout.call('create_task', { title: 'Was never here' })
    await scout.call('update_task', { id: 'T2', project_id: null })
    const narrow = await world.agent('narrow', { projects: [1] })
    const { events } = await narrow.call('list_activity')
    expect(events.map((event: { task?: string }) => event.task)).toEqual(['T1', undefined])
    expect(await narrow.refused('list_activity', { task_id: 'T2' })).toMatchObject({ code: 'not_found' })
  })

  it('pages through everything', async () => {
    const { scout } = world
    for (let i = 0; i < 30; i++) await scout.call('create_task', { title: `Task ${i}` })
    const first = await scout.call('list_activity', { actor: 'me', limit: 20 })
    expect(first).toMatchObject({ showing: 20, total: 30 })
    await scout.call('create_task', { title: 'Between' })
    const second = await scout.call('list_activity', { actor: 'me', limit: 20, cursor: first.next_cursor })
    expect(second.showing).toBe(10)
  })
})
