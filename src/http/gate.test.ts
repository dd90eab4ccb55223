import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Client, formOf, type HttpWorld, linkFor, newHttpWorld } from '../../test/http.ts'
import { actorOfSession } from '../auth/actor.ts'
import { refusalsSince } from '../store/access.ts'

/** Ways round the gate through a browser and REST (spec: gate): each must fail, with nothing closed. */

let door: HttpWorld
let scout: Client
let ana: Client
beforeEach(async () => {
  door = await newHttpWorld()
  scout = door.agent(door.world.scout.token!)
  ana = await door.browser()
  await scout.post('/api/tasks', { title: 'Rotate the certificate', steps: [{ title: 'Order' }] })
  await scout.post('/api/tasks/T1/complete', { summary: 'Rotated.' })
})
afterEach(() => door.close())

const form = async (by: Client = ana, id = 'A1') => formOf((await by.get(`/sign-off/${id}`)).text)
const approve = async (fields: Record<string, string>, by: Client = ana, id = 'A1') =>
  by.form(`/sign-off/${id}/approve`, fields)
const status = async (id = 'T1') => (await ana.get(`/api/tasks/${id}`)).json.status
const refused = async () => {
  await door.world.done.access.flush()
  return door.world.done.store.read(door.world.ana.actor, 'test', (tx) => refusalsSince(tx, 0))
}

/** Runs a way round: it must close nothing and leave one refusal. */
async function fails(way: () => Promise<{ status: number }>, statuses: number[], task = 'awaiting_approval') {
  const before = (await refused()).length
  const answer = await way()
  expect(statuses).toContain(answer.status)
  expect(await status()).toBe(task)
  expect((await refused()).length - before).toBe(1)
}

describe('the honest way', () => {
  it('closes the task, tells the agent, and shows the decision', async () => {
    const decided = await approve(await form())
    expect([decided.status, decided.headers.location]).toEqual([303, '/sign-off/A1'])
    expect(await status()).toBe('done')
    const page = (await ana.get('/sign-off/A1')).text
    expect(page).toContain('Signed off by <bdi>Ana</bdi>')
    expect(page).toContain('a link from the console')
    expect(page).not.toContain('<button class="pri">Approve')
    expect((await ana.get('/sign-off')).text).toContain('Nothing waits for you.')
  })

  it('sends work back with a note that the agent finds', async () => {
    expect((await ana.form('/sign-off/A1/reject', { note: 'The log is missing.' })).status).toBe(303)
    expect((await scout.get('/api/tasks/T1')).json).toMatchObject({
      status: 'open',
      news: { sent_back: { note: 'The log is missing.' } },
    })
    const empty = await ana.form('/sign-off/A1/reject', { note: ' ' })
    expect(empty.status).toBe(400)
  })

  it('is the same over REST with a session', async () => {
    const facts = (await ana.get('/api/people/sign-offs/A1')).json
    const decided = await ana.post('/api/people/sign-offs/A1/approve', facts.form)
    expect([decided.status, decided.json]).toMatchObject([200, { id: 'T1', status: 'done', decided: 'A1' }])
    const again = await ana.post('/api/people/sign-offs/A1/approve', facts.form)
    expect([again.status, again.json.already]).toEqual([200, true])
  })
})

