import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { root } from '../ensure.mjs'

/** The built program, as a user has it. */
export const DONECTL = join(root, 'dist', 'donectl.js')

/** What a process has used: processor time in microseconds, resident memory in bytes. */
interface Usage {
  cpu: number
  rss: number
}

/** Loaded before a server's own code, so that a process can say what it used to the microsecond, whatever it runs. */
const PROBE = `data:text/javascript,${encodeURIComponent(`
  process.on('message', (message) => {
    if (message !== 'usage') return
    const { user, system } = process.cpuUsage()
    process.send({ usage: { cpu: user + system, rss: process.memoryUsage.rss() } })
  })
  process.on('disconnect', () => process.exit())
  process.channel?.unref()
`)}`

const children = new Set<ChildProcess>()

/** Ends every process that was started here and still runs. */
export function endAll(): void {
  for (const child of children) child.kill()
}

/** A process whose use of the machine can be asked. */
export interface Measured {
  usage(): Promise<Usage>
  end(): Promise<void>
}

export interface Server extends Measured {
  url: string
}

function start(command: string, args: readonly string[], options: SpawnOptions): ChildProcess {
  const child = spawn(command, args, options)
  children.add(child)
  child.once('close', () => children.delete(child))
  return child
}

function measured(child: ChildProcess): Measured {
  const waiting: { resolve(usage: Usage): void; reject(error: Error): void }[] = []
  child.on('message', ({ usage }: { usage?: Usage }) => {
    if (usage) waiting.shift()?.resolve(usage)
  })
  child.once('exit', () => {
    for (const { reject } of waiting.splice(0)) reject(new Error('The process ended before it answered.'))
  })
  return {
    usage: () =>
      new Promise((resolve, reject) => {
        waiting.push({ resolve, reject })
        child.send('usage')
      }),
    end: () => endOf(child),
  }
}

function endOf(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) return resolve()
    child.once('exit', () => resolve())
    child.kill()
  })
}

/** How long a server may take to listen, in milliseconds. */
const START_MS = 30_000

/** Starts `donectl serve` on a free port; resolves as soon as it says where it runs. */
export async function serve(dir: string, env: Record<string, string> = {}): Promise<Server> {
  const child = start(process.execPath, ['--import', PROBE, DONECTL, 'serve', '--data', dir, '--port', '0'], {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    env: { ...process.env, ...env },
  })
  const url = await new Promise<string>((resolve, reject) => {
    const late = () =>
      reject(new Error(`donectl serve did not say where it runs within ${START_MS / 1000} s.`))
    setTimeout(late, START_MS).unref()
    child.once('exit', (code) => reject(new Error(`donectl serve ended with ${code}.`)))
    createInterface({ input: child.stdout! }).on('line', (line) => {
      const address = /http:\/\/127\.0\.0\.1:\d+/.exec(line)
      if (address) resolve(address[0])
    })
  })
  return { url, ...measured(child) }
}

/** What a role answers to, by name. A role is a part of the bench that runs in a process of its own. */
export type Handlers = Record<string, (input: never) => Promise<unknown>>

export interface Role extends Measured {
  ask<T>(name: string, input?: unknown): Promise<T>
}

