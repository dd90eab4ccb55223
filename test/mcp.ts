import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Client, type ClientOptions, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { actorOfToken } from '../src/auth/actor.ts'
import { mcpHttp } from '../src/mcp/http.ts'
import type { World } from './world.ts'

/** The three ways in which the SDK's client can open a connection. */
export const ERAS = {
  legacy: {},
  auto: { versionNegotiation: { mode: 'auto' } },
  pinned: { versionNegotiation: { mode: { pin: '2026-07-28' } } },
} as const satisfies Record<string, ClientOptions>

export type Era = keyof typeof ERAS

/** `/mcp` of a world, on a real socket. */
export interface Endpoint {
  url: string
  /** A connected client of the SDK's. */
  connect(
    token: string,
    options?: { era?: Era; tools?: string; capabilities?: ClientOptions['capabilities'] },
  ): Promise<Client>
  /** A request by hand. */
  post(headers: Record<string, string>, body: unknown, query?: string): Promise<Response>
  close(): Promise<void>
}

export async function listen(world: Pick<World, 'done'>): Promise<Endpoint> {
  const { store, call } = world.done
  const mcp = mcpHttp({
    call,
    authenticate: (token) => actorOfToken(store, token),
    onEvents: store.onEvents,
    allowedHosts: ['127.0.0.1', 'localhost'],
    isOwnPage: (origin, host) => origin === `http://${host}`,
    site: () => 'http://127.0.0.1:4747',
    metadata: () => 'http://127.0.0.1:4747/.well-known/oauth-protected-resource/mcp',
  })
  const server = createServer(mcp.listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`
  const clients: Client[] = []
  return {
    url,
    async connect(token, { era = 'auto', tools, capabilities = {} } = {}) {
      const client = new Client({ name: 'test', version: '1' }, { ...ERAS[era], capabilities })
      const address = new URL(tools === undefined ? url : `${url}?tools=${tools}`)
      await client.connect(
        new StreamableHTTPClientTransport(address, {
          requestInit: { headers: { authorization: `Bearer ${token}` } },
        }),
      )
      clients.push(client)
      return client
    },
    post: (headers, body, query = '') =>
      fetch(url + query, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          ...headers,
        },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      }),
    async close() {
      await Promise.all(clients.map((client) => client.close()))
      mcp.close()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
