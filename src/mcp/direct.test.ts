import { request } from 'node:http'
import { gunzipSync } from 'node:zlib'
import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  createMcpHandler,
  PROTOCOL_VERSION_META_KEY,
} from '@modelcontextprotocol/server'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { type Endpoint, listen } from '../../test/mcp.ts'
import { newWorld, type Worker, type World } from '../../test/world.ts'
import type { AgentActor } from '../model/actor.ts'
import type { Admitted } from './gate.ts'
import { direct, doorFor } from './http.ts'
import { serverFor } from './protocol.ts'
import { REVISION } from './revision.ts'

let world: World
let endpoint: Endpoint
beforeEach(async () => {
  world = await newWorld()
  endpoint = await listen(world)
  await world.scout.call('create_task', { title: 'Rotate the certificate' })
})
afterEach(async () => {
  await endpoint.close()
  await world.close()
})

const META = { [PROTOCOL_VERSION_META_KEY]: REVISION, [CLIENT_CAPABILITIES_META_KEY]: {} }

/** A regular request of 2026-07-28; `meta` adds to it. */
function message(method: string, params: Record<string, unknown>, meta: Record<string, unknown> = {}) {
  return { jsonrpc: '2.0', id: 7 as unknown, method, params: { ...params, _meta: { ...META, ...meta } } }
}

function headersOf(body: ReturnType<typeof message>): Record<string, string> {
  const { name } = body.params as { name?: string }
  return {
    'mcp-protocol-version': REVISION,
    'mcp-method': body.method,
    ...(name === undefined ? {} : { 'mcp-name': name }),
  }
}

/** A request as the gate hands it on. */
function admitted(who: Worker, body: unknown, headers: Record<string, string>, presets?: string[]): Admitted {
  const asked = new Request('http://127.0.0.1/mcp', {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
  })
  return {
    asked: {
      method: 'POST',
      url: asked.url,
      headers: asked.headers,
      gone: () => asked.signal,
      text: async () => '',
    },
    body,
    actor: who.actor as AgentActor,
    token: who.token!,
    presets,
  }
}

/** Whether the direct way takes a request. */
const taken = async (body: unknown, headers: Record<string, string>) =>
  (await direct(admitted(world.scout, body, headers), world.done.call)) !== undefined

/** What the SDK answers to it. */
async function sdk(who: Worker, body: ReturnType<typeof message>, presets?: string[]): Promise<Response> {
  const given = admitted(who, body, headersOf(body), presets)
  const handler = createMcpHandler(({ era }) => serverFor(doorFor(given, world.done.call), era))
  const { url, headers } = given.asked as unknown as Request
  return handler.fetch(new Request(url, { method: 'POST', headers }), { parsedBody: body })
}

const call = (name: string, input?: Record<string, unknown>) =>
  ['tools/call', { name, ...(input ? { arguments: input } : {}) }] as const

it.each([
  ['the list', ['tools/list', {}] as const],
  ['what the server is', ['server/discover', {}] as const],
  ['an answer', call('get_task', { id: 'T1' })],
  ['an answer without arguments', call('get_me')],
  ['an answer of a list', call('list_tasks', { limit: 1 })],
  ['a write', call('update_task', { id: 'T1', title: 'Two “lines”\nand\u2028more' })],
  ['a refusal', call('get_task', { id: 'T99' })],
  ['a wrong argument', call('get_task', { di: 'T1' })],
  ['a key that means something to JavaScript', call('get_task', JSON.parse('{"__proto__":{"id":"T1"}}'))],
  ['a call that the credential is not for', call('delete_project', { id: 'P1' })],
])('%s is the same as by the SDK', async (_, [method, params]) => {
  const clients: Record<string, unknown>[] = [
    {},
    { progressToken: 1, 'example.org/trace': { id: 1 } },
    {
      [CLIENT_INFO_META_KEY]: { name: 'test', version: '1', title: 'A test' },
      [CLIENT_CAPABILITIES_META_KEY]: { elicitation: { form: {} }, roots: {} },
    },
  ]
  for (const [i, meta] of clients.entries()) {
    for (const [who, presets] of [[world.scout], [world.reader], [world.scout, ['worker']]] as const) {
      const body = { ...message(method, params, meta), id: ['7', 7, 'a “b”'][i] }
      expect(await taken(body, headersOf(body))).toBe(true)
      const headers = { ...headersOf(body), authorization: `Bearer ${who.token}` }
      const ours = await endpoint.post(headers, body, presets ? `?tools=${presets.join()}` : '')
      const theirs = await sdk(who, body, presets ? [...presets] : undefined)
      expect(ours.status).toBe(theirs.status)
      expect(ours.headers.get('content-type')).toBe(theirs.headers.get('content-type'))
      expect(withoutVersion(await ours.json())).toEqual(withoutVersion(await theirs.json()))
    }
  }
})

