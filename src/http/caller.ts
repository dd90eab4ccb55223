import type { Context } from 'hono'
import { deleteCookie, getCookie, setCookie } from 'hono/cookie'
import { actorOfSession } from '../auth/actor.ts'
import type { Done } from '../done.ts'
import type { Actor, AgentActor, PersonActor } from '../model/actor.ts'
import type { AppDeps } from './app.ts'

/** Who a request comes from. `given` tells a bad credential from none. */
export type Caller = { actor: Actor; secret: string } | { actor?: undefined; given: boolean }

/**
 * The caller by the request's one credential (gate G3). A bearer token is an agent's and nothing else, the cookie is a
 * session and nothing else: a token in the cookie or a session in the header is nobody. With both, the token decides.
 */
export async function callerOf(c: Context, { done, cookie, bearer }: AppDeps): Promise<Caller> {
  const authorization = c.req.header('authorization')
  if (authorization !== undefined) {
    const secret = /^Bearer +([\w.~+/-]+=*)$/i.exec(authorization)?.[1]
    const actor = secret === undefined ? undefined : await bearer(secret)
    if (!actor) return { given: true }
    done.credentialUse.saw(actor)
    return { actor, secret: secret! }
  }
  const secret = cookie.read(c)
  const actor = secret === undefined ? undefined : await actorOfSession(done.store, secret)
  if (actor) done.credentialUse.saw(actor)
  return actor ? { actor, secret: secret! } : { given: secret !== undefined }
}

/** The person of a request's session, for pages; a token never opens one. */
export async function personOf(
  c: Context,
  done: Done,
  cookie: SessionCookie,
): Promise<PersonActor | undefined> {
  const secret = cookie.read(c)
  const actor = secret === undefined ? undefined : await actorOfSession(done.store, secret)
  if (actor) done.credentialUse.saw(actor)
  return actor
}

/** Whether the credential behind a stream still holds. */
export async function stillHolds({ done, bearer }: AppDeps, actor: Actor, secret: string): Promise<boolean> {
  const now = await (actor.kind === 'person' ? actorOfSession(done.store, secret) : bearer(secret))
  return now !== undefined
}

/** The agent behind a bearer token, where it is good for the whole of Done and not for its MCP endpoint alone. */
export type Bearer = (secret: string) => Promise<AgentActor | undefined>

/** The session's cookie: out of reach of scripts, sent to this site's own requests alone. */
export interface SessionCookie {
  read(c: Context): string | undefined
  set(c: Context, secret: string, seconds: number): void
  clear(c: Context): void
  /** Notes the page to which this browser comes back once somebody has signed in. */
  comeBackTo(c: Context, path: string): void
  /** Where a browser was going, once; the first page otherwise. Only pages are named on which somebody may have been stopped. */
  whereGoing(c: Context): string
}

/** Where the site is HTTPS the name itself binds the cookie to this host and to HTTPS (RFC 6265bis, `__Host-`). */
export function sessionCookie(site: string): SessionCookie {
  const secure = site.startsWith('https:')
  const [name, going] = secure ? ['__Host-done', '__Host-done_going'] : ['done_session', 'done_going']
  const attributes = { httpOnly: true, sameSite: 'Strict', path: '/', secure } as const
  return {
    read: (c) => getCookie(c, name) || undefined,
    set: (c, secret, seconds) => setCookie(c, name, secret, { ...attributes, maxAge: seconds }),
    clear: (c) => void deleteCookie(c, name, attributes),
    comeBackTo: (c, path) => setCookie(c, going, path, { ...attributes, maxAge: 900 }),
    whereGoing(c) {
      const path = getCookie(c, going)
      if (path !== undefined) deleteCookie(c, going, attributes)
      return path !== undefined && /^\/connect\/[\w-]{1,80}$/.test(path) ? path : '/'
    },
  }
}
