import {
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  type ClientCapabilities,
  PROTOCOL_VERSION_META_KEY,
  SERVER_INFO_META_KEY,
} from '@modelcontextprotocol/server'
import { isObject } from '../model/json.ts'
import { answerCall, type Caller } from './answer.ts'
import type { Admitted } from './gate.ts'
import { LIST_TTL_MS, type Listing, SERVER_INFO } from './protocol.ts'
import { canOffer } from './sign-off.ts'
import type { ListedTool } from './tool-file.ts'

const REVISION = '2026-07-28'

interface Request2026 {
  id: string | number
  method: string
  params: { name?: string; arguments?: unknown; _meta: Record<string, unknown> }
}

/**
 * The two requests that make up nearly all of the traffic, `tools/list` and `tools/call` of 2026-07-28, answered without
 * the SDK's machinery, which costs more than the call itself. Only what is regular in every respect is taken; whatever is
 * odd, wrong or of another kind is left to the SDK, whose answers are then the only ones there are. A test compares both.
 */
export async function direct(
  { request, body, presets }: Pick<Admitted, 'request' | 'body' | 'presets'>,
  { tools }: Pick<Listing, 'tools'>,
  caller: Caller,
): Promise<Response | undefined> {
  if (!isRegular(request.headers, body)) return undefined
  const { id, method, params } = body
  if (method === 'tools/list')
    return json(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${listJson(tools)}}`)
  const name = params.name!
  const capabilities = params._meta[CLIENT_CAPABILITIES_META_KEY] as ClientCapabilities
  if (!caller.isTool(name) || canOffer(name, capabilities)) return undefined
  const connection = {
    presets,
    // Made when somebody waits on it: a signal for each request would cost more than the rest of the door.
    get signal() {
      return request.signal
    },
  }
  const result = await answerCall(caller, name, params.arguments, connection)
  return json(JSON.stringify({ jsonrpc: '2.0', id, result: stamped(result) }))
}

function isRegular(headers: Headers, body: unknown): body is Request2026 {
  if (!isObject(body)) return false
  const message = body as Partial<Request2026> & { jsonrpc?: unknown }
  const { id, method, params } = message
  if (message.jsonrpc !== '2.0' || (typeof id !== 'string' && !Number.isInteger(id)) || !isObject(params))
    return false
  if (!isRegularMeta(params._meta)) return false
  if (headers.get('mcp-protocol-version') !== REVISION || headers.get('mcp-method') !== method) return false
  if (method === 'tools/list') return Object.keys(params).every((key) => key === '_meta')
  return (
    method === 'tools/call' &&
    typeof params.name === 'string' &&
    headers.get('mcp-name') === params.name &&
    (params.arguments === undefined || isObject(params.arguments)) &&
    Object.keys(params).every((key) => PLAIN_CALL.has(key))
  )
}

/** Who the client is and what it can do, and nothing else: progress and logs are the SDK's. */
function isRegularMeta(meta: unknown): boolean {
  if (!isObject(meta)) return false
  return (
    Object.entries(meta).every(([key, value]) => {
      if (key === PROTOCOL_VERSION_META_KEY) return value === REVISION
      if (key === CLIENT_CAPABILITIES_META_KEY) return isObject(value) && Object.values(value).every(isObject)
      if (key !== CLIENT_INFO_META_KEY || !isObject(value)) return false
      return typeof value.name === 'string' && typeof value.version === 'string'
    }) &&
    PROTOCOL_VERSION_META_KEY in meta &&
    CLIENT_CAPABILITIES_META_KEY in meta
  )
}

/** A second round carries more than these. */
const PLAIN_CALL = new Set(['name', 'arguments', '_meta'])

const lists = new WeakMap<readonly ListedTool[], string>()

function listJson(tools: readonly ListedTool[]): string {
  let text = lists.get(tools)
  if (text === undefined) {
    text = JSON.stringify(stamped({ tools, ttlMs: LIST_TTL_MS, cacheScope: 'private' }))
    lists.set(tools, text)
  }
  return text
}

function stamped(result: CallToolResult | Record<string, unknown>): Record<string, unknown> {
  return { ...result, resultType: 'complete', _meta: { [SERVER_INFO_META_KEY]: SERVER_INFO } }
}

const json = (text: string): Response =>
  new Response(text, { headers: { 'content-type': 'application/json' } })
