import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { SEARCH_TABLE } from '../../test/search-table.ts'
import { newWorld, type World } from '../../test/world.ts'
import { snippetOf, termsOf } from '../model/search.ts'

let world: World
beforeEach(async () => {
  world = await newWorld()
})
afterEach(() => world.close())

const found = async (query: string, more: object = {}) =>
  (await world.scout.call('search', { query, ...more })).hits.map((hit: { id: string }) => hit.id)

describe('a search', () => {
  it.each(SEARCH_TABLE)('$says', async ({ text, query, found: expected }) => {
    await world.scout.call('create_task', { title: '…', description: text })
    expect(await found(query)).toEqual(expected ? ['T1'] : [])
  })

  it('finds tasks, steps, comments, projects, runs and artifacts, titles first, and says who said it', async () => {
    const { scout, builder } = world
    await scout.call('create_project', { name: 'Certificates' })
    await scout.call('create_task', { title: 'Look around', steps: [{ title: 'Order a certificate' }] })
    await builder.call('comment_on_task', { task_id: 'T1', text: 'Which certificate?' })
    await scout.call('start_run', { task_id: 'T1', goal: 'Find the certificate' })
    await scout.call('attach_artifact', { task_id: 'T1', title: 'Log', text: 'No certificate here.' })
    await scout.call('create_task', { title: 'Certificate of the month' })
    const { hits } = await scout.call('search', { query: 'certificate' })
    expect(hits.map((hit: { id: string }) => hit.id)).toEqual(['T2', 'S1', 'P1', 'F1', 'R1', 'C1'])
    expect(hits.at(-1)).toMatchObject({
      kind: 'comment',
      material: 'Which certificate?',
      author: 'G2 builder',
      task: 'T1 Look around',
    })
    expect(await found('certificate', { kinds: ['comment', 'run'] })).toEqual(['R1', 'C1'])
  })

  it('follows edits, and does not find what lies in the Trash', async () => {
    const { scout } = world
    await scout.call('create_task', { title: 'Rotate the certificate', steps: [{ title: 'Order it' }] })
    await scout.call('update_task', { id: 'T1', title: 'Water the plants' })
    expect(await found('certificate')).toEqual([])
    expect(await found('plants')).toEqual(['T1'])
    await scout.call('delete_task', { id: 'T1' })
    expect(await found('plants')).toEqual([])
    expect(await found('order')).toEqual([])
    await scout.call('restore_from_trash', { ids: ['T1'] })
    expect(await found('order')).toEqual(['S1'])
  })

  it('finds closed tasks unless told not to, and stays within a project', async () => {
    const { scout, ana } = world
    await scout.call('create_project', { name: 'Website' })
    await scout.call('create_task', { title: 'Certificate, old', project_id: 'P1' })
    await ana.call('complete_task', { id: 'T1' })
    await scout.call('create_task', { title: 'Certificate, new' })
    expect(await found('certificate')).toEqual(['T2', 'T1'])
    expect(await found('certificate', { include_closed: false })).toEqual(['T2'])
    expect(await found('certificate', { project_id: 'P1' })).toEqual(['T1'])
    const narrowed = await world.agent('narrow', { projects: [1] })
    expect((await narrowed.call('search', { query: 'certificate' })).hits).toMatchObject([{ id: 'T1' }])
    expect((await narrowed.call('search', { query: 'website' })).total).toBe(1)
  })

  it('pages without repeats or gaps while things are added', async () => {
    const { scout } = world
    await scout.call('create_tasks', {
      tasks: Array.from({ length: 60 }, (_, i) => ({ title: `Plant ${i}` })),
    })
    const first = await scout.call('search', { query: 'plant', limit: 50 })
    expect(first).toMatchObject({ showing: 50, total: 60 })
    await scout.call('create_task', { title: 'Plant anew' })
    const second = await scout.call('search', { query: 'plant', limit: 50, cursor: first.next_cursor })
    expect(second).toMatchObject({ showing: 10, total: 61 })
    const ids = [...first.hits, ...second.hits].map((hit: { id: string }) => hit.id)
    expect(new Set(ids).size).toBe(60)
  })

  it('refuses a query without a letter, and a cursor of another list', async () => {
    expect(await world.scout.refused('search', { query: '🎉 *' })).toMatchObject({ code: 'invalid_value' })
    expect(await world.scout.refused('search', { query: 'a', cursor: 'bm9wZQ' })).toMatchObject({
      code: 'invalid_value',
    })
  })
})

describe('a snippet', () => {
  it('lies around the hit, also where folding changes lengths, and splits no character', () => {
    const text = `${'ﬁﬂ🎉 '.repeat(2000)}needle in the hay`
    const snippet = snippetOf(text, termsOf('needle'))
    expect(snippet).toContain('needle in the hay')
    expect(snippet).not.toMatch(/[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/)
  })
})

describe('a full text', () => {
  it('comes in pieces that add up, with the literal next call, and splits no character', async () => {
    const { scout } = world
    const description = '🎉"\n'.repeat(9000)
    await scout.call('create_task', { title: 'Long', description })
    let read = ''
    let call: Record<string, unknown> | undefined = { id: 'T1' }
    while (call) {
      const piece = await scout.call('get_full_text', call)
      expect(JSON.stringify(piece).length).toBeLessThanOrEqual(40_000)
      expect(piece.text).not.toMatch(/[\uD800-\uDBFF]$/)
      read += piece.text
      call = piece.next && JSON.parse(piece.next.replace('get_full_text ', ''))
    }
    expect(read).toBe(description)
  })

  it('marks what others said, and names what can be read where an id is of another kind', async () => {
    const { scout, builder } = world
    await scout.call('create_task', { title: 'Talk' })
    await builder.call('comment_on_task', { task_id: 'T1', text: 'Hello' })
    expect(await scout.call('get_full_text', { id: 'C1' })).toMatchObject({
      material: 'Hello',
      author: 'G2 builder',
      total: 5,
    })
    expect(await scout.refused('get_full_text', { id: 'P1' })).toMatchObject({ code: 'invalid_value' })
    expect(await scout.refused('get_full_text', { id: 'C9' })).toMatchObject({ code: 'not_found' })
    expect(await scout.refused('get_full_text', { id: 'C1', part: 'steps' })).toMatchObject({
      code: 'invalid_value',
    })
  })

  it('shows every step of a plan that is too long for get_task', async () => {
    const { scout } = world
    const steps = Array.from({ length: 200 }, (_, i) => ({
      title: `Step ${i} ${'x'.repeat(300)}`,
      description: 'y'.repeat(300),
    }))
    await scout.call('create_task', { title: 'Plan', steps })
    const { more } = await scout.call('get_task', { id: 'T1' })
    expect(more).toContain('get_full_text {"id":"T1","part":"steps"}')
    expect(await scout.call('get_full_text', { id: 'T1', part: 'steps', limit: 400 })).toMatchObject({
      part: 'steps',
      text: expect.stringContaining('S1 [pending] Step 0'),
    })
  })
})
