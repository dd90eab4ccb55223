import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const FILE = /^server-(\d+)\.json$/

/** A server that left its address. */
export interface LeftServer {
  pid: number
  /** Its file. */
  path: string
  /** Where people open it. */
  site: string
  /** Where it listens on this machine. */
  listens: string
  /** Whether its process is there. */
  runs: boolean
}

/**
 * Leaves a running server's address beside its data, for commands that print links. Each process has a file of its own, since
 * several servers may run on one folder; returns how to take it away.
 */
export function leaveAddress(dataDir: string, address: Pick<LeftServer, 'site' | 'listens'>): () => void {
  const path = join(dataDir, `server-${process.pid}.json`)
  writeFileSync(path, JSON.stringify(address), { mode: 0o600 })
  return () => rmSync(path, { force: true })
}

/** The address of a server that runs on this folder; those of processes that are gone do not count, and go. */
export function addressOfServer(dataDir: string): string | undefined {
  const left = serversOn(dataDir)
  for (const { path, runs } of left) if (!runs) rmSync(path, { force: true })
  return left.find(({ runs }) => runs)?.site
}

/** Every server that left its address in a folder and did not take it away. */
export function serversOn(dataDir: string): LeftServer[] {
  return namesIn(dataDir).flatMap((name) => {
    const pid = Number(FILE.exec(name)?.[1])
    if (Number.isNaN(pid)) return []
    const path = join(dataDir, name)
    const runs = isRunning(pid)
    // Of a process that is gone only the file counts, whatever is in it.
    const address = runs
      ? (JSON.parse(readFileSync(path, 'utf8')) as { site: string; listens: string })
      : NOWHERE
    return [{ ...address, pid, path, runs }]
  })
}

const NOWHERE = { site: '', listens: '' }

function namesIn(dataDir: string): string[] {
  try {
    return readdirSync(dataDir)
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
