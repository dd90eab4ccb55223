/**
 * Speed, as ratios in one run: the same work over MCP stdio, over MCP HTTP and as a bare SQLite statement; the list of
 * tools; starts; and whether the cost of a call grows with the store. `npm run bench -- --quick` uses a smaller store.
 */
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { ensureAccount, ensureAgent } from '../src/auth/console.ts'
import { openDone } from '../src/done.ts'
import { toolsListFor } from '../src/mcp/tool-list.ts'
import { openSqlite } from '../src/store/sqlite.ts'
import { PRESETS } from '../src/tools/presets.ts'

const DONECTL = join(import.meta.dirname, '..', 'dist', 'donectl.js')
const SIZE = process.argv.includes('--quick') ? 10_000 : 100_000
const CALLS = 300
const VOCABULARY = Array.from({ length: 3000 }, (_, i) => `w${(i * 7919).toString(36)}`)

const scratch = mkdtempSync(join(tmpdir(), 'done-bench-'))
const children: ReturnType<typeof spawn>[] = []

try {
  await sideBySide()
  toolLists()
  await starts()
  await growth()
} finally {
  for (const child of children) child.kill()
  rmSync(scratch, { recursive: true, force: true })
}

type Operation = 'create' | 'update' | 'get' | 'list' | 'complete'
type Do = (operation: Operation, i: number) => Promise<unknown>

/** The five operations through each door, one caller. */
async function sideBySide(): Promise<void> {
  const stdio = await connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [DONECTL, 'mcp', '--data', join(scratch, 'stdio')],
    }),
  )
  const server = await serve(join(scratch, 'http'))
  const token = (
    await output(['token', 'create', '--name', 'bench', '--scope', 'write', '--data', join(scratch, 'http')])
  ).trim()
  const http = await connect(
    new StreamableHTTPClientTransport(new URL(`${server}/mcp`), {
      requestInit: { headers: { authorization: `Bearer ${token}` } },
    }),
  )
  const bare = await measure(bareSqlite())
  const overStdio = await measure(overMcp(stdio))
  const overHttp = await measure(overMcp(http))
  print(
    `One caller, ${CALLS} calls each: median µs (times the bare statement)`,
    ['', 'bare SQLite', 'MCP stdio', 'MCP HTTP'],
    (Object.keys(bare) as Operation[]).map((operation) => [
      operation,
      bare[operation].toFixed(0),
      `${overStdio[operation].toFixed(0)} (${(overStdio[operation] / bare[operation]).toFixed(1)})`,
      `${overHttp[operation].toFixed(0)} (${(overHttp[operation] / bare[operation]).toFixed(1)})`,
    ]),
  )
  const list = [await timed(() => stdio.listTools()), await timed(() => http.listTools())]
  console.log(
    `tools/list through the SDK’s client: ${list[0]!.toFixed(1)} ms over stdio, ${list[1]!.toFixed(1)} ms over HTTP\n`,
  )
  await stdio.close()
  await http.close()
}

/** The bare minimum on the same settings: one durable statement for a write, one prepared statement for a read. */
function bareSqlite(): Do {
  const db = openSqlite(join(scratch, 'bare.db'), 'write')
  db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL')
  db.exec(
    'CREATE TABLE tasks (id INTEGER PRIMARY KEY, title TEXT, description TEXT, status TEXT, priority INTEGER, due TEXT) STRICT',
  )
  db.exec('CREATE INDEX by_urgency ON tasks (priority, due, id)')
  const create = db.prepare(
    `INSERT INTO tasks (title, description, status, priority) VALUES (?, ?, 'open', 2)`,
  )
  const update = db.prepare('UPDATE tasks SET description = ? WHERE id = ?')
  const get = db.prepare('SELECT * FROM tasks WHERE id = ?')
  const list = db.prepare('SELECT * FROM tasks ORDER BY priority, due, id LIMIT 25')
  const complete = db.prepare(`UPDATE tasks SET status = 'done' WHERE id = ?`)
  return async (operation, i) => {
    if (operation === 'create') return create.run([`Task ${i}`, 'What is to be done'])
    if (operation === 'update') return update.run([`Changed ${i}`, i])
    if (operation === 'get') return get.all([i])
    if (operation === 'list') return list.all([])
    return complete.run([i])
  }
}

