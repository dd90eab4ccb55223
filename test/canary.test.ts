import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Secret, TOTP } from 'otpauth'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { onPostgres } from './database.ts'
import { ALLOW, type Jar, jarOf, pkce } from './oauth.ts'
import { donectl } from './process.ts'
import { type RunningServer, startServer } from './running.ts'

/**
 * Every kind of secret that Done gives out or is told, made and used by a real server through its doors, well and badly. What
 * is left behind anywhere may hold none of them.
 */

const METRICS = 'metrics-canary-0123456789'
const CALLBACK = 'http://127.0.0.1:9999/callback'

let server: RunningServer
let ana: Jar
const folder = mkdtempSync(join(tmpdir(), 'done-canary-'))
/** Each by what it is. */
const secrets: Record<string, string> = { 'token of metrics': METRICS }

beforeAll(async () => {
  server = await startServer({ DONE_METRICS_TOKEN: METRICS })
})
afterAll(async () => {
  await server.stop()
  rmSync(folder, { recursive: true, force: true })
})

const send = async (path: string, init: RequestInit = {}) => {
  const answer = await fetch(server.site + path, { method: 'POST', redirect: 'manual', ...init })
  return { status: answer.status, text: await answer.text(), headers: answer.headers }
}
const form = async (path: string, fields: Record<string, string>) =>
  JSON.parse((await send(path, { body: new URLSearchParams(fields) })).text || '{}') as Record<string, string>

it('people sign in by every way, and with what is wrong', async () => {
  const { stdout } = await donectl(['signin-link', '--data', server.dir], server.env)
  secrets['sign-in link'] = stdout.trim().split('/').at(-1)!
  const cookie = await server.session()
  secrets.session = cookie.split('=')[1]!
  ana = jarOf({ origin: server.site }, cookie)
  secrets.password = 'gravel lantern otter dune'
  secrets['wrong password'] = 'gravel lantern otter dunes'
  await ana.submit('/account/password', { login: 'ana@example.org', password: secrets.password })

  const { text } = await ana.submit('/account/codes', {})
  const letters = /<code>([A-Z2-7 ]{39})<\/code>/.exec(text)![1]!.replaceAll(' ', '')
  secrets['seed of codes'] = letters
  const code = new TOTP({ secret: Secret.fromBase32(letters) }).generate()
  const confirmed = await ana.submit('/account/codes/confirm', { code })
  const recovery = [...confirmed.text.matchAll(/<code>([\w-]{8,})<\/code>/g)].map((match) => match[1]!)
  expect(recovery).toHaveLength(10)
  for (const [i, each] of recovery.entries()) secrets[`recovery code ${i}`] = each

  const nobody = jarOf({ origin: server.site })
  const { 'wrong password': wrong, password } = secrets as { [name: string]: string }
  expect((await nobody.submit('/sign-in', { login: 'ana@example.org', password: wrong! })).status).toBe(401)
  const asked = await nobody.submit('/sign-in', { login: 'ana@example.org', password: password! })
  secrets['link between password and code'] = asked.address.pathname.split('/').at(-1)!
  expect((await nobody.submit(asked.address.href, { code: '000000' })).status).toBe(401)
  expect((await nobody.submit(asked.address.href, { code: recovery[0]! })).status).toBe(200)

  const invited = await ana.submit('/members/invite', { name: 'Bea', role: 'member' })
  secrets.invitation = /\/join\/([\w-]+)/.exec(invited.text)![1]!
})

