import manifest from '../../package.json' with { type: 'json' }
import { type Config, isLoopback } from '../config.ts'
import { clientAddress } from '../http/client-address.ts'
import { VERSION } from '../version.ts'
import { type LeftServer, serversOn } from './address.ts'
import type { Finding } from './doctor.ts'

/** How long a server may take to answer, in milliseconds. */
const ANSWER_MS = 5000

/** Whether this Node is one that Done runs on. */
export function lookAtProgram(): Finding[] {
  const least = manifest.engines.node.replace('>=', '')
  const found = `Done ${VERSION} on Node ${process.versions.node}; ${least} or newer is needed.`
  if (isAtLeast(process.versions.node, least)) return [{ check: 'versions', status: 'ok', found }]
  return [{ check: 'versions', status: 'wrong', found, next: 'Update Node.js.' }]
}

function isAtLeast(version: string, least: string): boolean {
  const [parts, leasts] = [version, least].map((each) => each.split('.').map(Number))
  for (const [i, wanted] of leasts!.entries()) {
    const part = parts![i] ?? 0
    if (part !== wanted) return part > wanted
  }
  return true
}

/** Whether each server that left its address on a folder answers, and is ready. */
export async function lookAtServers(dataDir: string): Promise<Finding[]> {
  const running = serversOn(dataDir).filter(({ runs }) => runs)
  if (running.length === 0) return [{ check: 'server', status: 'ok', found: 'None runs on this folder.' }]
  return Promise.all(running.map(lookAtServer))
}

async function lookAtServer({ pid, path, listens, site }: LeftServer): Promise<Finding> {
  const check = 'server'
  const who = `Process ${pid}, which serves ${site},`
  try {
    const answer = await fetch(`${listens}/ready`, { signal: AbortSignal.timeout(ANSWER_MS) })
    if (answer.ok) return { check, status: 'ok', found: `${who} is ready.` }
    const { reason = answer.status } = (await answer.json()) as { reason?: string }
    const found = `${who} is not ready: ${reason}.`
    return { check, status: 'wrong', found, next: 'See what it says on its standard error.' }
  } catch {
    const found = `${who} does not answer on ${listens}.`
    return {
      check,
      status: 'wrong',
      found,
      next: `Restart it; where the process is no Done, remove ${path}.`,
    }
  }
}

/** What people open: over plain HTTP a cookie and a password can be read on their way. */
export function lookAtSite({ dataDir, site: configured, trustedProxies }: Config): Finding {
  const check = 'site'
  try {
    clientAddress(trustedProxies)
  } catch (error) {
    return { check, status: 'wrong', found: (error as Error).message }
  }
  const site = serversOn(dataDir).find(({ runs }) => runs)?.site ?? configured
  const { protocol, hostname } = new URL(site)
  if (protocol === 'https:') return { check, status: 'ok', found: `${site}: cookies go over HTTPS alone.` }
  if (isLoopback(hostname.replace(/^\[|\]$/g, ''))) {
    return { check, status: 'ok', found: `${site}: this machine alone reaches it.` }
  }
  const found = `${site} is plain HTTP: passwords and sessions can be read on their way, and passkeys don’t work.`
  return {
    check,
    status: 'warning',
    found,
    next: 'Put a proxy with TLS in front, and give --site https://….',
  }
}
