import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type HttpWorld, linkFor, newHttpWorld } from '../../test/http.ts'
import { ALLOW, type Jar, jarOf, jarOfAna, newHost, type Page, pkce } from '../../test/oauth.ts'

const CALLBACK = 'http://127.0.0.1:9999/callback'
const HOUR = 3_600_000

let door: HttpWorld
let ana: Jar
/** Documents of clients, by their address; what is not there can't be reached. */
const documents = new Map<string, () => Response>()
beforeAll(async () => {
  door = await newHttpWorld(undefined, async (url) => {
    const found = documents.get(String(url))
    if (!found) throw new Error('not there')
    return found()
  })
})
afterAll(() => door.close())

/** Each misuse comes from another address, so that only those who mean it meet the limits. */
let from = ''
let address = 0
let signedInAt = 0
beforeEach(async () => {
  from = `10.0.${++address >> 8}.${address & 255}`
  // Who has signed in a while ago can't decide, and the clock of a test may have moved.
  const now = door.world.done.store.now()
  if (now !== signedInAt) ana = await jarOfAna(door)
  signedInAt = now
})

interface Answered {
  status: number
  json: Record<string, any>
}

async function send(path: string, init: RequestInit & { headers?: Record<string, string> } = {}) {
  const answer = await fetch(door.origin + path, {
    method: 'POST',
    redirect: 'manual',
    ...init,
    headers: { 'x-forwarded-for': from, ...init.headers },
  })
  const text = await answer.text()
  const json = (text.startsWith('{') ? JSON.parse(text) : {}) as Record<string, any>
  return { status: answer.status, json, text, headers: answer.headers }
}

const post = (path: string, fields: Record<string, string>, headers: Record<string, string> = {}) =>
  send(path, { body: new URLSearchParams(fields), headers })

const register = (metadata: object = {}) =>
  send('/oauth/register', {
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      client_name: 'Misuser',
      redirect_uris: [CALLBACK],
      grant_types: ['authorization_code', 'refresh_token', 'urn:ietf:params:oauth:grant-type:device_code'],
      token_endpoint_auth_method: 'none',
      ...metadata,
    }),
  })

let kept: string | undefined
async function publicClient(): Promise<string> {
  kept ??= (await register()).json.client_id as string
  return kept
}

type Fields = Record<string, string | undefined>

/** A request for authorization that is right but for what is given; null leaves a parameter out. */
async function requestOf(
  changed: Record<string, string | null> = {},
): Promise<{ url: string; verifier: string }> {
  const { verifier, challenge } = pkce()
  const right: Record<string, string | null> = {
    response_type: 'code',
    client_id: await publicClient(),
    redirect_uri: CALLBACK,
    code_challenge: challenge,
    code_challenge_method: 'S256',
    state: 'of the host',
    scope: 'read write',
    resource: `${door.origin}/mcp`,
    ...changed,
  }
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(right)) if (value !== null) query.set(name, value)
  return { url: `${door.origin}/oauth/authorize?${query}`, verifier }
}

/** How a request for authorization is refused: in the answer to the host, or on a page where no host can be trusted. */
async function refusal(page: Page): Promise<string> {
  if (page.address.origin !== door.origin) {
    const { search, hash } = page.address
    const said = new URLSearchParams(search || hash.slice(1))
    expect(said.get('iss')).toBe(door.origin)
    expect(said.get('code')).toBeNull()
    return `host ${said.get('error')}`
  }
  const [, error = ''] = /<code>(\w+)<\/code>/.exec(page.text) ?? []
  expect(page.status).toBeGreaterThanOrEqual(400)
  return `page ${error}`
}

const asked = async (changed: Record<string, string | null>, more = '') =>
  refusal(await ana.go((await requestOf(changed)).url + more))

/** Everything right up to the code. */
async function codeFor(changed: Record<string, string | null> = {}, jar = ana) {
  const { url, verifier } = await requestOf(changed)
  const page = await jar.go(url)
  const { address } = await jar.submit(page.address.href, ALLOW)
  const code = address.searchParams.get('code')
  if (code === null) throw new Error(`No code came: ${page.status} ${address}`)
  return { code, verifier }
}

async function exchange(given: { code: string; verifier: string }, changed: Fields = {}): Promise<Answered> {
  return post('/oauth/token', {
    ...defined({
      grant_type: 'authorization_code',
      code: given.code,
      code_verifier: given.verifier,
      client_id: await publicClient(),
      redirect_uri: CALLBACK,
      ...changed,
    }),
  })
}

