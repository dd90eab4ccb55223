import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { ensureBuilt, root } from '../scripts/ensure.mjs'

ensureBuilt()

/** The built program, as a user has it. */
export const DONECTL = join(root, 'dist', 'donectl.js')

/** The environment of a command that must find nothing of ours in it. */
export function cleanEnv(extra: Record<string, string> = {}): Record<string, string> {
  const { DONE_TOKEN, DONE_DATA, DONE_PORT, DONE_HOST, DONE_SITE, DATABASE_URL, ...rest } = process.env
  return { ...(rest as Record<string, string>), ...extra }
}

/** Runs `donectl` to its end. */
export function donectl(
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [DONECTL, ...args], { env: cleanEnv(env) })
    let stdout = ''
    let stderr = ''
    child.stdout.on('data', (chunk) => {
      stdout += chunk
    })
    child.stderr.on('data', (chunk) => {
      stderr += chunk
    })
    child.on('close', (code) => resolve({ code, stdout, stderr }))
  })
}

/** A host on a `donectl mcp` of its own, speaking the bare protocol, so that a test can cut it off at any byte. */
export interface StdioHost {
  process: ChildProcess
  /** A tool's structured content; rejects where the process ends before it has answered. */
  call(name: string, input: object): Promise<Record<string, unknown>>
  kill(): Promise<void>
}

export function stdioHost(dir: string, env: Record<string, string> = {}): StdioHost {
  const child = spawn(process.execPath, [DONECTL, 'mcp', '--data', dir], {
    env: cleanEnv(env),
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  const waiting = new Map<
    number,
    { resolve(value: Record<string, unknown>): void; reject(error: Error): void }
  >()
  let last = 0
  const ended = new Promise<void>((resolve) =>
    child.on('close', () => {
      for (const { reject } of waiting.values()) reject(new Error('The process ended first.'))
      waiting.clear()
      resolve()
    }),
  )
  child.stdin.on('error', () => {})
  createInterface({ input: child.stdout }).on('line', (line) => {
    const { id, result, error } = JSON.parse(line) as {
      id: number
      result?: { structuredContent?: Record<string, unknown> }
      error?: { message: string }
    }
    const asked = waiting.get(id)
    waiting.delete(id)
    if (error) asked?.reject(new Error(error.message))
    else asked?.resolve(result?.structuredContent ?? {})
  })
  const meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {},
    'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
  }
  return {
    process: child,
    call: (name, input) =>
      new Promise((resolve, reject) => {
        const id = ++last
        waiting.set(id, { resolve, reject })
        child.stdin.write(
          `${JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: input, _meta: meta } })}\n`,
        )
      }),
    async kill() {
      child.kill('SIGKILL')
      await ended
    },
  }
}
