import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ensureAccount, issueSignInLink, LINK_MS } from '../auth/console.ts'
import { type Config, readConfig } from '../config.ts'
import type { Done } from '../done.ts'
import { openDoors } from '../doors.ts'
import { startJobs } from '../jobs/poller.ts'
import { formatId } from '../model/id.ts'
import { checkHead } from '../store/chain.ts'
import { accountNumbers, reopenUnsigned, unsignedClosings } from '../store/verify.ts'
import { systemActor } from '../tools/access.ts'
import { leaveAddress } from './address.ts'
import { readFlags } from './options.ts'
import { openHere, placeOf } from './place.ts'

/** Where the sign-in link is left when nobody looks at a terminal. */
const LINK_FILE = 'sign-in-link.txt'

/** `donectl serve`: web pages, REST, events and MCP over HTTP, until a signal ends it. */
export async function run(args: string[]): Promise<undefined> {
  const { flags } = readFlags(args, ['data', 'port', 'host', 'site', 'allow-outbound'])
  const config = readConfig(flags, process.env)
  let site = config.site
  // With a database elsewhere the folder may not be there yet; the address and the sign-in link are left in it.
  mkdirSync(config.dataDir, { recursive: true, mode: 0o700 })
  const metrics = await metricsFor(config)
  const opened = await openHere(config, { site: () => site, committed: metrics?.metrics.committed })
  const done = metrics ? { ...opened, call: metrics.metrics.timed(opened.call) } : opened
  const account = await ensureAccount(done.store, config)
  await refuseCutLog(done)
  await mendClosings(done)
  const server = await openDoors({ done, config, metrics })
  if (!flags.site && !process.env.DONE_SITE) site = site.replace(/:\d+$/, `:${server.port}`)
  metrics?.metrics.watch({
    writesWaiting: done.store.waiting,
    streams: () => ({ events: server.streams(), mcp: server.mcpStreams() }),
  })
  const jobs = startJobs(done)
  const listens = `http://${localName(config.host)}:${server.port}`
  const takeAddressAway = leaveAddress(config.dataDir, { site, listens })

  console.log(
    welcome(site, config, await signInLink(site + (await issueSignInLink(done.store, account)), config)),
  )

  stopAtSignal(async () => {
    takeAddressAway()
    done.stopWaiting()
    await server.close()
    await jobs.stop()
    await done.close()
  })
  return undefined
}

/** Loaded where it is wanted, and measuring nothing where nobody may look. */
async function metricsFor({ metricsToken: token, database }: Config) {
  if (token === undefined) return undefined
  const { openMetrics } = await import('../http/metrics.ts')
  return { metrics: openMetrics(database === undefined ? 'sqlite' : 'postgres'), token }
}

/** How a server that listens everywhere is reached on its own machine. */
function localName(host: string): string {
  const own = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host
  return own.includes(':') ? `[${own}]` : own
}

/**
 * How long everything may take to end, in milliseconds: requests have three seconds (http/server.ts), and a write that waits for
 * another process or for the database's server up to ten. Those who stop programs wait for some such time before they kill.
 */
const STOP_MS = 14_000

/** Ends the process in order at the first signal, and at once at a second one. */
function stopAtSignal(stop: () => Promise<void>): void {
  let stopping = false
  const end = async () => {
    if (stopping) process.exit(1)
    stopping = true
    setTimeout(() => {
      console.error(
        `Not everything ended within ${STOP_MS / 1000} s; what was not answered may not be written.`,
      )
      process.exit(1)
    }, STOP_MS).unref()
    try {
      await stop()
      process.exit(0)
    } catch (error) {
      console.error('The server could not end in order:', error)
      process.exit(1)
    }
  }
  process.on('SIGINT', end)
  process.on('SIGTERM', end)
}

/** Gate G8: a log of which the newest part is gone may not grow again, which would hide that. */
async function refuseCutLog({ store, heads }: Done): Promise<void> {
  for (const account of await store.read(systemActor(0), 'verify', accountNumbers)) {
    const fault = await store.read(systemActor(account), 'verify', (tx) =>
      checkHead(tx, heads.known(account)),
    )
    if (fault !== undefined) {
      throw new Error(
        `In account ${account} ${fault}. donectl verify says more. Restore the database from a backup; where you have put an older one back yourself, remove ${heads.path}.`,
      )
    }
  }
}

/** Gate G8, way 28: what was closed past the program is found at the next start, and does not stand. */
async function mendClosings({ store }: Done): Promise<void> {
  for (const account of await store.read(systemActor(0), 'verify', accountNumbers)) {
    if ((await store.read(systemActor(account), 'verify', unsignedClosings)).length === 0) continue
    const tasks = await store.write(systemActor(account), 'verify', reopenUnsigned)
    console.error(
      `Closed in the file itself, without a sign-off that holds, and therefore open again: ${tasks.map((id) => formatId('task', id)).join(', ')}`,
    )
  }
}

/** The link is for who sits at the terminal; without one it lies in a file that only the server's own user can read. */
async function signInLink(link: string, config: Config): Promise<string> {
  if (process.stdout.isTTY) return link
  const path = join(config.dataDir, LINK_FILE)
  rmSync(path, { force: true })
  writeFileSync(path, `${link}\n`, { mode: 0o600, flag: 'wx' })
  return `in ${path}`
}

function welcome(site: string, config: Config, link: string): string {
  const program = process.argv[1]
  const data = config.dataDir
  return `
Done runs at       ${site}
Sign in            ${link}
                   (once, within ${LINK_MS / 60_000} minutes; another: node ${program} signin-link --data ${data})
Data               ${config.database === undefined ? data : `PostgreSQL ${placeOf(config.database)} (its key and links: ${data})`}

Paste into a host (Claude Desktop, Cursor and others):

${config.database === undefined ? overStdio(program, data) : overHttp(site)}
Over HTTP:         ${site}/mcp, and the host asks you in the browser; or with a token from
                   node ${program} token create --name scout --scope write --data ${data}
${config.database === undefined ? '' : '                   (each command needs DATABASE_URL as this one has it)\n'}`
}

function overStdio(program: string | undefined, data: string): string {
  const hosts = { mcpServers: { done: { command: 'node', args: [program, 'mcp', '--data', data] } } }
  return `${JSON.stringify(hosts, null, 2)}

Claude Code:       claude mcp add done -- node ${program} mcp --data ${data}`
}

/** A host gets no address of the database, which has the password of its owner in it. */
function overHttp(site: string): string {
  return `${JSON.stringify({ mcpServers: { done: { type: 'http', url: `${site}/mcp` } } }, null, 2)}

Claude Code:       claude mcp add --transport http done ${site}/mcp`
}
