import type { ErrorCode } from '../model/error.ts'
import type { Operation } from '../people/operation.ts'
import { annotationsFor, toolNamed } from '../tools/effects.ts'
import { scopeOf } from '../tools/guard.ts'
import { schemaOf } from '../tools/parse.ts'
import { type JsonSchema, outputSchema } from '../tools/schema.ts'
import { VERSION } from '../version.ts'
import type { Address } from './address.ts'
import { STATUS } from './problem.ts'
import { PEOPLE_ADDRESSES, TOOL_ADDRESSES } from './rest.ts'

/** The REST door as OpenAPI 3.1, built from the two catalogues: nothing in it is written a second time. */
export function openapi(): object {
  return {
    openapi: '3.1.1',
    info: {
      title: 'Done',
      version: VERSION,
      description:
        'One task list that people and AI agents share. Every MCP tool stands here at an address of its own, with the same guard, arguments and answers; beside them, what only a person may do.',
    },
    servers: [{ url: '/' }],
    tags: tags(),
    paths: paths(),
    components: {
      securitySchemes: {
        token: { type: 'http', scheme: 'bearer', description: 'A token of an agent.' },
        session: {
          type: 'apiKey',
          in: 'cookie',
          name: 'done_session',
          description:
            'A person’s session; "__Host-done" where the site is HTTPS. Writes need the Origin of the site.',
        },
      },
      schemas: { Error: ERROR },
      responses: responses(),
    },
  }
}

const PEOPLE_TAG = 'people only'

function tags(): object[] {
  const toolsets = [...new Set(TOOL_ADDRESSES.map(({ tool }) => tool.toolset as string))]
  return [
    ...toolsets.map((name) => ({ name })),
    { name: PEOPLE_TAG, description: 'For a person’s own session. Every token is refused with people_only.' },
  ]
}

function paths(): Record<string, Record<string, object>> {
  const all: Record<string, Record<string, object>> = {}
  for (const address of [...TOOL_ADDRESSES, ...PEOPLE_ADDRESSES]) {
    const path = address.path.replace(/:(\w+)/g, '{$1}')
    all[path] = { ...all[path], [address.method.toLowerCase()]: operation(address) }
  }
  return { ...all, '/api/events': { get: EVENTS } }
}

/** The stream is no call, so no catalogue has it (events.ts). */
const EVENTS = {
  operationId: 'events',
  summary: 'What happens, as a stream',
  description:
    'Server-sent events of everything that the caller may see, each once and in order. `data` is JSON: id, kind, task, project, object, actor, tool, at. A client that comes back says the last id it has, and misses nothing; without one the stream begins now.',
  tags: ['me'],
  security: [{ token: [] }, { session: [] }],
  'x-scope': 'read',
  parameters: [
    { name: 'Last-Event-ID', in: 'header', required: false, example: 'E12', schema: { type: 'string' } },
    { name: 'after', in: 'query', required: false, example: 'E12', schema: { type: 'string' } },
  ],
  responses: {
    200: { description: 'The stream.', content: { 'text/event-stream': { schema: { type: 'string' } } } },
    ...Object.fromEntries(
      [401, 429, 503].map((status) => [status, { $ref: `#/components/responses/${status}` }]),
    ),
  },
}

function operation(address: Address): object {
  const { name, tool, method } = address
  const { properties = {}, required = [] } = schemaOf(tool)
  const rest = Object.fromEntries(Object.entries(properties).filter(([key]) => !address.params.includes(key)))
  const inQuery = method === 'GET' || method === 'DELETE'
  return {
    operationId: name,
    summary: tool.title,
    description: tool.does,
    ...access(address),
    parameters: [
      ...address.params.map((key) => parameter('path', key, properties[key] ?? {}, true, tool.example[key])),
      ...(inQuery
        ? Object.entries(rest).map(([key, schema]) =>
            parameter('query', key, schema, required.includes(key), tool.example[key]),
          )
        : []),
      ...('idempotency_key' in properties ? [IDEMPOTENCY_KEY] : []),
    ],
    ...(inQuery || Object.keys(rest).length === 0 ? {} : { requestBody: body(address, rest, required) }),
    responses: {
      200: {
        description: 'The answer.',
        content: { 'application/json': { schema: outputSchema(tool.output) } },
      },
      ...Object.fromEntries(
        statuses(method).map((status) => [status, { $ref: `#/components/responses/${status}` }]),
      ),
    },
  }
}

