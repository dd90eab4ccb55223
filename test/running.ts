import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { type DatabaseOptions, dropDatabase, environmentOf, newDatabase } from './database.ts'
import { lookoutOn } from './look.ts'
import { cleanEnv, DONECTL, donectl } from './process.ts'

/** The built program as a server on a fresh folder, as a user has it. */
export interface RunningServer {
  dir: string
  process: ChildProcess
  /** Where its data are, as a program's environment; nothing where they are in the folder. */
  env: Record<string, string>
  /** All that it has printed. */
  said(): string
  /** Rows as the database itself has them. */
  look(query: string): Promise<Record<string, unknown>[]>
  site: string
  token(name: string, scope: 'read' | 'write', ...more: string[]): Promise<string>
  /** The cookie of the owner, signed in by a fresh link. */
  session(): Promise<string>
  /** An operation for people, with a session's cookie. */
  people(
    cookie: string,
    method: string,
    path: string,
    body?: object,
  ): Promise<{ status: number; body: Record<string, any> }>
  /** One more process on the same data. It has to be stopped before this one. */
  another(): Promise<RunningServer>
  /** Ends the process at once, as a crash does. */
  kill(): Promise<void>
  stop(): Promise<void>
}

export async function startServer(settings: Record<string, string> = {}): Promise<RunningServer> {
  const dir = mkdtempSync(join(tmpdir(), 'done-server-'))
  const database = await newDatabase()
  const cleanUp = async () => {
    await dropDatabase(database)
    rmSync(dir, { recursive: true, force: true })
  }
  return serverOn(dir, database, cleanUp, settings)
}

/** A server on data that are there; `cleanUp` is done when it has been stopped. */
export async function serverOn(
  dir: string,
  database: DatabaseOptions,
  cleanUp: () => Promise<void>,
  settings: Record<string, string> = {},
): Promise<RunningServer> {
  const env = environmentOf(database)
  const child = spawn(process.execPath, [DONECTL, 'serve', '--data', dir, '--port', '0'], {
    env: cleanEnv({ ...env, ...settings }),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const printed: Buffer[] = []
  child.stdout.on('data', (part: Buffer) => printed.push(part))
  child.stderr.on('data', (part: Buffer) => {
    printed.push(part)
    process.stderr.write(part)
  })
  const site = await addressOf(child)
  const lookout = lookoutOn(dir, database)
  const end = async (signal: NodeJS.Signals) => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const ended = new Promise((resolve) => child.once('exit', resolve))
    child.kill(signal)
    await ended
  }
  return {
    dir,
    process: child,
    env,
    said: () => Buffer.concat(printed).toString(),
    look: lookout.look,
    site,
    async token(name, scope, ...more) {
      const { stdout, stderr } = await donectl(
        ['token', 'create', '--name', name, '--scope', scope, '--data', dir, ...more],
        env,
      )
      if (!stdout) throw new Error(stderr)
      return stdout.trim()
    },
    async session() {
      const { stdout } = await donectl(['signin-link', '--data', dir], env)
      const entered = await fetch(stdout.trim(), {
        method: 'POST',
        redirect: 'manual',
        headers: { origin: site },
      })
      return entered.headers.getSetCookie()[0]!.split(';')[0]!
    },
    async people(cookie, method, path, body) {
      const response = await fetch(`${site}/api/people${path}`, {
        method,
        headers: { cookie, origin: site, ...(body ? { 'content-type': 'application/json' } : {}) },
        ...(body ? { body: JSON.stringify(body) } : {}),
      })
      return { status: response.status, body: (await response.json()) as Record<string, any> }
    },
    another: () => serverOn(dir, database, async () => {}),
    async kill() {
      lookout.close()
      await end('SIGKILL')
    },
    async stop() {
      lookout.close()
      await end('SIGTERM')
      await cleanUp()
    },
  }
}

function addressOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`The server ended with ${code}.`)))
    createInterface({ input: child.stdout! }).on('line', (line) => {
      const address = /http:\/\/127\.0\.0\.1:\d+/.exec(line)
      if (address) resolve(address[0])
    })
  })
}
