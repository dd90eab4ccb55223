import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PEOPLE_ADDRESSES } from '../src/http/rest.ts'
import { FRESH_MS } from '../src/model/actor.ts'
import { refusalsSince } from '../src/store/access.ts'
import { ask, asking, codeFor, type Given, grantFor, register } from './grant.ts'
import { type Client, formOf, type HttpWorld, linkFor, newHttpWorld } from './http.ts'
import { mcpMessage } from './mcp-call.ts'
import { ALLOW, CALLBACK, type Jar, jarOf } from './oauth.ts'
import { restCall } from './rest-call.ts'
import { unsafeRoutes } from './routes.ts'

/**
 * Ways round the approval gate by the doors that OAuth adds (spec: gate, ways 22, 23, 25 and 27): the consent page, and the
 * endpoints of registration, tokens and devices. Nothing closes, nobody becomes more than they were, and what a known caller
 * was refused is on record. Generated from the catalogue of operations, from the routes of the app, and from tables of what
 * one could ask for.
 */

let door: HttpWorld
let ana: Client
let cookie: string
let page: Record<string, string>
/** Everything secret that OAuth hands out, and what is like it. */
const secrets = new Map<string, string>()
let whole: Given
const tally = { ways: 0, refusals: 0 }

const SECRETS = [
  'the token of a grant',
  'the token of a grant for /mcp',
  'the token of a grant to read',
  'a refresh token',
  'a code',
  'a device’s code',
  'a client’s id',
  'a token of an agent',
  'the secret of a session',
] as const
type SecretName = (typeof SECRETS)[number]

/** Who is an agent in REST by it; with any other secret nobody is anybody there. */
const AGENTS: readonly SecretName[] = [
  'the token of a grant',
  'the token of a grant to read',
  'a token of an agent',
]
const AT_MCP: readonly SecretName[] = [...AGENTS, 'the token of a grant for /mcp']

beforeAll(async () => {
  door = await newHttpWorld()
  const { scout } = door.world
  ana = await door.browser()
  cookie = ana.headers.cookie!
  page = { origin: door.origin, 'sec-fetch-site': 'same-origin' }
  await scout.call('create_task', { title: 'Gated' })
  await scout.call('complete_task', { id: 'T1' })
  const given = (resource: string, access: 'read' | 'write') =>
    grantFor(door, cookie, { resource, access, agent: 'scout' })
  whole = await given(door.origin, 'write')
  const { json: device } = await ask(door, '/oauth/device/code', {
    client_id: (await deviceClient()).client_id,
  })
  const { code } = await codeFor(door, cookie, whole.client)
  const all: Record<SecretName, string> = {
    'the token of a grant': whole.access,
    'the token of a grant for /mcp': (await given(`${door.origin}/mcp`, 'write')).access,
    'the token of a grant to read': (await given(door.origin, 'read')).access,
    'a refresh token': whole.refresh,
    'a code': code,
    'a device’s code': device.device_code,
    'a client’s id': whole.client,
    'a token of an agent': scout.token!,
    'the secret of a session': cookie.split('=')[1]!,
  }
  for (const [name, secret] of Object.entries(all)) {
    expect(secret, name).toBeTypeOf('string')
    secrets.set(name, secret)
  }
})
afterAll(async () => {
  console.log(`gate, OAuth: ${tally.ways} ways, ${tally.refusals} refusals recorded, 0 closed`)
  await door.close()
})

/** Whoever signs in so often has to wait. */
async function newBrowser(link?: string): Promise<Client> {
  door.world.pass(60_000)
  return door.browser(link)
}

const deviceClient = async () =>
  (await register(door, { grant_types: ['urn:ietf:params:oauth:grant-type:device_code'] })).json

/** What stands in the way of nobody: closed without a sign-off, signed off, and refused. */
async function record() {
  await door.world.done.access.flush()
  const [tasks] = await door.world.look<{ n: number }>(
    `SELECT COUNT(*) AS n FROM tasks WHERE status IN ('done', 'cancelled')`,
  )
  const [signOffs] = await door.world.look<{ n: number }>('SELECT COUNT(*) AS n FROM sign_offs')
  const refused = await door.world.done.store.read(door.world.ana.actor, 'test', (tx) => refusalsSince(tx, 0))
  return { closed: Number(tasks!.n) + Number(signOffs!.n), refusals: refused.length }
}

/** Makes a try that must close nothing and leave so many refusals. */
async function tryIt<T>(refusals: number, way: () => Promise<T>): Promise<T> {
  const before = await record()
  const answer = await way()
  const after = await record()
  expect(after.closed, 'nothing is closed').toBe(before.closed)
  expect(after.refusals - before.refusals, 'refusals on record').toBe(refusals)
  tally.ways++
  tally.refusals += refusals
  return answer
}

