import { createMcpHandler } from '@modelcontextprotocol/server'
import type { Actor } from '../model/actor.ts'
import { AppError } from '../model/error.ts'
import type { Call } from '../tools/call.ts'
import { toolNamed } from '../tools/effects.ts'
import { scopeOf } from '../tools/guard.ts'
import type { Caller } from './answer.ts'
import { keepWhole, type WholeArguments } from './arguments.ts'
import { connectionOf } from './connection.ts'
import { callAnswer, headersAgree, isRegular, listAnswer } from './direct.ts'
import { type Endpoint, endpointOf } from './endpoint.ts'
import type { Fixed } from './fixed.ts'
import { gzipBytes, plainBytes } from './fixed-bytes.ts'
import {
  type Admitted,
  type Answer,
  type GateOptions,
  gateOf,
  insufficientScope,
  json,
  kept,
} from './gate.ts'
import { type Listing, listingOf } from './listing.ts'
import { type Door, serverFor } from './protocol.ts'
import { type OnEvents, openStreams } from './streams.ts'
import { toolsListFor } from './tool-list.ts'

export interface McpHttpOptions extends GateOptions {
  call: Call
  onEvents: OnEvents
}

/** The endpoint `/mcp`. `close` ends the open streams, so that the server can stop. */
export interface McpHttp extends Endpoint {
  /** Streams that are open. */
  streams(): number
  close(): void
}

/**
 * MCP over Streamable HTTP, both eras. Nothing is kept between requests but the open streams: each request brings its
 * token, and is answered from lists that are made once.
 */
export function mcpHttp(options: McpHttpOptions): McpHttp {
  const streams = openStreams(options.onEvents)

  async function viaSdk(request: Request, admitted: Admitted): Promise<Response> {
    const { body, actor, token } = admitted
    const door = doorFor(admitted, options.call)
    const bus =
      listens(body) && streams.hasRoom(actor)
        ? await streams.busFor({
            actor,
            mayRead: { task: door.names.has('get_task'), digest: door.names.has('get_digest') },
            renew: () => options.authenticate(token),
            end: () => void handler.close(),
          })
        : undefined
    const handler = createMcpHandler(({ era }) => serverFor(door, era), {
      ...(bus ? { bus } : {}),
      maxSubscriptions: bus ? 1 : 0,
      onerror: () => {
        // Requests that the protocol refuses are the client's to mend; our own faults are logged where they happen.
      },
    })
    try {
      return await handler.fetch(request, { parsedBody: body })
    } finally {
      if (bus) streams.tidy(actor.account)
    }
  }

  const endpoint = endpointOf({
    gate: gateOf(options),
    direct: async (admitted) => (await stepUp(admitted, options)) ?? direct(admitted, options.call),
    other: viaSdk,
  })
  return Object.assign(endpoint, { streams: streams.count, close: streams.close })
}

/**
 * A call that a grant of OAuth may not make for want of a scope is refused by the guard, as for everybody, and then answered
 * so that the client can ask for more. Undefined for any other.
 */
async function stepUp(
  { asked, body, actor }: Admitted,
  options: McpHttpOptions,
): Promise<Answer | undefined> {
  const { method, params } = (body ?? {}) as { method?: unknown; params?: { name?: unknown } }
  const name = params?.name
  if (!actor.credential.startsWith('grant:') || method !== 'tools/call' || typeof name !== 'string') return
  if (!isTool(name) || actor.scopes.includes(scopeOf(name))) return
  try {
    await options.call(actor, name, {})
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return insufficientScope(error.message, options.metadata(asked.headers.get('host') ?? ''))
  }
  return
}

/** The answer to a regular request (direct.ts); undefined leaves it to the SDK. */
export async function direct(
  { asked, body, actor, presets }: Admitted,
  call: Call,
): Promise<Answer | undefined> {
  if (!isRegular(body, isTool) || !headersAgree(asked.headers, body)) return undefined
  if (body.method !== 'tools/call') {
    return sent(listAnswer(listingFor(actor, presets), body), body.id, asked.headers.get('accept-encoding'))
  }
  const answer = await callAnswer(body, callerOf(actor, call), connectionOf(presets, asked.gone))
  return json(answer)
}

const isTool = (name: string): boolean => toolNamed(name) !== undefined

function sent(answer: Fixed, id: string | number, encodings: string | null): Answer {
  const headers = { 'content-type': 'application/json', vary: 'accept-encoding' }
  const packed = takesGzip(encodings ?? '') ? gzipBytes(answer, id) : undefined
  if (!packed) return { status: 200, headers, body: plainBytes(answer, id) }
  return { status: 200, headers: { ...headers, 'content-encoding': 'gzip' }, body: packed }
}

/** Whether gzip is among the encodings that a client takes (RFC 9110, 12.5.3); a weight of 0 refuses one. */
const takesGzip = kept((encodings: string) =>
  encodings
    .toLowerCase()
    .split(',')
    .some((each) => /^\s*(?:x-)?gzip\s*(?:;|$)/.test(each) && !/;\s*q=0(?:\.0*)?\s*$/.test(each)),
)

const callerOf = (actor: Actor, call: Call): Caller => ({ actor, call, isTool })

const listings = new WeakMap<Actor, Map<readonly string[] | undefined, Listing>>()

/** What a caller sees, made once for all who have the same rights; found at once where the caller itself is known. */
function listingFor(actor: Actor, presets: readonly string[] | undefined): Listing {
  let known = listings.get(actor)
  if (!known) {
    known = new Map()
    listings.set(actor, known)
  }
  let listing = known.get(presets)
  if (!listing) {
    listing = listingOf(toolsListFor(actor.scopes, actor.presets, presets))
    if (known.size < MOST_NARROWINGS) known.set(presets, listing)
  }
  return listing
}

/** Narrowings that are remembered of one caller; an address can combine presets at will. */
const MOST_NARROWINGS = 16

/** What the SDK's way answers a request from. */
export function doorFor({ actor, presets, body }: Admitted, call: Call): Door {
  const kept: WholeArguments = new Map()
  keepWhole(kept, body)
  return { ...listingFor(actor, presets), presets, kept, caller: async () => callerOf(actor, call) }
}

const listens = (body: unknown): boolean =>
  (body as { method?: unknown } | null)?.method === 'subscriptions/listen'
