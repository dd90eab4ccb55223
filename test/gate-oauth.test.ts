import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PEOPLE_ADDRESSES } from '../src/http/rest.ts'
import { FRESH_MS } from '../src/model/actor.ts'
import { ask, asking, codeFor, type Given } from './grant.ts'
import { formOf, type HttpWorld, linkFor } from './http.ts'
import { mcpMessage } from './mcp-call.ts'
import { ALLOW, CALLBACK, type Jar, jarOf } from './oauth.ts'
import { deviceClient, newOAuthGate, type OAuthGate, SECRETS, type SecretName } from './oauth-gate.ts'
import { restCall } from './rest-call.ts'
import { unsafeRoutes } from './routes.ts'

/**
 * Ways round the approval gate by what OAuth adds (spec: gate, ways 22, 23, 25 and 27): everything secret that it hands out, in
 * every place where a secret can be put; and the pages on which a person consents. Nothing closes, nobody becomes more than
 * they were, and what a known caller was refused is on record. Generated from the catalogue of operations and from the routes
 * of the app. What hosts can ask for is in gate-oauth-asking.test.ts.
 */

let gate: OAuthGate
let door: HttpWorld
let cookie: string
let page: Record<string, string>
let whole: Given
beforeAll(async () => {
  gate = await newOAuthGate()
  ;({ door, cookie, page, whole } = gate)
})
afterAll(() => gate.close())

/** Who is an agent in REST by it; with any other secret nobody is anybody there. */
const AGENTS: readonly SecretName[] = [
  'the token of a grant',
  'the token of a grant to read',
  'a token of an agent',
]
const AT_MCP: readonly SecretName[] = [...AGENTS, 'the token of a grant for /mcp']

describe.each(SECRETS)('%s', (name) => {
  const bearer = () => ({ authorization: `Bearer ${gate.secrets[name]}` })

  it('does nothing that is for people, sent as a bearer’s', async () => {
    const isAgent = AGENTS.includes(name)
    for (const address of PEOPLE_ADDRESSES) {
      const { method, path, body } = restCall(address, address.tool.example)
      // A page’s headers, and the cookie of a person beside it, lend it nothing.
      for (const more of [{}, { ...page, cookie }]) {
        const sent = { headers: { ...bearer(), ...more }, ...(body ? { body } : {}) }
        const answer = await gate.tryIt(isAgent ? 1 : 0, () => door.nobody.send(method, path, sent))
        expect([address.name, answer.status]).toEqual([address.name, isAgent ? 403 : 401])
      }
    }
  })

  it('calls nothing at /mcp that is for people', async () => {
    for (const { name: operation, tool } of PEOPLE_ADDRESSES) {
      const { headers, body } = mcpMessage(operation, tool.example)
      const answer = await gate.tryIt(0, () =>
        door.nobody.send('POST', '/mcp', { headers: { ...headers, ...bearer() }, body }),
      )
      if (AT_MCP.includes(name)) expect([operation, answer.json.error.code]).toEqual([operation, -32602])
      else expect([operation, answer.status]).toEqual([operation, 401])
    }
  })

  it('opens no page, as a cookie or as a bearer’s', async () => {
    const fields = new URLSearchParams(formOf((await gate.ana.get('/sign-off/A1')).text)).toString()
    const routes = [
      ...unsafeRoutes(door)
        .filter(({ path }) => !/^\/(api|oauth|mcp|\.well-known)\b/.test(path))
        .map(({ method, path }) => ({ method, path: path.replace('/sign-off/T8999', '/sign-off/A1') })),
      ...['/sign-off', '/sign-off/A1', '/account', '/members'].map((path) => ({ method: 'GET', path })),
    ]
    const as = [
      bearer(),
      ...(name === 'the secret of a session' ? [] : [{ cookie: `done_session=${gate.secrets[name]}` }]),
    ]
    for (const { method, path } of routes) {
      for (const credential of as) {
        const form = { 'content-type': 'application/x-www-form-urlencoded', ...page }
        const sent = { headers: { ...form, ...credential }, ...(method === 'GET' ? {} : { body: fields }) }
        const { status, headers } = await gate.tryIt(0, () => door.nobody.send(method, path, sent))
        const begins = /^\/(sign-in|join)\b/.test(path) && path !== '/sign-in/again'
        if (!begins) expect([path, status]).toEqual([path, 401])
        expect(String(headers['set-cookie']), path).not.toContain('done_session=')
      }
    }
  })
})

/** A browser at a page on which a host asks, with who is signed in there. */
async function askedIn(session: string): Promise<{ jar: Jar; at: string }> {
  const jar = jarOf(door, session)
  const { address } = await jar.go(asking(door, whole.client, { resource: door.origin }).address.href)
  return { jar, at: address.href }
}

const grants = async () =>
  Number((await door.world.look<{ n: number }>('SELECT COUNT(*) AS n FROM grants'))[0]!.n)

