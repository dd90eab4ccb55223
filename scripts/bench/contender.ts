import { existsSync, mkdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { output, type StdioServer, type ToolAnswer } from './process.ts'
import type { Texts } from './recipe.ts'

/** A task server that takes part side by side, over MCP on stdin and stdout. */
export interface Contender {
  name: string
  /** What "update" is there, where it can't be given a new description without a model behind it. */
  updates?: string
  /** Fills a fresh folder with these tasks, in the server's own format, and starts it there. */
  start(dir: string, tasks: readonly Texts[]): Promise<Playing>
}

/** A running server over a filled store. */
export interface Playing {
  server: StdioServer
  /** The name of the n-th filled task, from 0. */
  nameOf(n: number): string
  /** The call that creates a task; the name of what an answer says was made. */
  create(texts: Texts): ToolCall
  made(answer: ToolAnswer, texts: Texts): string | Promise<string>
  /** The call that changes a task, and what get must show afterwards. */
  update(name: string, text: string, turn: number): ToolCall & { shows: string }
  get(name: string): ToolCall
  list(): ToolCall
  /** All tasks, where `list` gives a page: the first call, and further ones until there are no more. */
  all?(): ToolCall
  next?(answer: ToolAnswer): ToolCall | undefined
  /** How many tasks an answer of `list` holds. */
  count(answer: ToolAnswer): number
}

export type ToolCall = { tool: string; args: Record<string, unknown> }

/** Matches of a pattern in what a server answered. */
export const matches = (answer: ToolAnswer, pattern: RegExp): number =>
  answer.text.match(pattern)?.length ?? 0

/**
 * The folder of a peer's package, installed at the first use into a cache that outlives the run, and never into this
 * repository.
 */
export async function installed(name: string, version: string): Promise<string> {
  const folder = join(tmpdir(), 'done-bench-peers', `${name.replace(/^@.*\//, '')}-${version}`)
  const at = join(folder, 'node_modules', name)
  if (!existsSync(join(at, 'package.json'))) {
    console.log(`Fetching ${name}@${version} …`)
    mkdirSync(folder, { recursive: true })
    await output('npm', ['install', '--no-audit', '--no-fund', '--prefix', folder, `${name}@${version}`], {
      cwd: folder,
    })
  }
  return at
}
