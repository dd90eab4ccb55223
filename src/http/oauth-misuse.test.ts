import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { linkFor } from '../../test/http.ts'
import { CALLBACK, type Changes, type Fields, HEADERS, LIST, misuser, refused } from '../../test/misuse.ts'
import { ALLOW, jarOf, jarOfAna, newHost, pkce } from '../../test/oauth.ts'

const HOUR = 3_600_000

const at = misuser()
const {
  send,
  post,
  register,
  publicClient,
  requestOf,
  asked,
  codeFor,
  exchange,
  tokensFor,
  refresh,
  atMcp,
  named,
} = at

beforeAll(() => at.open())
beforeEach(() => at.next())
afterAll(() => at.close())

describe('a request for authorization is refused', () => {
  const wrong: [string, Changes, string][] = [
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

  it('for two resources', async () => {
    expect(await asked({}, `&resource=${encodeURIComponent('https://other.example')}`)).toBe(
      'page invalid_target',
    )
  })

  it('by POST, or pushed ahead', async () => {
    const { url } = await requestOf()
    expect((await send(url.slice(at.door.origin.length))).status).toBe(404)
    expect((await post('/oauth/request', {})).status).toBe(404)
  })
})

describe('a consent is refused', () => {
  const opened = async (jar = at.ana, changed: Changes = {}) => jar.go((await requestOf(changed)).url)

  it('in a frame', async () => {
    const { headers } = await opened()
    expect(headers.get('x-frame-options')).toBe('DENY')
    expect(headers.get('content-security-policy')).toContain(`frame-ancestors 'none'`)
  })

  it('from another site’s page', async () => {
    const { address } = await opened()
    const { cookie } = (await at.door.browser()).headers
    const headers = { cookie: cookie!, origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }
    expect((await post(address.pathname, ALLOW, headers)).status).toBe(403)
  })

  it('in another browser than the one that was asked', async () => {
    const { address } = await opened()
    const other = await jarOfAna(at.door)
    expect((await other.submit(address.href, ALLOW)).status).toBe(410)
  })

  it('by a token, and by nobody', async () => {
    const { address } = await opened()
    const own = { origin: at.door.origin, 'sec-fetch-site': 'same-origin' }
    const { token } = at.door.world.scout
    expect((await post(address.pathname, ALLOW, { ...own, authorization: `Bearer ${token}` })).status).toBe(
      401,
    )
    expect((await post(address.pathname, ALLOW, own)).status).toBe(401)
  })

  it('when it was passed over', async () => {
    const { address } = await opened()
    const uid = address.pathname.slice('/connect/'.length)
    const page = await at.ana.go(`/oauth/authorize/${uid}`)
    expect(page.address.pathname).toMatch(/^\/connect\//)
    expect(page.text).toContain('Allow')
  })

  it('when it was given before', async () => {
    const { address } = await opened()
    expect((await at.ana.submit(address.href, ALLOW)).address.searchParams.get('code')).not.toBeNull()
    expect((await at.ana.submit(address.href, ALLOW)).status).toBe(410)
  })

  it('when it is wider than what was asked', async () => {
    const { address, text } = await opened(at.ana, { scope: 'read' })
    expect(text).not.toContain('read and write')
    expect((await at.ana.submit(address.href, ALLOW)).status).toBe(400)
  })

  it('when a viewer would let a host write', async () => {
    const viewer = await jarOfAna(at.door, await linkFor(at.door.world, named('Vera'), 'viewer'))
    const page = await opened(viewer)
    expect(page.text).not.toContain('read and write')
    expect((await viewer.submit(page.address.href, ALLOW)).status).toBe(400)
  })

  it('for an agent of somebody else, an agent that is called like a person, and a project that is not there', async () => {
    const max = await jarOfAna(at.door, await linkFor(at.door.world, named('Max'), 'member'))
    const page = await opened(max)
    expect((await max.submit(page.address.href, { ...ALLOW, agent: 'scout' })).status).toBe(409)
    expect((await max.submit(page.address.href, { ...ALLOW, agent: 'Ana' })).status).toBe(409)
    expect((await max.submit(page.address.href, { ...ALLOW, project_P999: 'on' })).status).toBe(404)
    expect((await max.submit(page.address.href, { ...ALLOW, tools: 'everything' })).status).toBe(400)
  })

  it('when the sign-in is older than 15 minutes', async () => {
    const { address } = await opened()
    at.door.world.pass(16 * 60_000)
    expect((await at.ana.go(address.href)).text).toContain('Sign in again')
    expect((await at.ana.submit(address.href, ALLOW)).status).toBe(403)
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
    // At the first time one may be ahead of the others, which then find it used when they look.
    for (let round = 0; round < 4; round++) {
      const given = await codeFor()
      const answers = await Promise.all(Array.from({ length: 8 }, () => exchange(given)))
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    }
  })

  it('after a minute', async () => {
    const given = await codeFor()
    at.door.world.pass(61_000)
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
    expect(refused(await refresh(refresh_token, { resource: at.door.origin }))).toBe('400 invalid_target')
    at.door.world.pass(31 * 24 * HOUR)
    expect(refused(await refresh(refresh_token))).toBe('400 invalid_grant')
  })

  /** Tokens of a grant that only reads. */
  async function tokensRead() {
    const { url, verifier } = await requestOf({ scope: 'read' })
    const page = await at.ana.go(url)
    const { address } = await at.ana.submit(page.address.href, { ...ALLOW, access: 'read' })
    const { json } = await exchange({ code: address.searchParams.get('code')!, verifier })
    return json as { access_token: string; refresh_token: string; scope: string }
  }

  it('for another resource than it was asked for', async () => {
    const { access_token } = await tokensFor()
    const authorization = `Bearer ${access_token}`
    const rest = await send('/api/tasks', { method: 'GET', headers: { authorization } })
    expect(rest.status).toBe(401)
    expect(rest.headers.get('www-authenticate')).toContain('error="invalid_token"')
    const whole = await tokensFor({ resource: at.door.origin })
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
      (await send(`/mcp?access_token=${access_token}`, { headers: HEADERS, body: JSON.stringify(LIST) }))
        .status,
    ).toBe(401)
    expect((await jarOf(at.door, `done_session=${access_token}`).go('/account')).status).toBe(401)
    const session = (await at.door.browser()).headers.cookie!.split('=')[1]!
    expect((await atMcp(session)).status).toBe(401)
  })

  it('after an hour, once it is revoked, once its host is disconnected, and once its person has left', async () => {
    const old = await tokensFor()
    at.door.world.pass(HOUR + 1000)
    expect((await atMcp(old.access_token)).status).toBe(401)
    await at.signIn()

    const revoked = await tokensFor()
    const client_id = await publicClient()
    expect((await post('/oauth/revoke', { token: revoked.refresh_token, client_id })).status).toBe(200)
    expect((await atMcp(revoked.access_token)).status).toBe(401)

    const other = await tokensFor()
    const stranger = (await register()).json.client_id as string
    await post('/oauth/revoke', { token: other.refresh_token, client_id: stranger })
    expect((await atMcp(other.access_token)).status).toBe(200)

    const lea = await jarOfAna(at.door, await linkFor(at.door.world, named('Lea'), 'member'))
    const { url, verifier } = await requestOf()
    const page = await lea.go(url)
    const back = await lea.submit(page.address.href, { ...ALLOW, agent: named('of Lea') })
    const { json } = await exchange({ code: back.address.searchParams.get('code')!, verifier })
    expect((await atMcp(json.access_token)).status).toBe(200)
    const id = await idOf(named('Lea'))
    await at.ana.submit(`/members/${id}/remove`, {})
    expect((await atMcp(json.access_token)).status).toBe(401)
  })

  async function idOf(name: string): Promise<string> {
    const { members } = await at.door.world.ana.call('list_members', { limit: 100 })
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
    expect(challenge).toContain(
      `resource_metadata="${at.door.origin}/.well-known/oauth-protected-resource/mcp"`,
    )
    expect(
      (await atMcp(access_token, { ...call, params: { name: 'list_tasks', arguments: {} } })).status,
    ).toBe(200)
  })
})

describe('a mix-up', () => {
  it('is seen by the host: every answer names this server, and another’s name ends it', async () => {
    const host = newHost(at.door)
    const page = await at.ana.go((await host.connect())!.href)
    const { address: back } = await at.ana.submit(page.address.href, ALLOW)
    expect(back.searchParams.get('iss')).toBe(at.door.origin)
    back.searchParams.set('iss', 'https://evil.example')
    await expect(host.finish(back)).rejects.toThrow()
    expect(host.tokens()).toBeUndefined()
  })
})
