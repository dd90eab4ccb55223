import { request } from 'node:http'
import type { Client } from '@modelcontextprotocol/client'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { type Endpoint, ERAS, type Era, listen } from '../../test/mcp.ts'
import { newWorld, type World } from '../../test/world.ts'
import { LIMITS } from '../model/task.ts'
import { toolNamed } from '../tools/effects.ts'
import { allowedTools } from '../tools/guard.ts'

let world: World
let endpoint: Endpoint
beforeEach(async () => {
  world = await newWorld()
  endpoint = await listen(world)
})
afterEach(async () => {
  await endpoint.close()
  await world.close()
})

const called = async (client: Client, name: string, input: Record<string, unknown> = {}) =>
  (await client.callTool({ name, arguments: input })) as {
    structuredContent: Record<string, unknown>
    content: { text: string }[]
    isError?: boolean
  }

describe.each(Object.keys(ERAS) as Era[])('a client that opens as %s', (era) => {
  it('lists, writes, reads and is refused', async () => {
    const client = await endpoint.connect(world.scout.token!, { era })
    const { tools } = await client.listTools()
    expect(tools.map((tool) => tool.name)).toEqual(allowedTools(world.scout.actor))
    for (const tool of tools) {
      expect(Object.keys(tool.annotations!).sort()).toEqual([
        'destructiveHint',
        'idempotentHint',
        'openWorldHint',
        'readOnlyHint',
        'title',
      ])
      expect(tool).toMatchObject({ title: tool.annotations!.title, inputSchema: { type: 'object' } })
      expect(tool).not.toHaveProperty('outputSchema')
      expect(tool.inputSchema).not.toHaveProperty('$schema')
    }

    const created = await called(client, 'create_task', { title: 'Rotate the certificate' })
    expect(created.structuredContent).toMatchObject({ id: 'T1', status: 'open' })
    expect(created.content[0]!.text).toContain('id: T1')
    expect(created.isError).toBeFalsy()

    const wrong = await called(client, 'get_task', { id: 'T9' })
    expect(wrong).toMatchObject({ isError: true, structuredContent: { error: { code: 'not_found' } } })
    expect(wrong.content[0]!.text).toContain('code: not_found')
    await expect(client.callTool({ name: 'approve_task', arguments: {} })).rejects.toMatchObject({
      code: -32602,
      message: expect.stringContaining('Unknown tool'),
    })
  })

  it('refuses a key that the SDK would drop, whatever the client can do (gate, way 31)', async () => {
    await world.scout.call('create_task', { title: 'Gated' })
    for (const capabilities of [{}, { elicitation: { url: {} } }]) {
      const client = await endpoint.connect(world.scout.token!, { era, capabilities })
      const given = JSON.parse('{"id":"T1","__proto__":{"auto_ok":true}}') as Record<string, unknown>
      const answer = await called(client, 'complete_task', given)
      expect(answer.structuredContent).toMatchObject({ error: { code: 'unknown_argument' } })
    }
    expect(await world.scout.call('get_task', { id: 'T1' })).toMatchObject({ status: 'open' })
  })

  it('reads with a read token and no more', async () => {
    const client = await endpoint.connect(world.reader.token!, { era })
    const { tools } = await client.listTools()
    expect(tools.every((tool) => tool.annotations!.readOnlyHint)).toBe(true)
    expect(await called(client, 'delete_task', { id: 'T1' })).toMatchObject({
      isError: true,
      structuredContent: { error: { code: 'scope', retry: false } },
    })
  })

  it('is narrowed by the address, in the list and in calls', async () => {
    const client = await endpoint.connect(world.scout.token!, { era, tools: 'worker' })
    const names = (await client.listTools()).tools.map((tool) => tool.name)
    expect(names).toEqual(allowedTools(world.scout.actor, ['worker']))
    expect(names).not.toContain('delete_task')
    expect(await called(client, 'delete_task', { id: 'T1' })).toMatchObject({
      isError: true,
      structuredContent: { error: { code: 'scope' } },
    })
    expect(client.getInstructions()).not.toContain('delete_task')
  })

  it('reads tasks as resources, and gets prompts', async () => {
    await world.scout.call('create_task', { title: 'Rotate the certificate' })
    const client = await endpoint.connect(world.scout.token!, { era })
    const { resourceTemplates } = await client.listResourceTemplates()
    expect(resourceTemplates.map((each) => each.uriTemplate)).toEqual(['done://task/{id}'])
    const { contents } = await client.readResource({ uri: 'done://task/T1' })
    expect(contents[0]).toMatchObject({ text: expect.stringContaining('Rotate the certificate') })
    await expect(client.readResource({ uri: 'done://task/T9' })).rejects.toMatchObject({ code: -32602 })
    await expect(client.readResource({ uri: 'file:///etc/passwd' })).rejects.toMatchObject({ code: -32602 })

    const { prompts } = await client.listPrompts()
    for (const prompt of prompts) {
      const got = await client.getPrompt({ name: prompt.name, arguments: { task: 'T1' } })
      expect(got.messages).toHaveLength(1)
    }
  })
})

