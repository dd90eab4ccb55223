import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ask, asking, codeFor, type Given, grantFor, register } from './grant.ts'
import type { HttpWorld } from './http.ts'
import { ALLOW, CALLBACK, jarOf } from './oauth.ts'
import { newOAuthGate, type OAuthGate } from './oauth-gate.ts'

/**
 * Ways round the approval gate by what a host can ask for (spec: gate, way 23): of the token endpoint, of a person who allows
 * everything, and as it makes itself known. Whatever comes of it is an agent's, at most.
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

/** Scopes that one could wish for. */
const WISHES = [
  ...['approve', 'sign_off', 'owner', 'admin', 'people', '*', 'openid offline_access', 'read write approve'],
  ...['read write owner', 'write sign_off', 'READ WRITE'],
]

describe('the token endpoint', () => {
  it.each(WISHES)('gives no more for the scope "%s"', async (scope) => {
    for (const access of ['read', 'write'] as const) {
      const given = await grantFor(door, cookie, { resource: door.origin, access, agent: 'scout' })
      const { status, json } = await gate.tryIt(0, () =>
        ask(door, '/oauth/token', {
          grant_type: 'refresh_token',
          client_id: given.client,
          refresh_token: given.refresh,
          scope,
        }),
      )
      expect([200, 400]).toContain(status)
      await gate.isOnlyAnAgent(json.access_token, access === 'write')
    }
  })

  it.each(['write', 'read write'])('lets a grant to read not grow to "%s"', async (scope) => {
    const given = await grantFor(door, cookie, { resource: door.origin, access: 'read', agent: 'scout' })
    const refresh = { grant_type: 'refresh_token', client_id: given.client, refresh_token: given.refresh }
    const { json } = await gate.tryIt(0, () => ask(door, '/oauth/token', { ...refresh, scope }))
    await gate.isOnlyAnAgent(json.access_token, false)
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
      const { status, json } = await gate.tryIt(0, () => ask(door, '/oauth/token', everything, headers))
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
    const { status, json } = await gate.tryIt(0, () => ask(door, '/oauth/token', fields))
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
    const token = await gate.tryIt(0, async () => {
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
      await gate.isOnlyAnAgent(token, (await door.agent(token).get('/api/me')).json.scopes.includes('write'))
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
      const answer = await gate.tryIt(0, () => register(door, sent, headers))
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
