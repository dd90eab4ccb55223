import fc from 'fast-check'
import type { Address } from '../src/http/address.ts'
import { schemaOf } from '../src/tools/parse.ts'
import type { JsonSchema } from '../src/tools/schema.ts'
import { mcpMessage } from './mcp-call.ts'
import { restCall } from './rest-call.ts'

/** A request as it goes out, headers line by line. */
export interface Sent {
  method: string
  path: string
  headers: readonly (readonly [name: string, value: string])[]
  body?: string
}

/** One try to write: a request by a door, or a call in this process. */
export type Command = { name: string; trick: string } & (
  | { door: 'REST' | 'MCP'; sent: Sent }
  | { door: 'call' | 'people'; input: unknown; presets: readonly string[] | undefined }
)

/** Tries to write by these addresses, with a bearer's token. */
export function commands(addresses: readonly Address[], token: string): fc.Arbitrary<Command> {
  return fc.constantFrom(...addresses).chain((address) => {
    const { name } = address
    const input = inputs(address)
    const bearer = ['Authorization', `Bearer ${token}`] as const
    const called = fc.record({
      name: fc.oneof({ weight: 9, arbitrary: fc.constant(name) }, { weight: 1, arbitrary: misspelt(name) }),
      trick: fc.constant('in this process'),
      door: fc.constantFrom('call' as const, 'people' as const),
      input,
      presets: fc.constantFrom(undefined, ['all'], ['worker'], ['write']),
    })
    const byRest = fc
      .tuple(input, fc.constantFrom(...Object.keys(REST_TRICKS)), fc.nat())
      .map(([input, trick, n]): Command => {
        const { method, path, body } = restCall(address, asObject(input))
        const plain: Sent = {
          method,
          path,
          headers: [bearer, ['Content-Type', 'application/json']],
          body: Array.isArray(input) ? JSON.stringify(input) : JSON.stringify(body),
        }
        return { name, trick, door: 'REST', sent: REST_TRICKS[trick]!(plain, n) }
      })
    const byMcp = fc
      .tuple(input, fc.constantFrom(...Object.keys(MCP_TRICKS)), fc.nat())
      .map(([input, trick, n]): Command => {
        const { headers, body } = mcpMessage(name, input)
        const plain: Sent = {
          method: 'POST',
          path: '/mcp',
          headers: [bearer, ...Object.entries(headers)],
          body: JSON.stringify(body),
        }
        return { name, trick, door: 'MCP', sent: MCP_TRICKS[trick]!(plain, n) }
      })
    return fc.oneof(
      { weight: 4, arbitrary: byRest },
      { weight: 3, arbitrary: byMcp },
      { weight: 2, arbitrary: called },
    )
  })
}

/** What goes into a call: what its schema takes, its example with some of that, and what no schema takes. */
function inputs({ tool }: Address): fc.Arbitrary<unknown> {
  const proper = arbitraryOf(schemaOf(tool)) as fc.Arbitrary<Record<string, unknown>>
  return fc.oneof(
    {
      weight: 4,
      arbitrary: fc
        .tuple(proper, fc.boolean())
        .map(([some, all]) => (all ? { ...some, ...tool.example } : { ...tool.example, ...some })),
    },
    { weight: 3, arbitrary: fc.constant(tool.example) },
    { weight: 2, arbitrary: proper },
    { weight: 1, arbitrary: fc.dictionary(fc.constantFrom(...CLAIMS), fc.jsonValue({ maxDepth: 1 })) },
    { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 2 }) },
  )
}

/** Arguments by which a caller would be somebody else, if anybody listened. */
const CLAIMS = [
  'scope',
  'scopes',
  'actor',
  'role',
  'approver',
  'auto_ok',
  'constructor',
  'prototype',
  '__proto__',
  'toString',
  'id',
]

/** What is in the world, and what is not. */
const WORDS = [
  ...['T1', 'T2', 'T3', 'T4', 'T6', 't8', 'T7', '2', 'T7000', 'T8999', 'P1', 'P7000', 'S1', 'C1', 'R1', 'F1'],
  ...['A1', 'Q1', 'X1', 'N1', 'U1', 'G1', 'G2', 'K1', 'O1', 'I1'],
  ...['ops', 'web', 'This week', 'Website', 'done', 'open', 'tomorrow', 'every monday', '2027-01-01', ''],
]

