import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { anaConnects } from '../../test/people.ts'
import { newWorld, type World } from '../../test/world.ts'
import { AppError } from '../model/error.ts'
import type { Connector, Outside, OutsideItem } from '../model/outside.ts'
import { addSource } from '../store/source.ts'
import { callWith } from './call.ts'

let world: World
beforeEach(async () => {
  world = await newWorld()
})
afterEach(() => world.close())

const NOTE = { connector: 'notes', title: 'Decision', text: 'We rotate monthly.' }

describe('outside sources', () => {
  it('are listed without their secrets and paths', async () => {
    const root = await anaConnects(world, 'notes', {})
    const list = await world.reader.call('list_connectors')
    expect(list).toMatchObject({
      total: 1,
      connectors: [{ name: 'notes', kind: 'folder', can: ['search', 'read', 'save'] }],
    })
    expect(JSON.stringify(list)).not.toContain(root)
  })

  it('are searched and read, and what they hold is marked as outside text', async () => {
    const { scout } = world
    await anaConnects(world, 'notes', { 'brief.md': 'Rotate the certificate. 🎉 Then rest.' })
    const found = await scout.call('search_context', { query: 'CERTIFICATE' })
    expect(found).toMatchObject({
      today: '2026-11-30',
      total: 1,
      items: [
        {
          uri: 'folder:notes/brief.md',
          title: 'brief',
          origin: 'folder "notes"',
          material: expect.stringContaining('Rotate'),
        },
      ],
      next: 'read_context {"uri":"folder:notes/brief.md"} reads one.',
    })
    const piece = await scout.call('read_context', { uri: found.items[0].uri, limit: 25 })
    expect(piece).toMatchObject({
      material: 'Rotate the certificate. ',
      total: 37,
      next_offset: 24,
      origin: 'folder "notes"',
    })
    const rest = await scout.call('read_context', JSON.parse(piece.next.replace('read_context ', '')))
    expect(rest.material).toBe('🎉 Then rest.')
    expect(await scout.refused('read_context', { uri: 'folder:notes/../seal.key' })).toMatchObject({
      code: 'not_found',
    })
    expect(await scout.refused('read_context', { uri: 'http://127.0.0.1/' })).toMatchObject({
      code: 'not_found',
    })
  })

  it('are not for a credential that is narrowed to projects', async () => {
    await anaConnects(world, 'notes', {})
    await world.scout.call('create_project', { name: 'Website' })
    const narrow = await world.agent('narrow', { projects: [1] })
    expect(await narrow.call('list_connectors')).toMatchObject({ total: 0 })
    for (const [tool, input] of [
      ['search_context', { query: 'x' }],
      ['read_context', { uri: 'folder:notes/a.md' }],
      ['save_context', NOTE],
    ] as const) {
      expect(await narrow.refused(tool, input)).toMatchObject({ code: 'scope' })
    }
    expect(await world.reader.refused('save_context', NOTE)).toMatchObject({ code: 'scope' })
  })

  it('that are not known are named, and one for reading only can’t be written to', async () => {
    await anaConnects(world, 'notes', {}, false)
    await anaConnects(world, 'inbox', {})
    const { scout } = world
    expect(await scout.refused('search_context', { query: 'x', connectors: ['note'] })).toMatchObject({
      code: 'not_found',
      details: { allowed: ['notes'] },
    })
    expect(await scout.refused('save_context', NOTE)).toMatchObject({
      code: 'invalid_value',
      details: { allowed: ['inbox'] },
    })
  })
})

