import { getConnInfo } from '@hono/node-server/conninfo'
import type { Context, Hono } from 'hono'
import { linkHolds, signIn } from '../auth/console.ts'
import { limitOf } from '../auth/rate.ts'
import { type Begun, invitationOf, join, proveAgain, signInByPassword } from '../auth/sign-in.ts'
import { AppError } from '../model/error.ts'
import { fold } from '../model/suggest.ts'
import type { AppDeps } from './app.ts'
import { deskOf, fieldsOf } from './desk.ts'
import { foreign, fromPage } from './origin.ts'
import { messagePage, sendPage } from './page.ts'
import { STATUS } from './problem.ts'
import { againForm, choiceOfAccount, joinForm, linkForm, signInForm } from './sign-in-page.ts'
import { howToSignIn, inPeoplesWords } from './words.ts'

/** Puts up the pages by which somebody gets in and out: by a one-time link, a password, an invitation. */
export function signInPages(app: Hono, deps: AppDeps): void {
  const { done, people, cookie } = deps
  const { person, asPerson } = deskOf(deps)
  // By where somebody comes from, and by the name that is tried: neither many names from one place nor one from many.
  const fromOnePlace = limitOf(done.store, 'sign-in', 20, 60_000)
  const atOneName = limitOf(done.store, 'sign-in name', 10, 15 * 60_000)
  const addressOf = (c: Context) =>
    deps.clientAddress(getConnInfo(c).remote.address ?? 'unknown', c.req.header('x-forwarded-for'))

  app.get('/sign-in', async (c) => {
    if (await person(c)) return c.redirect('/', 303)
    return sendPage(c, { title: 'Sign in', body: signInForm() })
  })

  app.post('/sign-in', (c) =>
    enter(c, async () => {
      const { login = '', password = '' } = await fieldsOf(c)
      const late = await tooMany(c, [fromOnePlace(addressOf(c)), atOneName(fold(login))])
      if (late) return late
      const signedIn = await signInByPassword(done.store, login, password)
      if (!signedIn)
        return sendPage(c, { title: 'Sign in', body: signInForm({ login, wrong: true }), status: 401 })
      if ('session' in signedIn) return welcome(c, signedIn.session)
      return sendPage(c, { title: 'Choose an account', body: choiceOfAccount(signedIn.accounts) })
    }),
  )

  app.get('/sign-in/again', (c) =>
    asPerson(c, 'sign_in_again', async (who) =>
      sendPage(c, { title: 'Sign in again', body: againForm(), person: who }),
    ),
  )

  app.post('/sign-in/again', (c) =>
    asPerson(c, 'sign_in_again', async (who) => {
      const late = await tooMany(c, [fromOnePlace(addressOf(c)), atOneName(`${who.account} ${who.id}`)])
      if (late) return late
      const { password = '' } = await fieldsOf(c)
      const begun = await proveAgain(done.store, who, password)
      if (!begun)
        return sendPage(c, { title: 'Sign in again', body: againForm(true), person: who, status: 401 })
      return welcome(c, begun)
    }),
  )

  // A link is only shown here, never used up: browsers, scanners and chat programs fetch what they are given.
  app.get('/sign-in/:secret', async (c) => {
    if (!(await linkHolds(done.store, c.req.param('secret')))) return usedUp(c)
    return sendPage(c, { title: 'Sign in', body: linkForm() })
  })

  app.post('/sign-in/:secret', (c) =>
    enter(c, async () => {
      const late = await tooMany(c, [fromOnePlace(addressOf(c))])
      if (late) return late
      const session = await signIn(done.store, c.req.param('secret'))
      return session ? welcome(c, session) : usedUp(c)
    }),
  )

  app.get('/join/:secret', async (c) => {
    const invitation = await invitationOf(done.store, c.req.param('secret'))
    if (!invitation) return usedUp(c)
    return sendPage(c, { title: 'Join', body: joinForm(invitation, { name: invitation.name }) })
  })

  app.post('/join/:secret', (c) =>
    enter(c, async () => {
      const late = await tooMany(c, [fromOnePlace(addressOf(c))])
      if (late) return late
      const secret = c.req.param('secret')
      const { name = '', login = '', password = '' } = await fieldsOf(c)
      try {
        const session = await join(done.store, secret, { name, login, password })
        return session ? welcome(c, session) : usedUp(c)
      } catch (error) {
        const invitation = await invitationOf(done.store, secret)
        if (!(error instanceof AppError) || !invitation) throw error
        const body = joinForm(invitation, { name, login, wrong: inPeoplesWords(error) })
        return sendPage(c, { title: 'Join', body, status: STATUS[error.code] })
      }
    }),
  )

  app.post('/sign-out', (c) =>
    asPerson(c, 'sign_out', async (who) => {
      await people(who, 'sign_out', {})
      cookie.clear(c)
      return messagePage(c, { title: 'Signed out', lines: ['This session has ended.'], status: 200 })
    }),
  )

  /** Nobody is signed in yet, but another site could sign its visitor in as somebody else. */
  async function enter(c: Context, run: () => Promise<Response>): Promise<Response> {
    const why = fromPage(c.req.raw.headers) ? foreign(c.req.raw.headers, deps.origins()) : undefined
    if (!why) return run()
    const lines = ['This was not sent from a page of Done. Open the link itself, and sign in there.']
    return messagePage(c, { title: 'Not signed in', lines, status: 403 })
  }

  /** Refuses who has tried too often. Counted behind {@link enter}, so that no other site uses up its visitors' tries. */
  async function tooMany(c: Context, limits: Promise<number>[]): Promise<Response | undefined> {
    const wait = Math.max(...(await Promise.all(limits)))
    if (wait === 0) return undefined
    c.header('retry-after', String(wait))
    return messagePage(c, { title: 'Too many tries', lines: [`Try again in ${wait} s.`], status: 429 })
  }

  /** The session takes the place of the one before in this browser. */
  async function welcome(c: Context, { secret, expires }: Begun): Promise<Response> {
    const before = await person(c)
    if (before) await people(before, 'sign_out', {})
    cookie.set(c, secret, Math.floor((expires - done.store.now()) / 1000))
    return c.redirect('/', 303)
  }
}

/** A link that was used, has expired or never was: which of them is nobody's business. */
function usedUp(c: Context): Response {
  return messagePage(c, {
    title: 'This link is used up or has expired',
    lines: ['So nobody was signed in. Make a new one.', howToSignIn()],
    status: 410,
  })
}
