import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const FILE = /^server-(\d+)\.json$/

/**
 * Leaves a running server's address beside its data, for commands that print links. Each process has a file of its own, since
 * several servers may run on one folder; returns how to take it away.
 */
export function leaveAddress(dataDir: string, site: string): () => void {
  const path = join(dataDir, `server-${process.pid}.json`)
  writeFileSync(path, JSON.stringify({ site }), { mode: 0o600 })
  return () => rmSync(path, { force: true })
}

/** The address of a server that runs on this folder; those of processes that are gone do not count, and go. */
export function addressOfServer(dataDir: string): string | undefined {
  for (const [pid, path] of addressFiles(dataDir)) {
    if (!isRunning(pid)) rmSync(path, { force: true })
    else return (JSON.parse(readFileSync(path, 'utf8')) as { site: string }).site
  }
  return undefined
}

function addressFiles(dataDir: string): [pid: number, path: string][] {
  try {
    return readdirSync(dataDir).flatMap((name) => {
      const pid = FILE.exec(name)?.[1]
      return pid === undefined ? [] : [[Number(pid), join(dataDir, name)]]
    })
  } catch {
    // The folder is not there yet, so no server runs on it.
    return []
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