describe('saving outside', () => {
  it('adds a new item, never over another, and links it to the task', async () => {
    const root = await anaConnects(world, 'notes', { 'Decision.md': 'An older one.' })
    const { scout } = world
    await scout.call('create_task', { title: 'Rotate' })
    await scout.call('start_run', { task_id: 'T1' })
    const saved = await scout.call('save_context', { ...NOTE, task_id: 'T1' })
    expect(saved).toMatchObject({
      id: 'W1',
      connector: 'notes',
      uri: 'folder:notes/Decision-2.md',
      task: 'T1',
      artifact: 'F1',
    })
    expect(readFileSync(join(root, 'Decision.md'), 'utf8')).toBe('An older one.')
    expect(readFileSync(join(root, 'Decision-2.md'), 'utf8')).toBe(NOTE.text)
    expect((await scout.call('get_task', { id: 'T1' })).artifacts).toMatchObject([
      { id: 'F1', kind: 'link', url: saved.uri },
    ])
    expect(await scout.call('list_activity', { kinds: ['context_saved'] })).toMatchObject({
      events: [{ object: 'W1', task: 'T1' }],
    })
    await scout.call('save_context', { ...NOTE, task_id: 'T1' })
    expect(readdirSync(root)).toHaveLength(3)
  })

  it('happens once for a key, also ten times at once, and a key stands for one call', async () => {
    const root = await anaConnects(world, 'notes', {})
    const { scout, builder } = world
    const call = { ...NOTE, idempotency_key: 'k' }
    const answers = await Promise.all(Array.from({ length: 10 }, () => scout.call('save_context', call)))
    expect(new Set(answers.map((answer) => answer.id))).toEqual(new Set(['W1']))
    expect(answers.filter((answer) => answer.replayed)).toHaveLength(9)
    expect(readdirSync(root)).toEqual(['Decision.md'])
    expect(await scout.refused('save_context', { ...call, text: 'Other.' })).toMatchObject({
      code: 'conflict',
    })
    expect(await scout.refused('create_task', { title: 'x', idempotency_key: 'k' })).toMatchObject({
      code: 'conflict',
    })
    expect(await builder.call('save_context', call)).toMatchObject({ id: 'W2' })
  })

  it('voids the agent’s own request, and is refused where it would void another’s', async () => {
    await anaConnects(world, 'notes', {})
    const { scout, builder } = world
    await scout.call('create_task', { title: 'Rotate' })
    await scout.call('complete_task', { id: 'T1' })
    expect(await builder.refused('save_context', { ...NOTE, task_id: 'T1' })).toMatchObject({
      code: 'conflict',
    })
    expect(await scout.call('save_context', { ...NOTE, task_id: 'T1' })).toMatchObject({
      request_stale: 'A1',
    })
  })
})

