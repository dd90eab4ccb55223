import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'

const DONECTL = join(import.meta.dirname, '..', 'dist', 'donectl.js')

/** A running Done, and the console of its host. */
export interface Server {
  site: string
  /** Runs a command at the console, such as `token create`, and gives what it prints. */
  console(...args: string[]): Promise<string>
  stop(): void
}

/** Starts Done as a user would, on a folder and a free port; resolves when it says that it is ready. */
export async function startServer(dir: string): Promise<Server> {
  const child = spawn(process.execPath, [DONECTL, 'serve', '--data', dir, '--port', '0'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const site = await addressOf(child)
  return {
    site,
    async console(...args) {
      const { stdout } = await promisify(execFile)(process.execPath, [DONECTL, ...args, '--data', dir])
      return stdout.trim()
    },
    stop: () => void child.kill(),
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