const defined = (fields: Fields): Record<string, string> =>
  Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  )

async function tokensFor(changed: Record<string, string | null> = {}) {
  const { status, json } = await exchange(await codeFor(changed))
  if (status !== 200) throw new Error(`No token came: ${JSON.stringify(json)}`)
  return json as { access_token: string; refresh_token: string; scope: string }
}

const refresh = async (token: string, changed: Fields = {}): Promise<Answered> =>
  post(
    '/oauth/token',
    defined({
      grant_type: 'refresh_token',
      refresh_token: token,
      client_id: await publicClient(),
      ...changed,
    }),
  )

const list = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }
const HEADERS = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }

/** The status that a token gets at the MCP endpoint. */
const atMcp = async (token: string, body: object = list) =>
  send('/mcp', { headers: { ...HEADERS, authorization: `Bearer ${token}` }, body: JSON.stringify(body) })

const refused = ({ status, json }: Answered) => `${status} ${json.error}`

describe('a request for authorization is refused', () => {
  const wrong: [string, Record<string, string | null>, string][] = [
    ['without PKCE', { code_challenge: null, code_challenge_method: null }, 'host invalid_request'],
    ['with PKCE downgraded to plain', { code_challenge_method: 'plain' }, 'host invalid_request'],
    ['with a challenge of no method', { code_challenge_method: null }, 'host invalid_request'],
    ['with a challenge that is too short', { code_challenge: 'short' }, 'host invalid_request'],
    ['for a token at once', { response_type: 'token' }, 'host unsupported_response_type'],
    ['for a code and a token', { response_type: 'code token' }, 'host unsupported_response_type'],
    ['for an identity', { response_type: 'id_token', nonce: 'n' }, 'host unsupported_response_type'],
    ['without a type', { response_type: null }, 'host invalid_request'],
    ['with the answer as a form', { response_mode: 'form_post' }, 'page unsupported_response_mode'],
    ['with the answer in a fragment', { response_mode: 'fragment' }, 'page unsupported_response_mode'],
    ['to an address off by a character', { redirect_uri: `${CALLBACK}s` }, 'page invalid_redirect_uri'],
    ['to an address with a query', { redirect_uri: `${CALLBACK}?to=evil` }, 'page invalid_redirect_uri'],
    ['to an address with a fragment', { redirect_uri: `${CALLBACK}#evil` }, 'page invalid_redirect_uri'],
    ['to an address that goes up', { redirect_uri: `${CALLBACK}/../evil` }, 'page invalid_redirect_uri'],
    [
      'to the same address by another name',
      { redirect_uri: 'http://localhost:9999/callback' },
      'page invalid_redirect_uri',
    ],
    [
      'to an address with a user in it',
      { redirect_uri: 'http://127.0.0.1:9999@evil.example/callback' },
      'page invalid_redirect_uri',
    ],
    [
      'to https in place of http',
      { redirect_uri: 'https://127.0.0.1:9999/callback' },
      'page invalid_redirect_uri',
    ],
    ['to no address', { redirect_uri: null }, 'page invalid_request'],
    ['by an unknown client', { client_id: 'nobody' }, 'page invalid_client'],
    ['by no client', { client_id: null }, 'page invalid_request'],
    ['for another server’s resource', { resource: 'https://other.example/mcp' }, 'host invalid_target'],
    ['for a resource of another path', { resource: '/mcpx' }, 'host invalid_target'],
    ['for a resource that is none', { resource: 'mcp' }, 'host invalid_target'],
    ['by a request object', { request: 'e30.e30.' }, 'host request_not_supported'],
    [
      'by the address of a request object',
      { request_uri: 'https://evil.example/r' },
      'host request_uri_not_supported',
    ],
    ['with a registration inside', { registration: '{}' }, 'host registration_not_supported'],
    ['when nobody is to be asked', { prompt: 'none' }, 'host consent_required'],
    ['with an unknown prompt', { prompt: 'skip' }, 'host invalid_request'],
    ['with a scope of forbidden letters', { scope: 'read"write' }, 'host invalid_scope'],
  ]
  it.each(wrong)('%s', async (_name, changed, expected) => {
    expect(await asked(changed)).toBe(expected)
  })

  it.each([
    ['client_id', 'page invalid_request'],
    ['redirect_uri', 'page invalid_request'],
    ['code_challenge', 'host invalid_request'],
    ['state', 'host invalid_request'],
  ])('with %s twice', async (name, expected) => {
    expect(await asked({}, `&${name}=other`)).toBe(expected)
  })

  it('for two resources, of which one is another’s', async () => {
    expect(await asked({}, `&resource=${encodeURIComponent('https://other.example')}`)).toBe(
      'host invalid_target',
    )
  })

  it('by POST, or pushed ahead', async () => {
    const { url } = await requestOf()
    expect((await send(url.slice(door.origin.length))).status).toBe(404)
    expect((await post('/oauth/request', {})).status).toBe(404)
  })
})

