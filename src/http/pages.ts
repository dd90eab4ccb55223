import type { Context, Hono } from 'hono'
import { askForSignature, ownPasskeys } from '../auth/passkey.ts'
import type { PersonActor } from '../model/actor.ts'
import { challengeOf } from '../model/assertion.ts'
import { AppError } from '../model/error.ts'
import type { Brief, SignOffFacts } from '../people/facts.ts'
import type { Deletion } from '../people/trash.ts'
import type { AppDeps } from './app.ts'
import { deskOf, fieldsOf } from './desk.ts'
import { sendFile } from './file.ts'
import { homePage } from './home-page.ts'
import { ICON, messagePage, sendPage } from './page.ts'
import { asked, groundsOf } from './passkey-pages.ts'
import { STATUS } from './problem.ts'
import { type AnsweredQuestion, answeredPage, type OpenQuestion, questionPage } from './question-page.ts'
import { type Notice, signOffList, signOffPage } from './sign-off-page.ts'
import { inPeoplesWords } from './words.ts'

/** Puts up the pages that work without script: the sign-off, what waits, files. */
export function pages(app: Hono, deps: AppDeps): void {
  const { done, people } = deps
  const { person, asPerson } = deskOf(deps)

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
      const { version, hash, nonce, response } = await fieldsOf(c)
      const assertion = response ? { assertion: response } : {}
      return decide(c, who, id, 'sign_off', { id, version, hash, nonce, ...assertion }, nonce)
    }),
  )

  app.post('/sign-off/:id/ask', (c) =>
    asPerson(c, 'get_sign_off', async (who) => {
      const { version, hash = '', nonce = '' } = await fieldsOf(c)
      const facts = (await people(who, 'get_sign_off', { id: c.req.param('id') })) as SignOffFacts
      const decided = {
        account: who.account,
        request: Number(facts.id.slice(1)),
        task: Number(facts.task.id.slice(1)),
        version: Number(version),
        hash,
        target: facts.asks,
      }
      return asked(c, askForSignature(done, who, challengeOf(decided, nonce), groundsOf(c, deps)))
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
    const byPasskey = (await ownPasskeys(done, who)).length > 0
    const body = signOffPage(facts, who, done.store.now(), { notice: said, byPasskey })
    const title = `${facts.id} ${facts.task.title}`
    return sendPage(c, { title, body, person: who, status, ...(byPasskey ? { script: '/passkey.js' } : {}) })
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
}
