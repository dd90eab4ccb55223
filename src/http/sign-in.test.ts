import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type HttpWorld, newHttpWorld } from '../../test/http.ts'
import { issueSignInLink, LINK_MS } from '../auth/console.ts'
import { limitOf } from '../auth/rate.ts'
import { SESSION_MS } from '../auth/sign-in.ts'
import { expire } from '../jobs/expiry.ts'
import { sessionCookie } from './caller.ts'

let door: HttpWorld
beforeEach(async () => {
  door = await newHttpWorld()
})
afterEach(() => door.close())

const newLink = () => issueSignInLink(door.world.done.store, door.world.account)
const post = (path: string, headers: Record<string, string> = {}) =>
  door.nobody.send('POST', path, { headers })

describe('a sign-in link', () => {
  it('is shown, not used, by any number of GETs and HEADs', async () => {
    const link = await newLink()
    for (const method of ['GET', 'GET', 'HEAD', 'GET']) {
      const page = await door.nobody.send(method, link)
      expect([page.status, page.headers['set-cookie']]).toEqual([200, undefined])
    }
    expect((await door.nobody.get(link)).text).not.toContain(link.slice('/sign-in/'.length))
    expect((await post(link)).status).toBe(303)
  })

  it('leads to the page on which somebody was stopped, and nowhere else', async () => {
    const going = async (path: string) =>
      (await post(await newLink(), { cookie: `done_going=${encodeURIComponent(path)}` })).headers.location
    expect(await going('/connect/abc_-1')).toBe('/connect/abc_-1')
    for (const path of [
      '//evil.example',
      'https://evil.example',
      '/connect/../sign-out',
      '/connect/a?b',
      '/account',
    ])
      expect(await going(path)).toBe('/')
  })

  it('is used up by the first POST, also of several at once', async () => {
    const link = await newLink()
    const answers = await Promise.all(Array.from({ length: 5 }, () => post(link)))
    expect(answers.filter((each) => each.status === 303)).toHaveLength(1)
    const late = await post(link)
    const shown = await door.nobody.get(link)
    expect([shown.status, shown.text]).toEqual([410, late.text])
    expect(shown.text).not.toContain('<button')
    expect([late.status, late.headers['set-cookie']]).toEqual([410, undefined])
    expect(late.text).toContain('donectl.js signin-link')
  })

  it('expires, and one that never was looks the same', async () => {
    const link = await newLink()
    door.world.pass(LINK_MS + 1)
    const expired = await post(link)
    const never = await post('/sign-in/in_never')
    expect([expired.status, expired.text]).toEqual([never.status, never.text])
    expect((await door.nobody.get(link)).text).toContain('used up or has expired')
  })

  it('can’t be used by another site’s page', async () => {
    const link = await newLink()
    expect(
      (await post(link, { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' })).status,
    ).toBe(403)
    expect((await post(link, { origin: door.origin, 'sec-fetch-site': 'same-origin' })).status).toBe(303)
  })

  it('may be tried only so often', async () => {
    const tries = []
    for (let i = 0; i < 25; i++) tries.push((await post(`/sign-in/in_${i}`)).status)
    expect(tries.slice(0, 20)).toEqual(Array(20).fill(410))
    expect(tries.slice(20)).toEqual(Array(5).fill(429))
    const link = await newLink()
    const refused = await post(link)
    expect([refused.status, Number(refused.headers['retry-after'])]).toEqual([429, expect.any(Number)])
  })
})

describe('a session', () => {
  it('lives in a cookie that scripts and other sites don’t get, and ends', async () => {
    const link = await newLink()
    const [cookie] = (await post(link)).headers['set-cookie']!
    expect(cookie).toMatch(
      /^done_session=session_[\w-]{43}; Max-Age=2592000; Path=\/; HttpOnly; SameSite=Strict$/,
    )
    const headers = { cookie: cookie!.split(';')[0]! }
    expect((await door.nobody.send('GET', '/sign-off', { headers })).status).toBe(200)
    door.world.pass(SESSION_MS + 1)
    expect((await door.nobody.send('GET', '/sign-off', { headers })).status).toBe(401)
  })

  it('is replaced when its person signs in again, and ends by signing out', async () => {
    const ana = await door.browser()
    const again = await ana.send('POST', await newLink())
    expect(again.status).toBe(303)
    expect((await ana.get('/sign-off')).status).toBe(401)
    const other = await door.browser()
    const out = await other.form('/sign-out', {})
    expect(out.headers['set-cookie']![0]).toMatch(/^done_session=; Max-Age=0/)
    expect((await other.get('/sign-off')).status).toBe(401)
  })

  it('has a name and a flag that bind it to HTTPS where the site is', () => {
    const set: string[] = []
    const context = { header: (_name: string, value: string) => set.push(value) }
    sessionCookie('https://done.example.org').set(context as never, 'secret', 60)
    expect(set).toEqual(['__Host-done=secret; Max-Age=60; Path=/; HttpOnly; Secure; SameSite=Strict'])
  })
})

describe('a limit', () => {
  it('on signing in is each caller’s own, also behind a proxy, and no other site uses it up', async () => {
    const from = (address: string, headers = {}) =>
      post('/sign-in/nonsense', { 'x-forwarded-for': address, ...headers })
    for (let i = 0; i < 30; i++)
      expect((await from('203.0.113.9', { origin: 'https://elsewhere.example' })).status).toBe(403)
    for (let i = 0; i < 20; i++) expect((await from('203.0.113.9')).status).toBe(410)
    const late = await from('203.0.113.9')
    expect([late.status, Number(late.headers['retry-after']) > 0]).toEqual([429, true])
    expect((await from('203.0.113.10')).status).toBe(410)
  })

  it('holds in all processes together, and is over after its time', async () => {
    const { world } = door
    const other = await world.another()
    const limits = [world.done.store, other.store].map((store) => limitOf(store, 'test', 2, 60_000))
    const [here, there] = limits as [(typeof limits)[number], (typeof limits)[number]]
    expect([await here('a'), await there('a'), await here('b')]).toEqual([0, 0, 0])
    expect(await here('a')).toBe(60)
    expect(await there('a')).toBeGreaterThan(0)
    world.pass(60_001)
    expect(await here('a')).toBe(0)
    await expire(world.done.store)
    expect((await world.look('SELECT key FROM tries')).length).toBe(1)
    expect(JSON.stringify(await world.look('SELECT * FROM tries'))).not.toContain('"a"')
    await other.close()
  })
})
