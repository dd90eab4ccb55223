import { createHash, randomBytes } from 'node:crypto'
import {
  Client,
  type OAuthClientMetadata,
  type OAuthClientProvider,
  type OAuthDiscoveryState,
  type StoredOAuthClientInformation,
  type StoredOAuthTokens,
  StreamableHTTPClientTransport,
  UnauthorizedError,
} from '@modelcontextprotocol/client'
import type { HttpWorld } from './http.ts'

/** Where hosts of the tests wait for the answer; nobody has to listen there. */
export const CALLBACK = 'http://127.0.0.1:9999/callback'

/** A host as an MCP client of the SDK's is one: it finds out by itself whom to ask, and how. */
export interface Host {
  /** Tries to connect. Undefined where it is let in, else the address at which a person has to decide. */
  connect(): Promise<URL | undefined>
  /** Goes on with what the person's browser was sent back with. */
  finish(callback: URL): Promise<void>
  client: Client
  tokens(): StoredOAuthTokens | undefined
  /** Takes other tokens, such as none. */
  setTokens(tokens: StoredOAuthTokens | undefined): void
  registered(): StoredOAuthClientInformation | undefined
  close(): Promise<void>
}

/**
 * @param document address of the host's metadata document; without one it registers itself
 * @param at the origin at which it knows Done
 * @param waitsAt where it waits for the answer
 */
export function newHost(
  door: Pick<HttpWorld, 'origin'>,
  {
    document,
    at = door.origin,
    waitsAt = CALLBACK,
  }: { document?: string; at?: string; waitsAt?: string } = {},
): Host {
  const kept: {
    client?: StoredOAuthClientInformation
    tokens?: StoredOAuthTokens | undefined
    verifier?: string
    asked?: URL | undefined
    discovered?: OAuthDiscoveryState
  } = {}
  const metadata: OAuthClientMetadata = {
    client_name: 'Test host',
    redirect_uris: [waitsAt],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
  }
  const provider: OAuthClientProvider = {
    redirectUrl: waitsAt,
    clientMetadata: metadata,
    ...(document === undefined ? {} : { clientMetadataUrl: document }),
    state: () => 'state of the host',
    clientInformation: () => kept.client,
    saveClientInformation: (client) => {
      kept.client = client
    },
    tokens: () => kept.tokens,
    saveTokens: (tokens) => {
      kept.tokens = tokens
    },
    saveDiscoveryState: (state) => {
      kept.discovered = state
    },
    discoveryState: () => kept.discovered,
    invalidateCredentials: (what) => {
      if (what === 'tokens' || what === 'all') kept.tokens = undefined
    },
    redirectToAuthorization: (address) => {
      kept.asked = address
    },
    saveCodeVerifier: (verifier) => {
      kept.verifier = verifier
    },
    codeVerifier: () => kept.verifier!,
  }
  const url = new URL(`${at}/mcp`)
  let transport = new StreamableHTTPClientTransport(url, { authProvider: provider })
  const client = new Client({ name: 'test host', version: '1' }, { versionNegotiation: { mode: 'auto' } })
  return {
    client,
    async connect() {
      kept.asked = undefined
      transport = new StreamableHTTPClientTransport(url, { authProvider: provider })
      try {
        await client.connect(transport)
        return undefined
      } catch (error) {
        if (!(error instanceof UnauthorizedError) || !kept.asked) throw error
        return kept.asked
      }
    },
    finish: (callback) => transport.finishAuth(callback.searchParams),
    tokens: () => kept.tokens,
    setTokens: (tokens) => {
      kept.tokens = tokens
    },
    registered: () => kept.client,
    close: () => client.close(),
  }
}

/** A browser that keeps cookies and follows redirects, as far as the server's own addresses go. */
export interface Jar {
  /** Goes to an address; gives the page on which it ends, or the address of another site to which it is sent. */
  go(address: string): Promise<Page>
  /** Sends a form of the page at an address. */
  submit(address: string, fields: Record<string, string>): Promise<Page>
}

export interface Page {
  status: number
  address: URL
  text: string
  headers: Headers
}

/** @param session the cookie of who is signed in there; nobody by default */
export function jarOf(door: Pick<HttpWorld, 'origin'>, session = ''): Jar {
  const cookies = new Map<string, { value: string; path: string }>()
  for (const each of session.split('; ').filter(Boolean)) {
    const [name = '', value = ''] = each.split('=')
    cookies.set(name, { value, path: '/' })
  }

  async function send(address: string, init: RequestInit = {}): Promise<Page> {
    let url = new URL(address, door.origin)
    let sent = init
    for (let hops = 0; hops < 10; hops++) {
      if (url.origin !== door.origin) {
        return { status: 0, address: url, text: '', headers: new Headers() }
      }
      const cookie = [...cookies]
        .filter(([, { path }]) => url.pathname.startsWith(path))
        .map(([name, { value }]) => `${name}=${value}`)
        .join('; ')
      const answer = await fetch(url, {
        ...sent,
        redirect: 'manual',
        headers: { ...(sent.headers as object), cookie },
      })
      for (const line of answer.headers.getSetCookie()) {
        const [pair = '', ...attributes] = line.split(/;\s*/)
        const [name = '', value = ''] = pair.split('=')
        const path = attributes.find((each) => /^path=/i.test(each))?.slice(5) ?? '/'
        if (value === '') cookies.delete(name)
        else cookies.set(name, { value, path })
      }
      const to = answer.headers.get('location')
      if (answer.status < 300 || answer.status > 399 || to === null) {
        return { status: answer.status, address: url, text: await answer.text(), headers: answer.headers }
      }
      url = new URL(to, url)
      sent = {}
    }
    throw new Error('It is sent around in circles.')
  }

  return {
    go: (address) => send(address),
    submit: (address, fields) =>
      send(address, {
        method: 'POST',
        headers: {
          'content-type': 'application/x-www-form-urlencoded',
          origin: door.origin,
          'sec-fetch-site': 'same-origin',
        },
        body: new URLSearchParams(fields).toString(),
      }),
  }
}

/** Ana's browser, freshly signed in. */
export async function jarOfAna(door: HttpWorld, link?: string): Promise<Jar> {
  return jarOf(door, (await door.browser(link)).headers.cookie)
}

/** What a person sends who allows all that is asked. */
export const ALLOW = { decision: 'allow', agent: 'Helper', access: 'write', tools: '' }

/** A person opens what a host asks, and decides. Gives where they are sent. */
export async function decide(jar: Jar, asked: URL, fields: Record<string, string> = ALLOW): Promise<URL> {
  const page = await jar.go(asked.href)
  if (page.status !== 200) throw new Error(`The page answered ${page.status}: ${page.text}`)
  return (await jar.submit(page.address.href, fields)).address
}

/** PKCE (RFC 7636): a secret, and what is sent ahead of it. */
export function pkce(): { verifier: string; challenge: string } {
  const verifier = randomBytes(32).toString('base64url')
  return { verifier, challenge: createHash('sha256').update(verifier).digest('base64url') }
}
