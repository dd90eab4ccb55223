import type { Readable, Writable } from 'node:stream'
import type { Actor, Scope } from '../model/actor.ts'
import { AppError } from '../model/error.ts'
import type { Call } from '../tools/call.ts'
import type { Caller } from './answer.ts'
import { changesFor } from './changes.ts'
import { listingOf } from './listing.ts'
import { type StdioLoop, stdioLoop } from './stdio-loop.ts'
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

/**
 * MCP over stdin and stdout, both eras, until the host closes its end. stdout carries nothing but the protocol. What is
 * regular is answered directly (direct.ts); the SDK is loaded for the first message that is not, and only answers those.
 * Throws what can be said before the first message: an unknown preset, a token that is not good.
 */
export async function serveMcpStdio(options: StdioOptions): Promise<void> {
  const { connect, scopes, stdin = process.stdin, stdout = process.stdout } = options
  const file = await (options.toolFile ?? fromCatalogue)()
  const presets = narrowingFrom(file, options.presets?.join())
  const everyName = new Set(file.tools.map((tool) => tool.name))
  let opening: Promise<StdioConnection> | undefined
  let loop: StdioLoop | undefined

  function open(): Promise<StdioConnection> {
    opening ??= connect().then(
      async (connection) => {
        await connection.onEvents(connection.actor.account, (events) => {
          for (const change of changesFor(connection.actor, mayRead, events)) loop?.tell(change)
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

  async function caller(): Promise<Caller> {
    const { actor, call, renew } = await open()
    const now = renew ? await renew() : actor
    if (!now) {
      throw new AppError('scope', 'The token in DONE_TOKEN is not good any more.', {
        retry: false,
        next: 'Ask a person for a new token and start again with it.',
      })
    }
    return { actor: now, call, isTool: (name) => everyName.has(name) }
  }

  loop = stdioLoop({
    listing,
    presets,
    everyName,
    caller,
    listens: () => void open().catch(console.error),
    stdin,
    stdout,
  })
  await loop.closed
  await (await opening?.catch(() => undefined))?.close()
}

const fromCatalogue = async (): Promise<ToolFile> => (await import('./tool-list.ts')).toolFile()
