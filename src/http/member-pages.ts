import type { Context, Hono } from 'hono'
import { nameFor, ownPasskeys } from '../auth/passkey.ts'
import { codesOf } from '../auth/second-factor.ts'
import { setPassword, signsInAs } from '../auth/sign-in.ts'
import { AppError } from '../model/error.ts'
import type { AppDeps } from './app.ts'
import { type Grant, grantsSection } from './consent-page.ts'
import { deskOf, fieldsOf } from './desk.ts'
import { accountPage, type Invitation, type Member, membersPage, type Session } from './member-page.ts'
import { messagePage, momentIn, sendPage } from './page.ts'
import { passkeysSection } from './passkey-page.ts'
import { groundsOf } from './passkey-pages.ts'
import { STATUS } from './problem.ts'
import { inPeoplesWords } from './words.ts'

/** Puts up the pages of one's own account, and of who is in it. */
export function memberPages(app: Hono, deps: AppDeps): void {
  const { done, people } = deps
  const { asPerson } = deskOf(deps)

  const showAccount = (c: Context, more: { wrong?: string; saved?: boolean; status?: number } = {}) =>
    asPerson(c, 'list_sessions', async (who) => {
      const { status = 200, ...rest } = more
      const sessions = (await people(who, 'list_sessions', {})).sessions as Session[]
      const own = sessions.filter((each) => each.person === who.id)
      const [login, codes] = [await signsInAs(done.store, who), await codesOf(done.store, who)]
      const { origin } = groundsOf(c, deps)
      const local = new URL('/account', origin.replace(new URL(origin).hostname, 'localhost')).href
      const at = (moment: number) => momentIn(who.zone)(new Date(moment).toISOString())
      const passkeys = passkeysSection(await ownPasskeys(done, who), at, {
        bare: nameFor(origin) === undefined,
        local,
      })
      const { grants } = await people(who, 'list_grants', {})
      const hosts = grantsSection(grants as Grant[], momentIn(who.zone))
      const body = accountPage({ who, sessions: own, login, codes, passkeys, hosts, ...rest })
      return sendPage(c, { title: 'Your account', body, person: who, status, script: '/passkey.js' })
    })

  app.get('/account', (c) => showAccount(c))

  app.post('/account/password', (c) =>
    asPerson(c, 'set_password', async (who) => {
      const { login = '', password = '' } = await fieldsOf(c)
      try {
        await setPassword(done, who, login, password)
        return showAccount(c, { saved: true })
      } catch (error) {
        if (!(error instanceof AppError) || error.code === 'people_only') throw error
        return showAccount(c, { wrong: inPeoplesWords(error), status: STATUS[error.code] })
      }
    }),
  )

  app.post('/account/sessions/:id/end', (c) =>
    asPerson(c, 'revoke_session', async (who) => {
      await people(who, 'revoke_session', { id: c.req.param('id') })
      return c.redirect('/account', 303)
    }),
  )

  app.get('/members', (c) =>
    asPerson(c, 'list_members', async (who) => {
      const members: Member[] = []
      for (let cursor: unknown; ; ) {
        const page = await done.call(who, 'list_members', { limit: 100, ...(cursor ? { cursor } : {}) })
        members.push(...(page.members as Member[]))
        cursor = page.next_cursor
        if (!cursor) break
      }
      const invitations =
        who.role === 'owner' ? ((await people(who, 'list_invitations', {})).invitations as Invitation[]) : []
      return sendPage(c, { title: 'Members', body: membersPage({ who, members, invitations }), person: who })
    }),
  )

  app.post('/members/invite', (c) =>
    asPerson(c, 'invite_member', async (who) => {
      const { name, role } = await fieldsOf(c)
      const made = await people(who, 'invite_member', { name, role })
      const lines = [
        `Give this address to ${made.name}, and to nobody else. It works once, for 7 days, and is not shown again.`,
        String(made.link),
      ]
      return messagePage(c, { title: 'Invited', lines, status: 200, person: who })
    }),
  )

  app.post('/members/:id/role', (c) =>
    asPerson(c, 'change_role', async (who) => {
      const { role } = await fieldsOf(c)
      await people(who, 'change_role', { id: c.req.param('id'), role })
      return c.redirect('/members', 303)
    }),
  )

  app.post('/members/:id/remove', (c) =>
    asPerson(c, 'remove_member', async (who) => {
      await people(who, 'remove_member', { id: c.req.param('id') })
      return c.redirect('/members', 303)
    }),
  )

  app.post('/invitations/:id/revoke', (c) =>
    asPerson(c, 'revoke_invitation', async (who) => {
      await people(who, 'revoke_invitation', { id: c.req.param('id') })
      return c.redirect('/members', 303)
    }),
  )
}
