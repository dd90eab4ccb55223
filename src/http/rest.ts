import type { Context } from 'hono'
import type { PersonActor } from '../model/actor.ts'
import { AppError, invalid } from '../model/error.ts'
import { isObject } from '../model/json.ts'
import { LIMITS } from '../model/task.ts'
import { PEOPLE_CATALOG } from '../people/catalog.ts'
import type { Call } from '../tools/call.ts'
import { CATALOG } from '../tools/catalog.ts'
import { schemaOf } from '../tools/parse.ts'
import { type Address, addressesOf, router } from './address.ts'
import type { AppDeps } from './app.ts'
import { bodyText } from './body.ts'
import { callerOf } from './caller.ts'
import { foreign } from './origin.ts'
import { sendProblem, sendUnauthorized } from './problem.ts'

/** Where each tool stands. */
export const TOOL_ADDRESSES = addressesOf('/api', CATALOG)

/** Where each operation for people stands. */
export const PEOPLE_ADDRESSES = addressesOf('/api/people', PEOPLE_CATALOG)

/** Answers every request below /api that is a call: of a tool, or of an operation for people. */
export function rest(deps: AppDeps): (c: Context) => Promise<Response> {
  const match = router([...TOOL_ADDRESSES, ...PEOPLE_ADDRESSES])
  const people = new Set(PEOPLE_ADDRESSES)

  return async (c) => {
    const { method } = c.req
    const { pathname } = new URL(c.req.url)
    const found = match(method, pathname)
    if (!found) {
      return sendProblem(
        c,
        new AppError('not_found', 'Nothing stands at this address.', {
          next: 'GET /api/docs shows every address.',
        }),
      )
    }
    if ('allow' in found) return methodRefused(c, found.allow)
    const caller = await callerOf(c, deps)
    if (!caller.actor) return sendUnauthorized(c, deps, caller.given)
    const { address, params } = found
    if (caller.actor.kind === 'person' && address.method !== 'GET') {
      await refuseForeign(c, deps, caller.actor, address.name)
    }
    if (!isJson(c)) {
      const error = invalid('The body is not JSON by its Content-Type.', { next: 'Send application/json.' })
      return sendProblem(c, error, 415)
    }
    const input = await inputOf(c, address, params)
    const call: Call = people.has(address) ? deps.people : deps.done.call
    return c.json(await call(caller.actor, address.name, input, { signal: c.req.raw.signal }))
  }
}

/**
 * Refuses a change that another site's page has sent with a person's cookie (gate, way 25). No call comes of it, so it is
 * put into the access record here.
 */
export async function refuseForeign(
  c: Context,
  deps: AppDeps,
  person: PersonActor,
  name: string,
): Promise<void> {
  const why = foreign(c.req.raw.headers, deps.origins())
  if (why === undefined) return
  const error = new AppError('people_only', `This is refused: it is not from a page of this site. ${why}`, {
    gate: true,
    retry: false,
    next: 'With a session, send the Origin header of this site. Programs use an agent’s token instead.',
  })
  deps.done.access.count(person, name, true)
  await deps.done.access.refuse(person, name, error)
  throw error
}

/** OPTIONS says what an address can do; no page of another origin is let in by it. */
export function methodRefused(c: Context, allow: readonly string[]): Response {
  const header = { allow: [...allow, ...(allow.includes('GET') ? ['HEAD'] : []), 'OPTIONS'].join(', ') }
  if (c.req.method === 'OPTIONS') return c.body(null, 204, header)
  const error = new AppError(
    'invalid_value',
    `${c.req.method.slice(0, 20)} is not a method of this address.`,
    {
      allowed: allow,
      retry: false,
    },
  )
  return sendProblem(c, error, 405, header)
}

/** The arguments of a call: those of the path, and the query of a GET or the JSON body of anything else. */
async function inputOf(c: Context, address: Address, params: Record<string, string>): Promise<unknown> {
  const { method } = address
  const query = queryOf(c)
  if (method !== 'GET' && method !== 'DELETE' && Object.keys(query).length > 0) {
    throw invalid(`${method} takes its arguments in a JSON body, not in the address.`, {
      next: `Send ${Object.keys(query).slice(0, 5).join(', ')} in the body.`,
    })
  }
  const body = method === 'GET' ? {} : await bodyOf(c)
  if (!isObject(body)) return body
  const input = merged(merged(body, query), pathParams(params))
  const key = keyHeader(c)
  return key !== undefined && takesKey(address) ? merged(input, { idempotency_key: key }) : input
}

/** A name that stands in two places must say the same in both: which of them counts is not for us to choose (gate, way 32). */
function merged(first: Record<string, unknown>, second: Record<string, unknown>): Record<string, unknown> {
  for (const [name, value] of Object.entries(second)) {
    if (Object.hasOwn(first, name) && String(first[name]) !== String(value)) {
      throw invalid(`${name} is given twice, and differently.`, { next: `Give ${name} once.` })
    }
  }
  return Object.fromEntries([...Object.entries(first), ...Object.entries(second)])
}

function pathParams(params: Record<string, string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(params).map(([name, value]) => {
      try {
        return [name, decodeURIComponent(value)]
      } catch {
        throw invalid(`${name} in the address is not well encoded.`)
      }
    }),
  )
}

/** A name that is given several times is a list. */
function queryOf(c: Context): Record<string, unknown> {
  const query = new URL(c.req.url).searchParams
  const names = [...new Set(query.keys())]
  return Object.fromEntries(
    names.map((name) => {
      const values = query.getAll(name)
      return [name, values.length === 1 ? values[0] : values]
    }),
  )
}

/** Whether the body, where there is one, says that it is JSON. */
function isJson(c: Context): boolean {
  const length = c.req.header('content-length')
  const empty = (length === undefined || length === '0') && c.req.header('transfer-encoding') === undefined
  return empty || /^application\/json\s*(;|$)/i.test(c.req.header('content-type') ?? '')
}

async function bodyOf(c: Context): Promise<unknown> {
  const text = await bodyText(c, LIMITS.requestBytes)
  if (text.trim() === '') return {}
  try {
    return JSON.parse(text)
  } catch {
    throw invalid('The body is not JSON.', { next: 'Send one JSON object.' })
  }
}

function keyHeader(c: Context): string | undefined {
  // The draft of the header has a quoted string, most clients send a bare one.
  return c.req
    .header('idempotency-key')
    ?.trim()
    .replace(/^"(.*)"$/, '$1')
}

const takesKey = ({ tool }: Address): boolean => 'idempotency_key' in (schemaOf(tool).properties ?? {})