/** Who may call it: the same facts that the guard goes by. */
function access({ name, tool }: Address): object {
  if (toolNamed(name) === tool) {
    return {
      tags: [tool.toolset],
      security: [{ token: [] }, { session: [] }],
      'x-scope': scopeOf(name),
      'x-annotations': annotationsFor(name),
    }
  }
  const { role, fresh } = tool as Operation
  return { tags: [PEOPLE_TAG], security: [{ session: [] }], 'x-role': role, 'x-fresh-sign-in': fresh }
}

function parameter(
  place: 'path' | 'query',
  name: string,
  schema: JsonSchema,
  required: boolean,
  example: unknown,
): object {
  const { description, ...plain } = schema
  const shape = {
    name,
    in: place,
    required,
    ...(description ? { description } : {}),
    ...(example === undefined ? {} : { example }),
  }
  // An object in a query is JSON; a list is its name several times, or JSON.
  if (plain.type === 'object')
    return { ...shape, content: { 'application/json': { schema: plain } }, example: undefined }
  return { ...shape, schema: plain, ...(plain.type === 'array' ? { style: 'form', explode: true } : {}) }
}

function body(address: Address, properties: Record<string, JsonSchema>, required: readonly string[]): object {
  const needed = required.filter((key) => Object.hasOwn(properties, key))
  const example = Object.fromEntries(
    Object.entries(address.tool.example).filter(([key]) => !address.params.includes(key)),
  )
  const schema = {
    type: 'object',
    properties,
    ...(needed.length > 0 ? { required: needed } : {}),
    additionalProperties: false,
  }
  return { required: needed.length > 0, content: { 'application/json': { schema, example } } }
}

const IDEMPOTENCY_KEY = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description:
    'The same as idempotency_key: a repeat with the same key and arguments answers as the first did, for 24 hours.',
  schema: { type: 'string' },
}

const ERROR = {
  type: 'object',
  required: ['error'],
  properties: {
    error: {
      type: 'object',
      required: ['code', 'message', 'next', 'retry'],
      properties: {
        code: { type: 'string', enum: Object.keys(STATUS) },
        message: { type: 'string', description: 'What was wrong.' },
        allowed: { type: 'array', items: { type: 'string' }, description: 'What is allowed, or near.' },
        next: { type: 'string', description: 'What to do next.' },
        retry: { type: 'boolean', description: 'Whether the same request may be sent again unchanged.' },
        written: { type: 'boolean', description: 'False where it is certain that nothing was written.' },
        current: { description: 'The record as it stands, where it is needed to go on.' },
      },
    },
  },
}

/** Every status that a call can end with, in order. */
function statuses(method: string): number[] {
  const of = new Set<number>([401, ...Object.values(STATUS)])
  if (method === 'GET') for (const status of [409, 413]) of.delete(status)
  else of.add(415)
  return [...of].sort((a, b) => a - b)
}

function responses(): Record<string, object> {
  const codes = Object.entries(STATUS) as [ErrorCode, number][]
  const other: Record<number, string> = {
    401: 'No credential, or one that is not good.',
    415: 'The body is not JSON.',
  }
  return Object.fromEntries(
    statuses('POST').map((status) => [
      status,
      {
        description:
          other[status] ??
          codes
            .filter(([, own]) => own === status)
            .map(([code]) => code)
            .join(', '),
        content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
      },
    ]),
  )
}
