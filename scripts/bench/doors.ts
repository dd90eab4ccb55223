import { toolsListFor } from '../../src/mcp/tool-list.ts'
import { openSqlite } from '../../src/store/sqlite.ts'
import { PRESETS } from '../../src/tools/presets.ts'
import { type Bench, tokenFor } from './bench.ts'
import { count, figure, median, timed, times, words } from './figures.ts'
import { httpClient } from './http-client.ts'
import { DONECTL, serve, stdioServer, type ToolAnswer } from './process.ts'
import { textsOf } from './store.ts'

const OPERATIONS = ['create', 'update', 'get', 'list', 'complete'] as const
type Operation = (typeof OPERATIONS)[number]
type Do = (operation: Operation, i: number) => unknown

/** The five commonest operations through each door, one caller, beside a bare statement; and how long the lists of tools are. */
export async function doors(bench: Bench): Promise<void> {
  const calls = bench.quick ? 50 : 400
  const stdio = stdioServer(process.execPath, [DONECTL, 'mcp', '--data', bench.folder('door-stdio')])
  const dir = bench.folder('door-http')
  const token = await tokenFor(dir)
  const server = await serve(dir)
  const http = httpClient(server.url, token, 1)
  await stdio.request('initialize', {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'bench', version: '1' },
  })
  const subjects: Do[] = [bare(bench.folder('bare.db')), through(stdio.call), through(http.call)]

  const rows: string[][] = []
  for (const operation of OPERATIONS) {
    const found = subjects.map((): number[] => [])
    for (let i = 1; i <= calls; i++)
      for (const [k, run] of subjects.entries())
        found[k]!.push((await timed(async () => run(operation, i))) * 1000)
    const [statement, ...rest] = found.map(median)
    rows.push([
      operation,
      figure(statement!),
      ...rest.map((us) => `${figure(us)} (${times(us / statement!)})`),
    ])
  }
  http.close()
  await stdio.end()
  await server.end()
  bench.table(
    'Each door, one caller, to a bare SQLite statement: µs',
    ['', 'bare SQLite', 'MCP stdio', 'MCP HTTP'],
    rows,
    `Medians of ${calls}, by turns. Bare: one durable statement for a write, one prepared statement for a read, no key, no event, no index of words, no gate.`,
  )
  bench.table(
    'tools/list: tokens are characters / 4',
    ['preset', 'tools', 'characters', 'tokens'],
    Object.keys(PRESETS).map((preset) => {
      const tools = toolsListFor(['read', 'write'], [preset])
      const characters = JSON.stringify({ tools }).length
      return [preset, String(tools.length), count(characters), count(Math.ceil(characters / 4))]
    }),
  )
}

function bare(path: string): Do {
  const db = openSqlite(path, 'write')
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
  return (operation, i) => {
    if (operation === 'create') return create.run([`task ${i}`, words(12)])
    if (operation === 'update') return update.run([words(12), i])
    if (operation === 'get') return get.all([i])
    if (operation === 'list') return list.all([])
    return complete.run([i])
  }
}

function through(call: (tool: string, args: Record<string, unknown>) => Promise<ToolAnswer>): Do {
  return (operation, i) => {
    if (operation === 'create') return call('create_task', { ...textsOf(i) })
    if (operation === 'update') return call('update_task', { id: `T${i}`, description: words(12) })
    if (operation === 'get') return call('get_task', { id: `T${i}` })
    if (operation === 'list') return call('list_tasks', {})
    return call('complete_task', { id: `T${i}` })
  }
}
