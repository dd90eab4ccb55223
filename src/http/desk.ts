import type { Context } from 'hono'
import { FRESH_MS, type PersonActor } from '../model/actor.ts'
import { AppError, invalid } from '../model/error.ts'
import type { AppDeps } from './app.ts'
import { bodyText } from './body.ts'
import { personOf } from './caller.ts'
import { type Html, html } from './html.ts'
import { messagePage } from './page.ts'
import { STATUS } from './problem.ts'
import { refuseForeign } from './rest.ts'
import { howToSignIn, inPeoplesWords } from './words.ts'

/** The longest form: a note of 50,000 characters, encoded. */
const MOST_BYTES = 512 * 1024

/** What every page for people begins with: who is there, and whether the request is their own. */
export interface Desk {
  /** Who is signed in, if anybody is. */
  person(c: Context): Promise<PersonActor | undefined>
  /** Runs a page for whoever is signed in; others are told how to. A change must come from a page of ours. */
  asPerson(c: Context, operation: string, run: (who: PersonActor) => Promise<Response>): Promise<Response>
}

export function deskOf(deps: AppDeps): Desk {
  const person = (c: Context) => personOf(c, deps.done, deps.cookie)
  return {
    person,
    async asPerson(c, operation, run) {
      const who = await person(c)
      if (!who) {
        const lines: (string | Html)[] = ['This page is for people who are signed in.', howToSignIn()]
        // The cookie is not sent along when a link of another site leads here; from a page of ours it is.
        const again = html`<p>Signed in already, and came here by a link from elsewhere? <a href="${new URL(c.req.url).pathname}">Open it from here</a>.</p>`
        return messagePage(c, {
          title: 'Not signed in',
          lines: c.req.method === 'GET' ? [...lines, again] : lines,
          status: 401,
        })
      }
      const reads = c.req.method === 'GET' || c.req.method === 'HEAD'
      if (!reads) {
        try {
          await refuseForeign(c, deps, who, operation)
        } catch (error) {
          if (!(error instanceof AppError)) throw error
          const lines = ['This was not sent from a page of Done. Open the page itself, and decide there.']
          return messagePage(c, { title: NOTHING, lines, status: STATUS[error.code], person: who })
        }
      }
      try {
        return await run(who)
      } catch (error) {
        if (!(error instanceof AppError)) throw error
        const title = error.code === 'not_found' ? 'Not there' : reads ? 'This can’t be shown' : NOTHING
        return messagePage(c, {
          title,
          lines: [inPeoplesWords(error), ...(isStale(deps, who) ? [SIGN_IN_AGAIN] : [])],
          status: STATUS[error.code],
          person: who,
        })
      }
    },
  }
}

/** The heading where something was refused. */
const NOTHING = 'Nothing was changed'

/** Where the refusal may be that the sign-in is too old, the way to mend that is one click away. */
const SIGN_IN_AGAIN = html`<p><a href="/sign-in/again">Sign in again</a></p>`

const isStale = ({ done }: AppDeps, { session }: PersonActor): boolean =>
  done.store.now() - session.signedInAt > FRESH_MS

/** The fields of a form; one that comes twice means nothing certain, so it is refused. */
export async function fieldsOf(c: Context): Promise<Record<string, string>> {
  const type = c.req.header('content-type') ?? ''
  if (!/^application\/x-www-form-urlencoded\s*(;|$)/i.test(type)) throw invalid('This is not a form.')
  const fields = new URLSearchParams(await bodyText(c, MOST_BYTES))
  if (new Set(fields.keys()).size !== [...fields.keys()].length)
    throw invalid('A field of the form comes twice.')
  return Object.fromEntries(fields)
}
