import { isObject } from '../model/json.ts'
import type { Connection } from '../tools/call.ts'
import { answerCall, type Caller, refused } from './answer.ts'
import { type Fixed, fixed } from './fixed.ts'
import type { Listing } from './listing.ts'
import { canOffer } from './offer.ts'
import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  KEPT,
  PROTOCOL_VERSION_META_KEY,
  REVISION,
  SERVER_INFO,
  SERVER_INFO_META_KEY,
  TOLD,
} from './revision.ts'

/*
 * The requests that make up nearly all of the traffic, `tools/call`, `tools/list` and `server/discover` of 2026-07-28,
 * answered without the SDK's machinery, which costs more than the call itself. Only what is regular in every respect is
 * taken; whatever is odd, wrong or of another kind is left to the SDK, whose answers are then the only ones there are. A
 * test compares both.
 */

/** A request that is answered directly. */
export type Regular = RegularCall | RegularList

interface RegularCall {
  id: string | number
  method: 'tools/call'
  params: { name: string; arguments?: Record<string, unknown>; _meta: Meta }
}

interface RegularList {
  id: string | number
  method: 'tools/list' | 'server/discover'
  params: { _meta: Meta }
}

type Meta = Record<string, unknown>

/** Whether a message is a request of 2026-07-28 to be answered directly; `isTool` knows every name of the catalogue. */
export function isRegular(message: unknown, isTool: (name: string) => boolean): message is Regular {
  if (!isObject(message)) return false
  const { id, method, params } = message
  if (message.jsonrpc !== '2.0' || (typeof id !== 'string' && !Number.isInteger(id))) return false
  if (!isObject(params) || !isRegularMeta(params._meta)) return false
  if (method === 'tools/list' || method === 'server/discover') return onlyKeys(params, ONLY_META)
  return (
    method === 'tools/call' &&
    typeof params.name === 'string' &&
    isTool(params.name) &&
    !canOffer(params.name, params._meta[CLIENT_CAPABILITIES_META_KEY]) &&
    (params.arguments === undefined || isObject(params.arguments)) &&
    onlyKeys(params, PLAIN_CALL)
  )
}

/** Over HTTP the headers say once more what is asked (2026-07-28, Streamable HTTP: "standard headers"). */
export function headersAgree(headers: Pick<Headers, 'get'>, { method, params }: Regular): boolean {
  return (
    headers.get('mcp-protocol-version') === REVISION &&
    headers.get('mcp-method') === method &&
    (!('name' in params) || headers.get('mcp-name') === params.name)
  )
}

const ONLY_META: ReadonlySet<string> = new Set(['_meta'])

/** A second round carries more than these. */
const PLAIN_CALL: ReadonlySet<string> = new Set(['name', 'arguments', '_meta'])

function onlyKeys(record: Record<string, unknown>, allowed: ReadonlySet<string>): boolean {
  for (const key in record) if (!allowed.has(key)) return false
  return true
}

/**
 * Who the client is and what it can do; also what means nothing to us, such as where to report progress, of which there is
 * none, or a host's own names. What else the protocol keeps for itself is the SDK's.
 */
function isRegularMeta(meta: unknown): meta is Meta {
  if (!isObject(meta)) return false
  for (const key in meta) {
    const value = meta[key]
    if (key === PROTOCOL_VERSION_META_KEY) {
      if (value !== REVISION) return false
    } else if (key === CLIENT_CAPABILITIES_META_KEY) {
      if (!isObject(value) || !Object.values(value).every(isObject)) return false
    } else if (key === CLIENT_INFO_META_KEY) {
      if (!isRegularClient(value)) return false
    } else if (key === 'progressToken') {
      if (typeof value !== 'string' && !Number.isInteger(value)) return false
    } else if (key.startsWith(RESERVED)) return false
  }
  return PROTOCOL_VERSION_META_KEY in meta && CLIENT_CAPABILITIES_META_KEY in meta
}

const RESERVED = 'io.modelcontextprotocol/'

/** A client's name and what it adds to it in words; icons are the SDK's to look at. */
function isRegularClient(info: unknown): boolean {
  if (!isObject(info) || typeof info.name !== 'string' || typeof info.version !== 'string') return false
  for (const key in info) if (typeof info[key] !== 'string') return false
  return true
}

interface FixedAnswers {
  'tools/list': Fixed
  'server/discover': Fixed
}

const fixedAnswers = new WeakMap<Listing, FixedAnswers>()

/** The answer to a request that depends on nothing but what the connection lists. */
export function listAnswer(listing: Listing, { method }: RegularList): Fixed {
  let answers = fixedAnswers.get(listing)
  if (!answers) {
    const { tools, instructions } = listing
    answers = {
      'tools/list': fixed(stamped({ tools, ...KEPT })),
      'server/discover': fixed(
        stamped({ supportedVersions: [REVISION], capabilities: TOLD, instructions, ...KEPT }),
      ),
    }
    fixedAnswers.set(listing, answers)
  }
  return answers[method]
}

/** Makes a call and gives the answer as JSON, whatever comes of it. */
export async function callAnswer(
  { id, params }: RegularCall,
  caller: Caller | Promise<Caller>,
  connection: Connection,
): Promise<string> {
  const who = await Promise.resolve(caller).catch(refused)
  const result = 'content' in who ? who : await answerCall(who, params.name, params.arguments, connection)
  // A result is an object that is never empty: what every answer carries goes before its closing brace.
  return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${JSON.stringify(result).slice(0, -1)},${STAMP}}}`
}

const STAMPED = { resultType: 'complete', _meta: { [SERVER_INFO_META_KEY]: SERVER_INFO } }
const STAMP = JSON.stringify(STAMPED).slice(1, -1)

const stamped = (result: Record<string, unknown>): Record<string, unknown> => ({ ...result, ...STAMPED })