describe('sources that fail', () => {
  /** Sources of a kind whose connectors the test makes; everything else as in use. */
  function worldWith(connectors: Record<string, Partial<Connector>>) {
    const outside: Outside = {
      connect: (source) =>
        ({ kind: 'fake', can: ['search', 'read', 'save'], ...connectors[source.name] }) as Connector,
    }
    const { store, access } = world.done
    const call = callWith({ store, outside, access })
    return {
      call: (name: string, input: object): Promise<Record<string, any>> =>
        call(world.scout.actor, name, input),
      connect: async () => {
        for (const name of Object.keys(connectors)) {
          await store.write(world.ana.actor, 'add_source', (tx) =>
            addSource(tx, { name, kind: 'fake', config: { secret: 'hunter2' }, may_save: true }),
          )
        }
      },
    }
  }

  const items = (name: string, count: number): OutsideItem[] =>
    Array.from({ length: count }, (_, i) => ({
      uri: `fake:${name}/${i}`,
      title: `${name} ${i}`,
      snippet: '…',
      rank: 1 - i / 100,
    }))

  const holding = (all: OutsideItem[]): Partial<Connector> => ({
    search: async (_, { limit, offset }) => ({ items: all.slice(offset, offset + limit), total: all.length }),
  })

  it('are named, and the others’ results come all the same, within the deadline', async () => {
    const { call, connect } = worldWith({
      good: holding(items('good', 2)),
      bad: { search: () => Promise.reject(new Error('connect ECONNREFUSED /srv/secret/path')) },
      slow: { search: () => new Promise(() => {}) },
    })
    await connect()
    const began = performance.now()
    const found = await call('search_context', { query: 'x' })
    expect(performance.now() - began).toBeLessThan(7000)
    expect(found.items).toHaveLength(2)
    expect(found.failed).toEqual([
      { connector: 'bad', code: 'unavailable', why: '"bad" failed.' },
      { connector: 'slow', code: 'unavailable', why: '"slow" did not answer in time.' },
    ])
    await expect(call('search_context', { query: 'x', connectors: ['bad'] })).rejects.toMatchObject({
      code: 'unavailable',
    })
  })

  it('are merged by rank and paged without repeats or gaps', async () => {
    const { call, connect } = worldWith({ one: holding(items('one', 7)), two: holding(items('two', 3)) })
    await connect()
    const seen: string[] = []
    let cursor: string | undefined
    do {
      const page = await call('search_context', { query: 'x', limit: 4, ...(cursor ? { cursor } : {}) })
      expect(page.total).toBe(10)
      seen.push(...page.items.map((item: { uri: string }) => item.uri))
      cursor = page.next_cursor
    } while (cursor)
    expect(seen.slice(0, 4)).toEqual(['fake:one/0', 'fake:two/0', 'fake:one/1', 'fake:two/1'])
    expect(seen).toHaveLength(10)
    expect(new Set(seen).size).toBe(10)
    const other = (await call('search_context', { query: 'x', limit: 4 })).next_cursor
    await expect(call('search_context', { query: 'y', cursor: other })).rejects.toMatchObject({
      code: 'invalid_value',
    })
  })

  it('keep an answer short (R4)', async () => {
    const long = items('long', 100).map((item) => ({
      ...item,
      title: '"'.repeat(900),
      snippet: '\n"'.repeat(900),
    }))
    const { call, connect } = worldWith({
      long: {
        ...holding(long),
        read: async (uri) => ({ uri, title: 'x', text: '\u0001'.repeat(30_000), offset: 0, total: 30_000 }),
      },
    })
    await connect()
    const page = await call('search_context', { query: 'x', limit: 100 })
    expect(JSON.stringify(page).length).toBeLessThan(40_000)
    expect(page.next_cursor).toBeDefined()
    const item = await call('read_context', { uri: 'fake:long/1', limit: 30_000 })
    expect(JSON.stringify(item).length).toBeLessThan(40_000)
    expect(item.next_offset).toBe(item.material.length)
  })

  it('that refuse a save have saved nothing, and the same call may try again', async () => {
    let attempts = 0
    const { call, connect } = worldWith({
      notes: {
        save: async (item) => {
          if (++attempts === 1) throw new AppError('unavailable', 'The disk is full.')
          return { uri: 'fake:notes/1', title: item.title }
        },
      },
    })
    await connect()
    await expect(call('save_context', { ...NOTE, idempotency_key: 'k' })).rejects.toMatchObject({
      message: 'The disk is full.',
    })
    expect(await call('save_context', { ...NOTE, idempotency_key: 'k' })).toMatchObject({
      id: 'W2',
      uri: 'fake:notes/1',
    })
  })

  it('whose answer was lost are asked before anything is saved again', async () => {
    const stored: string[] = []
    let reachable = false
    const { call, connect } = worldWith({
      notes: {
        save: async (item) => {
          stored.push(item.mark)
          throw new Error('socket hang up')
        },
        saved: async (item) => {
          if (!reachable) throw new Error('still down')
          return stored.includes(item.mark) ? { uri: 'fake:notes/1', title: item.title } : undefined
        },
      },
    })
    await connect()
    for (const key of [{ idempotency_key: 'k' }, {}]) {
      reachable = false
      stored.length = 0
      const refusal = {
        code: 'unavailable',
        details: { retry: true, next: expect.stringContaining('search_context') },
      }
      await expect(call('save_context', { ...NOTE, ...key })).rejects.toMatchObject(refusal)
      await expect(call('save_context', { ...NOTE, ...key })).rejects.toMatchObject(refusal)
      reachable = true
      expect(await call('save_context', { ...NOTE, ...key })).toMatchObject({
        uri: 'fake:notes/1',
        replayed: true,
      })
      expect(stored).toHaveLength(1)
    }
  })

  it('that have not got it are given it again under the same mark', async () => {
    const marks: string[] = []
    const { call, connect } = worldWith({
      notes: {
        save: async (item) => {
          marks.push(item.mark)
          if (marks.length === 1) throw new Error('socket hang up')
          return { uri: 'fake:notes/1', title: item.title }
        },
        saved: async () => undefined,
      },
    })
    await connect()
    await expect(call('save_context', { ...NOTE, idempotency_key: 'k' })).rejects.toMatchObject({
      code: 'unavailable',
    })
    await expect(
      call('save_context', { ...NOTE, text: 'Other.', idempotency_key: 'k' }),
    ).rejects.toMatchObject({ code: 'conflict' })
    expect(await call('save_context', { ...NOTE, idempotency_key: 'k' })).toMatchObject({ id: 'W1' })
    expect(marks[0]).toBe(marks[1])
  })

  it('saved what a task can’t take any more: that is told, not lost', async () => {
    const { scout, ana } = world
    await scout.call('create_task', { title: 'Rotate' })
    const { call, connect } = worldWith({
      notes: {
        save: async (item) => {
          await ana.call('complete_task', { id: 'T1' })
          return { uri: 'fake:notes/1', title: item.title }
        },
      },
    })
    await connect()
    expect(await call('save_context', { ...NOTE, task_id: 'T1' })).toMatchObject({
      uri: 'fake:notes/1',
      not_linked: expect.stringContaining('signed off'),
    })
  })
})