it('agents and hosts get their credentials, and use them where they are not good', async () => {
  secrets.token = await server.token('scout', 'write')
  const made = await server.people(`done_session=${secrets.session}`, 'POST', '/tokens', {
    agent_id: 'G1',
    scope: 'read',
  })
  secrets['token by page'] = made.body.token

  const registered = await send('/oauth/register', {
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      client_name: 'Canary',
      redirect_uris: [CALLBACK],
      grant_types: ['authorization_code', 'refresh_token', 'urn:ietf:params:oauth:grant-type:device_code'],
      token_endpoint_auth_method: 'client_secret_post',
    }),
  })
  const { client_id, client_secret } = JSON.parse(registered.text)
  secrets['secret of a client'] = client_secret
  const { verifier, challenge } = pkce()
  secrets['verifier of PKCE'] = verifier
  const query = new URLSearchParams({
    response_type: 'code',
    client_id,
    redirect_uri: CALLBACK,
    code_challenge: challenge,
    code_challenge_method: 'S256',
  })
  const page = await ana.go(`/oauth/authorize?${query}`)
  const back = await ana.submit(page.address.href, ALLOW)
  const code = back.address.searchParams.get('code')!
  secrets['authorization code'] = code
  const client = { client_id, client_secret }
  const redeem = {
    ...client,
    grant_type: 'authorization_code',
    code,
    code_verifier: verifier,
    redirect_uri: CALLBACK,
  }
  const first = await form('/oauth/token', redeem)
  secrets['access token'] = first.access_token!
  secrets['refresh token'] = first.refresh_token!
  const renew = { ...client, grant_type: 'refresh_token', refresh_token: first.refresh_token! }
  const second = await form('/oauth/token', renew)
  secrets['second access token'] = second.access_token!
  secrets['second refresh token'] = second.refresh_token!
  const device = await form('/oauth/device/code', client)
  secrets['code of a device'] = device.device_code!

  for (const secret of Object.values(secrets)) {
    const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' }
    await send('/mcp', { headers, body: '{"jsonrpc":"2.0","id":1,"method":"tools/list"}' })
    await send('/api/tasks', { method: 'GET', headers })
    await send('/account', {
      method: 'GET',
      headers: { cookie: `done_session=${encodeURIComponent(secret)}` },
    })
    await form('/oauth/token', { ...renew, refresh_token: secret })
    await form('/oauth/token', { ...redeem, code: secret, client_secret: secret })
    await form('/oauth/revoke', { client_id, client_secret: secret, token: secret })
    await send(`/sign-in/${encodeURIComponent(secret)}`, { method: 'GET' })
  }
})

it('none of them is in any file, in what the server has printed, or in what its tools tell', async () => {
  expect(Object.keys(secrets).length).toBeGreaterThan(25)
  const at: Record<string, string> = {}
  const metrics = await send('/metrics', { method: 'GET', headers: { authorization: `Bearer ${METRICS}` } })
  expect(metrics.status).toBe(200)
  at.metrics = metrics.text
  const copy = join(folder, 'copy.db')
  for (const command of [['backup', '--to', copy], ['doctor', '--json'], ['verify']]) {
    const { stdout, stderr } = await donectl([...command, '--data', server.dir], server.env)
    at[command[0]!] = stdout + stderr
  }
  at['the copy'] = readFileSync(copy, 'latin1')
  // What is said at the start is for the terminal, so it is not in here; the link lies in a file of the owner's.
  at['what it has printed'] = server.said()
  at['the database'] = onPostgres() ? await everyRow() : ''
  for (const name of readdirSync(server.dir)) {
    if (name !== 'seal.key') at[name] = readFileSync(join(server.dir, name), 'latin1')
  }
  if (!onPostgres()) {
    expect(at['done.db-wal']?.length).toBeGreaterThan(0)
    secrets['key of the seals'] = readFileSync(join(server.dir, 'seal.key'), 'utf8').trim()
  }
  const found = Object.entries(at).flatMap(([place, text]) =>
    Object.entries(secrets).flatMap(([name, secret]) =>
      text.includes(secret) ? [`${name} in ${place}`] : [],
    ),
  )
  expect(found).toEqual([])
  // The search itself finds what is there.
  expect(Object.values(at).filter((text) => text.includes('Canary')).length).toBeGreaterThan(1)
})

/** Every row of every table of PostgreSQL, as text. */
async function everyRow(): Promise<string> {
  const tables = await server.look(`SELECT tablename FROM pg_tables WHERE schemaname = 'done'`)
  expect(tables.length).toBeGreaterThan(30)
  const texts = await Promise.all(
    tables.map(({ tablename }) => server.look(`SELECT t::text AS row FROM done.${tablename} t`)),
  )
  return texts
    .flat()
    .map(({ row }) => row)
    .join('\n')
}
