import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Client, type HttpWorld, newHttpWorld } from '../../test/http.ts'
import { actorOfToken } from '../auth/actor.ts'

const PASSWORD = 'gravel lantern otter dune'
const OTHER = 'seven quiet paper boats'

let door: HttpWorld
let ana: Client
beforeEach(async () => {
  door = await newHttpWorld()
  ana = await door.browser()
})
afterEach(() => door.close())

/** Invites somebody and lets them join. */
async function joins(
  name: string,
  role: string,
  login = `${name.toLowerCase()}@example.org`,
): Promise<Client> {
  const invited = await ana.form('/members/invite', { name, role })
  const [, path] = /http:\/\/[^/]+(\/join\/join_[\w-]+)/.exec(invited.text)!
  const joined = await door.enter(path!, { name, login, password: PASSWORD })
  expect(joined.status).toBe(303)
  return door.browserOf(joined)
}

describe('a password', () => {
  it('is chosen by who is signed in, opens the door from then on, and ends the other sessions', async () => {
    const elsewhere = await door.browser()
    expect(
      (await ana.form('/account/password', { login: 'Ana@example.org', password: 'short' })).status,
    ).toBe(400)
    const saved = await ana.form('/account/password', { login: 'Ana@example.org', password: PASSWORD })
    expect(saved.text).toContain('From now on you sign in with this')
    expect([(await ana.get('/account')).status, (await elsewhere.get('/account')).status]).toEqual([200, 401])

    for (const [login, password] of [
      ['ana@example.org', OTHER],
      ['nobody@example.org', PASSWORD],
      ['', ''],
    ] as const) {
      const refused = await door.enter('/sign-in', { login, password })
      expect([refused.status, refused.headers['set-cookie']]).toEqual([401, undefined])
      expect(refused.text).toContain('This name and password do not fit.')
    }
    const entered = await door.enter('/sign-in', { login: 'ANA@example.org', password: PASSWORD })
    expect(entered.status).toBe(303)
    expect((await door.browserOf(entered).get('/account')).text).toContain('Signed in by password')
    const stored = JSON.stringify(await door.world.look('SELECT * FROM passwords'))
    expect(stored).toContain('$argon2id$')
    expect(stored).not.toContain(PASSWORD)
  })

  it('proves again who sits there, and nothing else does', async () => {
    await ana.form('/account/password', { login: 'ana@example.org', password: PASSWORD })
    door.world.pass(16 * 60_000)
    const stale = await ana.form('/members/invite', { name: 'Bea', role: 'member' })
    expect(stale.status).toBe(403)
    expect(stale.text).toContain('href="/sign-in/again"')
    expect((await ana.form('/sign-in/again', { password: OTHER })).status).toBe(401)
    const again = await ana.form('/sign-in/again', { password: PASSWORD })
    const renewed = door.browserOf(again)
    expect((await renewed.form('/members/invite', { name: 'Bea', role: 'member' })).status).toBe(200)
    expect((await ana.get('/account')).status).toBe(401)
  })

  it('is tried a few times for one name, from wherever', async () => {
    await ana.form('/account/password', { login: 'ana@example.org', password: PASSWORD })
    const from = (i: number) =>
      door.nobody.send('POST', '/sign-in', {
        headers: {
          origin: door.origin,
          'sec-fetch-site': 'same-origin',
          'content-type': 'application/x-www-form-urlencoded',
          'x-forwarded-for': `203.0.113.${i}`,
        },
        body: new URLSearchParams({
          login: 'ana@example.org',
          password: i < 10 ? OTHER : PASSWORD,
        }).toString(),
      })
    for (let i = 0; i < 10; i++) expect((await from(i)).status).toBe(401)
    expect((await from(10)).status).toBe(429)
    door.world.pass(15 * 60_000 + 1)
    expect((await from(11)).status).toBe(303)
  })

  it('is not taken from a page of another site', async () => {
    await ana.form('/account/password', { login: 'ana@example.org', password: PASSWORD })
    const body = new URLSearchParams({ login: 'ana@example.org', password: PASSWORD }).toString()
    const headers = {
      'content-type': 'application/x-www-form-urlencoded',
      origin: 'https://elsewhere.example',
    }
    expect((await door.nobody.send('POST', '/sign-in', { headers, body })).status).toBe(403)
  })
})

