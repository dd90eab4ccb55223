import { isJsonContentType, validateHostHeader } from '@modelcontextprotocol/server'
import type { Actor, AgentActor } from '../model/actor.ts'
import { AppError } from '../model/error.ts'
import { LIMITS } from '../model/task.ts'
import { readPresets } from '../tools/presets.ts'
import { explained } from './answer.ts'
import { parsed } from './json.ts'

export interface GateOptions {
  /** Host names by which the server is reached, without port; `[::1]` for IPv6. */
  allowedHosts: readonly string[]
  /**
   * Whether a page of this origin may call it under this Host: one of ours alone, by scheme, name and port (RFC 6454, 5), since
   * another port of the same machine is another program's. Clients that are no browser send no Origin.
   */
  isOwnPage: (origin: string, host: string) => boolean
  /** The caller behind a bearer token; undefined where it never was, was revoked or has expired. */
  authenticate: (token: string) => Promise<Actor | undefined>
  /** Where people open Done, named to whoever has no token. */
  site: () => string
  /** Address of the metadata by which a client finds where to get a token (RFC 9728), for a value of the header Host. */
  metadata: (host: string) => string
}

/** What is asked, whether it came as node:http has it or as the web does (endpoint.ts). */
export interface Asked {
  readonly method: string
  /** Path and query, or a whole address. */
  readonly url: string
  readonly headers: Pick<Headers, 'get'>
  /** The body as text; undefined where it has more bytes than that. */
  text(most: number): Promise<string | undefined>
  /** Aborted when the client goes away. Made when somebody asks for it: for each request it would cost more than the gate. */
  gone(): AbortSignal
}

/** An answer that is whole before it is sent. */
export interface Answer {
  status: number
  headers: Record<string, string>
  /** One after the other. */
  body: readonly (string | Buffer)[]
}

/** A request that passed: who calls, what the address narrows it to, and its body. */
export interface Admitted {
  asked: Asked
  body: unknown
  actor: AgentActor
  token: string
  presets: readonly string[] | undefined
}

/**
 * What stands before the protocol, in this order: Host and Origin (403), method (405), token (401), preset (400), size
 * (413) and JSON (400, 415). No cookie and no query ever names a caller.
 */
export type Gate = (asked: Asked) => Promise<Admitted | Answer>

export function gateOf(options: GateOptions): Gate {
  // What is asked for again and again is read once. Only what was good is kept.
  const hosts = kept((host: string) => validateHostHeader(host, [...options.allowedHosts]).ok || undefined)
  const isJson = kept((type: string) => isJsonContentType(type) || undefined)
  const narrowings = kept((query: string) => readPresets(new URLSearchParams(query).get('tools')) ?? NONE)

  return async (asked) => {
    const { headers } = asked
    const host = headers.get('host') ?? ''
    if (!hosts(host)) return rejected(403, 'This host name is not one of the server’s.')
    const origin = headers.get('origin')
    if (origin !== null && !options.isOwnPage(origin, host))
      return rejected(403, 'Pages of this origin may not call the server.')
    if (asked.method !== 'POST')
      return rejected(405, 'Send POST: there is no stream to open here.', {}, { allow: 'POST' })

    const token = bearer(headers.get('authorization'))
    const actor = token === undefined ? undefined : await options.authenticate(token)
    // Only an agent's token opens this door: a person's session signs off, so it must never be a bearer's.
    if (token === undefined || actor?.kind !== 'agent')
      return unauthorized(token !== undefined, options, host)

    let presets: readonly string[] | undefined
    try {
      presets = narrowings(queryOf(asked.url))
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      return rejected(400, error.message, explained(error))
    }

    if (!isJson(headers.get('content-type') ?? '')) return rejected(415, 'Send application/json.')
    const text = await asked.text(LIMITS.requestBytes)
    if (text === undefined) return rejected(413, `A request may have at most ${LIMITS.requestBytes} bytes.`)
    const body = parsed(text)
    if (body === undefined) return rejected(400, 'The body is not JSON.', undefined, {}, PARSE_ERROR)
    return { asked, body, actor, token, presets: presets === NONE ? undefined : presets }
  }
}

/** Stands for no narrowing where a value has to be kept. */
const NONE: readonly string[] = []

/** Most answers of a function that are kept; hosts and addresses in use are few. */
const MOST_KEPT = 100

/** A function of a text that remembers what it answered, but for `undefined` and what it throws. */
export function kept<T>(read: (text: string) => T | undefined): (text: string) => T | undefined {
  const known = new Map<string, T>()
  return (text) => {
    let value = known.get(text)
    if (value === undefined) {
      value = read(text)
      if (value !== undefined && known.size < MOST_KEPT) known.set(text, value)
    }
    return value
  }
}

function queryOf(url: string): string {
  const start = url.indexOf('?')
  return start < 0 ? '' : url.slice(start + 1).replace(/#.*/s, '')
}

const INVALID_REQUEST = -32600
const PARSE_ERROR = -32700

/** A refusal at the door: an error of JSON-RPC without an id, since no request has been read yet. */
function rejected(
  status: number,
  message: string,
  data?: Record<string, unknown>,
  headers: Record<string, string> = {},
  code = INVALID_REQUEST,
): Answer {
  const error = { code, message, ...(data ? { data } : {}) }
  return json(JSON.stringify({ jsonrpc: '2.0', error, id: null }), status, headers)
}

/** An answer that is one text of JSON. */
export function json(text: string, status = 200, headers: Record<string, string> = {}): Answer {
  return { status, headers: { 'content-type': 'application/json', ...headers }, body: [text] }
}

/**
 * RFC 6750, 3: without a token the challenge names no error; a token that is not good is `invalid_token`. It also says where
 * one is to be had, and the scopes to ask for (MCP 2026-07-28, authorization).
 */
function unauthorized(given: boolean, { site, metadata }: GateOptions, host: string): Answer {
  const said = given
    ? 'The token is not good: it never was, is for another resource, has expired or was revoked.'
    : 'Send a token as "Authorization: Bearer …".'
  const error = given ? `error="invalid_token", error_description="${said}", ` : ''
  return rejected(
    401,
    said,
    {
      next: `A host that knows OAuth asks its person by itself. Else a person makes a token at the console of the server of ${site()}: node dist/donectl.js token create --name NAME --scope write, with the same --data.`,
    },
    {
      'www-authenticate': `Bearer realm="Done", ${error}scope="read write", resource_metadata="${metadata(host)}"`,
    },
  )
}

/**
 * The answer to a call for which a grant lacks a scope: the client asks its person for all that the call needs, and tries
 * again (MCP 2026-07-28, authorization, step-up). `said` is why the guard refused it.
 */
export function insufficientScope(said: string, metadata: string): Answer {
  const challenge = `Bearer realm="Done", error="insufficient_scope", scope="read write", resource_metadata="${metadata}", error_description="${said.replace(/["\\]/g, "'")}"`
  return rejected(403, said, undefined, { 'www-authenticate': challenge })
}

function bearer(header: string | null): string | undefined {
  return /^Bearer +([\w.~+/-]+=*)$/i.exec(header ?? '')?.[1]
}
