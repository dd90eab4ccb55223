import type { Context, Hono } from 'hono'
import { limitOf } from '../auth/rate.ts'
import {
  beginCodes,
  confirmCodes,
  endCodes,
  type NewAuthenticator,
  renewRecoveryCodes,
  wrongCode,
} from '../auth/second-factor.ts'
import type { PersonActor } from '../model/actor.ts'
import type { AppDeps } from './app.ts'
import { deskOf, fieldsOf } from './desk.ts'
import { messagePage, sendPage } from './page.ts'
import { qrCode, recoveryCodesPage, setUpPage } from './second-factor-page.ts'
import { inPeoplesWords } from './words.ts'

/** Puts up the pages by which a person turns one-time codes on and off. */
export function secondFactorPages(app: Hono, deps: AppDeps): void {
  const { done } = deps
  const { asPerson } = deskOf(deps)
  const tries = limitOf(done.store, 'confirm code', 10, 15 * 60_000)

  async function showSetUp(c: Context, who: PersonActor, app: NewAuthenticator, wrong?: string) {
    const body = setUpPage(app, await qrCode(app.address), wrong)
    return sendPage(c, {
      title: 'One-time codes',
      body,
      person: who,
      status: wrong === undefined ? 200 : 400,
    })
  }

  app.post('/account/codes', (c) =>
    asPerson(c, 'begin_codes', async (who) => {
      return showSetUp(c, who, await beginCodes(done, who))
    }),
  )

  app.post('/account/codes/confirm', (c) =>
    asPerson(c, 'confirm_codes', async (who) => {
      const wait = await tries(`${who.account} ${who.id}`)
      if (wait > 0) {
        c.header('retry-after', String(wait))
        const lines = [`Try again in ${wait} s.`]
        return messagePage(c, { title: 'Too many tries', lines, status: 429, person: who })
      }
      const { code = '' } = await fieldsOf(c)
      const found = await confirmCodes(done, who, code)
      if (!Array.isArray(found)) return showSetUp(c, who, found, inPeoplesWords(wrongCode()))
      return sendPage(c, { title: 'Recovery codes', body: recoveryCodesPage(found), person: who })
    }),
  )

  app.post('/account/codes/recovery', (c) =>
    asPerson(c, 'renew_recovery_codes', async (who) => {
      const codes = await renewRecoveryCodes(done, who)
      return sendPage(c, { title: 'Recovery codes', body: recoveryCodesPage(codes), person: who })
    }),
  )

  app.post('/account/codes/end', (c) =>
    asPerson(c, 'end_codes', async (who) => {
      await endCodes(done, who)
      return c.redirect('/account', 303)
    }),
  )
}