describe('binding', () => {
  it('fails where something changed after the page was opened, and shows what', async () => {
    const seen = await form()
    door.world.pass(1000)
    await scout.post('/api/tasks/T1/artifacts', { title: 'Log', text: 'later' })
    expect(await status()).toBe('open')
    await fails(() => approve(seen), [409], 'open')
    const page = (await approve(seen)).text
    expect(page).toContain('Not approved.')
    expect(page).toContain('Changed since you opened the page')
    expect(page).toContain('This request is no longer valid')
  })

  it('fails after a change and a change back', async () => {
    const seen = await form()
    const title = (text: string) => scout.send('PATCH', '/api/tasks/T1', { body: { title: text } })
    await title('Rotate something else')
    await title('Rotate the certificate')
    await scout.post('/api/tasks/T1/complete')
    const before = (await refused()).length
    expect((await approve(seen)).status).toBe(409)
    expect((await approve(seen, ana, 'A2')).status).toBe(409)
    expect(await status()).toBe('awaiting_approval')
    expect((await refused()).length - before).toBe(2)
    const { version, hash } = await form(ana, 'A2')
    expect([version, hash]).not.toEqual([seen.version, seen.hash])
  })

  it('fails with the version and hash of now, but a nonce of before', async () => {
    const seen = await form()
    await scout.send('PATCH', '/api/tasks/T1', { body: { title: 'Other' } })
    await scout.post('/api/tasks/T1/complete')
    const now = await form(ana, 'A2')
    await fails(() => approve({ ...now, nonce: seen.nonce }, ana, 'A2'), [409])
  })

  it('fails after 15 minutes, and from a form nobody was shown', async () => {
    const seen = await form()
    await fails(() => approve({ ...seen, nonce: '' }), [400, 409])
    await fails(() => approve({ ...seen, nonce: `${Date.now()}.${'0'.repeat(64)}` }), [409])
    await fails(() => approve({ version: seen.version, hash: seen.hash }), [400])
    door.world.pass(14 * 60_000)
    const later = await form()
    door.world.pass(90_000)
    const ana2 = await door.browser()
    await fails(() => approve(seen, ana2), [409])
    await fails(() => approve(later), [403])
  })

  it('fails with the form of another session, another request, or of somebody else', async () => {
    const other = await door.browser()
    const theirs = await form(other)
    await fails(() => approve(theirs, ana), [409])
    await scout.post('/api/tasks', { title: 'Second' })
    await scout.post('/api/tasks/T2/complete')
    const second = await form(ana, 'A2')
    await fails(() => approve(second, ana, 'A1'), [409])
    expect(await status('T2')).toBe('awaiting_approval')
  })

  it('fails when replayed after the task was opened again', async () => {
    const seen = await form()
    await approve(seen)
    expect((await scout.post('/api/tasks/T1/reopen', { reason: 'Not yet.' })).status).toBe(200)
    expect(await status()).toBe('open')
    await fails(() => approve(seen), [409], 'open')
    const { request } = (await scout.post('/api/tasks/T1/complete')).json
    await fails(() => approve(seen, ana, request), [409])
  })

  it('lets one of two closers close, and tells the other', async () => {
    const jules = await door.browser(await linkFor(door.world, 'Jules', 'member'))
    const theirs = await form(jules)
    expect((await approve(await form())).status).toBe(303)
    await fails(() => approve(theirs, jules), [409], 'done')
    await fails(() => jules.form('/sign-off/A1/reject', { note: 'No.' }), [409], 'done')
    expect((await approve(theirs, jules)).text).toContain('Signed off by <bdi>Ana</bdi>')
  })
})

