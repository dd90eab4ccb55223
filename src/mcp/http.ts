import { createMcpHandler } from '@modelcontextprotocol/server'
import type { Call } from '../tools/call.ts'
import { toolNamed } from '../tools/effects.ts'
import { type Caller, explained } from './answer.ts'
import { keepWhole, type WholeArguments } from './arguments.ts'
import { direct } from './direct.ts'
import { type Admitted, admit, type GateOptions } from './gate.ts'
import { type Door, listingOf, serverFor } from './protocol.ts'
import { type OnEvents, openStreams } from './streams.ts'
import { toolsListFor } from './tool-list.ts'

export interface McpHttpOptions extends GateOptions {
  call: Call
  onEvents: OnEvents
}

/** The endpoint `/mcp`: answers one request. `close` ends the open streams, so that the server can stop. */
export interface McpHttp {
  (request: Request): Promise<Response>
  close(): void
}

/**
 * MCP over Streamable HTTP, both eras. Nothing is kept between requests but the open streams: each request brings its
 * token, and gets a server of its own over lists that are made once.
 */
export function mcpHttp(options: McpHttpOptions): McpHttp {
  const streams = openStreams(options.onEvents)

  async function serve(admitted: Admitted): Promise<Response> {
    const { request, body, actor, token } = admitted
    const caller = callerOf(admitted, options.call)
    const door = doorFor(admitted, caller)
    const answer = await direct(admitted, door, caller)
    if (answer) return answer
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
    return handler.fetch(request, { parsedBody: body })
  }

  async function answer(request: Request): Promise<Response> {
    try {
      return await admit(request, options, serve)
    } catch (error) {
      const { message } = explained(error)
      return Response.json({ jsonrpc: '2.0', error: { code: -32603, message }, id: null }, { status: 500 })
    }
  }

  return Object.assign(answer, { close: streams.close })
}

/** Who calls, as the token says. */
export function callerOf({ actor }: Pick<Admitted, 'actor'>, call: Call): Caller {
  return { actor, call, isTool: (name) => toolNamed(name) !== undefined }
}

/** What a request's caller sees: the lists for its rights, made once for all who have the same. */
export function doorFor(
  { actor, presets, body }: Pick<Admitted, 'actor' | 'presets' | 'body'>,
  caller: Caller,
): Door {
  const tools = toolsListFor(actor.scopes, actor.presets, presets)
  const kept: WholeArguments = new Map()
  keepWhole(kept, body)
  return { ...listingOf(tools), presets, kept, caller: async () => caller }
}

const listens = (body: unknown): boolean =>
  (body as { method?: unknown } | null)?.method === 'subscriptions/listen'
