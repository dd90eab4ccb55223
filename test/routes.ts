import { ENDPOINTS } from '../src/auth/oauth-server.ts'
import { openBus } from '../src/events/bus.ts'
import { createApp } from '../src/http/app.ts'
import { sessionCookie } from '../src/http/caller.ts'
import { PEOPLE_ADDRESSES, TOOL_ADDRESSES } from '../src/http/rest.ts'
import { outbound } from '../src/outbound/client.ts'
import { peopleCall } from '../src/people/call.ts'
import type { HttpWorld } from './http.ts'
import { mcpMessage } from './mcp-call.ts'
import { CALLBACK } from './oauth.ts'

/** An address that takes a method by which something can change. */
export interface Route {
  method: string
  /** With a value in each place of a parameter, that of a thing that never was. */
  path: string
  /** What a program would send there, as JSON; pages get forms. */
  body?: Record<string, unknown>
}

const UNSAFE = ['POST', 'PUT', 'PATCH', 'DELETE']

/** What stands below an address that ends in a star, where another router or server goes on. */
const BELOW: Record<string, () => readonly Route[]> = {
  '/api/*': () =>
    [...TOOL_ADDRESSES, ...PEOPLE_ADDRESSES]
      .filter(({ method }) => UNSAFE.includes(method))
      .map(({ method, path, params, tool }) => {
        const body = Object.entries(tool.example).filter(([name]) => !params.includes(name))
        return { method, path, body: Object.fromEntries(body) }
      }),
  '/oauth/*': () =>
    Object.values(ENDPOINTS).map((path) => ({
      method: 'POST',
      path,
      ...(path === ENDPOINTS.registration ? { body: { redirect_uris: [CALLBACK] } } : {}),
    })),
}

/**
 * Every unsafe route that there is, read from the app itself, so that a new one is in every test that asks here. `/mcp` is
 * answered before the app, so it is put beside them.
 */
export function unsafeRoutes({ world, server, origin }: HttpWorld): Route[] {
  const { done } = world
  const bus = openBus(done.store)
  const app = createApp({
    done,
    people: peopleCall(done),
    bus,
    streams: new Map(),
    metrics: undefined,
    cookie: sessionCookie(origin),
    bearer: async () => undefined,
    outbound: outbound({ allow: [] }),
    clientAddress: () => '127.0.0.1',
    site: () => origin,
    origins: server.origins,
    closing: new AbortController().signal,
    log: () => {},
  })
  bus.close()
  const routes = app.routes.flatMap(({ method, path }): readonly Route[] => {
    // What looks at every request on its way.
    if (path === '/*') return []
    if (path.endsWith('*')) {
      const below = BELOW[path]
      if (!below) throw new Error(`What stands below ${path} has to be said here.`)
      return below()
    }
    if (method === 'ALL') return UNSAFE.map((each) => ({ method: each, path }))
    return UNSAFE.includes(method) ? [{ method, path }] : []
  })
  const all: Route[] = [...routes, { method: 'POST', path: '/mcp', body: mcpMessage('get_me', {}).body }]
  const filled = all.map((route) => ({
    ...route,
    path: route.path.replace(/:(\w+)/g, (_, name: string) => NOTHING[name] ?? 'nothing'),
  }))
  return [...new Map(filled.map((each) => [`${each.method} ${each.path}`, each])).values()]
}

/** Values of parameters that name nothing. */
const NOTHING: Record<string, string> = {
  id: 'T8999',
  task_id: 'T8999',
  uid: 'never-was-in-this-browser',
  secret: 'in_never',
}