describe.each(SECRETS)('%s', (name) => {
  const bearer = () => ({ authorization: `Bearer ${secrets.get(name)}` })

  it('does nothing that is for people, sent as a bearer’s', async () => {
    const isAgent = AGENTS.includes(name)
    for (const address of PEOPLE_ADDRESSES) {
      const { method, path, body } = restCall(address, address.tool.example)
      // A page’s headers, and the cookie of a person beside it, lend it nothing.
      for (const more of [{}, { ...page, cookie }]) {
        const sent = { headers: { ...bearer(), ...more }, ...(body ? { body } : {}) }
        const answer = await tryIt(isAgent ? 1 : 0, () => door.nobody.send(method, path, sent))
        expect([address.name, answer.status]).toEqual([address.name, isAgent ? 403 : 401])
      }
    }
  })

  it('calls nothing at /mcp that is for people', async () => {
    for (const { name: operation, tool } of PEOPLE_ADDRESSES) {
      const { headers, body } = mcpMessage(operation, tool.example)
      const answer = await tryIt(0, () =>
        door.nobody.send('POST', '/mcp', { headers: { ...headers, ...bearer() }, body }),
      )
      if (AT_MCP.includes(name)) expect([operation, answer.json.error.code]).toEqual([operation, -32602])
      else expect([operation, answer.status]).toEqual([operation, 401])
    }
  })

  it('opens no page, as a cookie or as a bearer’s', async () => {
    const fields = new URLSearchParams(formOf((await ana.get('/sign-off/A1')).text)).toString()
    const routes = [
      ...unsafeRoutes(door)
        .filter(({ path }) => !/^\/(api|oauth|mcp|\.well-known)\b/.test(path))
        .map(({ method, path }) => ({ method, path: path.replace('/sign-off/T8999', '/sign-off/A1') })),
      ...['/sign-off', '/sign-off/A1', '/account', '/members'].map((path) => ({ method: 'GET', path })),
    ]
    const as = [
      bearer(),
      ...(name === 'the secret of a session' ? [] : [{ cookie: `done_session=${secrets.get(name)}` }]),
    ]
    for (const { method, path } of routes) {
      for (const credential of as) {
        const form = { 'content-type': 'application/x-www-form-urlencoded', ...page }
        const sent = { headers: { ...form, ...credential }, ...(method === 'GET' ? {} : { body: fields }) }
        const { status, headers } = await tryIt(0, () => door.nobody.send(method, path, sent))
        const begins = /^\/(sign-in|join)\b/.test(path) && path !== '/sign-in/again'
        if (!begins) expect([path, status]).toEqual([path, 401])
        expect(String(headers['set-cookie']), path).not.toContain('done_session=')
      }
    }
  })
})

/** Scopes that one could wish for. */
const WISHES = [
  ...['approve', 'sign_off', 'owner', 'admin', 'people', '*', 'openid offline_access', 'read write approve'],
  ...['read write owner', 'write sign_off', 'READ WRITE'],
]

/** What a host has by a token that it may have got somehow: no more than an agent has. */
async function isOnlyAnAgent(token: string | undefined, writes: boolean): Promise<void> {
  if (token === undefined) return
  const agent = door.agent(token)
  const me = (await agent.get('/api/me')).json
  expect(me).toMatchObject({ kind: 'agent', owner: 'U1 Ana' })
  const { form } = (await ana.get('/api/people/sign-offs/A1')).json
  const approved = await tryIt(1, () => agent.post('/api/people/sign-offs/A1/approve', form))
  expect(approved.json.error.code).toBe('people_only')
  const made = await agent.post('/api/projects', { name: `By a token ${tally.ways}` })
  expect(made.status).toBe(writes ? 200 : 403)
}