function overMcp(client: Client): Do {
  const call = async (name: string, args: Record<string, unknown>) => {
    const answer = await client.callTool({ name, arguments: args })
    if (answer.isError) throw new Error(JSON.stringify(answer.structuredContent))
  }
  return (operation, i) => work(call, operation, i)
}

/** One operation on the task with that number. */
function work(
  call: (name: string, args: Record<string, unknown>) => Promise<unknown>,
  operation: Operation,
  i: number,
): Promise<unknown> {
  if (operation === 'create')
    return call('create_task', { title: `Task ${i}`, description: 'What is to be done' })
  if (operation === 'update')
    return call('update_task', { id: `T${i}`, description: `Changed ${i} ${Math.random()}` })
  if (operation === 'get') return call('get_task', { id: `T${i}` })
  if (operation === 'list') return call('list_tasks', {})
  return call('complete_task', { id: `T${i}` })
}

async function measure(run: Do): Promise<Record<Operation, number>> {
  const medians: Partial<Record<Operation, number>> = {}
  for (const operation of ['create', 'update', 'get', 'list', 'complete'] as const) {
    const times: number[] = []
    for (let i = 1; i <= CALLS; i++) times.push((await timed(() => run(operation, i))) * 1000)
    medians[operation] = median(times)
  }
  return medians as Record<Operation, number>
}

function toolLists(): void {
  print(
    'tools/list: tokens are characters / 4',
    ['preset', 'tools', 'characters', 'tokens'],
    Object.keys(PRESETS).map((preset) => {
      const tools = toolsListFor(['read', 'write'], [preset])
      const characters = JSON.stringify({ tools }).length
      return [preset, String(tools.length), String(characters), String(Math.ceil(characters / 4))]
    }),
  )
}

/** From the spawn of a built program to its first answer; an empty Node process beside it. */
async function starts(): Promise<void> {
  const rounds = 7
  const empty: number[] = []
  const list: number[] = []
  const call: number[] = []
  const ready: number[] = []
  for (let i = 0; i < rounds; i++) {
    empty.push(await timed(() => output(['-e', ''], false)))
    list.push(await firstAnswer(join(scratch, `start-${i}`), 'tools/list'))
    call.push(await firstAnswer(join(scratch, `start-${i}`), 'tools/call'))
    ready.push(await timed(() => serve(join(scratch, `serve-${i}`))))
    children.pop()?.kill()
  }
  const ms = (times: number[]) => median(times).toFixed(0)
  print(
    `Starts, median of ${rounds}, ms`,
    ['an empty Node', 'first tools/list on stdio', 'first tools/call on stdio', 'donectl serve is ready'],
    [[ms(empty), ms(list), ms(call), ms(ready)]],
  )
}

function firstAnswer(dir: string, method: string): Promise<number> {
  return timed(
    () =>
      new Promise<void>((resolve, reject) => {
        const child = spawn(process.execPath, [DONECTL, 'mcp', '--data', dir], {
          stdio: ['pipe', 'pipe', 'inherit'],
        })
        createInterface({ input: child.stdout }).once('line', (line) => {
          child.stdin.end()
          const { error } = JSON.parse(line) as { error?: { message: string } }
          if (error) reject(new Error(error.message))
          else resolve()
        })
        const params = method === 'tools/call' ? { name: 'get_me', arguments: {} } : {}
        const _meta = {
          'io.modelcontextprotocol/protocolVersion': '2026-07-28',
          'io.modelcontextprotocol/clientCapabilities': {},
        }
        child.stdin.write(
          `${JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta } })}\n`,
        )
      }),
  )
}

