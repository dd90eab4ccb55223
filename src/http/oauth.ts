import { getConnInfo } from '@hono/node-server/conninfo'
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import type { Context, Hono } from 'hono'
import { ENDPOINTS, type OAuthServer, oauthServer, SCOPES } from '../auth/oauth-server.ts'
import { type Limit, limitOf } from '../auth/rate.ts'
import { MCP_PATH } from '../auth/resource.ts'
import type { AppDeps } from './app.ts'
import { confirmCodePage, enterCodePage } from './consent-page.ts'
import { consentPages, nodeOf } from './consent-pages.ts'
import { html, said } from './html.ts'
import { foreign, fromPage } from './origin.ts'
import { PAGE_HEADERS, pageOf } from './page.ts'
import { RESOURCE_METADATA } from './resource-metadata.ts'
import { methodRefused } from './rest.ts'

/** Puts up the authorization server (OAuth 2.1), what leads to it, and the pages on which people decide. */
export function oauth(app: Hono, deps: AppDeps): void {
  const servers = new Map<string, Promise<OAuthServer>>()
  const originOf = (c: Context): string => deps.origins().get(c.req.header('host')!.toLowerCase())!

  /** One issuer for each name of ours: a person is signed in under one of them, and passkeys belong to one. */
  function serverFor(c: Context): Promise<OAuthServer> {
    const issuer = originOf(c)
    let server = servers.get(issuer)
    if (!server) {
      server = oauthServer({
        keeper: deps.done,
        issuer,
        isOrigin: (origin) => [...deps.origins().values()].includes(origin),
        cookieKey: deps.done.cookieKey,
        pages: PAGES,
        fetch: deps.outbound,
        log: deps.log,
      })
      servers.set(issuer, server)
      server.catch(() => servers.delete(issuer))
    }
    return server
  }

  for (const path of ['', MCP_PATH] as const) {
    app.get(RESOURCE_METADATA + path, (c) =>
      c.json({
        resource: originOf(c) + path,
        authorization_servers: [originOf(c)],
        scopes_supported: SCOPES,
        bearer_methods_supported: ['header'],
        resource_name: 'Done',
        resource_documentation: `${originOf(c)}/api/docs`,
      }),
    )
    app.all(RESOURCE_METADATA + path, (c) => methodRefused(c, ['GET']))
  }

  const limits = limitsOf(deps)
  const pass = async (c: Context): Promise<Response> => {
    if (!isSpelledOut(c.req.path)) return c.notFound() as Response
    const why = whyForeign(c, deps)
    if (why) return c.json({ error: 'invalid_request', error_description: `Refused: ${why}` }, 403)
    const wait = await limits(c)
    if (wait > 0) {
      const description = `Too many requests from here: try again in ${wait} s.`
      return c.json({ error: 'temporarily_unavailable', error_description: description }, 429, {
        'retry-after': String(wait),
      })
    }
    const [incoming, outgoing] = nodeOf(c)
    for (const [name, value] of Object.entries(HEADERS)) outgoing.setHeader(name, value)
    await (await serverFor(c)).handle(incoming, outgoing)
    return RESPONSE_ALREADY_SENT
  }
  app.all('/.well-known/oauth-authorization-server', pass)
  app.all('/oauth/*', pass)
  consentPages(app, deps, serverFor)
}

/**
 * Whether a path is one of the endpoints, letter by letter. The library also takes other cases and a slash at the end, which
 * limits and refusals by path would not know.
 */
function isSpelledOut(path: string): boolean {
  const [, begin] = /^(.+)\/[\w-]+$/.exec(path) ?? []
  const resumed: (string | undefined)[] = [ENDPOINTS.authorization, ENDPOINTS.code_verification]
  return (
    path.startsWith('/.well-known/') ||
    Object.values(ENDPOINTS).some((endpoint) => endpoint === path) ||
    (begin !== undefined && resumed.includes(begin))
  )
}

/**
 * Why a request comes from another site's page. The endpoints for programs look at no cookie, and a program that is built on a
 * browser says of itself that no page has sent its request.
 */
function whyForeign(c: Context, { origins }: AppDeps): string | undefined {
  const { headers } = c.req.raw
  if (c.req.method === 'GET' || !fromPage(headers)) return undefined
  const noPage = headers.get('sec-fetch-site') === 'none' && !headers.has('origin')
  if (noPage && c.req.path !== ENDPOINTS.code_verification) return undefined
  return foreign(headers, origins())
}

const HEADERS = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
}

/**
 * How often one address may ask: registrations are rows that anybody can make, codes of devices are short enough to be
 * guessed, and the rest costs work. Gives the seconds to wait.
 */
function limitsOf({ done, clientAddress }: AppDeps): (c: Context) => Promise<number> {
  const limit = (name: string, tries: number, minutes: number) =>
    limitOf(done.store, `oauth ${name}`, tries, minutes * 60_000)
  const limits: Record<string, Limit> = {
    [`POST ${ENDPOINTS.registration}`]: limit('registration', 20, 60),
    [`POST ${ENDPOINTS.code_verification}`]: limit('device', 20, 15),
    [`POST ${ENDPOINTS.device_authorization}`]: limit('device code', 30, 10),
    [`GET ${ENDPOINTS.authorization}`]: limit('authorization', 120, 1),
    [`GET ${ENDPOINTS.code_verification}`]: limit('device page', 60, 1),
    [`POST ${ENDPOINTS.token}`]: limit('token', 240, 1),
    [`POST ${ENDPOINTS.revocation}`]: limit('token', 240, 1),
  }
  return async (c) => {
    // What HEAD asks is done as for GET.
    const method = c.req.method === 'HEAD' ? 'GET' : c.req.method
    const limit = limits[`${method} ${c.req.path}`]
    if (!limit) return 0
    return limit(clientAddress(getConnInfo(c).remote.address ?? 'unknown', c.req.header('x-forwarded-for')))
  }
}

const PAGES = {
  headers: PAGE_HEADERS,
  enterCode: (form: Parameters<typeof enterCodePage>[0]) =>
    pageOf({ title: 'Connect a program', body: enterCodePage(form) }),
  confirmCode: (form: Parameters<typeof confirmCodePage>[0]) =>
    pageOf({ title: 'Connect a program', body: confirmCodePage(form) }),
  codeAccepted: () =>
    pageOf({
      title: 'Connected',
      body: html`<h1>Connected</h1><p class="lead">Go back to the program: it goes on by itself. You can end this at any time under <a href="/account">your account</a>.</p>`,
    }),
  problem: ({ error, description }: { error: string; description: string }) =>
    pageOf({
      title: 'Not connected',
      body: html`<h1>Not connected</h1><p class="lead">The host has asked in a way that Done refuses, so nothing was given. Start again in the host; if it happens again, tell its makers this:</p><p class="lead"><code>${error}</code> ${said(description)}</p>`,
    }),
}
