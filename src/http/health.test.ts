import { Hono } from 'hono'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { asAdmin } from '../../test/database.ts'
import { type HttpWorld, newHttpWorld } from '../../test/http.ts'
import { openDoors } from '../doors.ts'
import { openSqlite } from '../store/sqlite.ts'
import { healthAddresses } from './health.ts'
import { openMetrics } from './metrics.ts'

const TOKEN = '0123456789abcdef0123456789'

let door: HttpWorld
beforeEach(async () => {
  door = await newHttpWorld()
})
afterEach(() => door.close())

/** Says in the database that it has the schema of another program. */
async function setVersion(version: number): Promise<void> {
  const { dir, database } = door.world
  if (database.database !== undefined) {
    await asAdmin(database.database, `UPDATE done.schema_version SET version = ${version}`)
    return
  }
  const db = openSqlite(`${dir}/done.db`, 'write')
  db.exec(`PRAGMA user_version = ${version}`)
  db.close()
}

describe('readiness', () => {
  it('is asked under any host name, without a credential', async () => {
    const balancer = door.client({ host: '10.0.0.11' })
    for (const path of ['/ready', '/health']) {
      const { status, json } = await balancer.get(path)
      expect([status, json.version]).toEqual([200, expect.stringMatching(/^\d/)])
    }
  })

  it('ends when a newer program has changed the schema', async () => {
    await setVersion(99)
    const { status, json } = await door.nobody.get('/ready')
    await setVersion(1)
    expect([status, json]).toEqual([
      503,
      { status: 'unavailable', reason: expect.stringContaining('schema') },
    ])
    expect((await door.nobody.get('/ready')).status).toBe(200)
  })

  it('ends when the server stops, and when the database can’t be read', async () => {
    const { done } = door.world
    const ask = async (closing: AbortSignal, hasOwnSchema = done.store.hasOwnSchema) => {
      const app = new Hono()
      healthAddresses(app, {
        done: { ...done, store: { ...done.store, hasOwnSchema } },
        closing,
        metrics: undefined,
      })
      const answer = await app.request('/ready')
      return [answer.status, ((await answer.json()) as { reason?: string }).reason]
    }
    const open = new AbortController().signal
    expect(await ask(open)).toEqual([200, undefined])
    expect(await ask(AbortSignal.abort())).toEqual([503, 'the server is stopping'])
    expect(await ask(open, () => Promise.reject(new Error('gone')))).toEqual([
      503,
      'the database can’t be read',
    ])
    expect(await ask(open, () => new Promise(() => {}))).toEqual([503, 'the database does not answer'])
  })
})

describe('metrics', () => {
  /** Runs beside a server that is measured. */
  async function measured(run: (ask: Ask) => Promise<void>): Promise<void> {
    const metrics = openMetrics('sqlite')
    const { done } = door.world
    const server = await openDoors({
      done: { ...done, call: metrics.timed(done.call) },
      config: {
        host: '127.0.0.1',
        port: 0,
        site: 'http://127.0.0.1:0',
        trustedProxies: [],
        allowOutbound: [],
      },
      metrics: { metrics, token: TOKEN },
    })
    metrics.watch({
      writesWaiting: done.store.waiting,
      streams: () => ({ events: server.streams(), mcp: 0 }),
    })
    metrics.committed(3, 2)
    try {
      await run((path, headers = {}, body) =>
        fetch(`http://127.0.0.1:${server.port}${path}`, {
          headers: { 'content-type': 'application/json', ...headers },
          ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
        }),
      )
    } finally {
      await server.close()
    }
  }

  type Ask = (path: string, headers?: Record<string, string>, body?: object) => Promise<Response>

  const operator = { authorization: `Bearer ${TOKEN}` }
  const scout = () => ({ authorization: `Bearer ${door.world.scout.token}` })

  it('are not there without the token, also for this machine, nor where none is set', async () => {
    const nothing = await door.nobody.get('/nothing')
    expect([(await door.nobody.get('/metrics')).status, nothing.status]).toEqual([404, 404])
    await measured(async (ask) => {
      for (const headers of [{}, { authorization: `Bearer ${TOKEN}x` }, { authorization: TOKEN }, scout()]) {
        const answer = await ask('/metrics', headers)
        expect([answer.status, await answer.text()]).toEqual([404, nothing.text])
      }
      expect((await ask('/metrics', operator)).status).toBe(200)
    })
  })

  it('count calls by tool and outcome, and name nobody and nothing', async () => {
    await measured(async (ask) => {
      await ask('/api/tasks', scout(), { title: 'A canary that sings' })
      await ask('/api/tasks/T99', scout())
      const { cookie = '' } = (await door.browser()).headers
      await ask('/api/people/sessions', { cookie })
      const answer = await ask('/metrics', operator)
      const text = await answer.text()
      expect(answer.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/)
      for (const line of [
        'done_calls_total{tool="create_task",outcome="ok"} 1',
        'done_calls_total{tool="get_task",outcome="not_found"} 1',
        'done_calls_total{tool="list_sessions",outcome="ok"} 1',
        'done_call_duration_seconds_count{tool="create_task"} 1',
        'done_commit_writes_total 3',
        'done_commit_duration_seconds_bucket{le="0.0025"} 1',
        'done_writes_waiting 0',
        'nodejs_eventloop_lag_seconds',
        'process_resident_memory_bytes',
      ])
        expect(text, line).toContain(line)
      for (const own of ['canary', 'scout', 'Ana', 'T99', door.world.scout.token!, cookie, TOKEN])
        expect(text, own).not.toContain(own)
    })
  })

  it('know how many streams are open', async () => {
    await measured(async (ask) => {
      const stream = await ask('/api/events', scout())
      expect(await (await ask('/metrics', operator)).text()).toContain('done_streams_open{kind="events"} 1')
      await stream.body!.cancel()
    })
  })

  it('have as many labels as there are tools, whatever names are sent', async () => {
    const metrics = openMetrics('postgres')
    const call = metrics.timed(door.world.done.call)
    for (const name of ['drop_tables', '__proto__', 'x'.repeat(1000)])
      await expect(call(door.world.scout.actor, name, {})).rejects.toThrow()
    const { text } = await metrics.page()
    expect(text).toContain('done_calls_total{tool="unknown",outcome="not_found"} 3')
    expect(text).toContain('engine="postgres"')
    expect(text).not.toMatch(/drop_tables|proto|xxx/)
  })
})
