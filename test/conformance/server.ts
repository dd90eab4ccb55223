import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  createMcpHandler,
  isInitializeRequest,
  isLegacyRequest,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server'
import { actorOfToken } from '../../src/auth/actor.ts'
import { endpointOf } from '../../src/mcp/endpoint.ts'
import { type Admitted, gateOf } from '../../src/mcp/gate.ts'
import { direct, doorFor } from '../../src/mcp/http.ts'
import { openStreams } from '../../src/mcp/streams.ts'
import { newWorld } from '../world.ts'
import { fixtureServer } from './fixtures.ts'
import { withFixtureChanges } from './tools.ts'

/**
 * The server that the conformance suite is run against: our own gate, door and streams, with the suite's fixtures. It keeps
 * sessions for clients of 2025, which the product does not, since the suite asks them questions in the middle of a call.
 * Prints its address. The suite sends no token, so one is put on each request before the gate sees it.
 */
const world = await newWorld()
await world.scout.call('create_task', { title: 'Look at me' })
const { store, call } = world.done
const streams = openStreams(store.onEvents)
const sessions = new Map<string, WebStandardStreamableHTTPServerTransport>()

const options = {
  allowedHosts: ['127.0.0.1', 'localhost'],
  isOwnPage: (origin: string, host: string) => origin === `http://${host}`,
  authenticate: (token: string) => actorOfToken(store, token),
  site: () => 'http://127.0.0.1:4747',
  metadata: () => 'http://127.0.0.1:4747/.well-known/oauth-protected-resource/mcp',
}

async function viaSdk(request: Request, admitted: Admitted): Promise<Response> {
  const { body, actor, token } = admitted
  const door = doorFor(admitted, call)
  if (await isLegacyRequest(request, body)) return serveSession(request, admitted)
  const handler = createMcpHandler(() => fixtureServer(door, 'modern'), {
    legacy: 'reject',
    bus: withFixtureChanges(
      await streams.busFor({
        actor,
        mayRead: { task: true, digest: true },
        renew: () => options.authenticate(token),
        end: () => void handler.close(),
      }),
    ),
  })
  return handler.fetch(request, { parsedBody: body })
}

const isCall = (body: unknown) => (body as { method?: unknown } | null)?.method === 'tools/call'

async function serveSession(request: Request, admitted: Admitted): Promise<Response> {
  const { body } = admitted
  const known = sessions.get(request.headers.get('mcp-session-id') ?? '')
  if (known) return known.handleRequest(request, { parsedBody: body })
  if (!isInitializeRequest(body)) return Response.json({ error: 'no session' }, { status: 404 })
  const transport = new WebStandardStreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    onsessioninitialized: (id) => {
      sessions.set(id, transport)
    },
  })
  const door = doorFor(admitted, call)
  await fixtureServer(door, 'legacy').connect(transport)
  return transport.handleRequest(request, { parsedBody: body })
}

const endpoint = endpointOf({
  gate: gateOf(options),
  // Lists have to have the fixtures in them; calls of our own tools go the way they go in the product.
  direct: async (admitted) => (isCall(admitted.body) ? direct(admitted, call) : undefined),
  other: viaSdk,
})
const server = createServer((request, response) => {
  request.rawHeaders.push('authorization', `Bearer ${world.scout.token}`)
  endpoint.listener(request, response)
})
server.listen(0, '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`)
})

process.once('SIGTERM', async () => {
  await world.close()
  process.exit(0)
})
