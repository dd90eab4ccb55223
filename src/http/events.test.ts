import { request } from 'node:http'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Client, type HttpWorld, newHttpWorld } from '../../test/http.ts'
import { actorOfToken } from '../auth/actor.ts'
import { issueToken } from '../auth/console.ts'
import { createAccount } from '../store/account.ts'
import { revokeToken } from '../store/credential.ts'
import { systemActor } from '../tools/access.ts'

let door: HttpWorld
let scout: Client
beforeEach(async () => {
  door = await newHttpWorld()
  scout = door.agent(door.world.scout.token!)
})
afterEach(() => door.close())

interface Stream {
  status: number
  events: {
    id: string
    kind: string
    task?: string
    project?: string
    actor: string
    tool: string
    at: string
  }[]
  ended: Promise<void>
  /** Waits until so many events came. */
  until(count: number): Promise<void>
  close(): void
}

/** Opens a stream and reads it as a browser would. */
function listen(headers: Record<string, string>, query = ''): Promise<Stream> {
  return new Promise((resolve, reject) => {
    const sent = request(
      {
        port: door.server.port,
        path: `/api/events${query}`,
        agent: false,
        headers: { host: door.host, ...headers },
      },
      (response) => {
        const events: Stream['events'] = []
        let text = ''
        let wake = () => {}
        response.on('data', (part) => {
          text += part
          const frames = text.split('\n\n')
          text = frames.pop()!
          for (const frame of frames) {
            const data = /^data: (.*)$/m.exec(frame)?.[1]
            const id = /^id: (.*)$/m.exec(frame)?.[1]
            if (data) events.push({ ...JSON.parse(data), id })
          }
          wake()
        })
        const ended = new Promise<void>((end) => response.on('close', end))
        resolve({
          status: response.statusCode!,
          events,
          ended,
          async until(count) {
            while (events.length < count)
              await new Promise<void>((next, late) => {
                const timer = setTimeout(() => late(new Error(`Only ${events.length} events came.`)), 5000)
                wake = () => {
                  clearTimeout(timer)
                  next()
                }
              })
          },
          close: () => sent.destroy(),
        })
      },
    )
    sent.on('error', (error) => (sent.destroyed ? undefined : reject(error)))
    sent.end()
  })
}

const token = (text = door.world.scout.token!) => ({ authorization: `Bearer ${text}` })

describe('the stream of events', () => {
  it('tells what happens, as it happens, and nothing of before', async () => {
    await scout.post('/api/tasks', { title: 'Before' })
    const stream = await listen(token())
    await scout.post('/api/tasks', { title: 'Now' })
    await stream.until(1)
    expect(stream.events).toMatchObject([{ kind: 'created', task: 'T2', actor: 'G1', tool: 'create_task' }])
    expect(stream.events[0]!.at).toMatch(/^2026-11-30T08:00:00Z$/)
    stream.close()
  })

  it('goes on where it was, by header or address, without a gap or a repeat', async () => {
    for (let i = 0; i < 30; i++) await scout.post('/api/tasks', { title: `Task ${i}` })
    const first = await listen(token(), '?after=E0')
    await first.until(30)
    const ids = first.events.map((each) => Number(each.id.slice(1)))
    expect(ids).toEqual(Array.from({ length: ids.length }, (_, i) => i + 1))
    first.close()
    await Promise.all(Array.from({ length: 20 }, (_, i) => scout.post('/api/tasks', { title: `Late ${i}` })))
    const last = first.events.at(-1)!.id
    const second = await listen({ ...token(), 'last-event-id': last }, '?after=E1')
    await second.until(20)
    await scout.post('/api/tasks', { title: 'Last' })
    await second.until(21)
    const all = [...first.events, ...second.events].map((each) => each.id)
    expect(new Set(all).size).toBe(all.length)
    expect(Number(second.events[0]!.id.slice(1))).toBe(Number(last.slice(1)) + 1)
    second.close()
    expect((await scout.get('/api/events?after=nonsense')).status).toBe(400)
  })

  it('takes an id that is not there yet for the newest', async () => {
    await scout.post('/api/tasks', { title: 'Before' })
    const stream = await listen({ ...token(), 'last-event-id': 'E999999' })
    await scout.post('/api/tasks', { title: 'After' })
    await stream.until(1)
    expect(stream.events).toMatchObject([{ kind: 'created', task: 'T2' }])
    stream.close()
  })

  it('hears the same at every listener under load, in order', async () => {
    const streams = await Promise.all(Array.from({ length: 8 }, () => listen(token())))
    for (let round = 0; round < 5; round++)
      await Promise.all(
        Array.from({ length: 10 }, (_, i) => scout.post('/api/tasks', { title: `R${round} ${i}` })),
      )
    for (const stream of streams) await stream.until(50)
    const told = streams.map((stream) => stream.events.map((each) => each.id).join())
    expect(new Set(told).size).toBe(1)
    for (const stream of streams) stream.close()
  })

  it('is for whoever has a credential, and ends with it', async () => {
    expect((await door.nobody.get('/api/events')).status).toBe(401)
    const ana = await door.browser()
    const session = await listen({ cookie: ana.headers.cookie! })
    const stream = await listen(token())
    expect([session.status, stream.status]).toEqual([200, 200])
    const { store } = door.world.done
    const actor = (await actorOfToken(store, door.world.scout.token!))!
    await store.write(door.world.ana.actor, 'revoke_token', (tx) =>
      revokeToken(tx, Number(actor.credential.slice(6))),
    )
    await ana.form('/sign-out', {})
    const started = Date.now()
    await Promise.all([stream.ended, session.ended])
    expect(Date.now() - started).toBeLessThan(5000)
  })

  it('is bounded, and gives its place back', async () => {
    const streams = await Promise.all(Array.from({ length: 20 }, () => listen(token())))
    const refused = await scout.get('/api/events')
    expect([refused.status, refused.json.error.code]).toEqual([429, 'rate_limited'])
    for (const stream of streams) stream.close()
    await expect
      .poll(async () => {
        const again = await listen(token())
        again.close()
        return again.status
      })
      .toBe(200)
    expect((await scout.send('HEAD', '/api/events')).status).toBe(200)
  })

  it('ends when the server stops', async () => {
    const stream = await listen(token())
    await door.server.close()
    await stream.ended
  })
})

