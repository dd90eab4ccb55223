import { createHash } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { answerCall } from '../../src/mcp/answer.ts'
import { openSqlite } from '../../src/store/sqlite.ts'
import type { Handlers } from './process.ts'
import { recordSqlite, statementsOf } from './record.ts'
import { open } from './store.ts'

export interface BareSetup {
  dir: string
  token: string
  /** The tasks that will be asked for. */
  ids: string[]
}

/**
 * The least that a server of get_task has to do: a bare node:http handler that hashes the bearer and looks it up, reads the
 * JSON, runs the very statements that get_task runs for that task in one snapshot, and writes JSON of the same size.
 */
export async function handlers({ dir, token, ids }: BareSetup): Promise<Handlers> {
  const known = await recordGets(dir, ids)
  const actors = new Map([[sha256(token), 'G1']])
  const db = openSqlite(join(dir, 'done.db'), 'read')
  const [begin, commit] = [db.prepare('BEGIN'), db.prepare('COMMIT')]

  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const bearer = request.headers.authorization?.slice('Bearer '.length) ?? ''
      if (!actors.has(sha256(bearer))) return response.writeHead(401).end()
      const message = JSON.parse(Buffer.concat(chunks).toString())
      const { statements, result } = known.get(message.params.arguments.id)!
      begin.run([])
      for (const { sql, parameters } of statements) db.prepare(sql).all(parameters)
      commit.run([])
      const body = JSON.stringify({ jsonrpc: '2.0', id: message.id, result })
      response.writeHead(200, {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
      })
      response.end(body)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: async () => `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    statements: async () => known.get(ids[0]!)!.statements.length,
  }
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

/** What get_task runs for each task, and what it answers. */
async function recordGets(dir: string, ids: readonly string[]) {
  const tape = recordSqlite()
  const { done, actor } = await open({ dir })
  const caller = { actor, call: done.call, isTool: () => true }
  // Done stamps each answer with who it is.
  const _meta = { 'io.modelcontextprotocol/serverInfo': { name: 'done', title: 'Done', version: '0.1.0' } }
  const known = new Map<string, { statements: { sql: string; parameters: unknown[] }[]; result: unknown }>()
  for (const id of ids) {
    tape.take()
    const result = await answerCall(caller, 'get_task', { id }, {})
    // Where the store only asks whether another process has written, there is nothing of the task in it.
    const statements = statementsOf(tape.take())
      .filter(({ sql }) => !/^PRAGMA/i.test(sql))
      .map(({ sql, parameters }) => ({ sql, parameters: [...parameters] }))
    if (statements.length === 0) throw new Error('No statement of get_task was recorded.')
    known.set(id, { statements, result: { ...result, resultType: 'complete', _meta } })
  }
  await done.close()
  tape.stop()
  return known
}
