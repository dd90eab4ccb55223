import { expect } from 'vitest'
import { type HttpWorld, newHttpWorld } from './http.ts'
import { ALLOW, type Jar, jarOfAna, type Page, pkce } from './oauth.ts'

/** Where the host of a misuse waits. */
export const CALLBACK = 'http://127.0.0.1:9999/callback'

/** Fields that are other than right; undefined leaves one out. */
export type Fields = Record<string, string | undefined>

/** Parameters that are other than right; null leaves one out. */
export type Changes = Record<string, string | null>

/** What an endpoint answered. */
interface Answered {
  status: number
  json: Record<string, any>
}

/** Does everything right but for what it is told, and says how that was refused. */
export function misuser() {
  let door: HttpWorld
  let ana: Jar
  /** Each misuse comes from another address, so that only those who mean it meet the limits. */
  let from = ''
  let turn = 0
  let signedInAt = 0
  /** Documents of clients, by their address; what is not there can't be reached. */
  const documents = new Map<string, () => Response>()

  async function open(): Promise<void> {
    door = await newHttpWorld(undefined, async (url) => {
      const found = documents.get(String(url))
      if (!found) throw new Error('not there')
      return found()
    })
  }

  async function next(): Promise<void> {
    from = `10.0.${++turn >> 8}.${turn & 255}`
    // Who has signed in a while ago can't decide, and the clock of a test may have moved.
    if (door.world.done.store.now() !== signedInAt) await signIn()
  }

  async function signIn(): Promise<void> {
    ana = await jarOfAna(door)
    signedInAt = door.world.done.store.now()
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

  /** A request for authorization that is right but for what is given; null leaves a parameter out. */
  async function requestOf(changed: Changes = {}): Promise<{ url: string; verifier: string }> {
    const { verifier, challenge } = pkce()
    const right: Changes = {
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

  const asked = async (changed: Changes, more = '') =>
    refusal(await ana.go((await requestOf(changed)).url + more))

  /** Everything right up to the code. */
  async function codeFor(changed: Changes = {}) {
    const { url, verifier } = await requestOf(changed)
    const page = await ana.go(url)
    const { address } = await ana.submit(page.address.href, ALLOW)
    const code = address.searchParams.get('code')
    if (code === null) throw new Error(`No code came: ${page.status} ${address}`)
    return { code, verifier }
  }

  async function exchange(
    given: { code: string; verifier: string },
    changed: Fields = {},
  ): Promise<Answered> {
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

  async function tokensFor(changed: Changes = {}) {
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

  /** The status that a token gets at the MCP endpoint. */
  const atMcp = async (token: string, body: object = LIST) =>
    send('/mcp', { headers: { ...HEADERS, authorization: `Bearer ${token}` }, body: JSON.stringify(body) })

  return {
    open,
    next,
    signIn,
    close: () => door.close(),
    get door() {
      return door
    },
    get ana() {
      return ana
    },
    documents,
    named: (name: string) => `${name} ${turn}`,
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
  }
}

const defined = (fields: Fields): Record<string, string> =>
  Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  )

/** What a client of MCP sends. */
export const LIST = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }
export const HEADERS = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }

/** `400 invalid_grant` */
export const refused = ({ status, json }: Answered) => `${status} ${json.error}`