function arbitraryOf({
  type,
  enum: allowed,
  anyOf,
  properties,
  required = [],
  items,
}: JsonSchema): fc.Arbitrary<unknown> {
  if (allowed) return fc.constantFrom(...allowed)
  if (anyOf) return fc.oneof(...anyOf.map(arbitraryOf))
  if (type === 'object') {
    const known = Object.entries(properties ?? {}).map(
      ([name, schema]) => [name, arbitraryOf(schema)] as const,
    )
    return fc.record(Object.fromEntries(known), { requiredKeys: required })
  }
  if (type === 'array') return fc.array(arbitraryOf(items ?? {}), { maxLength: 3 })
  if (type === 'integer' || type === 'number') return fc.integer({ min: -2, max: 100 })
  if (type === 'boolean') return fc.boolean()
  if (type === 'null') return fc.constant(null)
  if (type === 'string')
    return fc.oneof(
      { weight: 4, arbitrary: fc.constantFrom(...WORDS) },
      { weight: 1, arbitrary: fc.string({ maxLength: 30, unit: 'grapheme' }) },
    )
  return fc.jsonValue({ maxDepth: 1 })
}

const misspelt = (name: string): fc.Arbitrary<string> =>
  fc.constantFrom(name.toUpperCase(), ` ${name}`, `${name}\0`, `done.${name}`, '__proto__', 'constructor', '')

const asObject = (input: unknown): Record<string, unknown> =>
  typeof input === 'object' && input !== null && !Array.isArray(input)
    ? (input as Record<string, unknown>)
    : {}

type Trick = (plain: Sent, n: number) => Sent

const pick = <T>(of: readonly T[], n: number): T => of[n % of.length]!

const withHeaders = (plain: Sent, ...more: Sent['headers'][number][]): Sent => ({
  ...plain,
  headers: [...plain.headers, ...more],
})

const withType = (plain: Sent, type: string): Sent => ({
  ...plain,
  headers: plain.headers.map((each) => (each[0] === 'Content-Type' ? [each[0], type] : each)),
})

/** A member more in the object that a body is, as text, so that a name can stand there twice. */
const withMember = (plain: Sent, text: string): Sent => {
  const body = plain.body ?? '{}'
  return {
    ...plain,
    body: body.startsWith('{') ? `${body.slice(0, -1)}${body === '{}' ? '' : ','}${text}}` : body,
  }
}

const OVERRIDES = ['X-HTTP-Method-Override', 'X-HTTP-Method', 'X-Method-Override'] as const

const ONES_ELSE = [
  ['X-Scope', 'write'],
  ['X-OAuth-Scopes', 'read write'],
  ['X-Forwarded-User', 'Ana'],
  ['X-Actor-Kind', 'person'],
  ['X-Role', 'owner'],
  ['X-Forwarded-For', '127.0.0.1'],
] as const

const REST_TRICKS: Record<string, Trick> = {
  plain: (plain) => plain,
  'method override by header': (plain, n) =>
    withHeaders({ ...plain, method: pick(['GET', 'HEAD', 'POST', 'OPTIONS'], n) }, [
      pick(OVERRIDES, n >> 2),
      plain.method,
    ]),
  'method override by query': (plain, n) => ({
    ...plain,
    method: pick(['GET', 'HEAD', 'POST'], n),
    path: `${plain.path}?_method=${plain.method}&method=${plain.method}`,
  }),
  'method override by form': (plain, n) => ({
    ...withType(plain, 'application/x-www-form-urlencoded'),
    method: pick(['POST', 'PUT', 'DELETE'], n),
    body: `_method=${plain.method}&id=T1&title=x`,
  }),
  'a body with GET or HEAD': (plain, n) => ({ ...plain, method: pick(['GET', 'HEAD'], n) }),
  'arguments in the query': (plain) => ({ ...plain, path: `${plain.path}?id=T1&title=x&confirm=true` }),
  'scope in the query': (plain) => ({
    ...plain,
    path: `${plain.path}?scope=write&access_token=x&scopes=write`,
  }),
  'scope in the body': (plain) =>
    withMember(plain, '"scope":"write","scopes":["read","write"],"role":"owner"'),
  'scope in a header': (plain, n) => withHeaders(plain, pick(ONES_ELSE, n)),
  'every key twice': (plain) => withMember(plain, (plain.body ?? '{}').slice(1, -1) || '"id":"T1"'),
  'the id once more': (plain) => withMember(plain, '"id":"T2","id":"T1"'),
  __proto__: (plain) => withMember(plain, '"__proto__":{"scopes":["read","write"],"kind":"person"}'),
  batch: (plain, n) => ({
    ...plain,
    body: `[${Array(1 + (n % 3))
      .fill(plain.body ?? '{}')
      .join()}]`,
  }),
  'two tokens': (plain, n) => withHeaders(plain, ['Authorization', pick(['Bearer x', 'Basic YTpi'], n)]),
  'the token as a cookie too': (plain) =>
    withHeaders(
      plain,
      ['Cookie', `done_session=${plain.headers[0]![1].slice(7)}`],
      ['Sec-Fetch-Site', 'same-origin'],
    ),
  'another spelling of the path': (plain, n) => ({
    ...plain,
    path: pick(
      [
        `${plain.path}/`,
        plain.path.replace('/api', '//api'),
        plain.path.replace('/api', '/API'),
        plain.path.replace('/api/', '/api/%2e/'),
        plain.path.replace('/api/', '/api/people/../'),
        `${plain.path};scope=write`,
        `${plain.path}%00`,
        plain.path.replace('/api/', '/api/x/../'),
      ],
      n,
    ),
  }),
  'another type of body': (plain, n) =>
    withType(
      plain,
      pick(['text/plain', 'application/json; charset=utf-7', 'application/json-patch+json', ''], n),
    ),
  'a key': (plain, n) => withHeaders(plain, ['Idempotency-Key', `key ${n % 5}`]),
}