describe('the token endpoint', () => {
  it.each(WISHES)('gives no more for the scope "%s"', async (scope) => {
    for (const access of ['read', 'write'] as const) {
      const given = await grantFor(door, cookie, { resource: door.origin, access, agent: 'scout' })
      const { status, json } = await tryIt(0, () =>
        ask(door, '/oauth/token', {
          grant_type: 'refresh_token',
          client_id: given.client,
          refresh_token: given.refresh,
          scope,
        }),
      )
      expect([200, 400]).toContain(status)
      await isOnlyAnAgent(json.access_token, access === 'write')
    }
  })

  it.each(['write', 'read write'])('lets a grant to read not grow to "%s"', async (scope) => {
    const given = await grantFor(door, cookie, { resource: door.origin, access: 'read', agent: 'scout' })
    const refresh = { grant_type: 'refresh_token', client_id: given.client, refresh_token: given.refresh }
    const { json } = await tryIt(0, () => ask(door, '/oauth/token', { ...refresh, scope }))
    await isOnlyAnAgent(json.access_token, false)
  })

  it.each([
    'password',
    'client_credentials',
    'implicit',
    'session',
    'urn:ietf:params:oauth:grant-type:token-exchange',
    'urn:ietf:params:oauth:grant-type:jwt-bearer',
    'urn:openid:params:grant-type:ciba',
    '__proto__',
  ])('knows no grant of the type %s', async (grant_type) => {
    const everything = {
      grant_type,
      client_id: whole.client,
      username: 'Ana',
      password: 'x',
      subject_token: whole.access,
      subject_token_type: 'urn:ietf:params:oauth:token-type:access_token',
      assertion: whole.access,
      scope: 'read write',
    }
    for (const headers of [{}, { cookie, ...page }, { authorization: `Bearer ${whole.access}` }]) {
      const { status, json } = await tryIt(0, () => ask(door, '/oauth/token', everything, headers))
      expect([400, 401]).toContain(status)
      expect(json).not.toHaveProperty('access_token')
    }
  })

  it.each([
    ['of another client', async () => ({ client_id: (await register(door)).json.client_id as string })],
    ['without its secret', async () => ({ code_verifier: '' })],
    ['with another secret', async () => ({ code_verifier: 'x'.repeat(43) })],
    ['sent elsewhere', async () => ({ redirect_uri: 'http://127.0.0.1:9998/callback' })],
    ['for a resource of another', async () => ({ resource: 'https://evil.example/mcp' })],
    ['for operations for people', async () => ({ resource: `${door.origin}/api/people` })],
  ])('takes no code %s', async (_, otherwise) => {
    const { code, verifier } = await codeFor(door, cookie, whole.client, { resource: door.origin })
    const fields = {
      grant_type: 'authorization_code',
      client_id: whole.client,
      redirect_uri: CALLBACK,
      code,
      code_verifier: verifier,
      ...(await otherwise()),
    }
    const { status, json } = await tryIt(0, () => ask(door, '/oauth/token', fields))
    expect([400, 401]).toContain(status)
    expect(json).not.toHaveProperty('access_token')
  })
})

describe('asking a person', () => {
  const asks: [says: string, query: Record<string, string>][] = [
    ...WISHES.map((scope): [string, Record<string, string>] => [`the scope ${scope}`, { scope }]),
    ...['token', 'id_token', 'code token', 'none'].map((response_type): [string, Record<string, string>] => [
      `the response type ${response_type}`,
      { response_type },
    ]),
    ...['none', 'login', 'create'].map((prompt): [string, Record<string, string>] => [
      `the prompt ${prompt}`,
      { prompt },
    ]),
    ['a person to be', { login_hint: 'U1', id_token_hint: 'x', acr_values: 'owner' }],
    ['claims', { claims: '{"id_token":{"role":{"value":"owner"}}}' }],
    ['no PKCE', { code_challenge: '', code_challenge_method: 'plain' }],
    ['a resource of another', { resource: 'https://evil.example/' }],
    ['the operations for people', { resource: 'http://127.0.0.1/api/people' }],
    ['another return', { redirect_uri: 'https://evil.example/callback' }],
  ]

  it.each(asks)('for %s gives an agent at most, though the person allows all', async (_, query) => {
    const { address, verifier } = asking(door, whole.client, { resource: door.origin, ...query })
    const jar = jarOf(door, cookie)
    const token = await tryIt(0, async () => {
      const shown = await jar.go(address.href)
      if (!shown.address.pathname.startsWith('/connect/')) return undefined
      const back = await jar.submit(shown.address.href, ALLOW)
      // It asked for nothing that can be given, so that the person is asked again.
      if (back.address.pathname === shown.address.pathname) return undefined
      expect(back.address.href.startsWith(CALLBACK), back.address.href).toBe(true)
      expect(back.address.hash).toBe('')
      const code = back.address.searchParams.get('code') ?? ''
      const fields = { grant_type: 'authorization_code', client_id: whole.client, redirect_uri: CALLBACK }
      const { json } = await ask(door, '/oauth/token', { ...fields, code, code_verifier: verifier })
      return json.access_token as string | undefined
    })
    if (token)
      await isOnlyAnAgent(token, (await door.agent(token).get('/api/me')).json.scopes.includes('write'))
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
    const secret = secrets.get(name)!
    const before = await grants()
    const { at } = await askedIn(cookie)
    const path = new URL(at).pathname
    for (const credential of [{ cookie: `done_session=${secret}` }, { authorization: `Bearer ${secret}` }]) {
      const headers = { ...page, ...credential, 'content-type': 'application/x-www-form-urlencoded' }
      const body = new URLSearchParams(ALLOW).toString()
      expect((await tryIt(0, () => door.nobody.send('POST', path, { headers, body }))).status).toBe(401)
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
      expect((await tryIt(1, () => door.nobody.send('POST', path, { headers, body }))).status).toBe(403)
    }
    expect(await grants()).toBe(before)
  })

  it('takes none for what another browser was asked', async () => {
    const { at } = await askedIn(cookie)
    const other = jarOf(door, (await newBrowser()).headers.cookie)
    expect((await tryIt(0, () => other.submit(at, ALLOW))).status).toBe(410)
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
      await isOnlyAnAgent(json.access_token, false)
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
    const answer = await tryIt(refusals, () => jar.submit(at, { ...ALLOW, ...fields }))
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
    await isOnlyAnAgent(json.access_token, true)
  })

  it('lends nobody another’s agent, and lets a viewer give nothing but reading', async () => {
    const before = await grants()
    for (const [name, role, fields, status, refusals] of [
      ['Max', 'member', { ...ALLOW, agent: 'scout' }, 409, 1],
      ['Vera', 'viewer', ALLOW, 400, 0],
    ] as const) {
      const other = (await newBrowser(await linkFor(door.world, name, role))).headers.cookie!
      const { jar, at } = await askedIn(other)
      expect((await tryIt(refusals, () => jar.submit(at, fields))).status).toBe(status)
    }
    expect(await grants()).toBe(before)
  })
})

