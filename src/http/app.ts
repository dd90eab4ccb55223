import { type Context, Hono } from 'hono'
import type { Done } from '../done.ts'
import type { Bus } from '../events/bus.ts'
import { AppError, internalFault } from '../model/error.ts'
import type { Outbound } from '../outbound/client.ts'
import type { Call } from '../tools/call.ts'
import { type Bearer, personOf, type SessionCookie } from './caller.ts'
import type { ClientAddress } from './client-address.ts'
import { docsPage } from './docs-page.ts'
import { eventStream, type OpenStreams } from './events.ts'
import { healthAddresses, type ShownMetrics } from './health.ts'
import { memberPages } from './member-pages.ts'
import { oauth } from './oauth.ts'
import { openapi } from './openapi.ts'
import type { Origins } from './origin.ts'
import { messagePage, sendPage } from './page.ts'
import { pages } from './pages.ts'
import { passkeyPages } from './passkey-pages.ts'
import { sendProblem } from './problem.ts'
import { methodRefused, rest } from './rest.ts'
import { secondFactorPages } from './second-factor-pages.ts'
import { signInPages } from './sign-in-pages.ts'
import { inPeoplesWords } from './words.ts'

export interface AppDeps {
  done: Done
  /** Calls operations for people. */
  people: Call
  bus: Bus
  cookie: SessionCookie
  bearer: Bearer
  /** Asks other servers, with address checks. */
  outbound: Outbound
  /** Where a request comes from, also behind proxies. */
  clientAddress: ClientAddress
  /** Where people open Done; without a slash at the end. */
  site: () => string
  /** The names under which the server answers; a function, since it may learn its port when it listens. */
  origins: () => Origins
  /** Aborted when the server stops, so that streams end. */
  closing: AbortSignal
  /** Event streams that are open, by caller. */
  streams: OpenStreams
  /** What is counted, where it is. */
  metrics: ShownMetrics | undefined
  /** Where faults of ours go. */
  log: (error: unknown) => void
}

/** Every HTTP address of Done but `/mcp`, which the server answers itself. */
export function createApp(deps: AppDeps): Hono {
  const app = new Hono()
  const { done } = deps

  healthAddresses(app, deps)

  app.use(async (c, next) => {
    const host = c.req.header('host')?.toLowerCase()
    if (host === undefined || !deps.origins().has(host)) {
      return refuseHost(c, deps.site())
    }
    await next()
    for (const [name, value] of Object.entries(EVERYWHERE))
      if (!c.res.headers.has(name)) c.res.headers.set(name, value)
  })

  for (const path of ['/api', '/api/']) readOnly(app, path, (c) => c.redirect('/api/docs'))
  const spec = lazily(() => JSON.stringify(openapi()))
  readOnly(app, '/api/openapi.json', (c) => c.body(spec(), 200, { 'content-type': 'application/json' }))
  readOnly(app, '/api/docs', async (c) =>
    sendPage(c, {
      title: 'Tools and addresses',
      body: docsPage(deps.site()),
      person: await personOf(c, done, deps.cookie),
    }),
  )
  readOnly(app, '/api/events', eventStream(deps))
  app.all('/api/*', rest(deps))

  // Before the links, whose address is any word behind /sign-in/.
  passkeyPages(app, deps)
  signInPages(app, deps)
  memberPages(app, deps)
  secondFactorPages(app, deps)
  oauth(app, deps)
  pages(app, deps)
  app.notFound((c) =>
    messagePage(c, { title: 'Not there', lines: ['Nothing stands at this address.'], status: 404 }),
  )
  app.onError((error, c) => {
    if (error instanceof AppError) return sendProblem(c, error)
    deps.log(error)
    const fault = internalFault()
    if (c.req.path.startsWith('/api/')) return sendProblem(c, fault)
    return messagePage(c, { title: 'Something went wrong', lines: [inPeoplesWords(fault)], status: 500 })
  })
  return app
}

/** Another name than those of the server may be anybody's that points here (DNS rebinding), so it opens nothing. */
function refuseHost(c: Context, site: string): Response {
  const said = `This server answers under ${site}; start it with --site URL to use another name.`
  if (c.req.method === 'GET' && c.req.header('accept')?.includes('text/html'))
    return messagePage(c, { title: 'Not the name of this server', lines: [said], status: 403 })
  const error = new AppError('invalid_value', 'The host name in the address is not one of this server’s.', {
    retry: false,
    allowed: [new URL(site).host],
    next: said,
  })
  return sendProblem(c, error, 403)
}

/** What every answer carries that says nothing else. */
const EVERYWHERE: Record<string, string> = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
  'cross-origin-resource-policy': 'same-origin',
}

/** An address that can only be read. */
function readOnly(app: Hono, path: string, run: (c: Context) => Response | Promise<Response>): void {
  app.get(path, run)
  app.all(path, (c) => methodRefused(c, ['GET']))
}

function lazily<T>(make: () => T): () => T {
  let made: { value: T } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}
