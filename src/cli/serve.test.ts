import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { type ClientRequest, type IncomingMessage, request } from 'node:http'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type RunningServer, startServer } from '../../test/running.ts'

let server: RunningServer
let token: string
let ended: Promise<unknown[]>
beforeEach(async () => {
  server = await startServer()
  token = await server.token('scout', 'write')
  ended = once(server.process, 'exit')
})
afterEach(async () => {
  await server.kill()
  await server.stop()
})

/** A write whose beginning the server has read, as its answer to the header says (RFC 9110, 10.1.1), and whose body is to come. */
async function accepted(title: string): Promise<{ sent: ClientRequest; finish(): Promise<IncomingMessage> }> {
  const body = JSON.stringify({ title })
  const sent = request(`${server.site}/api/tasks`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      expect: '100-continue',
    },
  })
  sent.on('error', () => {})
  sent.flushHeaders()
  await once(sent, 'continue')
  return {
    sent,
    async finish() {
      sent.end(body)
      const [answer] = (await once(sent, 'response')) as [IncomingMessage]
      answer.resume()
      await once(answer, 'end')
      return answer
    },
  }
}

/** The server takes its address away first of all. */
async function beginsToStop(signal: NodeJS.Signals): Promise<void> {
  const address = join(server.dir, `server-${server.process.pid}.json`)
  expect(existsSync(address)).toBe(true)
  server.process.kill(signal)
  while (existsSync(address)) await new Promise((resolve) => setTimeout(resolve, 5))
}

describe.each(['SIGTERM', 'SIGINT'] as const)('a server that is told to end by %s', (signal) => {
  it('answers what it has accepted, ends its streams, takes nothing new, and exits with 0', async () => {
    const stream = await fetch(`${server.site}/api/events`, { headers: { authorization: `Bearer ${token}` } })
    const writes = await Promise.all(Array.from({ length: 8 }, (_, i) => accepted(`Task ${i}`)))
    await beginsToStop(signal)
    // On a connection that was kept; a new one is refused.
    const ready = await fetch(`${server.site}/ready`).then(
      (answer) => answer.status,
      () => 503,
    )
    expect(ready).toBe(503)
    const answers = await Promise.all(writes.map(({ finish }) => finish()))
    expect(answers.map(({ statusCode }) => statusCode)).toEqual(writes.map(() => 200))
    expect(await stream.text()).toMatch(/^retry: /)
    expect(await ended).toEqual([0, null])
    expect(await server.look('SELECT COUNT(*) AS n FROM tasks')).toMatchObject([{ n: 8 }])
  })

  it('waits for nobody for ever', async () => {
    const { sent } = await accepted('Never sent')
    await beginsToStop(signal)
    expect(await ended).toEqual([0, null])
    sent.destroy()
  })

  it('exits at once when it is told again', async () => {
    const { sent } = await accepted('Never sent')
    await beginsToStop(signal)
    server.process.kill('SIGTERM')
    expect(await ended).toEqual([1, null])
    sent.destroy()
  })
})