describe('the consent page', () => {
  it.each(SECRETS.slice(0, -1))('takes no consent of %s', async (name) => {
    const secret = gate.secrets[name]
    const before = await grants()
    const { at } = await askedIn(cookie)
    const path = new URL(at).pathname
    for (const credential of [{ cookie: `done_session=${secret}` }, { authorization: `Bearer ${secret}` }]) {
      const headers = { ...page, ...credential, 'content-type': 'application/x-www-form-urlencoded' }
      const body = new URLSearchParams(ALLOW).toString()
      expect((await gate.tryIt(0, () => door.nobody.send('POST', path, { headers, body }))).status).toBe(401)
    }
    expect(await grants()).toBe(before)
  })

  it('takes none from elsewhere, and puts it on record', async () => {
    const before = await grants()
    const { at } = await askedIn(cookie)
    for (const origin of ['https://evil.example', 'null', `http://localhost:${door.server.port}`]) {
      const headers = {
        cookie,
        origin,
        'sec-fetch-site': origin === 'null' ? 'cross-site' : 'same-site',
        'content-type': 'application/x-www-form-urlencoded',
      }
      const body = new URLSearchParams(ALLOW).toString()
      const path = new URL(at).pathname
      expect((await gate.tryIt(1, () => door.nobody.send('POST', path, { headers, body }))).status).toBe(403)
    }
    expect(await grants()).toBe(before)
  })

  it('takes none for what another browser was asked', async () => {
    const { at } = await askedIn(cookie)
    const other = jarOf(door, (await gate.newBrowser()).headers.cookie)
    expect((await gate.tryIt(0, () => other.submit(at, ALLOW))).status).toBe(410)
  })

  it.each(['approve', 'sign_off', 'owner', 'admin', 'WRITE', ''])(
    'gives to read and no more for the access "%s"',
    async (access) => {
      const { code, verifier } = await codeFor(door, cookie, whole.client, {
        resource: door.origin,
        consent: { access },
      })
      const fields = { grant_type: 'authorization_code', client_id: whole.client, redirect_uri: CALLBACK }
      const { json } = await ask(door, '/oauth/token', { ...fields, code, code_verifier: verifier })
      expect(json.scope).toBe('read')
      await gate.isOnlyAnAgent(json.access_token, false)
    },
  )

  it.each([
    ['people', { tools: 'people' }, 0],
    ['sign_off', { tools: 'sign_off' }, 0],
    ['__proto__', { tools: '__proto__' }, 0],
    ['a project that never was', { project_P8999: 'on' }, 1],
    ['an agent without a name', { agent: '' }, 1],
    ['the name of a person', { agent: 'Ana' }, 1],
  ] as [string, Record<string, string>, number][])('is refused with %s', async (_, fields, refusals) => {
    const before = await grants()
    const { jar, at } = await askedIn(cookie)
    const answer = await gate.tryIt(refusals, () => jar.submit(at, { ...ALLOW, ...fields }))
    expect(answer.status).toBeGreaterThanOrEqual(400)
    expect(await grants()).toBe(before)
  })

  it('makes an agent of whoever calls itself a person', async () => {
    const more = { kind: 'person', person: 'U1', role: 'owner', scopes: 'read write sign_off' }
    const { code, verifier } = await codeFor(door, cookie, whole.client, {
      resource: door.origin,
      consent: more,
    })
    const fields = { grant_type: 'authorization_code', client_id: whole.client, redirect_uri: CALLBACK }
    const { json } = await ask(door, '/oauth/token', { ...fields, code, code_verifier: verifier })
    await gate.isOnlyAnAgent(json.access_token, true)
  })

  it('lends nobody another’s agent, and lets a viewer give nothing but reading', async () => {
    const before = await grants()
    for (const [name, role, fields, status, refusals] of [
      ['Max', 'member', { ...ALLOW, agent: 'scout' }, 409, 1],
      ['Vera', 'viewer', ALLOW, 400, 0],
    ] as const) {
      const other = (await gate.newBrowser(await linkFor(door.world, name, role))).headers.cookie!
      const { jar, at } = await askedIn(other)
      expect((await gate.tryIt(refusals, () => jar.submit(at, fields))).status).toBe(status)
    }
    expect(await grants()).toBe(before)
  })
})

describe('the device’s endpoints', () => {
  it('give nothing before a person has decided, whoever types the code', async () => {
    const client_id = (await deviceClient(door)).client_id as string
    const { json: device } = await ask(door, '/oauth/device/code', { client_id, scope: 'read write approve' })
    if (device.error) expect(device.error).toBe('invalid_scope')
    const { json: plain } = await ask(door, '/oauth/device/code', { client_id, scope: 'read write' })
    const poll = {
      grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
      client_id,
      device_code: plain.device_code as string,
    }
    const waits = async () => (await gate.tryIt(0, () => ask(door, '/oauth/token', poll))).json.error
    expect(await waits()).toBe('authorization_pending')
    for (const name of SECRETS) {
      const secret = gate.secrets[name]
      for (const headers of [
        { authorization: `Bearer ${secret}` },
        { cookie: `done_session=${secret}` },
        { cookie: `done_oauth=${secret}` },
      ]) {
        const typed = { user_code: plain.user_code as string, confirm: 'yes', xsrf: 'x' }
        const { status } = await gate.tryIt(0, () => ask(door, '/oauth/device', typed, headers))
        expect(status).not.toBe(500)
      }
    }
    expect(['authorization_pending', 'slow_down']).toContain(await waits())
  })
})

// The clock is moved, so it comes last.
it('nobody consents whose sign-in is older than 15 minutes, and it is on record', async () => {
  const { jar, at } = await askedIn(cookie)
  door.world.pass(FRESH_MS + 1000)
  const before = await grants()
  const answer = await gate.tryIt(1, () => jar.submit(at, ALLOW))
  expect(answer.status).toBe(403)
  expect(await grants()).toBe(before)
})
