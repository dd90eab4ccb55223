import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { newWorld, type Worker, type World } from '../../test/world.ts'

let world: World
beforeEach(async () => {
  world = await newWorld()
  await world.ana.call('create_task', { title: 'Lay the floor' })
})
afterEach(() => world.close())

const say = (by: Worker, text: string, more: Record<string, unknown> = {}) =>
  by.call('comment_on_task', { task_id: 'T1', text, ...more })

describe('who hears of a comment', () => {
  it('is who is mentioned, the assignee, the holder and who is answered, never the author', async () => {
    const { scout, builder, ana } = world
    await scout.call('update_task', { id: 'T1', assignee: 'Ana' })
    await scout.call('start_run', { task_id: 'T1' })
    expect((await say(scout, 'Ordered. @scout @SCOUT @G1')).notified).toEqual(['U1 Ana'])
    expect((await say(builder, 'Which oak, @reader?')).notified).toEqual(['U1 Ana', 'G1 scout', 'G3 reader'])
    expect((await say(ana, 'French.', { reply_to: 'C2' })).notified).toEqual(['G1 scout', 'G2 builder'])
  })

  it('is at least one person, and agents are not set off by others’ talk', async () => {
    const { scout, builder } = world
    expect((await say(scout, 'Hello.')).notified).toEqual(['U1 Ana'])
    expect((await say(builder, 'Me too.')).notified).toEqual(['U1 Ana'])
  })

  it('tells a mention of nobody', async () => {
    expect(await say(world.scout, 'ask @nemo')).toMatchObject({ nobody_called: ['nemo'] })
  })
})

describe('two agents that answer each other (R23)', () => {
  it('are damped after ten rounds in ten minutes: kept, told to people, and no agent set off', async () => {
    const { scout, builder } = world
    const damped: number[] = []
    for (let i = 0; i < 20; i++) {
      const [by, to] = i % 2 ? [builder, '@scout'] : [scout, '@builder']
      const answer = await say(by, `${to} thanks, ${i}`)
      if (answer.damped) {
        damped.push(i)
        expect(answer.notified).toEqual(['U1 Ana'])
      } else expect(answer.notified).toContain(i % 2 ? 'G1 scout' : 'G2 builder')
      world.pass(3000)
    }
    expect(damped).toEqual([11, 12, 13, 14, 15, 16, 17, 18, 19])
    expect(await scout.call('list_comments', { task_id: 'T1' })).toMatchObject({ total: 20 })
    const loops = await scout.call('list_activity', { task_id: 'T1', kinds: ['loop_damped'] })
    expect(loops).toMatchObject({ total: 1 })
  })

  it('are free again after a person has spoken, and after ten minutes', async () => {
    const { scout, builder, ana } = world
    const round = async () => {
      await say(scout, '@builder again')
      return (await say(builder, '@scout again')).damped
    }
    for (let i = 0; i < 5; i++) expect(await round()).toBeUndefined()
    expect(await round()).toBe(true)
    await say(ana, 'Enough?')
    expect(await round()).toBeUndefined()
    for (let i = 0; i < 5; i++) await round()
    world.pass(10 * 60_000 + 1)
    expect(await round()).toBeUndefined()
  })

  it('can’t get round it by deleting what they said', async () => {
    const { scout, builder } = world
    for (let i = 0; i < 11; i++) {
      const by = i % 2 ? builder : scout
      const { id } = await say(by, '@scout @builder thanks')
      await by.call('delete_comment', { id })
    }
    expect(await say(builder, '@scout thanks')).toMatchObject({ damped: true })
  })
})

