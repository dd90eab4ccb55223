import { expect } from 'vitest'
import { refusalsSince } from '../src/store/access.ts'
import { ask, codeFor, type Given, grantFor, register } from './grant.ts'
import { type Client, type HttpWorld, newHttpWorld } from './http.ts'

/** Everything secret that OAuth hands out, and what is like it. */
export const SECRETS = [
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
export type SecretName = (typeof SECRETS)[number]

/** A world with a task that waits for sign-off, and hosts that have been given all that there is to give. */
export interface OAuthGate {
  door: HttpWorld
  /** The owner's browser, freshly signed in. */
  ana: Client
  cookie: string
  /** The headers of a page of ours. */
  page: Record<string, string>
  secrets: Record<SecretName, string>
  /** A grant to read and write, good for everything at the origin. */
  whole: Given
  tally: { ways: number; refusals: number }
  /** Makes a try that must close nothing and leave so many refusals on record. */
  tryIt<T>(refusals: number, way: () => Promise<T>): Promise<T>
  /** What a host has by a token that it may have got somehow must be no more than an agent has. */
  isOnlyAnAgent(token: string | undefined, writes: boolean): Promise<void>
  newBrowser(link?: string): Promise<Client>
  close(): Promise<void>
}

export async function newOAuthGate(): Promise<OAuthGate> {
  const door = await newHttpWorld()
  const { scout } = door.world
  const ana = await door.browser()
  const cookie = ana.headers.cookie!
  await scout.call('create_task', { title: 'Gated' })
  await scout.call('complete_task', { id: 'T1' })
  const given = (resource: string, access: 'read' | 'write') =>
    grantFor(door, cookie, { resource, access, agent: 'scout' })
  const whole = await given(door.origin, 'write')
  const { client_id } = await deviceClient(door)
  const { json: device } = await ask(door, '/oauth/device/code', { client_id })
  const secrets: Record<SecretName, string> = {
    'the token of a grant': whole.access,
    'the token of a grant for /mcp': (await given(`${door.origin}/mcp`, 'write')).access,
    'the token of a grant to read': (await given(door.origin, 'read')).access,
    'a refresh token': whole.refresh,
    'a code': (await codeFor(door, cookie, whole.client)).code,
    'a device’s code': device.device_code,
    'a client’s id': whole.client,
    'a token of an agent': scout.token!,
    'the secret of a session': cookie.split('=')[1]!,
  }
  for (const [name, secret] of Object.entries(secrets)) expect(secret, name).toBeTypeOf('string')
  const tally = { ways: 0, refusals: 0 }

  const tryIt: OAuthGate['tryIt'] = async (refusals, way) => {
    const before = await record(door)
    const answer = await way()
    const after = await record(door)
    expect(after.closed, 'nothing is closed').toBe(before.closed)
    expect(after.refusals - before.refusals, 'refusals on record').toBe(refusals)
    tally.ways++
    tally.refusals += refusals
    return answer
  }

  return {
    door,
    ana,
    cookie,
    page: { origin: door.origin, 'sec-fetch-site': 'same-origin' },
    secrets,
    whole,
    tally,
    tryIt,
    async isOnlyAnAgent(token, writes) {
      if (token === undefined) return
      const agent = door.agent(token)
      expect((await agent.get('/api/me')).json).toMatchObject({ kind: 'agent', owner: 'U1 Ana' })
      const { form } = (await ana.get('/api/people/sign-offs/A1')).json
      const approved = await tryIt(1, () => agent.post('/api/people/sign-offs/A1/approve', form))
      expect(approved.json.error.code).toBe('people_only')
      const made = await agent.post('/api/projects', { name: `By a token ${tally.ways}` })
      expect(made.status).toBe(writes ? 200 : 403)
    },
    newBrowser(link) {
      // Whoever signs in so often has to wait.
      door.world.pass(60_000)
      return door.browser(link)
    },
    async close() {
      console.log(`gate, OAuth: ${tally.ways} ways, ${tally.refusals} refusals recorded, 0 closed`)
      await door.close()
    },
  }
}

/** A program that can open no browser makes itself known. */
export async function deviceClient(door: HttpWorld): Promise<{ client_id: string }> {
  return (await register(door, { grant_types: ['urn:ietf:params:oauth:grant-type:device_code'] })).json
}

/** What there is of closed tasks, sign-offs and refusals. */
async function record(door: HttpWorld) {
  await door.world.done.access.flush()
  const [tasks] = await door.world.look<{ n: number }>(
    `SELECT COUNT(*) AS n FROM tasks WHERE status IN ('done', 'cancelled')`,
  )
  const [signOffs] = await door.world.look<{ n: number }>('SELECT COUNT(*) AS n FROM sign_offs')
  const refused = await door.world.done.store.read(door.world.ana.actor, 'test', (tx) => refusalsSince(tx, 0))
  return { closed: Number(tasks!.n) + Number(signOffs!.n), refusals: refused.length }
}
