import type { HttpBindings } from '@hono/node-server'
import type { Context, Hono } from 'hono'
import { agentNameFor, giveConsent, mayWrite } from '../auth/consent.ts'
import type { Asked, OAuthServer } from '../auth/oauth-server.ts'
import { FRESH_MS, type PersonActor } from '../model/actor.ts'
import { AppError } from '../model/error.ts'
import type { AppDeps } from './app.ts'
import { consentPage } from './consent-page.ts'
import { deskOf, fieldsOf } from './desk.ts'
import { messagePage, sendPage } from './page.ts'
import { STATUS } from './problem.ts'
import { inPeoplesWords } from './words.ts'

/** Puts up the page on which a person decides what a client may do, and what takes it back. */
export function consentPages(
  app: Hono,
  deps: AppDeps,
  serverFor: (c: Context) => Promise<OAuthServer>,
): void {
  const { done, people, cookie } = deps
  const { person, asPerson } = deskOf(deps)

  app.get('/connect/:uid', async (c) => {
    const asked = await (await serverFor(c)).asked(...nodeOf(c))
    if (!asked) return over(c)
    const who = await person(c)
    if (who) return show(c, who, asked)
    const here = `/connect/${c.req.param('uid')}`
    // The session's cookie does not come along from another site; it does from this page of ours.
    if (c.req.query('here') === undefined) {
      return messagePage(c, { title: 'One moment', lines: [''], status: 200, goesOnTo: `${here}?here=1` })
    }
    cookie.comeBackTo(c, here)
    return c.redirect('/sign-in', 303)
  })

  app.post('/connect/:uid', (c) =>
    asPerson(c, 'connect_client', async (who) => {
      const server = await serverFor(c)
      const asked = await server.asked(...nodeOf(c))
      if (!asked) return over(c)
      const fields = await fieldsOf(c)
      if (fields.decision !== 'allow') {
        return c.redirect(await server.answer(...nodeOf(c), undefined), 303)
      }
      try {
        const grant = await giveConsent(done, who, asked, {
          agent: fields.agent ?? '',
          writes: fields.access === 'write',
          presets: fields.tools ? [fields.tools] : [],
          projects: Object.keys(fields)
            .flatMap((name) => /^project_P(\d{1,15})$/.exec(name)?.[1] ?? [])
            .map(Number),
        })
        return c.redirect(await server.answer(...nodeOf(c), grant), 303)
      } catch (error) {
        if (!(error instanceof AppError)) throw error
        return show(c, who, asked, {
          agent: fields.agent ?? '',
          wrong: inPeoplesWords(error),
          status: STATUS[error.code],
        })
      }
    }),
  )

  app.post('/account/grants/:id/revoke', (c) =>
    asPerson(c, 'revoke_grant', async (who) => {
      await people(who, 'revoke_grant', { id: c.req.param('id') })
      return c.redirect('/account', 303)
    }),
  )

  async function show(
    c: Context,
    who: PersonActor,
    asked: Asked,
    { agent, wrong, status = 200 }: { agent?: string; wrong?: string; status?: number } = {},
  ): Promise<Response> {
    const fresh = done.store.now() - who.session.signedInAt <= FRESH_MS
    if (!fresh) cookie.comeBackTo(c, new URL(c.req.url).pathname)
    const { projects } = await done.call(who, 'list_projects', { limit: 100 })
    const body = consentPage({
      asked,
      agent: agent ?? agentNameFor(asked.client.name),
      writes: mayWrite(who, asked),
      projects: projects as { id: string; name: string }[],
      fresh,
      ...(wrong === undefined ? {} : { wrong }),
    })
    return sendPage(c, {
      title: 'Connect a host',
      body,
      person: who,
      status,
      ...(asked.returnsTo === undefined ? {} : { leadsTo: asked.returnsTo }),
    })
  }
}

/** The request and the response as Node has them, which oidc-provider wants. */
export function nodeOf(c: Context): [HttpBindings['incoming'], HttpBindings['outgoing']] {
  const { incoming, outgoing } = c.env as HttpBindings
  return [incoming, outgoing]
}

function over(c: Context): Response {
  return messagePage(c, {
    title: 'Nothing is asked here any more',
    lines: ['The request is over, or was begun in another browser. Start again in the host.'],
    status: 410,
  })
}