describe('who hears what', () => {
  it('is nothing of another account', async () => {
    const { store } = door.world.done
    await store.write(systemActor(2), 'setup', (tx) =>
      createAccount(tx, { name: 'Other', zone: 'UTC', owner: 'Olaf', leaseMs: 600_000 }),
    )
    const other = door.agent(await issueToken(store, 2, 'scout', { scopes: 'read write' }))
    const theirs = await listen(other.headers, '?after=E0')
    const ours = await listen(token(), '?after=E0')
    await scout.post('/api/tasks', { title: 'Ours' })
    await other.post('/api/tasks', { title: 'Theirs' })
    await ours.until(1)
    await theirs.until(1)
    await new Promise((resolve) => setTimeout(resolve, 200))
    const created = (stream: Stream) => stream.events.filter((each) => each.kind === 'created').length
    expect([created(ours), created(theirs)]).toEqual([1, 1])
    expect((await other.get('/api/tasks/T1')).json.title).toBe('Theirs')
    expect((await other.get('/api/tasks')).json.total).toBe(1)
    expect((await other.get('/api/tasks/T2')).status).toBe(404)
    ours.close()
    theirs.close()
  })

  it('is that of its projects for a credential narrowed to them', async () => {
    await scout.post('/api/projects', { name: 'Website' })
    await scout.post('/api/projects', { name: 'Secret' })
    const narrow = await door.world.agent('narrow', { projects: [1] })
    const stream = await listen(token(narrow.token), '?after=E0')
    await scout.post('/api/tasks', { title: 'Hidden', project_id: 'P2' })
    await scout.post('/api/tasks', { title: 'Homeless' })
    await scout.post('/api/tasks', { title: 'Shown', project_id: 'P1' })
    await stream.until(2)
    await new Promise((resolve) => setTimeout(resolve, 200))
    expect(new Set(stream.events.map((each) => each.project))).toEqual(new Set(['P1']))
    expect(stream.events.filter((each) => each.kind === 'created')).toMatchObject([{ task: 'T3' }])
    await scout.send('PATCH', '/api/tasks/T3', { body: { project_id: 'P2' } })
    await scout.post('/api/tasks/T3/comments', { text: 'Now elsewhere.' })
    await new Promise((resolve) => setTimeout(resolve, 200))
    expect(stream.events.map((each) => each.kind)).not.toContain('commented')
    const worker = await door.world.agent('worker', { presets: ['worker'] })
    expect((await door.agent(worker.token!).get('/api/events')).json.error.code).toBe('scope')
    stream.close()
  })
})
