import { getConnInfo } from '@hono/node-server/conninfo'
import type { Context } from 'hono'
import { type Limit, limitOf } from '../auth/rate.ts'
import type { Begun } from '../auth/sign-in.ts'
import type { AppDeps } from './app.ts'
import { deskOf } from './desk.ts'
import { foreign, fromPage } from './origin.ts'
import { messagePage } from './page.ts'

/** What every way in has in common, whatever proves who comes. */
export interface FrontDoor {
  /** Runs what may begin a session. Nobody is signed in yet, but another site could sign its visitor in as somebody else. */
  enter(c: Context, run: () => Promise<Response>): Promise<Response>
  /** Counts a try by where it comes from. */
  fromOnePlace(c: Context): Promise<number>
  /** Counts a try at one name or person. */
  atOneName: Limit
  /** Refuses who has tried too often. Asked within {@link enter}, so that no other site uses up its visitors' tries. */
  tooMany(c: Context, limits: readonly Promise<number>[]): Promise<Response | undefined>
  /** The session takes the place of the one before in this browser. */
  welcome(c: Context, begun: Begun): Promise<Response>
}

export function doorOf(deps: AppDeps): FrontDoor {
  const { done, people, cookie } = deps
  const { person } = deskOf(deps)
  // By where somebody comes from, and by the name that is tried: neither many names from one place nor one from many.
  const place = limitOf(done.store, 'sign-in', 20, 60_000)
  return {
    async enter(c, run) {
      const why = fromPage(c.req.raw.headers) ? foreign(c.req.raw.headers, deps.origins()) : undefined
      if (!why) return run()
      const lines = ['This was not sent from a page of Done. Open the link itself, and sign in there.']
      return messagePage(c, { title: 'Not signed in', lines, status: 403 })
    },
    fromOnePlace: (c) =>
      place(deps.clientAddress(getConnInfo(c).remote.address ?? 'unknown', c.req.header('x-forwarded-for'))),
    atOneName: limitOf(done.store, 'sign-in name', 10, 15 * 60_000),
    async tooMany(c, limits) {
      const wait = Math.max(...(await Promise.all(limits)))
      if (wait === 0) return undefined
      c.header('retry-after', String(wait))
      return messagePage(c, { title: 'Too many tries', lines: [`Try again in ${wait} s.`], status: 429 })
    },
    async welcome(c, { secret, expires }) {
      const before = await person(c)
      if (before) await people(before, 'sign_out', {})
      cookie.set(c, secret, Math.floor((expires - done.store.now()) / 1000))
      return c.redirect(cookie.whereGoing(c), 303)
    },
  }
}