describe('who decides', () => {
  it('is never a body, a header, a client name or a tool', async () => {
    for (const body of [
      { approver: 'U1' },
      { approved: true },
      { actor: 'human' },
      { auto_ok: true },
      { confirm: true },
      { force: true },
      { skip_approval: true },
    ]) {
      await fails(() => scout.post('/api/tasks/T1/complete', body), [400])
    }
    const claims = {
      'x-user': 'U1',
      'x-forwarded-user': 'Ana',
      'user-agent': 'Ana',
      'x-actor-kind': 'person',
      from: 'ana',
    }
    const told = await scout.send('POST', '/api/tasks/T1/complete', { headers: claims, body: {} })
    expect(told.json).toMatchObject({ status: 'awaiting_approval', already: true })
    await fails(
      () =>
        scout.send('POST', '/api/people/sign-offs/A1/approve', {
          headers: claims,
          body: { version: 1, hash: 'x', nonce: 'x' },
        }),
      [403],
    )
    await fails(() => scout.send('PATCH', '/api/tasks/T1', { body: { status: 'done' } }), [400])
    await fails(() => scout.send('PATCH', '/api/tasks/T1', { body: { status: 'Done ' } }), [400])
  })

  it('is not whoever holds a token, put where a session goes, or the other way round', async () => {
    const { token } = door.world.scout
    const page = { origin: door.origin, 'sec-fetch-site': 'same-origin' }
    const asCookie = { ...page, cookie: `done_session=${token}` }
    const posted = await door.nobody.send('POST', '/sign-off/A1/approve', {
      headers: { ...asCookie, 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams(await form()).toString(),
    })
    expect(posted.status).toBe(401)
    const rest = await door.nobody.send('POST', '/api/people/sign-offs/A1/approve', {
      headers: asCookie,
      body: await form(),
    })
    expect(rest.status).toBe(401)
    const secret = ana.headers.cookie!.split('=')[1]!
    const asBearer = await door.nobody.send('POST', '/api/people/sign-offs/A1/approve', {
      headers: { ...page, authorization: `Bearer ${secret}` },
      body: await form(),
    })
    expect(asBearer.status).toBe(401)
    // With both, the token decides: the cookie of a person beside it lends it nothing.
    await fails(
      async () =>
        door.nobody.send('POST', '/api/people/sign-offs/A1/approve', {
          headers: { ...page, ...ana.headers, authorization: `Bearer ${token}` },
          body: await form(),
        }),
      [403],
    )
    expect(await status()).toBe('awaiting_approval')
  })

  it('is not a viewer', async () => {
    const eve = await door.browser(await linkFor(door.world, 'Eve', 'viewer'))
    const page = (await eve.get('/sign-off/A1')).text
    expect(page).toContain('A member or the owner decides.')
    expect(page).not.toContain('/approve')
    await fails(() => approve({ version: '1', hash: 'x', nonce: 'x' }, eve), [403])
    await fails(() => eve.form('/sign-off/A1/reject', { note: 'x' }), [403])
    await fails(() => eve.post('/api/tasks/T1/complete'), [403])
  })

  it('must have signed in within 15 minutes, and the page says so', async () => {
    door.world.pass(16 * 60_000)
    const page = (await ana.get('/sign-off/A1')).text
    expect(page).toContain('because your sign-in is older than 15 minutes')
    expect(page).toContain('What Done recorded')
    expect(page).toContain('href="/sign-in/again"')
    expect(page).not.toContain('/approve')
    await fails(
      () => ana.post('/api/people/sign-offs/A1/approve', { version: 1, hash: 'x', nonce: 'x' }),
      [403],
    )
    await fails(() => ana.post('/api/people/sign-offs/A1/reject', { note: 'x' }), [403])
    await fails(() => ana.send('PUT', '/api/people/tasks/T1/auto-ok', { body: { auto_ok: true } }), [403])
    await fails(() => ana.post('/api/tasks/T1/complete'), [403])
  })

  it('can’t be an ended session, not even between the request and the decision', async () => {
    const seen = await form()
    const { call } = door.world.done
    const actor = (await actorOfSession(door.world.done.store, ana.headers.cookie!.split('=')[1]!))!
    await ana.form('/sign-out', {})
    expect((await approve(seen)).status).toBe(401)
    await expect(call(actor, 'complete_task', { id: 'T1' })).rejects.toMatchObject({ code: 'people_only' })
    expect((await scout.get('/api/tasks/T1')).json.status).toBe('awaiting_approval')
  })
})

describe('the browser', () => {
  it('decides nothing by GET, HEAD or prefetch', async () => {
    const seen = new URLSearchParams(await form()).toString()
    for (const method of ['GET', 'HEAD']) {
      for (const path of [
        '/sign-off/A1/approve',
        '/sign-off/A1/reject',
        '/api/people/sign-offs/A1/approve',
      ]) {
        const answer = await ana.send(method, `${path}?${seen}`, {
          headers: { purpose: 'prefetch', 'sec-purpose': 'prefetch' },
        })
        expect([404, 405]).toContain(answer.status)
      }
    }
    expect(await status()).toBe('awaiting_approval')
  })

  it('refuses another site’s form, framing, and forms that are none', async () => {
    const seen = await form()
    const body = new URLSearchParams(seen).toString()
    const evil = (headers: Record<string, string>) =>
      door.nobody.send('POST', '/sign-off/A1/approve', {
        headers: {
          cookie: ana.headers.cookie!,
          'content-type': 'application/x-www-form-urlencoded',
          ...headers,
        },
        body,
      })
    await fails(() => evil({ origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }), [403])
    await fails(() => evil({ 'sec-fetch-site': 'same-site', origin: 'http://127.0.0.1:1' }), [403])
    await fails(() => evil({ origin: 'null' }), [403])
    await fails(() => evil({}), [403])
    const page = await ana.get('/sign-off/A1')
    expect(page.headers['content-security-policy']).toContain(`frame-ancestors 'none'`)
    expect(page.headers['x-frame-options']).toBe('DENY')
    const twice = await ana.send('POST', '/sign-off/A1/approve', {
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: `${body}&version=1`,
    })
    expect(twice.status).toBe(400)
    const json = await ana.send('POST', '/sign-off/A1/approve', { body: seen })
    expect(json.status).toBe(400)
    expect(await status()).toBe('awaiting_approval')
  })

  it('is told how to sign in, and nothing else, where nobody is', async () => {
    const page = await door.nobody.get('/sign-off/A1')
    expect(page.status).toBe(401)
    expect(page.text).toContain('donectl.js signin-link')
    expect(page.text).not.toContain('certificate')
    expect((await door.nobody.get('/sign-off/A99')).status).toBe(401)
    expect((await scout.get('/sign-off/A1')).status).toBe(401)
  })
})

describe('a task that waits for others', () => {
  it('can’t be approved, and the request stays', async () => {
    await scout.post('/api/tasks', { title: 'First this' })
    const waits = await scout.post('/api/tasks/T1/dependencies', { depends_on: ['T2'] })
    expect(waits.status).toBe(200)
    const page = (await ana.get('/sign-off/A1')).text
    expect(page).toContain('T1 can’t close yet: T2 is open.')
    const { form } = (await ana.get('/api/people/sign-offs/A1')).json
    await fails(() => ana.post('/api/people/sign-offs/A1/approve', form), [409])
    expect((await ana.get('/api/people/sign-offs/A1')).json.state).toBe('pending')
  })
})

describe('where a second person signs off', () => {
  beforeEach(async () => {
    await scout.post('/api/projects', { name: 'Payments' })
    await ana.send('PUT', '/api/people/projects/P1/second-person', { body: { second_person: true } })
    await scout.post('/api/tasks', { title: 'Raise the limit', project_id: 'P1' })
    await scout.post('/api/tasks/T2/complete', { summary: 'Raised.' })
  })

  it('the person whose agent has worked on the task does not, and another one does', async () => {
    const answer = await approve(await form(ana, 'A2'), ana, 'A2')
    expect(answer.status).toBe(403)
    expect(answer.text).toContain('G1 scout, who worked on T2, is an agent of yours')
    expect((await ana.post('/api/tasks/T2/complete', {})).status).toBe(403)
    expect(await status('T2')).toBe('awaiting_approval')
    expect((await refused()).filter(({ message }) => message.includes('a second person'))).toHaveLength(2)

    const max = await door.browser(await linkFor(door.world, 'Max', 'member'))
    expect((await approve(await form(max, 'A2'), max, 'A2')).status).toBe(303)
    expect(await status('T2')).toBe('done')
  })

  it('no agent takes a task away from there, and none lowers what is wanted', async () => {
    const moved = await scout.send('PATCH', '/api/tasks/T2', { body: { project_id: null } })
    expect([moved.status, moved.json.error.code]).toEqual([403, 'people_only'])
    const lowered = await scout.send('PUT', '/api/people/projects/P1/second-person', {
      body: { second_person: false },
    })
    expect(lowered.status).toBe(403)
    expect((await scout.get('/api/projects/P1')).json.second_person).toBe(true)
    expect((await ana.send('PATCH', '/api/tasks/T2', { body: { project_id: null } })).status).toBe(200)
  })
})
