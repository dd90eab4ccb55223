import type { Context, Hono } from 'hono'
import {
  askForPasskey,
  beginPasskey,
  type Grounds,
  keepPasskey,
  removePasskey,
  signInByPasskey,
} from '../auth/passkey.ts'
import { AppError } from '../model/error.ts'
import type { AppDeps } from './app.ts'
import { deskOf, fieldsOf } from './desk.ts'
import { doorOf } from './front-door.ts'
import { messagePage } from './page.ts'
import { PASSKEY_SCRIPT } from './passkey-script.ts'
import { STATUS } from './problem.ts'
import { inPeoplesWords } from './words.ts'

/** Puts up the addresses by which passkeys are made, shown and removed. */
export function passkeyPages(app: Hono, deps: AppDeps): void {
  const { done } = deps
  const { asPerson } = deskOf(deps)
  const { enter, tooMany, fromOnePlace, welcome } = doorOf(deps)

  app.get('/passkey.js', (c) =>
    c.body(PASSKEY_SCRIPT, 200, {
      'content-type': 'text/javascript; charset=utf-8',
      'cache-control': 'public, max-age=300',
    }),
  )

  app.post('/sign-in/passkey/ask', (c) =>
    enter(c, async () => {
      const late = await tooMany(c, [fromOnePlace(c)])
      return late ?? asked(c, askForPasskey(done, groundsOf(c, deps)))
    }),
  )

  app.post('/sign-in/passkey', (c) =>
    enter(c, async () => {
      const late = await tooMany(c, [fromOnePlace(c)])
      if (late) return late
      const { response = '' } = await fieldsOf(c)
      const begun = await signInByPasskey(done, response, groundsOf(c, deps))
      if (begun) return welcome(c, begun)
      const lines = [
        'This passkey opens nothing here. It may have been removed, or the page was open for too long.',
      ]
      return messagePage(c, { title: 'Not signed in', lines, status: 401 })
    }),
  )

  app.post('/account/passkeys/ask', (c) =>
    asPerson(c, 'begin_passkey', (who) => asked(c, beginPasskey(done, who, groundsOf(c, deps)))),
  )

  app.post('/account/passkeys', (c) =>
    asPerson(c, 'add_passkey', async (who) => {
      const { response = '', label = '' } = await fieldsOf(c)
      await keepPasskey(done, who, { text: response, label }, groundsOf(c, deps))
      return c.redirect('/account', 303)
    }),
  )

  app.post('/account/passkeys/:id/remove', (c) =>
    asPerson(c, 'remove_passkey', async (who) => {
      await removePasskey(done, who, Number(c.req.param('id')))
      return c.redirect('/account', 303)
    }),
  )
}

/** What the page's script goes on with; a refusal in words that it shows. */
export async function asked(c: Context, options: Promise<object | undefined>): Promise<Response> {
  try {
    return c.json((await options) ?? {})
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return c.json({ message: inPeoplesWords(error) }, STATUS[error.code] as 400)
  }
}

/** The page that a request comes from, by the name under which the browser has us. */
export function groundsOf(c: Context, { origins }: Pick<AppDeps, 'origins'>): Grounds {
  const own = origins()
  return { origin: own.get(c.req.header('host')!.toLowerCase())!, origins: [...new Set(own.values())] }
}
