import type { Context, Hono } from 'hono'
import { linkOf, signIn } from '../auth/console.ts'
import { codesOf } from '../auth/second-factor.ts'
import { invitationOf, join, proveAgain, signInByPassword } from '../auth/sign-in.ts'
import { AppError } from '../model/error.ts'
import { fold } from '../model/suggest.ts'
import type { AppDeps } from './app.ts'
import { deskOf, fieldsOf } from './desk.ts'
import { doorOf } from './front-door.ts'
import { messagePage, sendPage } from './page.ts'
import { STATUS } from './problem.ts'
import { againForm, choiceOfAccount, joinForm, linkForm, signInForm } from './sign-in-page.ts'
import { howToSignIn, inPeoplesWords } from './words.ts'

const script = '/passkey.js'

/** Puts up the pages by which somebody gets in and out: by a one-time link, a password, an invitation. */
export function signInPages(app: Hono, deps: AppDeps): void {
  const { done, people, cookie } = deps
  const { person, asPerson } = deskOf(deps)
  const { enter, fromOnePlace, atOneName, tooMany, welcome } = doorOf(deps)

  app.get('/sign-in', async (c) => {
    if (await person(c)) return c.redirect('/', 303)
    return sendPage(c, { title: 'Sign in', body: signInForm(), script })
  })

  app.post('/sign-in', (c) =>
    enter(c, async () => {
      const { login = '', password = '' } = await fieldsOf(c)
      const late = await tooMany(c, [fromOnePlace(c), atOneName(fold(login))])
      if (late) return late
      const signedIn = await signInByPassword(done.store, login, password)
      if (!signedIn)
        return sendPage(c, {
          title: 'Sign in',
          body: signInForm({ login, wrong: true }),
          status: 401,
          script,
        })
      if ('session' in signedIn) return welcome(c, signedIn.session)
      const { accounts } = signedIn
      if (accounts.length === 1) return c.redirect(accounts[0].link, 303)
      return sendPage(c, { title: 'Choose an account', body: choiceOfAccount(accounts) })
    }),
  )

  app.get('/sign-in/again', (c) =>
    asPerson(c, 'sign_in_again', async (who) =>
      sendPage(c, {
        title: 'Sign in again',
        body: againForm(await codesOf(done.store, who)),
        person: who,
        script,
      }),
    ),
  )

  app.post('/sign-in/again', (c) =>
    asPerson(c, 'sign_in_again', async (who) => {
      const late = await tooMany(c, [fromOnePlace(c), atOneName(`${who.account} ${who.id}`)])
      if (late) return late
      const { password = '', code = '' } = await fieldsOf(c)
      const begun = await proveAgain(done, who, password, code)
      if (begun) return welcome(c, begun)
      const body = againForm({ ...(await codesOf(done.store, who)), wrong: true })
      return sendPage(c, { title: 'Sign in again', body, person: who, status: 401, script })
    }),
  )

  // A link is only shown here, never used up: browsers, scanners and chat programs fetch what they are given.
  app.get('/sign-in/:secret', async (c) => {
    const link = await linkOf(done.store, c.req.param('secret'))
    return link ? sendPage(c, { title: 'Sign in', body: linkForm(link) }) : usedUp(c)
  })

  app.post('/sign-in/:secret', (c) =>
    enter(c, async () => {
      const secret = c.req.param('secret')
      const link = await linkOf(done.store, secret)
      const of = link?.wants_code ? [atOneName(`code ${link.account} ${link.person}`)] : []
      const late = await tooMany(c, [fromOnePlace(c), ...of])
      if (late) return late
      const { code } = link?.wants_code ? await fieldsOf(c) : {}
      try {
        const session = await signIn(done, secret, code)
        return session ? welcome(c, session) : usedUp(c)
      } catch (error) {
        if (!(error instanceof AppError) || !link) throw error
        const body = linkForm({ ...link, wrong: inPeoplesWords(error) })
        return sendPage(c, { title: 'Sign in', body, status: 401 })
      }
    }),
  )

  app.get('/join/:secret', async (c) => {
    const invitation = await invitationOf(done.store, c.req.param('secret'))
    if (!invitation) return usedUp(c)
    return sendPage(c, { title: 'Join', body: joinForm(invitation, { name: invitation.name }) })
  })

  app.post('/join/:secret', (c) =>
    enter(c, async () => {
      const late = await tooMany(c, [fromOnePlace(c)])
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
}

/** A link that was used, has expired or never was: which of them is nobody's business. */
function usedUp(c: Context): Response {
  return messagePage(c, {
    title: 'This link is used up or has expired',
    lines: ['So nobody was signed in. Make a new one.', howToSignIn()],
    status: 410,
  })
}