describe('a consent is refused', () => {
  const opened = async (jar = ana, changed: Record<string, string | null> = {}) =>
    jar.go((await requestOf(changed)).url)

  it('in a frame', async () => {
    const { headers } = await opened()
    expect(headers.get('x-frame-options')).toBe('DENY')
    expect(headers.get('content-security-policy')).toContain(`frame-ancestors 'none'`)
  })

  it('from another site’s page', async () => {
    const { address } = await opened()
    const { cookie } = (await door.browser()).headers
    const headers = { cookie: cookie!, origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }
    expect((await post(address.pathname, ALLOW, headers)).status).toBe(403)
  })

  it('in another browser than the one that was asked', async () => {
    const { address } = await opened()
    const other = await jarOfAna(door)
    expect((await other.submit(address.href, ALLOW)).status).toBe(410)
  })

  it('by a token, and by nobody', async () => {
    const { address } = await opened()
    const own = { origin: door.origin, 'sec-fetch-site': 'same-origin' }
    const { token } = door.world.scout
    expect((await post(address.pathname, ALLOW, { ...own, authorization: `Bearer ${token}` })).status).toBe(
      401,
    )
    expect((await post(address.pathname, ALLOW, own)).status).toBe(401)
  })

  it('when it was passed over', async () => {
    const { address } = await opened()
    const uid = address.pathname.slice('/connect/'.length)
    const page = await ana.go(`/oauth/authorize/${uid}`)
    expect(page.address.pathname).toMatch(/^\/connect\//)
    expect(page.text).toContain('Allow')
  })

  it('when it was given before', async () => {
    const { address } = await opened()
    expect((await ana.submit(address.href, ALLOW)).address.searchParams.get('code')).not.toBeNull()
    expect((await ana.submit(address.href, ALLOW)).status).toBe(410)
  })

  it('when it is wider than what was asked', async () => {
    const { address, text } = await opened(ana, { scope: 'read' })
    expect(text).not.toContain('read and write')
    expect((await ana.submit(address.href, ALLOW)).status).toBe(400)
  })

  it('when a viewer would let a host write', async () => {
    const viewer = await jarOfAna(door, await linkFor(door.world, `Vera ${address}`, 'viewer'))
    const page = await opened(viewer)
    expect(page.text).not.toContain('read and write')
    expect((await viewer.submit(page.address.href, ALLOW)).status).toBe(400)
  })

  it('for an agent of somebody else, an agent that is called like a person, and a project that is not there', async () => {
    const max = await jarOfAna(door, await linkFor(door.world, `Max ${address}`, 'member'))
    const page = await opened(max)
    expect((await max.submit(page.address.href, { ...ALLOW, agent: 'scout' })).status).toBe(409)
    expect((await max.submit(page.address.href, { ...ALLOW, agent: 'Ana' })).status).toBe(409)
    expect((await max.submit(page.address.href, { ...ALLOW, project_P999: 'on' })).status).toBe(404)
    expect((await max.submit(page.address.href, { ...ALLOW, tools: 'everything' })).status).toBe(400)
  })

  it('when the sign-in is older than 15 minutes', async () => {
    const { address } = await opened()
    door.world.pass(16 * 60_000)
    expect((await ana.go(address.href)).text).toContain('Sign in again')
    expect((await ana.submit(address.href, ALLOW)).status).toBe(403)
  })
})

describe('a code is refused', () => {
  it.each<[string, Fields, string]>([
    ['with another verifier', { code_verifier: pkce().verifier }, '400 invalid_grant'],
    ['without a verifier', { code_verifier: undefined }, '400 invalid_grant'],
    ['with its challenge as verifier', { code_verifier: 'a'.repeat(43) }, '400 invalid_grant'],
    ['with another address', { redirect_uri: `${CALLBACK}s` }, '400 invalid_grant'],
    ['without an address', { redirect_uri: undefined }, '400 invalid_request'],
    ['for another resource', { resource: 'https://other.example' }, '400 invalid_target'],
    ['off by a character', { code: 'x'.repeat(43) }, '400 invalid_grant'],
    ['by an unknown client', { client_id: 'nobody' }, '401 invalid_client'],
    ['by no client', { client_id: undefined }, '400 invalid_request'],
    ['as a password', { grant_type: 'password' }, '400 unsupported_grant_type'],
    ['as the client’s own', { grant_type: 'client_credentials' }, '400 unsupported_grant_type'],
    [
      'in exchange',
      { grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange' },
      '400 unsupported_grant_type',
    ],
  ])('%s', async (_name, changed, expected) => {
    expect(refused(await exchange(await codeFor(), changed))).toBe(expected)
  })

  it('by another client than it was given to', async () => {
    const other = (await register()).json.client_id as string
    expect(refused(await exchange(await codeFor(), { client_id: other }))).toBe('400 invalid_grant')
  })

  it('twice, and what came of it the first time is taken back', async () => {
    const given = await codeFor()
    const { json } = await exchange(given)
    expect((await atMcp(json.access_token)).status).toBe(200)
    expect(refused(await exchange(given))).toBe('400 invalid_grant')
    expect((await atMcp(json.access_token)).status).toBe(401)
    expect(refused(await refresh(json.refresh_token))).toBe('400 invalid_grant')
  })

  it('but once of many that come at the same moment', async () => {
    const given = await codeFor()
    const answers = await Promise.all(Array.from({ length: 8 }, () => exchange(given)))
    expect(answers.filter(({ status }) => status === 200).length).toBeLessThanOrEqual(1)
  })

  it('after a minute', async () => {
    const given = await codeFor()
    door.world.pass(61_000)
    expect(refused(await exchange(given))).toBe('400 invalid_grant')
  })

  it('in an address, and as JSON', async () => {
    const { code, verifier } = await codeFor()
    const fields = { grant_type: 'authorization_code', code, code_verifier: verifier }
    expect((await send(`/oauth/token?${new URLSearchParams(fields)}`, { method: 'GET' })).status).toBe(404)
    const headers = { 'content-type': 'application/json' }
    expect(refused(await send('/oauth/token', { headers, body: JSON.stringify(fields) }))).toBe(
      '400 invalid_request',
    )
  })

  it('from a client with a secret that does not show it', async () => {
    const { json } = await register({ token_endpoint_auth_method: 'client_secret_post' })
    const client_id = json.client_id as string
    const given = await codeFor({ client_id })
    expect(refused(await exchange(given, { client_id }))).toBe('401 invalid_client')
    expect(refused(await exchange(given, { client_id, client_secret: 'guessed' }))).toBe('401 invalid_client')
    expect((await exchange(given, { client_id, client_secret: json.client_secret })).status).toBe(200)
  })
})

describe('a token is refused', () => {
  it('to be renewed twice, and all of its family with it', async () => {
    const first = await tokensFor()
    const second = (await refresh(first.refresh_token)).json as typeof first
    expect((await atMcp(second.access_token)).status).toBe(200)
    expect(refused(await refresh(first.refresh_token))).toBe('400 invalid_grant')
    expect((await atMcp(second.access_token)).status).toBe(401)
    expect(refused(await refresh(second.refresh_token))).toBe('400 invalid_grant')
  })

  it('to be renewed by another client, for more, for elsewhere, or after a month', async () => {
    const { refresh_token } = await tokensRead()
    const other = (await register()).json.client_id as string
    expect(refused(await refresh(refresh_token, { client_id: other }))).toBe('400 invalid_grant')
    expect(refused(await refresh(refresh_token, { scope: 'read write' }))).toBe('400 invalid_scope')
    expect(refused(await refresh(refresh_token, { resource: door.origin }))).toBe('400 invalid_target')
    door.world.pass(31 * 24 * HOUR)
    expect(refused(await refresh(refresh_token))).toBe('400 invalid_grant')
  })

  /** Tokens of a grant that only reads. */
  async function tokensRead() {
    const { url, verifier } = await requestOf({ scope: 'read' })
    const page = await ana.go(url)
    const { address } = await ana.submit(page.address.href, { ...ALLOW, access: 'read' })
    const { json } = await exchange({ code: address.searchParams.get('code')!, verifier })
    return json as { access_token: string; refresh_token: string; scope: string }
  }

  it('for another resource than it was asked for', async () => {
    const { access_token } = await tokensFor()
    const authorization = `Bearer ${access_token}`
    const rest = await send('/api/tasks', { method: 'GET', headers: { authorization } })
    expect(rest.status).toBe(401)
    expect(rest.headers.get('www-authenticate')).toContain('error="invalid_token"')
    const whole = await tokensFor({ resource: door.origin })
    const good = { authorization: `Bearer ${whole.access_token}` }
    expect((await send('/api/tasks', { method: 'GET', headers: good })).status).toBe(200)
    expect((await atMcp(whole.access_token)).status).toBe(200)
  })

  it('where it is no access token, in an address, and as a session', async () => {
    const { access_token, refresh_token } = await tokensFor()
    const { code } = await codeFor()
    expect((await atMcp(refresh_token)).status).toBe(401)
    expect((await atMcp(code)).status).toBe(401)
    expect(
      (await send(`/mcp?access_token=${access_token}`, { headers: HEADERS, body: JSON.stringify(list) }))
        .status,
    ).toBe(401)
    expect((await jarOf(door, `done_session=${access_token}`).go('/account')).status).toBe(401)
    const session = (await door.browser()).headers.cookie!.split('=')[1]!
    expect((await atMcp(session)).status).toBe(401)
  })

  it('after an hour, once it is revoked, once its host is disconnected, and once its person has left', async () => {
    const old = await tokensFor()
    door.world.pass(HOUR + 1000)
    expect((await atMcp(old.access_token)).status).toBe(401)
    ana = await jarOfAna(door)

    const revoked = await tokensFor()
    const client_id = await publicClient()
    expect((await post('/oauth/revoke', { token: revoked.refresh_token, client_id })).status).toBe(200)
    expect((await atMcp(revoked.access_token)).status).toBe(401)

    const other = await tokensFor()
    const stranger = (await register()).json.client_id as string
    await post('/oauth/revoke', { token: other.refresh_token, client_id: stranger })
    expect((await atMcp(other.access_token)).status).toBe(200)

    const lea = await jarOfAna(door, await linkFor(door.world, `Lea ${address}`, 'member'))
    const { url, verifier } = await requestOf()
    const page = await lea.go(url)
    const back = await lea.submit(page.address.href, { ...ALLOW, agent: `of Lea ${address}` })
    const { json } = await exchange({ code: back.address.searchParams.get('code')!, verifier })
    expect((await atMcp(json.access_token)).status).toBe(200)
    const id = await idOf(`Lea ${address}`)
    await ana.submit(`/members/${id}/remove`, {})
    expect((await atMcp(json.access_token)).status).toBe(401)
  })

  async function idOf(name: string): Promise<string> {
    const { members } = await door.world.ana.call('list_members', { limit: 100 })
    return members.find((each: { name: string }) => each.name === name).id
  }

  it('to write where it was given to read, by a challenge that names all that is needed', async () => {
    const { access_token, scope } = await tokensRead()
    expect(scope).toBe('read')
    const call = {
      jsonrpc: '2.0',
      id: 2,
      method: 'tools/call',
      params: { name: 'create_task', arguments: { title: 'No' } },
    }
    const answer = await atMcp(access_token, call)
    expect(answer.status).toBe(403)
    const challenge = answer.headers.get('www-authenticate')
    expect(challenge).toContain('error="insufficient_scope"')
    expect(challenge).toContain('scope="read write"')
    expect(challenge).toContain(`resource_metadata="${door.origin}/.well-known/oauth-protected-resource/mcp"`)
    expect(
      (await atMcp(access_token, { ...call, params: { name: 'list_tasks', arguments: {} } })).status,
    ).toBe(200)
  })
})

describe('a device', () => {
  const begin = async (client?: string) =>
    (await post('/oauth/device/code', { client_id: client ?? (await publicClient()), scope: 'read write' }))
      .json
  const poll = async (device_code: string, client?: string) =>
    post('/oauth/token', {
      grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
      device_code,
      client_id: client ?? (await publicClient()),
    })
  const xsrfOf = (page: Page) => /name="xsrf" value="(\w+)"/.exec(page.text)?.[1] ?? ''

  async function enter(code: string, decision: Record<string, string>): Promise<Page> {
    const form = await ana.go('/oauth/device')
    await ana.submit('/oauth/device', { xsrf: xsrfOf(form), user_code: code })
    return ana.submit('/oauth/device', { xsrf: xsrfOf(form), user_code: code, ...decision })
  }

  it('waits for its person, is let in once, and nobody else by its code', async () => {
    const { device_code, user_code, verification_uri } = await begin()
    expect(verification_uri).toBe(`${door.origin}/oauth/device`)
    expect(refused(await poll(device_code))).toBe('400 authorization_pending')
    const other = (await register()).json.client_id as string
    expect(refused(await poll(device_code, other))).toBe('400 invalid_grant')
    const page = await enter(user_code, { confirm: 'yes' })
    expect(page.text).toContain('Go on only if you have just started it yourself')
    expect((await ana.submit(page.address.href, ALLOW)).text).toContain('Connected')
    const { json } = await poll(device_code)
    expect((await atMcp(json.access_token)).status).toBe(200)
    expect(refused(await poll(device_code))).toBe('400 invalid_grant')
    expect((await atMcp(json.access_token)).status).toBe(401)
  })

  it('learns that its person has refused', async () => {
    const { device_code, user_code } = await begin()
    const page = await enter(user_code, { confirm: 'yes' })
    await ana.submit(page.address.href, { decision: 'refuse' })
    expect(refused(await poll(device_code))).toBe('400 access_denied')
    const second = await begin()
    await enter(second.user_code, { abort: 'yes' })
    expect(refused(await poll(second.device_code))).toBe('400 access_denied')
  })

  it('is refused with a code that never was, or is over', async () => {
    expect(refused(await poll('x'.repeat(43)))).toBe('400 invalid_grant')
    const { device_code } = await begin()
    door.world.pass(11 * 60_000)
    expect(refused(await poll(device_code))).toBe('400 invalid_grant')
  })

  it('is not connected by a form of another site, without the form’s secret, or by guessing', async () => {
    const { user_code } = await begin()
    const foreign = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }
    expect((await post('/oauth/device', { user_code, confirm: 'yes' }, foreign)).status).toBe(403)
    const page = await ana.submit('/oauth/device', { xsrf: 'guessed', user_code, confirm: 'yes' })
    expect(page.text).not.toContain('Allow')
    const tries = []
    for (let i = 0; i < 25; i++)
      tries.push((await post('/oauth/device', { user_code: `BBBB-BBB${i}` })).status)
    expect(tries.at(-1)).toBe(429)
  })
})

describe('a registration is refused', () => {
  it.each<[string, object, string]>([
    [
      'with an address that is not encrypted',
      { redirect_uris: ['http://evil.example/'] },
      'invalid_redirect_uri',
    ],
    ['with an address that is a script', { redirect_uris: ['javascript:alert(1)'] }, 'invalid_redirect_uri'],
    ['with an address that is data', { redirect_uris: ['data:text/html,hi'] }, 'invalid_redirect_uri'],
    ['with a fragment', { redirect_uris: ['https://host.example/#a'] }, 'invalid_redirect_uri'],
    ['with an address that is none', { redirect_uris: ['callback'] }, 'invalid_redirect_uri'],
    ['without an address', { redirect_uris: [] }, 'invalid_redirect_uri'],
    [
      'for tokens without a code',
      { response_types: ['token'], grant_types: ['implicit'] },
      'invalid_client_metadata',
    ],
    ['for passwords', { grant_types: ['password'] }, 'invalid_client_metadata'],
    ['with keys of its own', { token_endpoint_auth_method: 'private_key_jwt' }, 'invalid_client_metadata'],
  ])('%s', async (_name, metadata, error) => {
    expect(refused(await register(metadata))).toBe(`400 ${error}`)
  })

  it('as something else than JSON, and when it is too large', async () => {
    expect((await post('/oauth/register', { client_name: 'x' })).status).toBe(400)
    expect((await register({ client_name: 'x'.repeat(100_000) })).status).toBe(400)
  })

  it('when one place floods it', async () => {
    const tries = []
    for (let i = 0; i < 22; i++) tries.push((await register()).status)
    expect(tries.slice(0, 20)).toEqual(Array(20).fill(201))
    expect(tries.slice(20)).toEqual([429, 429])
  })
})

describe('a document of a client is refused', () => {
  const id = 'https://host.example/client.json'
  const document = (more: object = {}) => ({
    client_id: id,
    client_name: 'Host',
    redirect_uris: [CALLBACK],
    ...more,
  })
  let next = 0

  async function asks(serve: (id: string) => Response, changed: Record<string, string | null> = {}) {
    const own = `https://host.example/client-${next++}.json`
    documents.set(own, () => serve(own))
    return asked({ client_id: own, ...changed })
  }

  it.each<[string, (id: string) => Response, string]>([
    ['with the id of another', () => Response.json(document()), 'page invalid_client_metadata'],
    [
      'with a secret',
      (own) => Response.json(document({ client_id: own, client_secret: 's' })),
      'page invalid_client_metadata',
    ],
    [
      'with a method of secrets',
      (own) => Response.json(document({ client_id: own, token_endpoint_auth_method: 'client_secret_post' })),
      'page invalid_client_metadata',
    ],
    [
      'with keys of its own',
      (own) =>
        Response.json(
          document({
            client_id: own,
            token_endpoint_auth_method: 'private_key_jwt',
            jwks_uri: 'https://host.example/keys',
          }),
        ),
      'page invalid_client_metadata',
    ],
    ['that leads elsewhere', () => Response.redirect('https://evil.example/', 302), 'page invalid_client'],
    ['that is not there', () => new Response('', { status: 404 }), 'page invalid_client'],
    ['that is no JSON', () => new Response('<p>'), 'page invalid_client'],
    ['that is a list', () => Response.json([]), 'page invalid_client_metadata'],
    [
      'that is too large',
      (own) => Response.json(document({ client_id: own, client_name: 'x'.repeat(6000) })),
      'page invalid_client',
    ],
    [
      'with an address that is a script',
      (own) => Response.json(document({ client_id: own, redirect_uris: ['javascript:alert(1)'] })),
      'page invalid_redirect_uri',
    ],
    [
      'that does not name the address',
      (own) => Response.json(document({ client_id: own, redirect_uris: ['https://host.example/back'] })),
      'page invalid_redirect_uri',
    ],
  ])('%s', async (_name, serve, expected) => {
    expect(await asks(serve)).toBe(expected)
  })

  it.each([
    'http://host.example/client.json',
    'https://host.example/a/../client.json',
    'https://user@host.example/c.json',
    'https://host.example/c.json#a',
  ])('at %s', async (client_id) => {
    expect(await asked({ client_id })).toBe('page invalid_client')
  })
})

describe('a document at an address that is not public is never fetched', () => {
  let real: HttpWorld
  beforeAll(async () => {
    real = await newHttpWorld()
  })
  afterAll(() => real.close())

  it.each([
    '127.0.0.1',
    '127.1',
    '2130706433',
    '0x7f000001',
    '0177.0.0.1',
    'localhost',
    '10.0.0.1',
    '172.16.0.1',
    '192.168.1.1',
    '169.254.169.254',
    '100.64.0.1',
    '0.0.0.0',
    '192.0.2.1',
    '198.18.0.1',
    '224.0.0.1',
    '[::1]',
    '[::]',
    '[::ffff:127.0.0.1]',
    '[64:ff9b::7f00:1]',
    '[2002:7f00:1::]',
    '[fe80::1]',
    '[fc00::1]',
    '[::ffff:10.0.0.1]',
    '[2001:db8::1]',
  ])('%s', async (host) => {
    const query = new URLSearchParams({
      response_type: 'code',
      client_id: `https://${host}/client.json`,
      redirect_uri: CALLBACK,
      code_challenge: pkce().challenge,
      code_challenge_method: 'S256',
    })
    const page = await jarOf(real).go(`/oauth/authorize?${query}`)
    expect([page.status, page.text.includes('invalid_client')]).toEqual([400, true])
    expect(page.text).not.toContain(host)
  })
})

describe('a mix-up', () => {
  it('is seen by the host: every answer names this server, and another’s name ends it', async () => {
    const host = newHost(door)
    const page = await ana.go((await host.connect())!.href)
    const { address: back } = await ana.submit(page.address.href, ALLOW)
    expect(back.searchParams.get('iss')).toBe(door.origin)
    back.searchParams.set('iss', 'https://evil.example')
    await expect(host.finish(back)).rejects.toThrow()
    expect(host.tokens()).toBeUndefined()
  })
})
