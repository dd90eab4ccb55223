import { createServer, request } from 'node:http'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type HttpWorld, newHttpWorld } from '../../test/http.ts'
import { openDoors } from '../doors.ts'
import { outbound } from '../outbound/client.ts'
import { refusalsSince } from '../store/access.ts'
import { tokensOf } from '../store/token.ts'
import { serveHttp } from './server.ts'

let door: HttpWorld
beforeEach(async () => {
  door = await newHttpWorld()
})
afterEach(() => door.close())

describe('the server', () => {
  it('writes down counts and last use when it stops, and can be stopped twice', async () => {
    await door.agent(door.world.scout.token!).get('/api/tasks/T1')
    await Promise.all([door.server.close(), door.server.close()])
    const { store } = door.world.done
    const { actor } = door.world.ana
    expect(await store.read(actor, 'test', (tx) => refusalsSince(tx, 0))).toMatchObject([
      { tool: 'get_task' },
    ])
    const [used] = (await store.read(actor, 'test', tokensOf)).filter((each) => each.last_used_at !== null)
    expect(used).toMatchObject({ agent_name: 'scout' })
  })

  it('refuses a port that is taken', async () => {
    const other = createServer()
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
    const { port } = other.address() as { port: number }
    const config = { host: '127.0.0.1', port, site: `http://127.0.0.1:${port}`, trustedProxies: [] }
    await expect(
      openDoors({ done: door.world.done, config: { ...config, allowOutbound: [] } }),
    ).rejects.toThrow(/EADDRINUSE/)
    other.close()
  })

  it('hands /mcp over as it came, and nothing else, after the check of the host', async () => {
    const seen: (string | undefined)[] = []
    const config = { host: '127.0.0.1', port: 0, site: 'http://127.0.0.1:0', trustedProxies: [] }
    const server = await serveHttp({
      done: door.world.done,
      config,
      mcp: (incoming, outgoing) => {
        seen.push(incoming.url)
        outgoing.end(`got ${incoming.method}`)
      },
      bearer: async () => undefined,
      outbound: outbound({ allow: [] }),
    })
    const ask = (path: string, host = `127.0.0.1:${server.port}`) =>
      new Promise<string>((resolve, reject) => {
        const sent = request({ port: server.port, method: 'POST', path, headers: { host } }, (answer) => {
          answer.setEncoding('utf8')
          answer.once('data', resolve)
        })
        sent.on('error', reject).end('hello')
      })
    expect(await ask('/mcp?tools=worker')).toBe('got POST')
    expect(await ask(`http://127.0.0.1:${server.port}/mcp`)).toBe('got POST')
    expect(await ask('/mcp', 'evil.example')).toContain('not one of this server’s')
    expect(await ask('/mcpx')).toContain('Not there')
    expect(seen).toEqual(['/mcp?tools=worker', `http://127.0.0.1:${server.port}/mcp`])
    await server.close()
  })

  it('bounds what it reads, with and without a length', async () => {
    const token = { authorization: `Bearer ${door.world.scout.token}`, 'content-type': 'application/json' }
    const stream = new ReadableStream({
      pull: (controller) => controller.enqueue(new Uint8Array(1024 * 1024).fill(32)),
    })
    const sent = fetch(`${door.origin}/api/tasks`, {
      method: 'POST',
      headers: token,
      body: stream,
      duplex: 'half',
    } as RequestInit)
    // Some clients see the answer, some only that the connection ends while they still send.
    const answer = await sent.then((got) => got.status).catch(() => 413)
    expect(answer).toBe(413)
    const chunked = await fetch(`${door.origin}/api/tasks`, {
      method: 'POST',
      headers: token,
      body: new Blob(['{"title":"In pieces"}']).stream(),
      duplex: 'half',
    } as RequestInit)
    expect(await chunked.json()).toMatchObject({ title: 'In pieces' })
  })
})
