import {
  isJsonContentType,
  readRequestBody,
  validateHostHeader,
  validateOriginHeader,
} from '@modelcontextprotocol/server'
import type { Actor, AgentActor } from '../model/actor.ts'
import { AppError } from '../model/error.ts'
import { LIMITS } from '../model/task.ts'
import { readPresets } from '../tools/presets.ts'
import { explained } from './answer.ts'

export interface GateOptions {
  /** Host names by which the server is reached, without port; `[::1]` for IPv6. */
  allowedHosts: readonly string[]
  /** Host names of pages that may call it, in the same form. Clients that are no browser send no Origin. */
  allowedOrigins: readonly string[]
  /** The caller behind a bearer token; undefined where it never was, was revoked or has expired. */
  authenticate: (token: string) => Promise<Actor | undefined>
  /** Where people open Done, named to whoever has no token. */
  site: () => string
}

/** A request that passed: who calls, what the address narrows it to, and its body. */
export interface Admitted {
  request: Request
  body: unknown
  actor: AgentActor
  token: string
  presets: string[] | undefined
}

/**
 * What stands before the protocol, in this order: Host and Origin (403), method (405), token (401), preset (400), size
 * (413) and JSON (400, 415). A request that passes is handed to `serve`; no cookie and no query ever names a caller.
 */
export async function admit(
  request: Request,
  options: GateOptions,
  serve: (admitted: Admitted) => Promise<Response>,
): Promise<Response> {
  const host = validateHostHeader(request.headers.get('host'), [...options.allowedHosts])
  if (!host.ok) return rejected(403, 'This host name is not one of the server’s.')
  const origin = validateOriginHeader(request.headers.get('origin'), [...options.allowedOrigins])
  if (!origin.ok) return rejected(403, 'Pages of this origin may not call the server.')
  if (request.method !== 'POST')
    return rejected(405, 'Send POST: there is no stream to open here.', {}, { allow: 'POST' })

  const token = bearer(request.headers.get('authorization'))
  const actor = token === undefined ? undefined : await options.authenticate(token)
  // Only an agent's token opens this door: a person's session signs off, so it must never be a bearer's.
  if (token === undefined || actor?.kind !== 'agent') return unauthorized(token !== undefined, options.site())

  let presets: string[] | undefined
  try {
    presets = readPresets(new URL(request.url).searchParams.get('tools'))
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return rejected(400, error.message, explained(error))
  }

  if (!isJsonContentType(request.headers.get('content-type'))) return rejected(415, 'Send application/json.')
  const read = await readRequestBody(request, LIMITS.requestBytes)
  if (read.tooLarge) return rejected(413, `A request may have at most ${LIMITS.requestBytes} bytes.`)
  const body = parsed(read.text)
  if (body === undefined) return rejected(400, 'The body is not JSON.', undefined, {}, PARSE_ERROR)
  return serve({ request, body, actor, token, presets })
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
): Response {
  return Response.json(
    { jsonrpc: '2.0', error: { code, message, ...(data ? { data } : {}) }, id: null },
    { status, headers },
  )
}

/** RFC 6750, 3: without a token the challenge names no error; a token that is not good is `invalid_token`. */
function unauthorized(given: boolean, site: string): Response {
  const said = given
    ? 'The token is not good: it never was, has expired or was revoked.'
    : 'Send a token as "Authorization: Bearer …".'
  const challenge = given
    ? `Bearer realm="Done", error="invalid_token", error_description="${said}"`
    : 'Bearer realm="Done"'
  return rejected(
    401,
    said,
    {
      next: `A person makes one at the console of the server of ${site}: node dist/donectl.js token create --name NAME --scope write, with the same --data.`,
    },
    { 'www-authenticate': challenge },
  )
}

function bearer(header: string | null): string | undefined {
  return /^Bearer +([\w.~+/-]+=*)$/i.exec(header ?? '')?.[1]
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
