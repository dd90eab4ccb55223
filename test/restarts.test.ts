import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openDone } from '../src/done.ts'
import { laneOf } from '../src/store/postgres-commit.ts'
import { openPool, optionsFor } from '../src/store/postgres-connect.ts'
import { writeQueue } from '../src/store/queue.ts'
import { asAdmin, environmentOf, onPostgres, optionsOf } from './database.ts'
import { newServer, type PostgresServer } from './postgres.ts'
import { type StdioHost, stdioHost } from './process.ts'
import { times } from './times.ts'

const RESTARTS = times(4, 50)
const PROCESSES = 4
const WRITERS = 4

/** How long writes may take to come back once the server answers again, in milliseconds. */
const RECOVERY_MS = 5000

describe.skipIf(!onPostgres())('a server that keeps what it has acknowledged', () => {
  let server: PostgresServer
  let dir: string
  beforeAll(async () => {
    server = await newServer()
    dir = mkdtempSync(join(tmpdir(), 'done-restarts-'))
  })
  afterAll(async () => {
    await server?.remove()
    rmSync(dir, { recursive: true, force: true })
  })

  it(`${RESTARTS} restarts under load, with processes killed at random: no acknowledged write is lost, none is kept twice`, {
    timeout: 600_000,
  }, async () => {
    const env = environmentOf(optionsOf(server.url))
    const acknowledged: string[] = []
    let answeredAt = 0
    let over = false
    let made = 0

    /** Writes at one process until that dies, then at a fresh one. */
    async function keepWriting(hosts: StdioHost[], i: number): Promise<void> {
      while (!over) {
        const host = stdioHost(dir, env)
        hosts[i] = host
        const writers = Array.from({ length: WRITERS }, async () => {
          while (!over) {
            const title = `Task ${++made}`
            const { id } = await host.call('create_task', { title })
            if (id === undefined) continue
            acknowledged.push(title)
            answeredAt = performance.now()
          }
        })
        await Promise.allSettled(writers)
        await host.kill()
      }
    }

    const hosts: StdioHost[] = []
    const writing = Array.from({ length: PROCESSES }, (_, i) => keepWriting(hosts, i))
    const until = async (holds: () => boolean) => {
      const begun = performance.now()
      while (!holds() && performance.now() - begun < 30_000)
        await new Promise((resolve) => setTimeout(resolve, 10))
      return performance.now() - begun
    }
    await until(() => acknowledged.length > 0)
    const recoveries: number[] = []
    for (let round = 0; round < RESTARTS; round++) {
      if (round % 3 === 1) await hosts[round % PROCESSES]?.kill()
      await new Promise((resolve) => setTimeout(resolve, (round * 37) % 300))
      await (round % 2 ? server.crash() : server.stop())
      await server.start()
      const back = performance.now()
      recoveries.push(await until(() => answeredAt > back))
    }
    over = true
    for (const host of hosts) await host.kill()
    await Promise.all(writing)

    const [, rows] = await asAdmin(
      server.url,
      'SET search_path = done; SELECT title, COUNT(*)::int AS n FROM tasks GROUP BY title',
    )
    const stored = new Map(rows!.map(({ title, n }) => [title as string, n as number]))
    const lost = acknowledged.filter((title) => !stored.has(title))
    const slowest = Math.max(...recoveries)
    console.log(
      `${RESTARTS} restarts: ${acknowledged.length} writes acknowledged, ${stored.size} stored, ${lost.length} lost, writes back after ${Math.round(slowest)} ms at most`,
    )
    expect(lost).toEqual([])
    expect([...stored].filter(([, n]) => n > 1)).toEqual([])
    expect(slowest).toBeLessThan(RECOVERY_MS)
  })

  it('writes again what a crash has swallowed in the commit, though another transaction has got its number since', async () => {
    const own = optionsOf(server.url)
    const done = await openDone({ dataDir: dir, site: () => '', ...own })
    await done.close()
    const address = new URL(server.url)
    address.searchParams.set('options', '-c search_path=done')
    const pool = openPool(optionsFor(address.href), 2)
    const numberOf = async (on: pg.Pool | pg.PoolClient) =>
      (await on.query<{ xid: string }>('SELECT pg_current_xact_id()::text AS xid')).rows[0]!.xid
    let swallowed: string | undefined
    let since: string | undefined
    pool.on('connect', (client) => {
      const query = client.query.bind(client) as (...args: unknown[]) => Promise<unknown>
      client.query = (async (...args: unknown[]) => {
        if (args[0] !== 'COMMIT' || swallowed !== undefined) return query(...args)
        swallowed = await numberOf(client as pg.PoolClient)
        await server.crash()
        await server.start()
        for (let i = 0; i < 50 && since !== swallowed; i++) since = await numberOf(pool)
        throw Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' })
      }) as typeof client.query
    })
    const lane = laneOf({ pool, account: 1, lane: 'own', waitMs: 10_000, randomId: () => 'x', tell() {} })
    let runs = 0
    await writeQueue(lane).push({ account: 1, kind: 'agent', effect: 'write' }, async ({ rows }) => {
      runs++
      await rows(`INSERT INTO counters (account, kind, last) VALUES (1, 'probe', 7)`, [])
      return { value: Promise.resolve(), events: [] }
    })
    const { rows: stored } = await pool.query(`SELECT last FROM counters WHERE kind = 'probe'`)
    await pool.end()

    expect(since).toBe(swallowed)
    expect({ runs, stored }).toEqual({ runs: 2, stored: [{ last: 7 }] })
  })
})
