import { type AddressInfo, createServer } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type HttpWorld, newHttpWorld } from '../../test/http.ts'
import { CALLBACK, type Changes, misuser, refused } from '../../test/misuse.ts'
import { ALLOW, jarOf, type Page, pkce } from '../../test/oauth.ts'

const at = misuser()
const { send, post, register, publicClient, asked, atMcp, documents } = at

beforeAll(() => at.open())
beforeEach(() => at.next())
afterAll(() => at.close())

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
    const form = await at.ana.go('/oauth/device')
    await at.ana.submit('/oauth/device', { xsrf: xsrfOf(form), user_code: code })
    return at.ana.submit('/oauth/device', { xsrf: xsrfOf(form), user_code: code, ...decision })
  }

  it('waits for its person, is let in once, and nobody else by its code', async () => {
    const { device_code, user_code, verification_uri } = await begin()
    expect(verification_uri).toBe(`${at.door.origin}/oauth/device`)
    expect(refused(await poll(device_code))).toBe('400 authorization_pending')
    const other = (await register()).json.client_id as string
    expect(refused(await poll(device_code, other))).toBe('400 invalid_grant')
    const page = await enter(user_code, { confirm: 'yes' })
    expect(page.text).toContain('Go on only if you have just started it yourself')
    expect((await at.ana.submit(page.address.href, ALLOW)).text).toContain('Connected')
    const { json } = await poll(device_code)
    expect((await atMcp(json.access_token)).status).toBe(200)
    expect(refused(await poll(device_code))).toBe('400 invalid_grant')
    expect((await atMcp(json.access_token)).status).toBe(401)
  })

  it('gets nothing at a resource that its person was not asked about', async () => {
    const fields = new URLSearchParams({ client_id: await publicClient(), scope: 'read write' })
    for (const resource of [`${at.door.origin}/mcp`, at.door.origin]) fields.append('resource', resource)
    const { json } = await send('/oauth/device/code', { body: fields })
    const page = await enter(json.user_code, { confirm: 'yes' })
    await at.ana.submit(page.address.href, ALLOW)
    const answer = await send('/oauth/token', {
      body: new URLSearchParams({
        grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
        device_code: json.device_code,
        client_id: await publicClient(),
        resource: at.door.origin,
      }),
    })
    const authorization = `Bearer ${answer.json.access_token}`
    const rest = await send('/api/tasks', { method: 'GET', headers: { authorization } })
    expect(rest.status).toBe(401)
  })

  it('learns that its person has refused', async () => {
    const { device_code, user_code } = await begin()
    const page = await enter(user_code, { confirm: 'yes' })
    await at.ana.submit(page.address.href, { decision: 'refuse' })
    expect(refused(await poll(device_code))).toBe('400 access_denied')
    const second = await begin()
    await enter(second.user_code, { abort: 'yes' })
    expect(refused(await poll(second.device_code))).toBe('400 access_denied')
  })

  it('is refused with a code that never was, or is over', async () => {
    expect(refused(await poll('x'.repeat(43)))).toBe('400 invalid_grant')
    const { device_code } = await begin()
    at.door.world.pass(11 * 60_000)
    expect(refused(await poll(device_code))).toBe('400 invalid_grant')
  })

  it('is not connected by a form of another site, without the form’s secret, or by guessing', async () => {
    const { user_code } = await begin()
    const foreign = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }
    expect((await post('/oauth/device', { user_code, confirm: 'yes' }, foreign)).status).toBe(403)
    const page = await at.ana.submit('/oauth/device', { xsrf: 'guessed', user_code, confirm: 'yes' })
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

  it.each(['/oauth/register/', '/oauth/REGISTER', '/OAUTH/register'])('at %s', async (path) => {
    const body = JSON.stringify({ redirect_uris: [CALLBACK] })
    expect((await send(path, { headers: { 'content-type': 'application/json' }, body })).status).toBe(404)
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

  async function asks(serve: (id: string) => Response, changed: Changes = {}) {
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
  /** Somebody listens on this machine, so that whoever were led here would be seen. */
  let met = 0
  const there = createServer((socket) => {
    met++
    socket.destroy()
  })
  beforeAll(async () => {
    real = await newHttpWorld()
    await new Promise<void>((resolve) => there.listen(0, '127.0.0.1', resolve))
  })
  afterAll(async () => {
    there.close()
    await real.close()
  })

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
      client_id: `https://${host}:${(there.address() as AddressInfo).port}/client.json`,
      redirect_uri: CALLBACK,
      code_challenge: pkce().challenge,
      code_challenge_method: 'S256',
    })
    const page = await jarOf(real).go(`/oauth/authorize?${query}`)
    expect([page.status, page.text.includes('invalid_client')]).toEqual([400, true])
    expect(page.text).not.toContain(host)
    expect(met).toBe(0)
  })
})
