import { actorOfBearer } from './auth/actor.ts'
import { goodAt, MCP_PATH } from './auth/resource.ts'
import { type Config, isLoopback } from './config.ts'
import type { Done } from './done.ts'
import { metadataOf } from './http/resource-metadata.ts'
import { type HttpOptions, type HttpServer, serveHttp } from './http/server.ts'
import { mcpHttp } from './mcp/http.ts'
import { type Outbound, outbound } from './outbound/client.ts'

/** What the doors over HTTP are opened with. */
export interface DoorOptions {
  done: Done
  config: Pick<Config, 'host' | 'port' | 'site' | 'trustedProxies' | 'allowOutbound'>
  /** Where faults of ours go; the standard error by default. */
  log?: (error: unknown) => void
  /** Asks other servers; by the settings' own rules by default. */
  ask?: Outbound
  metrics?: HttpOptions['metrics']
}

/** The doors, open. */
export interface Doors extends HttpServer {
  /** Streams of MCP that are open. */
  mcpStreams(): number
}

/** Opens every door over HTTP on one port: pages, REST, events, OAuth and MCP. Rejects where the port is taken. */
export async function openDoors({ done, config, log, ask, metrics }: DoorOptions): Promise<Doors> {
  const names = [
    ...new Set([
      new URL(config.site).hostname,
      config.host,
      ...(isLoopback(config.host) ? ['localhost', '127.0.0.1', '[::1]'] : []),
    ]),
  ]
  const isOrigin = (origin: string) => [...server.origins().values()].includes(origin)
  const good = goodAt(isOrigin)
  const mcp = mcpHttp({
    call: done.call,
    onEvents: done.store.onEvents,
    authenticate: async (token) => {
      const actor = await actorOfBearer(done.store, token, good.mcp)
      if (actor) done.credentialUse.saw(actor)
      return actor
    },
    allowedHosts: names,
    isOwnPage: (origin, host) => server.origins().get(host.toLowerCase()) === origin,
    site: () => server.site,
    // Its host has been looked at before it is asked for.
    metadata: (host) => metadataOf(server.origins().get(host.toLowerCase()) ?? server.site, MCP_PATH),
  })
  const server = await serveHttp({
    done,
    config,
    mcp: mcp.listener,
    bearer: (token) => actorOfBearer(done.store, token, good.api),
    outbound: ask ?? outbound({ allow: config.allowOutbound }),
    metrics,
    ...(log ? { log } : {}),
  })
  return {
    ...server,
    mcpStreams: mcp.streams,
    close() {
      mcp.close()
      return server.close()
    },
  }
}