describe('the door', () => {
  const list = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }
  const as = (token: string) => ({ authorization: `Bearer ${token}` })

  it('asks for a token, and says when it is not good', async () => {
    const none = await endpoint.post({}, list)
    expect(none.status).toBe(401)
    expect(none.headers.get('www-authenticate')).toBe(
      'Bearer realm="Done", scope="read write", resource_metadata="http://127.0.0.1:4747/.well-known/oauth-protected-resource/mcp"',
    )
    for (const bad of ['done_nobody', 'session_0123456789']) {
      const answer = await endpoint.post(as(bad), list)
      expect(answer.status).toBe(401)
      expect(answer.headers.get('www-authenticate')).toContain('error="invalid_token"')
    }
    expect((await endpoint.post({}, list, `?access_token=${world.scout.token}`)).status).toBe(401)
    expect((await endpoint.post({ cookie: `session=${world.scout.token}` }, list)).status).toBe(401)
    expect((await endpoint.post(as(world.scout.token!), list)).status).toBe(200)
  })

  it('refuses other hosts and origins', async () => {
    const token = as(world.scout.token!)
    expect((await endpoint.post({ ...token, origin: 'https://evil.example' }, list)).status).toBe(403)
    expect((await endpoint.post({ ...token, origin: 'null' }, list)).status).toBe(403)
    // Another port is another program, whose page is not ours.
    expect((await endpoint.post({ ...token, origin: 'http://127.0.0.1:3000' }, list)).status).toBe(403)
    expect((await endpoint.post({ ...token, origin: '' }, list)).status).toBe(403)
    expect((await endpoint.post({ ...token, origin: new URL(endpoint.url).origin }, list)).status).toBe(200)
  })

  it('takes POST only', async () => {
    for (const method of ['GET', 'DELETE', 'PUT']) {
      const answer = await fetch(endpoint.url, { method, headers: as(world.scout.token!) })
      expect(answer.status).toBe(405)
      expect(answer.headers.get('allow')).toBe('POST')
    }
  })

  it('names the presets where one is unknown', async () => {
    const answer = await endpoint.post(as(world.scout.token!), list, '?tools=wroker')
    expect(answer.status).toBe(400)
    expect(await answer.json()).toMatchObject({
      error: { data: { code: 'invalid_value', allowed: expect.arrayContaining(['worker']) } },
    })
  })

  it('has a limit of size, and answers JSON to what is none', async () => {
    const big = await endpoint.post(as(world.scout.token!), `"${'x'.repeat(LIMITS.requestBytes)}"`)
    expect(big.status).toBe(413)
    const bad = await endpoint.post(as(world.scout.token!), '{"jsonrpc":')
    expect(bad.status).toBe(400)
    expect(await bad.json()).toMatchObject({ error: { code: -32700 } })
    const text = await endpoint.post({ ...as(world.scout.token!), 'content-type': 'text/plain' }, list)
    expect(text.status).toBe(415)
  })

  it('refuses a host that is not its own', async () => {
    const { port } = new URL(endpoint.url)
    const status = await new Promise((resolve, reject) => {
      const headers = { host: 'evil.example', ...as(world.scout.token!), 'content-type': 'application/json' }
      const sent = request({ host: '127.0.0.1', port, path: '/mcp', method: 'POST', headers }, (answer) => {
        answer.resume()
        resolve(answer.statusCode)
      })
      sent.on('error', reject).end(JSON.stringify(list))
    })
    expect(status).toBe(403)
  })

  it('does not take the first of two tokens', async () => {
    const { port } = new URL(endpoint.url)
    const status = await new Promise((resolve, reject) => {
      const twice = [`Bearer ${world.scout.token}`, `Bearer ${world.builder.token}`]
      const headers = { authorization: twice, 'content-type': 'application/json' }
      const options = { host: '127.0.0.1', port, path: '/mcp', method: 'POST' } as const
      const sent = request(options, (answer) => {
        answer.resume()
        resolve(answer.statusCode)
      })
      for (const [name, value] of Object.entries(headers)) sent.setHeader(name, value)
      sent.on('error', reject).end(JSON.stringify(list))
    })
    expect(status).toBe(401)
  })

  it('takes a body in pieces, of a bounded size', async () => {
    const chunked = (pieces: readonly string[]) =>
      fetch(endpoint.url, {
        method: 'POST',
        headers: {
          ...as(world.scout.token!),
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
        },
        body: new ReadableStream({
          async start(controller) {
            for (const piece of pieces) controller.enqueue(new TextEncoder().encode(piece))
            controller.close()
          },
        }),
        duplex: 'half',
      } as RequestInit).then(
        ({ status }) => status,
        // Some clients see the answer, some only that the connection ends while they still send.
        () => 413,
      )
    expect(await chunked(['\uFEFF', ...JSON.stringify(list)])).toBe(200)
    expect(await chunked(['"', ...Array<string>(18).fill('x'.repeat(1024 * 1024)), '"'])).toBe(413)
  })

  it('stops waiting for whoever goes away', async () => {
    await world.scout.call('create_task', { title: 'Waits for a decision' })
    await world.scout.call('complete_task', { id: 'T1' })
    const waits: Promise<unknown>[] = []
    const { call } = world.done
    world.done.call = (actor, name, input, connection) => {
      const answer = call(actor, name, input, connection)
      waits.push(answer)
      return answer
    }
    const other = await listen(world)
    for (const modern of [true, false]) {
      const gone = new AbortController()
      const params = { name: 'get_approval', arguments: { id: 'A1', wait_seconds: 50 } }
      const meta = {
        'io.modelcontextprotocol/protocolVersion': '2026-07-28',
        'io.modelcontextprotocol/clientCapabilities': {},
      }
      const headers = {
        ...as(world.scout.token!),
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...(modern
          ? { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': params.name }
          : {}),
      }
      const body = {
        ...list,
        method: 'tools/call',
        params: modern ? { ...params, _meta: meta } : params,
      }
      const sent = fetch(other.url, {
        method: 'POST',
        headers,
        body: JSON.stringify(body),
        signal: gone.signal,
      }).then((answer) => answer.text())
      await expect.poll(() => waits.length).toBe(modern ? 1 : 2)
      gone.abort()
      await expect(sent).rejects.toThrow()
      await waits.at(-1)
    }
    await other.close()
  })

  it('takes a file of 10 MiB', async () => {
    const text = 'x'.repeat(Math.ceil((10 * 1024 * 1024 * 4) / 3))
    const answer = await endpoint.post(as(world.scout.token!), {
      ...list,
      method: 'tools/call',
      params: { name: 'get_task', arguments: { id: text } },
    })
    expect(answer.status).toBe(200)
  })

  it('tells nobody but the log what a fault of ours was', async () => {
    const log = vi.spyOn(console, 'error').mockImplementation(() => {})
    const client = await endpoint.connect(world.scout.token!)
    const { read } = world.done.store
    world.done.store.read = (actor, tool, run) =>
      tool === 'get_task' ? Promise.reject(new Error('secret path')) : read(actor, tool, run)
    const answer = await called(client, 'get_task', { id: 'T1' })
    expect(answer).toMatchObject({ isError: true, structuredContent: { error: { code: 'internal' } } })
    expect(JSON.stringify(answer)).not.toContain('secret')
    await expect(client.readResource({ uri: 'done://task/T1' })).rejects.toMatchObject({ code: -32603 })

    world.done.store.read = () => Promise.reject(new Error('secret path'))
    // A token that nobody has shown yet, so that it has to be looked up.
    const broken = await endpoint.post(as(world.builder.token!), list)
    expect(broken.status).toBe(500)
    expect(await broken.text()).not.toContain('secret')
    world.done.store.read = read
    expect(log).toHaveBeenCalledTimes(3)
    log.mockRestore()
  })
})

describe('completion', () => {
  const complete = async (client: Client, ref: 'address' | 'prompt', value: string) =>
    (
      await client.complete(
        ref === 'address'
          ? {
              ref: { type: 'ref/resource', uri: 'done://task/{id}' },
              argument: { name: 'id', value },
            }
          : {
              ref: { type: 'ref/prompt', name: 'hand_over' },
              argument: { name: 'task', value },
            },
      )
    ).completion.values

  // list_tasks and list_my_tasks are both fit for it; a connection without either completes nothing.
  it.runIf(toolNamed('list_tasks'))('finds tasks by id, and in prompts by title too', async () => {
    await world.scout.call('create_task', { title: 'Rotate the certificate' })
    await world.scout.call('create_task', { title: 'Call the supplier' })
    const client = await endpoint.connect(world.scout.token!)
    expect([...(await complete(client, 'address', 'T'))].sort()).toEqual(['T1', 'T2'])
    expect(await complete(client, 'address', 't2')).toEqual(['T2'])
    expect(await complete(client, 'prompt', 'supplier')).toEqual(['T2 Call the supplier'])
    const narrow = await endpoint.connect(world.scout.token!, { tools: 'plan' })
    expect(await complete(narrow, 'address', 'T')).toEqual([])
  })
})
