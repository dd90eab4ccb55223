import { PassThrough, type Readable, type Writable } from 'node:stream'
import type { JSONRPCMessage, Server, Transport } from '@modelcontextprotocol/server'
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio'
import type { Actor, Scope } from '../model/actor.ts'
import { AppError } from '../model/error.ts'
import { LIMITS } from '../model/task.ts'
import type { Call } from '../tools/call.ts'
import { keepWhole, type WholeArguments } from './arguments.ts'
import { changesFor } from './changes.ts'
import { type Door, listingOf, serverFor } from './protocol.ts'
import type { OnEvents } from './streams.ts'
import { listFrom, narrowingFrom, type ToolFile } from './tool-file.ts'

/** An opened data folder and who acts on it. */
interface StdioConnection {
  call: Call
  actor: Actor
  onEvents: OnEvents
  /** Whose the credential is by now; undefined once it is not good any more. The local agent has none to lose. */
  renew?: (() => Promise<Actor | undefined>) | undefined
  close(): Promise<void>
}

export interface StdioOptions {
  /** Opens the data folder: at the first call of a tool, and again after a failure. */
  connect: () => Promise<StdioConnection>
  /** Presets and toolsets that narrow the connection, as named after `--tools`. */
  presets?: readonly string[] | undefined
  /** The local agent's scopes, known without looking. Absent where a token decides: the folder is then opened first. */
  scopes?: readonly Scope[] | undefined
  /** The lists as data. The built program reads a file; else they come from the catalogue, which takes a while to load. */
  toolFile?: () => Promise<ToolFile>
  stdin?: Readable
  stdout?: Writable
}

/** How long calls may still be answered after the host closed its end, in milliseconds. */
const LAST_CALLS_MS = 5000

/**
 * MCP over stdin and stdout, both eras, until the host closes its end. stdout carries nothing but the protocol. Throws
 * what can be said before the first message: an unknown preset, a token that is not good.
 */
export async function serveMcpStdio(options: StdioOptions): Promise<void> {
  const { connect, scopes, stdin = process.stdin, stdout = process.stdout } = options
  const file = await (options.toolFile ?? fromCatalogue)()
  const presets = narrowingFrom(file, options.presets?.join())
  const everyName = new Set(file.tools.map((tool) => tool.name))
  const subscribed = new Set<string>()
  let served: { server: Server; era: 'modern' | 'legacy' } | undefined
  let opening: Promise<StdioConnection> | undefined

  function open(): Promise<StdioConnection> {
    opening ??= connect().then(
      async (connection) => {
        await connection.onEvents(connection.actor.account, (events) => {
          for (const change of changesFor(connection.actor, mayRead, events)) void tell(change)
        })
        return connection
      },
      (error) => {
        opening = undefined
        throw error
      },
    )
    return opening
  }

  const rights = scopes ? { scopes, presets: undefined } : (await open()).actor
  const listing = listingOf(listFrom(file, rights.scopes, rights.presets, presets))
  const mayRead = { task: listing.names.has('get_task'), digest: listing.names.has('get_digest') }
  const kept: WholeArguments = new Map()
  const door: Door = { ...listing, presets, subscribed, kept, caller }

  async function caller() {
    const { actor, call, renew } = await open()
    const now = renew ? await renew() : actor
    if (!now) {
      throw new AppError('scope', 'The token in DONE_TOKEN is not good any more.', {
        retry: false,
        next: 'Ask a person for a new token and start again with it.',
      })
    }
    return { actor: now, call, isTool: (name: string) => everyName.has(name) }
  }

  /** What a client of 2026-07-28 listens to is known to the SDK; an older one subscribes to addresses with us. */
  async function tell(change: ReturnType<typeof changesFor>[number]): Promise<void> {
    if (!served) return
    const { server, era } = served
    try {
      if (change.kind === 'tools_list_changed') await server.sendToolListChanged()
      else if (era === 'modern' || subscribed.has(change.uri))
        await server.sendResourceUpdated({ uri: change.uri })
    } catch {
      // The host is gone, or not ready yet: it asks again for what it needs.
    }
  }

  await new Promise<void>((resolve) => {
    const input = new PassThrough()
    const transport = new StdioServerTransport(input, stdout, { maxBufferSize: LIMITS.requestBytes })
    serveStdio(
      ({ era }) => {
        const server = serverFor(door, era)
        served = { server, era }
        return server
      },
      { transport, onerror: (error) => console.error(error.message) },
    )
    const calls = watch(transport, {
      arrives: (message) => keepWhole(kept, message),
      listens: () => void open().catch(console.error),
      closed: resolve,
    })
    stdin.pipe(input, { end: false })
    stdin.once('end', () => void calls.answered(LAST_CALLS_MS).then(() => input.end()))
    stdin.once('error', () => input.end())
  })
  await (await opening?.catch(() => undefined))?.close()
}

const fromCatalogue = async (): Promise<ToolFile> => (await import('./tool-list.ts')).toolFile()

/**
 * Looks at what passes: whoever listens wants events, so the folder is opened; and a host that closes its end behind a
 * call still gets the answer, which the SDK would drop.
 */
function watch(
  transport: Transport,
  on: { arrives: (message: JSONRPCMessage) => void; listens: () => void; closed: () => void },
) {
  const open = new Set<unknown>()
  let idle = () => {}
  const { onmessage, onclose } = transport
  const send = transport.send.bind(transport)
  transport.onmessage = (message: JSONRPCMessage, extra) => {
    on.arrives(message)
    if ('method' in message && 'id' in message) {
      if (message.method === 'subscriptions/listen' || message.method === 'resources/subscribe') on.listens()
      else open.add(message.id)
    } else if ('method' in message && message.method === 'notifications/cancelled') {
      open.delete(message.params?.requestId)
    }
    onmessage?.(message, extra)
  }
  transport.send = async (message, sendOptions) => {
    await send(message, sendOptions)
    if ('id' in message && !('method' in message)) open.delete(message.id)
    if (open.size === 0) idle()
  }
  transport.onclose = () => {
    onclose?.()
    on.closed()
  }
  return {
    answered: (ms: number) =>
      new Promise<void>((resolve) => {
        idle = resolve
        setTimeout(resolve, ms).unref()
        if (open.size === 0) resolve()
      }),
  }
}
