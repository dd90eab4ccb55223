import { createServer, type RequestListener, type Server } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import type { Config } from '../config.ts'
import type { Done } from '../done.ts'
import { openBus } from '../events/bus.ts'
import type { Outbound } from '../outbound/client.ts'
import { peopleCall } from '../people/call.ts'
import { createApp } from './app.ts'
import { type Bearer, sessionCookie } from './caller.ts'
import { clientAddress } from './client-address.ts'
import { type OpenStreams, streamsIn } from './events.ts'
import type { Metrics } from './metrics.ts'
import { type Origins, ownOrigins } from './origin.ts'

export interface HttpOptions {
  done: Done
  config: Pick<Config, 'host' | 'port' | 'site' | 'trustedProxies'>
  /** Answers the requests to `/mcp`, with checks of its own. */
  mcp: RequestListener
  bearer: Bearer
  outbound: Outbound
  /** Counts what people call, and shows what was counted to whoever has the token. */
  metrics?: { metrics: Metrics; token: string } | undefined
  /** Where faults of ours go; the standard error by default. */
  log?: (error: unknown) => void
}

/** A server that listens. */
export interface HttpServer {
  port: number
  /** Where people open Done; without a slash at the end. */
  site: string
  /** The names under which it answers. */
  origins(): Origins
  /** Event streams that are open. */
  streams(): number
  /** Ends streams, lets requests finish for a moment, and writes what was counted. The store stays open. */
  close(): Promise<void>
}

/** How often what is counted in memory is written, in milliseconds. */
const FLUSH_MS = { access: 5000, credentialUse: 60_000 }

/** How long requests may take to finish when the server stops, in milliseconds. */
const GRACE_MS = 3000

/** Listens for people, programs and agents. Resolves when it does; rejects where the port is taken. */
export async function serveHttp(options: HttpOptions): Promise<HttpServer> {
  const { done, config, mcp, bearer, outbound, metrics: measured } = options
  const { log = (error) => console.error(error) } = options
  const closing = new AbortController()
  const bus = openBus(done.store)
  let port = config.port
  // A port of 0 is only known once the system has given one.
  const site = () => config.site.replace(/:0$/, `:${port}`)
  let names: Origins | undefined
  const origins = () => {
    names ??= ownOrigins({ ...config, site: site() }, port)
    return names
  }
  const people = peopleCall(done)
  const streams: OpenStreams = new Map()
  const app = createApp({
    done,
    people: measured?.metrics.timed(people) ?? people,
    streams,
    metrics: measured && { page: measured.metrics.page, token: measured.token },
    bus,
    cookie: sessionCookie(config.site),
    bearer,
    outbound,
    clientAddress: clientAddress(config.trustedProxies),
    site,
    origins,
    closing: closing.signal,
    log,
  })
  // Global Request and Response stay Node's own: other parts of the process use them as well.
  const others = getRequestListener(app.fetch, { hostname: config.host, overrideGlobalObjects: false })
  const server = await listen((incoming, outgoing) => {
    // A proxy keeps its connections, and would send on them until they are cut in the middle of a request.
    if (closing.signal.aborted) outgoing.shouldKeepAlive = false
    // Under another name than those of the server nothing is opened; the app says so.
    const own = isMcp(incoming.url) && origins().has(incoming.headers.host?.toLowerCase() ?? '')
    if (own) mcp(incoming, outgoing)
    else void others(incoming, outgoing)
  }, config)
  port = (server.address() as { port: number }).port

  const timers = [
    setInterval(() => void done.access.flush().catch(log), FLUSH_MS.access),
    setInterval(() => void done.credentialUse.flush().catch(log), FLUSH_MS.credentialUse),
  ]
  for (const timer of timers) timer.unref()

  let closed: Promise<void> | undefined
  async function close(): Promise<void> {
    for (const timer of timers) clearInterval(timer)
    closing.abort()
    bus.close()
    const stopped = new Promise<void>((resolve) => server.close(() => resolve()))
    // One that carries a stream is idle only after that has ended.
    const idle = setInterval(() => server.closeIdleConnections(), 50)
    const late = setTimeout(() => server.closeAllConnections(), GRACE_MS)
    await stopped
    clearInterval(idle)
    clearTimeout(late)
    await done.access.flush()
    await done.credentialUse.flush()
  }
  return {
    port,
    site: site(),
    origins,
    streams: () => streamsIn(streams),
    close() {
      closed ??= close()
      return closed
    },
  }
}

/** Whether a request is to `/mcp`; its target is a path, or a whole address where a proxy asks (RFC 9112, 3.2.2). */
function isMcp(target = ''): boolean {
  if (target.startsWith('/')) return target === '/mcp' || target.startsWith('/mcp?')
  return URL.canParse(target) && new URL(target).pathname === '/mcp'
}

function listen(listener: RequestListener, { host, port }: HttpOptions['config']): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer(listener)
    server.once('error', reject)
    server.listen(port, host, () => resolve(server))
  })
}