/** Starts a role; resolves when it is ready to be asked. `before` is a command that starts it, such as a tracer. */
export async function role(name: string, setup: unknown, before: readonly string[] = []): Promise<Role> {
  const own = [process.execPath, '--import', PROBE, process.argv[1]!, '--role', name, JSON.stringify(setup)]
  const [command, ...args] = [...before, ...own]
  const child = start(command!, args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  const waiting = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>()
  let last = 0
  await new Promise<void>((resolve, reject) => {
    child.once('error', reject)
    child.on('exit', (code) => {
      const ended = new Error(`The part "${name}" ended with ${code}.`)
      reject(ended)
      for (const each of waiting.values()) each.reject(ended)
    })
    child.on('message', (message: { ready?: true; id?: number; value?: unknown; error?: string }) => {
      if (message.ready) resolve()
      const asked = waiting.get(message.id ?? 0)
      if (!asked) return
      waiting.delete(message.id!)
      if (message.error === undefined) asked.resolve(message.value)
      else asked.reject(new Error(message.error))
    })
  })
  return {
    ask: <T>(asked: string, input: unknown = {}) =>
      new Promise<T>((resolve, reject) => {
        const id = ++last
        waiting.set(id, { resolve: resolve as (value: unknown) => void, reject })
        child.send({ id, ask: asked, input })
      }),
    ...measured(child),
    // A tracer in between takes no signal, and the role ends when nobody is there to ask.
    end: () =>
      new Promise((resolve) => {
        child.once('exit', () => resolve())
        child.disconnect()
      }),
  }
}

/** The other end of {@link role}: answers until the parent goes. */
export async function playRole(handlers: Handlers): Promise<void> {
  process.on('message', async (message: { id?: number; ask?: string; input?: unknown }) => {
    if (message.ask === undefined) return
    try {
      const value = await handlers[message.ask]!(message.input as never)
      process.send!({ id: message.id, value })
    } catch (error) {
      process.send!({ id: message.id, error: (error as Error).stack ?? String(error) })
    }
  })
  // The probe lets go of the channel, since a server lives without it; a role lives by it.
  process.channel?.ref()
  process.send!({ ready: true })
}

/** Runs a command to its end; its standard output. Rejects where it fails. */
export function output(
  command: string,
  args: readonly string[],
  options: SpawnOptions = {},
): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = start(command, args, { stdio: ['ignore', 'pipe', 'pipe'], ...options })
    let text = ''
    let said = ''
    child.stdout?.on('data', (chunk) => {
      text += chunk
    })
    child.stderr?.on('data', (chunk) => {
      said += chunk
    })
    child.once('error', reject)
    child.on('close', (code) =>
      code === 0 ? resolve(text) : reject(new Error(`${command} ended with ${code}. ${said.trim()}`)),
    )
  })
}

/** What a tool answered over MCP. */
export interface ToolAnswer {
  text: string
  structured: Record<string, unknown> | undefined
  characters: number
}

/** One MCP server on stdin and stdout, spoken to in bare lines, so that the client costs every server the same. */
export interface StdioServer {
  request(method: string, params: unknown): Promise<{ result?: unknown; error?: { message: string } }>
  /** Rejects where the tool refuses. */
  call(tool: string, args: Record<string, unknown>): Promise<ToolAnswer>
  end(): Promise<void>
}

export function stdioServer(
  command: string,
  args: readonly string[],
  options: { env?: Record<string, string>; cwd?: string } = {},
): StdioServer {
  const child = start(command, args, {
    stdio: ['pipe', 'pipe', 'ignore'],
    env: { ...process.env, ...options.env },
    cwd: options.cwd,
  })
  const waiting = new Map<number, { resolve(value: never): void; reject(error: Error): void }>()
  let last = 0
  let gone: Error | undefined
  const fail = (error: Error) => {
    gone = error
    for (const { reject } of waiting.values()) reject(error)
    waiting.clear()
  }
  child.once('error', fail)
  child.once('exit', (code) => fail(new Error(`The server ended with ${code}.`)))
  child.stdin!.on('error', () => {})
  const send = (message: unknown) => child.stdin!.write(`${JSON.stringify(message)}\n`)
  createInterface({ input: child.stdout! }).on('line', (line) => {
    // Some servers print greetings where only the protocol belongs.
    if (!line.startsWith('{')) return
    const message = JSON.parse(line) as { id?: number; method?: string }
    if (message.method !== undefined) {
      if (message.id !== undefined)
        send({ jsonrpc: '2.0', id: message.id, error: { code: -32601, message: 'Not offered.' } })
      return
    }
    const asked = waiting.get(message.id ?? 0)
    waiting.delete(message.id ?? 0)
    asked?.resolve(message as never)
  })
  const request: StdioServer['request'] = (method, params) =>
    new Promise((resolve, reject) => {
      if (gone) return reject(gone)
      const id = ++last
      waiting.set(id, { resolve: resolve as (value: never) => void, reject })
      send({ jsonrpc: '2.0', id, method, params })
    })
  return {
    request: async (method, params) => {
      const answer = await request(method, params)
      if (method === 'initialize') send({ jsonrpc: '2.0', method: 'notifications/initialized' })
      return answer
    },
    async call(tool, args) {
      const { result, error } = await request('tools/call', { name: tool, arguments: args })
      if (error) throw new Error(`${tool}: ${error.message}`)
      return toolAnswer(tool, result)
    },
    end: () => endOf(child),
  }
}

export function toolAnswer(tool: string, result: unknown): ToolAnswer {
  const { content, structuredContent, isError } = result as {
    content: { text?: string }[]
    structuredContent?: Record<string, unknown>
    isError?: boolean
  }
  const text = content.map((part) => part.text ?? '').join('\n')
  if (isError) throw new Error(`${tool}: ${text.slice(0, 300)}`)
  return { text, structured: structuredContent, characters: JSON.stringify(result).length }
}
