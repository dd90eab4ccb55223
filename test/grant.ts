import { ALLOW, CALLBACK, decide, jarOf, pkce } from './oauth.ts'

/** What a host has been given. */
export interface Given {
  client: string
  access: string
  refresh: string
  scope: string
}

/** Where a server stands, whether in this process or in one of its own. */
export interface Site {
  origin: string
}

/** An answer of one of the endpoints for programs. */
export interface EndpointAnswer {
  status: number
  json: any
}

let hosts = 0

/** A host makes itself known, as a public client. Each has an address of its own, as far as the server trusts in it. */
export async function register(
  { origin }: Site,
  more: object = {},
  headers: Record<string, string> = {},
): Promise<EndpointAnswer> {
  const from = `10.1.${(++hosts >> 8) & 255}.${hosts & 255}`
  const metadata = {
    client_name: 'Test host',
    redirect_uris: [CALLBACK],
    token_endpoint_auth_method: 'none',
    ...more,
  }
  const answer = await fetch(`${origin}/oauth/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-forwarded-for': from, ...headers },
    body: JSON.stringify(metadata),
  })
  return { status: answer.status, json: await answer.json() }
}

/** A host asks one of the endpoints that take a form. */
export async function ask(
  { origin }: Site,
  path: string,
  fields: Record<string, string>,
  headers: Record<string, string> = {},
): Promise<EndpointAnswer> {
  const answer = await fetch(origin + path, {
    method: 'POST',
    headers,
    body: new URLSearchParams(fields),
  })
  const text = await answer.text()
  return { status: answer.status, json: text.startsWith('{') ? JSON.parse(text) : {} }
}

/** The address at which a host asks for a person's consent, with the secret that goes with it. */
export function asking(
  { origin }: Site,
  client: string,
  more: Record<string, string> = {},
): { address: URL; verifier: string } {
  const { verifier, challenge } = pkce()
  const query = {
    response_type: 'code',
    client_id: client,
    redirect_uri: CALLBACK,
    code_challenge: challenge,
    code_challenge_method: 'S256',
    scope: 'read write',
    state: 'x',
    ...more,
  }
  return { address: new URL(`${origin}/oauth/authorize?${new URLSearchParams(query)}`), verifier }
}

/** The code of a grant, as a person gives it. */
export async function codeFor(
  site: Site,
  cookie: string,
  client: string,
  { consent = {}, ...query }: { consent?: Record<string, string> } & Record<string, any> = {},
): Promise<{ code: string; verifier: string }> {
  const { address, verifier } = asking(site, client, query)
  const back = await decide(jarOf(site, cookie), address, { ...ALLOW, ...consent })
  const code = back.searchParams.get('code')
  if (code === null) throw new Error(`No code came back: ${back.href}`)
  return { code, verifier }
}

/**
 * What a host is given when the person whose session's cookie this is consents.
 * @param resource for what: the whole of the origin, or its MCP endpoint
 */
export async function grantFor(
  site: Site,
  cookie: string,
  { resource, ...consent }: { resource: string; access: 'read' | 'write'; agent: string },
): Promise<Given> {
  const { json: client } = await register(site)
  const id = client.client_id as string
  const { code, verifier } = await codeFor(site, cookie, id, { resource, consent })
  const { status, json } = await ask(site, '/oauth/token', {
    grant_type: 'authorization_code',
    client_id: id,
    redirect_uri: CALLBACK,
    code,
    code_verifier: verifier,
  })
  if (status !== 200) throw new Error(`The token endpoint answered ${status}: ${JSON.stringify(json)}`)
  return { client: id, access: json.access_token, refresh: json.refresh_token, scope: json.scope }
}