const renamed = (plain: Sent, name: string): Sent => ({
  ...plain,
  headers: plain.headers.map((each) => (each[0] === 'mcp-name' ? [each[0], name] : each)),
})

const messageOf = ({ body = '{}' }: Sent) =>
  JSON.parse(body) as { params: Record<string, unknown> } & Record<string, unknown>

const withMessage = (plain: Sent, change: (message: ReturnType<typeof messageOf>) => unknown): Sent => ({
  ...plain,
  body: JSON.stringify(change(messageOf(plain))),
})

const MCP_TRICKS: Record<string, Trick> = {
  plain: (plain) => plain,
  'of the time before': (plain) => ({
    ...withMessage(plain, ({ params: { _meta, ...params }, ...message }) => ({ ...message, params })),
    headers: plain.headers.filter(([name]) => !name.startsWith('mcp-')),
  }),
  batch: (plain, n) => withMessage(plain, (message) => Array(1 + (n % 3)).fill(message)),
  'a read in the header': (plain) => renamed(plain, 'get_me'),
  'a read first, by the same key': (plain) => ({
    ...plain,
    body: (plain.body ?? '').replace('"params":{', '"params":{"name":"get_me",'),
  }),
  'a read last, by the same key': (plain) => ({
    ...plain,
    body: (plain.body ?? '').replace('"_meta":{', '"name":"get_me","_meta":{'),
  }),
  'scope in the message': (plain) =>
    withMessage(plain, ({ params, ...message }) => ({
      ...message,
      scope: 'write',
      params: {
        ...params,
        scope: 'write',
        _meta: {
          ...(params._meta as object),
          scopes: ['read', 'write'],
          'io.modelcontextprotocol/scope': 'write',
        },
      },
    })),
  'scope in a header': (plain, n) => withHeaders(plain, pick(ONES_ELSE, n)),
  'the widest preset': (plain, n) => ({
    ...plain,
    path: `/mcp?tools=${pick(['all', 'planner', 'worker'], n)}`,
  }),
  'a notification': (plain) => withMessage(plain, ({ id: _, ...message }) => message),
  'an answer that nobody asked for': (plain) =>
    withMessage(plain, ({ params, ...message }) => ({
      ...message,
      params: { ...params, inputResponses: { x: { action: 'accept', content: {} } }, requestState: 'forged' },
    })),
  'another method': (plain, n) => ({ ...plain, method: pick(['GET', 'PUT', 'DELETE', 'HEAD'], n) }),
  'method override by header': (plain, n) =>
    withHeaders({ ...plain, method: pick(['GET', 'PUT'], n) }, [pick(OVERRIDES, n), 'POST']),
  'two tokens': (plain, n) => withHeaders(plain, ['Authorization', pick(['Bearer x', 'Basic YTpi'], n)]),
  __proto__: (plain) => ({
    ...plain,
    body: (plain.body ?? '').replace('"arguments":{', '"arguments":{"__proto__":{"scopes":["write"]},'),
  }),
}