describe('an invitation', () => {
  it('makes one member, with the role it says, and is shown but not used by a GET', async () => {
    const invited = await ana.form('/members/invite', { name: 'Bea', role: 'member' })
    const [, path] = /http:\/\/[^/]+(\/join\/join_[\w-]+)/.exec(invited.text)!
    for (let i = 0; i < 3; i++)
      expect((await door.nobody.get(path!)).text).toContain('You are invited as member')
    const weak = await door.enter(path!, { name: 'Bea', login: 'bea@example.org', password: 'bea' })
    expect([weak.status, weak.text.includes('12 to 200 characters')]).toEqual([400, true])
    const joined = await door.enter(path!, { name: 'Bea', login: 'bea@example.org', password: PASSWORD })
    expect(joined.status).toBe(303)
    const bea = door.browserOf(joined)
    expect((await bea.get('/account')).text).toContain('U2, member of this account')
    const late = await door.enter(path!, { name: 'Eve', login: 'eve@example.org', password: PASSWORD })
    expect([late.status, (await door.nobody.get(path!)).status]).toEqual([410, 410])
    expect((await bea.form('/members/invite', { name: 'Eve', role: 'owner' })).status).toBe(403)
  })

  it('is taken back, expires, and takes no name that somebody has', async () => {
    const link = async (name: string) =>
      /http:\/\/[^/]+(\/join\/join_[\w-]+)/.exec(
        (await ana.form('/members/invite', { name, role: 'viewer' })).text,
      )![1]!
    const fields = { name: 'Bea', login: 'bea@example.org', password: PASSWORD }
    const [first, second] = [await link('Bea'), await link('Bea')]
    expect((await ana.form('/invitations/I1/revoke', {})).status).toBe(303)
    expect((await door.enter(first, fields)).status).toBe(410)
    expect((await door.enter(second, { ...fields, name: 'scout' })).text).toContain('is already called')
    expect((await door.enter(second, { ...fields, name: 'ana' })).text).toContain('is already called')
    door.world.pass(7 * 24 * 3_600_000)
    expect((await door.enter(second, fields)).status).toBe(410)
  })
})

describe('a member', () => {
  it('who is removed is out at once, with the tokens of their agents, and stays named', async () => {
    const bea = await joins('Bea', 'owner')
    const made = await door.world.done.call(door.world.ana.actor, 'create_task', { title: 'By Ana' })
    expect(made.id).toBe('T1')
    expect((await ana.form('/members/U2/role', { role: 'member' })).status).toBe(303)
    expect((await bea.get('/account')).status).toBe(200)
    const removed = await ana.form('/members/U2/remove', {})
    expect(removed.status).toBe(303)
    expect((await bea.get('/account')).status).toBe(401)
    expect((await door.enter('/sign-in', { login: 'bea@example.org', password: PASSWORD })).status).toBe(401)
    expect((await ana.get('/members')).text).not.toContain('bea')
    expect((await ana.form('/members/U2/remove', {})).status).toBe(404)
    expect((await ana.form('/members/U2/role', { role: 'owner' })).status).toBe(404)
  })

  it('who owns agents takes their tokens along', async () => {
    await joins('Bea', 'owner')
    const { world } = door
    expect((await ana.form('/members/U1/remove', {})).status).toBe(303)
    expect(await actorOfToken(world.done.store, world.scout.token!)).toBeUndefined()
  })

  it('who is the only owner stays one', async () => {
    await joins('Bea', 'member')
    for (const [path, fields] of [
      ['/members/U1/role', { role: 'viewer' }],
      ['/members/U1/remove', {}],
    ] as const) {
      const refused = await ana.form(path, fields)
      expect([refused.status, refused.text.includes('only owner')]).toEqual([409, true])
    }
  })
})