describe('registration', () => {
  it.each([
    ['scopes', { scope: 'read write approve owner' }],
    ['a password’s grant', { grant_types: ['password'] }],
    ['a grant without a person', { grant_types: ['client_credentials'], redirect_uris: [] }],
    ['an exchange of tokens', { grant_types: ['urn:ietf:params:oauth:grant-type:token-exchange'] }],
    ['tokens by the browser', { grant_types: ['implicit'], response_types: ['token'] }],
    ['a script to return to', { redirect_uris: ['javascript:alert(1)'] }],
    ['data to return to', { redirect_uris: ['data:text/html,x'] }],
    ['an open return', { redirect_uris: ['http://evil.example/callback'] }],
    ['an id of its own choice', { client_id: 'https://trusted.example/client.json' }],
    ['to be somebody', { kind: 'person', account: 1, person: 'U1', trusted: true, sub: 'U1' }],
  ] as [string, object][])('gives nothing for %s', async (_, metadata) => {
    for (const headers of [{}, { ...page, cookie }, { authorization: `Bearer ${whole.access}` }]) {
      const sent = { redirect_uris: [CALLBACK], token_endpoint_auth_method: 'none', ...metadata }
      const answer = await tryIt(0, () => register(door, sent, headers))
      if (answer.status === 400) continue
      expect(answer.status).toBe(201)
      expect(['authorization_code', 'refresh_token']).toEqual(expect.arrayContaining(answer.json.grant_types))
      expect(answer.json.response_types).toEqual(['code'])
      expect(answer.json.client_id).not.toContain('trusted')
      for (const uri of answer.json.redirect_uris) expect(uri).toMatch(/^http:\/\/127\.0\.0\.1/)
      for (const name of ['scope', 'kind', 'account', 'person', 'trusted', 'sub'])
        expect(answer.json).not.toHaveProperty(name)
    }
  })
})

describe('the device’s endpoints', () => {
  it('give nothing before a person has decided, whoever types the code', async () => {
    const client_id = (await deviceClient()).client_id as string
    const { json: device } = await ask(door, '/oauth/device/code', { client_id, scope: 'read write approve' })
    if (device.error) expect(device.error).toBe('invalid_scope')
    const { json: plain } = await ask(door, '/oauth/device/code', { client_id, scope: 'read write' })
    const poll = {
      grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
      client_id,
      device_code: plain.device_code as string,
    }
    const waits = async () => (await tryIt(0, () => ask(door, '/oauth/token', poll))).json.error
    expect(await waits()).toBe('authorization_pending')
    for (const name of SECRETS) {
      const secret = secrets.get(name)!
      for (const headers of [
        { authorization: `Bearer ${secret}` },
        { cookie: `done_session=${secret}` },
        { cookie: `done_oauth=${secret}` },
      ]) {
        const typed = { user_code: plain.user_code as string, confirm: 'yes', xsrf: 'x' }
        const { status } = await tryIt(0, () => ask(door, '/oauth/device', typed, headers))
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
  const answer = await tryIt(1, () => jar.submit(at, ALLOW))
  expect(answer.status).toBe(403)
  expect(await grants()).toBe(before)
})
