import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type HttpWorld, newHttpWorld } from '../../test/http.ts'
import { ownOrigins } from './origin.ts'

let door: HttpWorld
let cookie: string
beforeAll(async () => {
  door = await newHttpWorld()
  cookie = (await door.browser()).headers.cookie!
})
afterAll(() => door.close())

const OURS = 'ours'
const SITES = [undefined, 'same-origin', 'same-site', 'cross-site', 'none', 'nonsense']
const ORIGINS = [
  undefined,
  OURS,
  'null',
  'https://evil.example',
  'http://localhost:1',
  'ours.evil.example',
  '',
]
const HOSTS = [OURS, 'localhost', 'evil.example', '127.0.0.1:1']

/** What the rule says, written a second time as a table: by Sec-Fetch-Site the origins that may pass. */
const PASSES: Record<string, (string | undefined)[]> = {
  'same-origin': [undefined, OURS, 'null'],
  none: [OURS],
  undefined: [OURS],
}

describe('a change with a person’s cookie', () => {
  for (const host of HOSTS) {
    for (const site of SITES) {
      it(`to ${host} from ${site ?? 'no'} site, with each origin`, async () => {
        for (const origin of ORIGINS) {
          const real =
            host === OURS ? door.host : host === 'localhost' ? `localhost:${door.server.port}` : host
          const own = host === 'localhost' ? `http://localhost:${door.server.port}` : door.origin
          const headers = {
            cookie,
            host: real,
            ...(site === undefined ? {} : { 'sec-fetch-site': site }),
            ...(origin === undefined ? {} : { origin: origin.replace(OURS, own) }),
          }
          const answer = await door.nobody.send('POST', '/api/tasks', { headers, body: { title: 'x' } })
          const served = host === OURS || host === 'localhost'
          const passes = served && (PASSES[String(site)] ?? []).includes(origin)
          expect([answer.status, origin]).toEqual([passes ? 200 : 403, origin])
        }
      })
    }
  }

  it('from the page of another name of ours is not from the same origin', async () => {
    const headers = { cookie, host: door.host, origin: `http://localhost:${door.server.port}` }
    expect((await door.nobody.send('POST', '/api/tasks', { headers, body: { title: 'x' } })).status).toBe(403)
  })

  it('needs a host, and a token does not help against a wrong one', async () => {
    const token = { authorization: `Bearer ${door.world.scout.token}`, host: 'rebound.example' }
    const rebound = await door.nobody.send('GET', '/api/tasks/T1', { headers: token })
    expect([rebound.status, rebound.json.error]).toMatchObject([
      403,
      { code: 'invalid_value', next: expect.stringContaining('--site URL'), allowed: [door.host] },
    ])
    const page = { host: 'rebound.example', accept: 'text/html' }
    expect((await door.nobody.send('GET', '/', { headers: page })).text).toContain('--site URL')
  })

  it('is checked on pages too', async () => {
    for (const path of ['/sign-out', '/sign-off/A1/approve', '/sign-off/A1/reject', '/questions/Q1/answer']) {
      const answer = await door.nobody.send('POST', path, {
        headers: {
          cookie,
          origin: 'https://evil.example',
          'content-type': 'application/x-www-form-urlencoded',
        },
        body: 'note=x',
      })
      expect([answer.status, path]).toEqual([403, path])
    }
    expect((await door.nobody.send('GET', '/sign-off', { headers: { cookie } })).status).toBe(200)
  })
})

describe('our own names', () => {
  const names = (config: { host: string; site: string }, port = 4747) =>
    Object.fromEntries(ownOrigins(config, port))

  it('are the site, the address bound to, and loopback', () => {
    expect(names({ host: '0.0.0.0', site: 'https://done.example.org' })).toEqual({
      'done.example.org': 'https://done.example.org',
      'done.example.org:443': 'https://done.example.org',
      '127.0.0.1:4747': 'http://127.0.0.1:4747',
      'localhost:4747': 'http://localhost:4747',
      '[::1]:4747': 'http://[::1]:4747',
    })
    expect(Object.keys(names({ host: '192.168.1.5', site: 'http://192.168.1.5:4747' }))).toContain(
      '192.168.1.5:4747',
    )
    expect(Object.keys(names({ host: '127.0.0.1', site: 'http://127.0.0.1:0' }))).not.toContain('127.0.0.1:0')
  })
})
