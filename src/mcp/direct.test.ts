import { afterEach, beforeEach, expect, it } from 'vitest'
import { type Endpoint, listen } from '../../test/mcp.ts'
import { newWorld, type World } from '../../test/world.ts'
import type { AgentActor } from '../model/actor.ts'
import { direct } from './direct.ts'
import { callerOf, doorFor } from './http.ts'

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

const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
}

/** A regular request of 2026-07-28; `meta` adds to it. */
function message(method: string, params: Record<string, unknown>, meta: Record<string, unknown> = {}) {
  return { jsonrpc: '2.0', id: 7, method, params: { ...params, _meta: { ...META, ...meta } } }
}

function headersOf(body: ReturnType<typeof message>): Record<string, string> {
  const { name } = body.params as { name?: string }
  return {
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': body.method,
    ...(name === undefined ? {} : { 'mcp-name': name }),
  }
}

/** Whether the direct way takes a request. */
async function taken(body: unknown, headers: Record<string, string>): Promise<boolean> {
  const actor = world.scout.actor as AgentActor
  const caller = callerOf({ actor }, world.done.call)
  const request = new Request('http://127.0.0.1/mcp', { method: 'POST', headers })
  const door = doorFor({ actor, presets: undefined, body: undefined }, caller)
  return (await direct({ request, body, presets: undefined }, door, caller)) !== undefined
}

const call = (name: string, input: Record<string, unknown>) =>
  ['tools/call', { name, arguments: input }] as const

it.each([
  ['the list', ['tools/list', {}] as const],
  ['an answer', call('get_task', { id: 'T1' })],
  ['a refusal', call('get_task', { id: 'T99' })],
  ['a wrong argument', call('get_task', { di: 'T1' })],
])('%s is the same as by the SDK', async (_, [method, params]) => {
  const body = message(method, params)
  // Progress is the SDK's: asking for it is what makes the difference.
  const other = message(method, params, { progressToken: 1 })
  expect(await taken(body, headersOf(body))).toBe(true)
  expect(await taken(other, headersOf(other))).toBe(false)
  const [ours, theirs] = await Promise.all(
    [body, other].map((each) =>
      endpoint.post({ ...headersOf(each), authorization: `Bearer ${world.scout.token}` }, each),
    ),
  )
  expect(ours!.status).toBe(theirs!.status)
  expect(ours!.headers.get('content-type')).toBe(theirs!.headers.get('content-type'))
  expect(await ours!.json()).toEqual(await theirs!.json())
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