/** The same calls in a store of 100 tasks and in a large one, at truly random ids. */
async function growth(): Promise<void> {
  const small = await costs(100)
  const large = await costs(SIZE)
  print(
    `Growth: median µs of a call in the process, at 100 and at ${SIZE.toLocaleString('en')} tasks`,
    ['', '100', SIZE.toLocaleString('en'), 'ratio'],
    (Object.keys(small) as (keyof typeof small)[]).map((operation) => [
      operation,
      small[operation]!.toFixed(0),
      large[operation]!.toFixed(0),
      (large[operation]! / small[operation]!).toFixed(2),
    ]),
  )
}

async function costs(size: number): Promise<Record<string, number>> {
  const dir = join(scratch, `growth-${size}`)
  const done = await openDone({ dataDir: dir, site: () => '' })
  const account = await ensureAccount(done.store, { owner: 'Ana', zone: 'UTC' })
  const actor = await ensureAgent(done.store, account, 'bench')
  const call = (name: string, args: Record<string, unknown>) => done.call(actor, name, args)
  for (let i = 0; i < size; i += 100) {
    const tasks = Array.from({ length: 100 }, (_, k) => ({
      title: `Task ${i + k}: ${words(4)}`,
      description: words(30),
      priority: ['urgent', 'high', 'normal', 'low'][Math.floor(Math.random() * 4)],
    }))
    await call('create_tasks', { tasks })
  }
  const random = () => 1 + Math.floor(Math.random() * size)
  const medians: Record<string, number> = {}
  const operations: Record<string, () => Promise<unknown>> = {
    create: () => call('create_task', { title: `New: ${words(4)}`, description: words(30) }),
    get: () => call('get_task', { id: `T${random()}` }),
    update: () => call('update_task', { id: `T${random()}`, description: words(30) }),
    'list, first page': () => call('list_tasks', {}),
    'next task': () => call('get_next_task', {}),
    digest: () => call('get_digest', {}),
    'search, two words': () => call('search', { query: words(2) }),
  }
  for (const [name, run] of Object.entries(operations)) {
    for (let i = 0; i < 30; i++) await run()
    const times: number[] = []
    for (let i = 0; i < 200; i++) times.push((await timed(run)) * 1000)
    medians[name] = median(times)
  }
  await done.close()
  return medians
}

function words(count: number): string {
  return Array.from({ length: count }, () => VOCABULARY[Math.floor(Math.random() * VOCABULARY.length)]).join(
    ' ',
  )
}

async function connect(transport: Parameters<Client['connect']>[0]): Promise<Client> {
  const client = new Client({ name: 'bench', version: '1' }, { versionNegotiation: { mode: 'auto' } })
  await client.connect(transport)
  return client
}

/** Starts a server on a free port; resolves with its address as soon as it says that it is ready. */
function serve(dir: string): Promise<string> {
  const child = spawn(process.execPath, [DONECTL, 'serve', '--data', dir, '--port', '0'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  children.push(child)
  return new Promise((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`donectl serve ended with ${code}.`)))
    createInterface({ input: child.stdout }).on('line', (line) => {
      const address = /http:\/\/127\.0\.0\.1:\d+/.exec(line)
      if (address) resolve(address[0])
    })
  })
}

function output(args: string[], ours = true): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ours ? [DONECTL, ...args] : args, {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    let text = ''
    child.stdout.on('data', (chunk) => {
      text += chunk
    })
    child.on('close', (code) => (code === 0 ? resolve(text) : reject(new Error(`It ended with ${code}.`))))
  })
}

/** Milliseconds that something took. */
async function timed(run: () => Promise<unknown>): Promise<number> {
  const start = performance.now()
  await run()
  return performance.now() - start
}

function median(values: number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]!
}

function print(title: string, head: readonly string[], rows: readonly (readonly string[])[]): void {
  const widths = head.map((cell, i) => Math.max(cell.length, ...rows.map((row) => row[i]!.length)))
  const line = (row: readonly string[]) => row.map((cell, i) => cell.padEnd(widths[i]!)).join('  ')
  console.log(`${title}\n${line(head)}\n${rows.map(line).join('\n')}\n`)
}