describe('a comment', () => {
  it('is written once for one key, and the same words again are named (R11)', async () => {
    const { scout } = world
    await say(scout, 'Ordered.', { idempotency_key: 'k1' })
    expect(await say(scout, 'Ordered.', { idempotency_key: 'k1' })).toMatchObject({
      id: 'C1',
      replayed: true,
    })
    await expect(say(scout, 'Paid.', { idempotency_key: 'k1' })).rejects.toMatchObject({ code: 'conflict' })
    expect(await say(scout, 'Ordered.')).toMatchObject({ id: 'C2', likely_duplicate_of: 'C1' })
  })

  it('is changed by its author alone, and the old text stays in the history', async () => {
    const { scout, builder, ana } = world
    await say(scout, 'Ordered.')
    expect(await builder.refused('update_comment', { id: 'C1', text: 'Lost.' })).toMatchObject({
      code: 'conflict',
    })
    expect(await ana.refused('update_comment', { id: 'C1', text: 'Lost.' })).toMatchObject({
      code: 'conflict',
    })
    expect(await scout.call('update_comment', { id: 'C1', text: 'Paid.' })).toMatchObject({ version: 2 })
    expect(
      await scout.call('update_comment', { id: 'C1', text: 'Paid.', expected_version: 1 }),
    ).toMatchObject({
      already: true,
    })
    expect(
      await scout.refused('update_comment', { id: 'C1', text: 'No.', expected_version: 1 }),
    ).toMatchObject({
      details: { written: false, current: { text: 'Paid.', version: 2 } },
    })
    const { history } = await scout.call('get_task_history', { id: 'T1' })
    expect(history).toContainEqual(
      expect.objectContaining({ object: 'C1', changes: { text: { old: 'Ordered.', new: 'Paid.' } } }),
    )
  })

  it('is deleted by its author or an owner, and comes back', async () => {
    const { scout, builder, ana } = world
    await say(scout, 'Ordered.')
    expect(await builder.refused('delete_comment', { id: 'C1' })).toMatchObject({ code: 'conflict' })
    expect(await ana.call('delete_comment', { id: 'C1' })).toMatchObject({ trash: 'X1' })
    expect(await scout.call('list_comments', { task_id: 'T1' })).toMatchObject({ total: 0 })
    await scout.call('restore_from_trash', { ids: ['C1'] })
    expect(await scout.call('list_comments', { task_id: 'T1' })).toMatchObject({
      comments: [{ id: 'C1', material: 'Ordered.', author: 'G1 scout', author_kind: 'agent', version: 1 }],
    })
  })

  it('is no change of meaning: a pending request stays, and a signed-off task can be talked about', async () => {
    const { scout, builder, ana } = world
    await scout.call('complete_task', { id: 'T1' })
    expect(await say(builder, 'Well done.')).not.toHaveProperty('request_stale')
    expect((await say(ana, 'Let me see.')).notified).toContain('G1 scout')
    await ana.call('complete_task', { id: 'T1' })
    await say(scout, 'Thanks.')
    expect(await scout.call('get_task', { id: 'T1' })).not.toHaveProperty('changed_since_sign_off')
  })

  it('keeps its text byte for byte, and lists in pages without repeats (R6)', async () => {
    const { scout } = world
    const text = '- [ ] **oak**\n\n```\n@scout\n```\t東京 é'
    await say(scout, text)
    for (let i = 0; i < 6; i++) await say(scout, `No ${i}`)
    const first = await scout.call('list_comments', { task_id: 'T1', order: 'oldest', limit: 4 })
    expect(first.comments[0].material).toBe(text)
    await say(scout, 'In between.')
    const second = await scout.call('list_comments', {
      task_id: 'T1',
      order: 'oldest',
      limit: 4,
      cursor: first.next_cursor,
    })
    expect(second.comments.map((each: { id: string }) => each.id)).toEqual(['C5', 'C6', 'C7', 'C8'])
  })

  it('answers only comments on the same task', async () => {
    const { scout } = world
    await say(scout, 'Ordered.')
    await scout.call('create_task', { title: 'Other' })
    const other = await scout.refused('comment_on_task', { task_id: 'T2', text: 'x', reply_to: 'C1' })
    expect(other).toMatchObject({ code: 'invalid_value', message: 'C1 is not a comment on T2.' })
    expect(await scout.refused('comment_on_task', { task_id: 'T1', text: '  ' })).toMatchObject({
      code: 'invalid_value',
    })
  })
})
