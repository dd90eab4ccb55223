import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
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
})
