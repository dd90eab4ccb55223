import { getConnInfo } from '@hono/node-server/conninfo'
import type { Context, Hono } from 'hono'
import { linkHolds, signIn } from '../auth/console.ts'
import { limitOf } from '../auth/rate.ts'
import type { PersonActor } from '../model/actor.ts'
import { AppError, invalid } from '../model/error.ts'
import type { Brief, SignOffFacts } from '../people/facts.ts'
import type { Deletion } from '../people/trash.ts'
import type { AppDeps } from './app.ts'
import { bodyText } from './body.ts'
import { personOf } from './caller.ts'
import { sendFile } from './file.ts'
import { homePage } from './home-page.ts'
import { type Html, html } from './html.ts'
import { foreign, fromPage } from './origin.ts'
import { ICON, messagePage, sendPage } from './page.ts'
import { STATUS } from './problem.ts'
import { type AnsweredQuestion, answeredPage, type OpenQuestion, questionPage } from './question-page.ts'
import { refuseForeign } from './rest.ts'
import { type Notice, signOffList, signOffPage } from './sign-off-page.ts'
import { howToSignIn, inPeoplesWords } from './words.ts'

/** The longest form: a note of 50,000 characters, encoded. */
const MOST_BYTES = 512 * 1024

/** Puts up the pages that work without script: the sign-off, what waits, signing in and out, files. */
export function pages(app: Hono, deps: AppDeps): void {
  const { done, people, cookie } = deps
  const tooMany = limitOf(done.store, 'sign-in', 20, 60_000)
  const person = (c: Context) => personOf(c, done, cookie)
  const addressOf = (c: Context) =>
    deps.clientAddress(getConnInfo(c).remote.address ?? 'unknown', c.req.header('x-forwarded-for'))

  app.get('/', async (c) => {
    const who = await person(c)
    const waiting = who && {
      person: who,
      signOffs: await signOffs(who),
      questions: await questions(who),
      deletions: (await people(who, 'list_deletions', {})).deletions as Deletion[],
    }
    return sendPage(c, { title: 'Done', body: homePage(deps.site(), done.store.now(), waiting), person: who })
  })

  app.get('/icon.svg', (c) =>
    c.body(ICON, 200, {
      'content-type': 'image/svg+xml',
      'content-security-policy': `default-src 'none'; sandbox`,
    }),
  )

  // A link is only shown here, never used up: browsers, scanners and chat programs fetch what they are given.
  app.get('/sign-in/:secret', async (c) => {
    if (!(await linkHolds(done.store, c.req.param('secret')))) return usedUp(c)
    return sendPage(c, {
      title: 'Sign in',
      body: html`<h1>Sign in to Done</h1><p class="lead">This link works once. Use it in the browser in which you want to be signed in.</p><form method="post" class="bar"><button class="pri">Sign in</button></form>`,
    })
  })

  app.post('/sign-in/:secret', async (c) => {
    // Nobody is signed in yet, but another site could sign its visitor in as somebody else.
    const why = fromPage(c.req.raw.headers) ? foreign(c.req.raw.headers, deps.origins()) : undefined
    if (why) {
      const lines = ['This was not sent from a page of Done. Open the link itself, and sign in there.']
      return messagePage(c, { title: 'Not signed in', lines, status: 403 })
    }
    // Counted behind that look, so that no other site uses up the tries of those who visit it.
    const wait = await tooMany(addressOf(c))
    if (wait > 0) {
      c.header('retry-after', String(wait))
      return messagePage(c, { title: 'Too many tries', lines: [`Try again in ${wait} s.`], status: 429 })
    }
    const session = await signIn(done.store, c.req.param('secret'))
    if (!session) return usedUp(c)
    const before = await person(c)
    if (before) await people(before, 'sign_out', {})
    cookie.set(c, session.secret, Math.floor((session.expires - done.store.now()) / 1000))
    return c.redirect('/', 303)
  })

  app.post('/sign-out', (c) =>
    asPerson(c, 'sign_out', async (who) => {
      await people(who, 'sign_out', {})
      cookie.clear(c)
      return messagePage(c, { title: 'Signed out', lines: ['This session has ended.'], status: 200 })
    }),
  )

  app.get('/sign-off', (c) =>
    asPerson(c, 'list_sign_offs', async (who) =>
      sendPage(c, {
        title: 'Sign-offs',
        body: signOffList(await signOffs(who), done.store.now()),
        person: who,
      }),
    ),
  )

  app.get('/sign-off/:id', (c) =>
    asPerson(c, 'get_sign_off', (who) => showSignOff(c, who, c.req.param('id'))),
  )

  app.post('/sign-off/:id/approve', (c) =>
    asPerson(c, 'sign_off', async (who) => {
      const id = c.req.param('id')
      const { version, hash, nonce } = await fieldsOf(c)
      return decide(c, who, id, 'sign_off', { id, version, hash, nonce }, nonce)
    }),
  )

  app.post('/sign-off/:id/reject', (c) =>
    asPerson(c, 'reject', async (who) => {
      const id = c.req.param('id')
      const { note } = await fieldsOf(c)
      return decide(c, who, id, 'reject', { id, note })
    }),
  )

  app.post('/sign-off/:id/bring-back', (c) =>
    asPerson(c, 'restore_from_trash', async (who) => {
      const facts = (await people(who, 'get_sign_off', { id: c.req.param('id') })) as SignOffFacts
      if (facts.trashed) await done.call(who, 'restore_from_trash', { ids: [facts.trashed.id] })
      return c.redirect(`/sign-off/${facts.id}`, 303)
    }),
  )

  app.post('/trash/:id/bring-back', (c) =>
    asPerson(c, 'restore_from_trash', async (who) => {
      await done.call(who, 'restore_from_trash', { ids: [c.req.param('id')] })
      return c.redirect('/', 303)
    }),
  )

  app.get('/questions/:id', (c) =>
    asPerson(c, 'list_open_questions', async (who) => {
      const asked = await done.call(who, 'get_question', { id: c.req.param('id') })
      const open = (await questions(who)).find((each) => each.id === asked.id)
      const title = `Question ${asked.id}`
      if (open) return sendPage(c, { title, body: questionPage(open), person: who })
      if (asked.state === 'answered') {
        const body = answeredPage(asked as unknown as AnsweredQuestion, who.zone)
        return sendPage(c, { title, body, person: who })
      }
      const lines = ['Its task was deleted, so it waits for nobody. It waits again when the task is back.']
      return messagePage(c, { title: `${title} is not open`, lines, status: 404, person: who })
    }),
  )

  app.post('/questions/:id/answer', (c) =>
    asPerson(c, 'answer_question', async (who) => {
      await people(who, 'answer_question', { id: c.req.param('id'), answer: (await fieldsOf(c)).answer })
      return c.redirect('/', 303)
    }),
  )

  app.get('/files/:id', (c) => asPerson(c, 'get_file', (who) => sendFile(c, done, who, c.req.param('id'))))

  async function signOffs(who: PersonActor): Promise<Brief[]> {
    return (await people(who, 'list_sign_offs', {})).sign_offs as Brief[]
  }

  async function questions(who: PersonActor): Promise<OpenQuestion[]> {
    return (await people(who, 'list_open_questions', {})).questions as OpenQuestion[]
  }

  async function showSignOff(
    c: Context,
    who: PersonActor,
    id: string,
    more: { notice?: Notice; since?: string; status?: number } = {},
  ): Promise<Response> {
    const { notice, since, status = 200 } = more
    const facts = (await people(who, 'get_sign_off', since ? { id, since } : { id })) as SignOffFacts
    // Why a request can't be decided any more is said below by what became of it.
    const settled = facts.state !== 'pending' || facts.trashed !== undefined
    const said = notice && settled ? { ...notice, text: 'It was no longer open for a decision.' } : notice
    const body = signOffPage(facts, who, done.store.now(), said)
    return sendPage(c, { title: `${facts.id} ${facts.task.title}`, body, person: who, status })
  }

  /** Takes a decision. Where it is not taken, the request's page says why, and what has changed since it was opened. */
  async function decide(
    c: Context,
    who: PersonActor,
    id: string,
    operation: 'sign_off' | 'reject',
    input: Record<string, unknown>,
    nonce?: string,
  ): Promise<Response> {
    try {
      await people(who, operation, input)
      return c.redirect(`/sign-off/${encodeURIComponent(id)}`, 303)
    } catch (error) {
      if (!(error instanceof AppError) || error.code === 'not_found') throw error
      const shown = Number(nonce?.split('.')[0])
      return showSignOff(c, who, id, {
        notice: {
          title: operation === 'sign_off' ? 'Not approved.' : 'Not sent back.',
          text: inPeoplesWords(error),
        },
        status: STATUS[error.code],
        ...(shown > 0 && Number.isFinite(shown) ? { since: new Date(shown).toISOString() } : {}),
      })
    }
  }

  /** Runs a page for whoever is signed in; others are told how to. A change must come from a page of ours. */
  async function asPerson(
    c: Context,
    operation: string,
    run: (who: PersonActor) => Promise<Response>,
  ): Promise<Response> {
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
        lines: [inPeoplesWords(error)],
        status: STATUS[error.code],
        person: who,
      })
    }
  }
}

/** The heading where something was refused. */
const NOTHING = 'Nothing was changed'

/** A link that was used, has expired or never was: which of them is nobody's business. */
function usedUp(c: Context): Response {
  return messagePage(c, {
    title: 'This link is used up or has expired',
    lines: ['So nobody was signed in. Make a new one.', howToSignIn()],
    status: 410,
  })
}

/** The fields of a form; one that comes twice means nothing certain, so it is refused. */
async function fieldsOf(c: Context): Promise<Record<string, string>> {
  const type = c.req.header('content-type') ?? ''
  if (!/^application\/x-www-form-urlencoded\s*(;|$)/i.test(type)) throw invalid('This is not a form.')
  const fields = new URLSearchParams(await bodyText(c, MOST_BYTES))
  if (new Set(fields.keys()).size !== [...fields.keys()].length)
    throw invalid('A field of the form comes twice.')
  return Object.fromEntries(fields)
}