/** A write raises the version, so that the same one made twice answers another. */
function withoutVersion(answer: unknown): unknown {
  return JSON.parse(JSON.stringify(answer).replace(/("version":|version: )\d+/g, '$10'))
}

it('a fault of ours is the same, too, and is only named', async () => {
  const body = message(...call('get_task', { id: 'T1' }))
  const log: unknown[] = []
  const { error } = console
  console.error = (...said) => void log.push(said)
  world.done.store.read = () => Promise.reject(new Error('secret path'))
  const ours = await direct(admitted(world.scout, body, headersOf(body)), world.done.call)
  const theirs = await (await sdk(world.scout, body)).json()
  console.error = error
  expect(JSON.parse(String(ours!.body[0]))).toEqual(theirs)
  expect(JSON.stringify(theirs)).not.toContain('secret path')
  expect(log).toHaveLength(2)
})

it.each(['tools/list', 'server/discover'])('%s is sent compressed to whoever takes that', async (method) => {
  const ask = (encoding: string, id: string = 'a “b”') =>
    new Promise<{ headers: Record<string, unknown>; bytes: Buffer }>((resolve, reject) => {
      const { port } = new URL(endpoint.url)
      const body = { ...message(method, {}), id }
      const headers = {
        ...headersOf(body),
        authorization: `Bearer ${world.scout.token}`,
        'content-type': 'application/json',
        'accept-encoding': encoding,
      }
      const sent = request({ port, host: '127.0.0.1', path: '/mcp', method: 'POST', headers }, (answer) => {
        const parts: Buffer[] = []
        answer.on('data', (part) => parts.push(part))
        answer.on('end', () => resolve({ headers: answer.headers, bytes: Buffer.concat(parts) }))
      })
      sent.on('error', reject).end(JSON.stringify(body))
    })
  const plain = await ask('br, gzip;q=0')
  expect(plain.headers).toMatchObject({ vary: 'accept-encoding', 'content-length': `${plain.bytes.length}` })
  expect(plain.headers).not.toHaveProperty('content-encoding')
  const packed = await ask('br;q=1, GZIP;q=0.5')
  expect(packed.headers).toMatchObject({ vary: 'accept-encoding', 'content-encoding': 'gzip' })
  expect(packed.bytes.length).toBeLessThan(plain.bytes.length)
  expect(gunzipSync(packed.bytes).equals(plain.bytes)).toBe(true)

  // What stands behind the compressed part is one block, which has its bounds.
  const long = 'x'.repeat(70_000)
  const unbounded = await ask('gzip', long)
  expect(unbounded.headers).not.toHaveProperty('content-encoding')
  expect(JSON.parse(unbounded.bytes.toString())).toMatchObject({ id: long })
})

it('leaves to the SDK whatever is not regular', async () => {
  const list = message('tools/list', {})
  const get = message('tools/call', { name: 'get_task', arguments: { id: 'T1' } })
  const odd: [unknown, Record<string, string>][] = [
    [{ ...list, id: null }, headersOf(list)],
    [{ ...list, jsonrpc: '1.0' }, headersOf(list)],
    [[list], headersOf(list)],
    [null, {}],
    [list, { ...headersOf(list), 'mcp-protocol-version': '2025-11-25' }],
    [list, { ...headersOf(list), 'mcp-method': 'tools/call' }],
    [get, { ...headersOf(get), 'mcp-name': 'delete_task' }],
    [{ ...get, params: { ...get.params, arguments: [] } }, headersOf(get)],
    [{ ...get, params: { ...get.params, inputResponses: {} } }, headersOf(get)],
    [{ ...get, params: { name: 'get_task' } }, headersOf(get)],
    [message('tools/call', { name: 'approve_task' }), { ...headersOf(get), 'mcp-name': 'approve_task' }],
    [message('prompts/list', {}), { ...headersOf(list), 'mcp-method': 'prompts/list' }],
    [message('tools/list', { cursor: 'x' }), headersOf(list)],
    [message('tools/list', {}, { 'io.modelcontextprotocol/logLevel': 'debug' }), headersOf(list)],
    [message('tools/list', {}, { progressToken: {} }), headersOf(list)],
    [message('tools/list', {}, { [CLIENT_INFO_META_KEY]: { name: 'x' } }), headersOf(list)],
    [
      message('tools/list', {}, { 'io.modelcontextprotocol/clientCapabilities': { tools: 1 } }),
      headersOf(list),
    ],
  ]
  for (const [body, headers] of odd) expect(await taken(body, headers), JSON.stringify(body)).toBe(false)

  const completes = message(
    'tools/call',
    { name: 'complete_task', arguments: { id: 'T1' } },
    { 'io.modelcontextprotocol/clientCapabilities': { elicitation: { url: {} } } },
  )
  expect(await taken(completes, headersOf(completes))).toBe(false)
})
