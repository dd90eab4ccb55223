import {
  type CallToolRequest,
  type CallToolResult,
  type InputRequiredResult,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type ServerContext,
} from '@modelcontextprotocol/server'
import type { Connection } from '../tools/call.ts'
import { answerCall, type Caller, refused } from './answer.ts'
import { takeWhole, type WholeArguments } from './arguments.ts'
import type { Listing } from './listing.ts'
import { promptNamed, promptsFor } from './prompts.ts'
import { completeTask, protocolError, readResource, resourcesFor, resourceTemplatesFor } from './resources.ts'
import { KEPT, SERVER_INFO, TOLD } from './revision.ts'
import { offerPage, secondRound } from './sign-off.ts'

/** One connection: what it lists, and who is behind it once somebody has to be. */
export interface Door extends Listing {
  /** What the connection is narrowed to, beside its credential. */
  presets: readonly string[] | undefined
  /** Asked before each call. Over stdio the first one opens the database. */
  caller(): Promise<Caller>
  /** Arguments that the SDK would hand on without one of their keys. */
  kept: WholeArguments
  /** Addresses subscribed to by a client from before 2026-07-28; absent where nothing can be sent to one. */
  subscribed?: Set<string>
}

const CACHE_HINTS = Object.freeze({
  'server/discover': KEPT,
  'tools/list': KEPT,
  'prompts/list': KEPT,
  'resources/list': KEPT,
  'resources/templates/list': KEPT,
  'resources/read': { ttlMs: 0, cacheScope: 'private' } as const,
})

/** What we can do for a client that nothing can be sent to. */
const UNTOLD = Object.freeze({ tools: {}, resources: {}, prompts: {}, completions: {} })

/** A validator of answers to forms. We never send one, and the SDK's own would be made for each request. */
const jsonSchemaValidator = {
  getValidator: () => () => ({ valid: false as const, data: undefined, errorMessage: 'no forms are sent' }),
}

/**
 * The protocol's server for one connection, or for one request over HTTP, of either era. Everything it answers with is
 * made before: a server is a few functions over the door.
 */
export function serverFor(door: Door, era: 'modern' | 'legacy'): Server {
  const { names } = door
  const server = new Server(SERVER_INFO, {
    capabilities: era === 'modern' || door.subscribed ? TOLD : UNTOLD,
    instructions: door.instructions,
    cacheHints: CACHE_HINTS,
    jsonSchemaValidator,
    // An older client is asked beside the answer (sign-off.ts), never in its stead.
    inputRequired: { legacyShim: false },
  })
  server.setRequestHandler('tools/list', () => ({ tools: door.tools as never }))
  server.setRequestHandler('tools/call', ({ params }, ctx) => callTool(door, server, params, ctx))

  server.setRequestHandler('resources/list', () => resourcesFor(names))
  server.setRequestHandler('resources/templates/list', () => resourceTemplatesFor(names))
  server.setRequestHandler('resources/read', async ({ params }, ctx) =>
    readResource(await callerOf(door), params.uri, connectionOf(door, ctx)),
  )
  server.setRequestHandler('prompts/list', () => promptsFor(names))
  server.setRequestHandler('prompts/get', ({ params }) =>
    promptNamed(names, params.name, params.arguments ?? {}),
  )
  server.setRequestHandler('completion/complete', async ({ params }, ctx) =>
    completeTask(await callerOf(door), names, params, connectionOf(door, ctx)),
  )
  if (era === 'legacy' && door.subscribed) {
    const { subscribed } = door
    server.setRequestHandler('resources/subscribe', ({ params }) => {
      subscribed.add(params.uri)
      return {}
    })
    server.setRequestHandler('resources/unsubscribe', ({ params }) => {
      subscribed.delete(params.uri)
      return {}
    })
  }
  return server
}

/**
 * Makes a call. A name that the catalogue does not have is an error of the protocol; whatever else is wrong is a result
 * that the model can read.
 */
export async function callTool(
  door: Door,
  server: Server,
  { name, arguments: given }: CallToolRequest['params'],
  ctx: ServerContext,
): Promise<CallToolResult | InputRequiredResult> {
  const input = takeWhole(door.kept, ctx.mcpReq.id, given)
  const caller = await door.caller().catch(refused)
  if ('content' in caller) return caller
  if (!caller.isTool(name)) {
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool: ${name.slice(0, 80)}`)
  }
  const connection = connectionOf(door, ctx)
  const second = await secondRound(caller, name, input, ctx, connection)
  if (second) return second
  return offerPage(server, name, await answerCall(caller, name, input, connection), ctx)
}

const connectionOf = (door: Door, ctx: ServerContext): Connection => ({
  presets: door.presets,
  signal: ctx.mcpReq.signal,
})

async function callerOf(door: Door): Promise<Caller> {
  try {
    return await door.caller()
  } catch (error) {
    throw protocolError(error)
  }
}
