import { Secret, TOTP } from 'otpauth'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Client, type HttpWorld, newHttpWorld } from '../../test/http.ts'

const LOGIN = 'ana@example.org'
const PASSWORD = 'gravel lantern otter dune'
const HALF_MINUTE = 30_000

let door: HttpWorld
let ana: Client
beforeEach(async () => {
  door = await newHttpWorld()
  ana = await door.browser()
  await ana.form('/account/password', { login: LOGIN, password: PASSWORD })
})
afterEach(() => door.close())

/** What an app shows that was told the letters of a page; `ms` from now. */
function appOf(text: string): (ms?: number) => string {
  const letters = /<code>([A-Z2-7 ]{39})<\/code>/.exec(text)![1]!.replaceAll(' ', '')
  const app = new TOTP({ secret: Secret.fromBase32(letters) })
  return (ms = 0) => app.generate({ timestamp: door.world.done.store.now() + ms })
}

const codesIn = (text: string): string[] =>
  [...text.matchAll(/<code>((?:[0-9a-z]{4}-){3}[0-9a-z]{4})<\/code>/g)].map(([, code]) => code!)

/** Ana sets her app up. */
async function turnOn(): Promise<{ code: ReturnType<typeof appOf>; recovery: string[] }> {
  const code = appOf((await ana.form('/account/codes', {})).text)
  const recovery = codesIn((await ana.form('/account/codes/confirm', { code: code() })).text)
  door.world.pass(HALF_MINUTE)
  return { code, recovery }
}

/** The way to the form that asks for a code, behind the right password. */
async function passwordRight(): Promise<string> {
  const { status, headers } = await door.enter('/sign-in', { login: LOGIN, password: PASSWORD })
  expect([status, headers['set-cookie']]).toEqual([303, undefined])
  return String(headers.location)
}

describe('one-time codes', () => {
  it('are asked for once the app has shown one, and not before', async () => {
    const begun = await ana.form('/account/codes', {})
    expect(begun.text).toContain('aria-label="QR code"')
    expect(
      (await door.enter('/sign-in', { login: LOGIN, password: PASSWORD })).headers['set-cookie'],
    ).toBeDefined()

    const code = appOf(begun.text)
    const mistyped = await ana.form('/account/codes/confirm', { code: code(600_000) })
    expect([mistyped.status, appOf(mistyped.text)()]).toEqual([400, code()])
    const on = await ana.form('/account/codes/confirm', { code: code() })
    expect(new Set(codesIn(on.text)).size).toBe(10)
    expect((await ana.get('/account')).text).toContain('10 recovery codes are left')
    door.world.pass(HALF_MINUTE)

    const link = await passwordRight()
    expect((await door.nobody.get(link)).text).toContain('Your one-time code')
    const wrong = await door.enter(link, { code: code(600_000) })
    expect([wrong.status, wrong.headers['set-cookie']]).toEqual([401, undefined])
    const entered = await door.enter(link, { code: code() })
    expect(entered.status).toBe(303)
    expect((await door.browserOf(entered).get('/account')).status).toBe(200)
    expect((await door.enter(link, { code: code(HALF_MINUTE) })).status).toBe(410)
  })

  it('work once each, whoever has watched one being typed', async () => {
    const { code } = await turnOn()
    const watched = code()
    expect((await door.enter(await passwordRight(), { code: watched })).status).toBe(303)
    const link = await passwordRight()
    expect((await door.enter(link, { code: watched })).status).toBe(401)
    expect((await door.enter(link, { code: code(-HALF_MINUTE) })).status).toBe(401)
    expect((await door.enter(link, { code: code(HALF_MINUTE) })).status).toBe(303)
  })

  it('of two browsers that send the same one at once let one in', async () => {
    const { code } = await turnOn()
    const links = [await passwordRight(), await passwordRight()]
    const answers = await Promise.all(links.map((link) => door.enter(link, { code: code() })))
    expect(answers.map(({ status }) => status).sort()).toEqual([303, 401])
  })

  it('are guessed ten times at most in a quarter of an hour, by however many passwords', async () => {
    const { code } = await turnOn()
    for (let i = 0; i < 5; i++) {
      const link = await passwordRight()
      for (const wrong of ['000000', 'zzzz-zzzz-zzzz-zzzz'])
        expect((await door.enter(link, { code: wrong })).status).toBe(401)
      door.world.pass(60_000)
    }
    expect((await door.enter(await passwordRight(), { code: code() })).status).toBe(429)
    door.world.pass(15 * 60_000)
    expect((await door.enter(await passwordRight(), { code: code() })).status).toBe(303)
  })

  it('are asked for again where a decision needs a fresh sign-in', async () => {
    const { code } = await turnOn()
    door.world.pass(16 * 60_000)
    expect((await ana.get('/sign-in/again')).text).toContain('autocomplete="one-time-code"')
    expect((await ana.form('/sign-in/again', { password: PASSWORD })).status).toBe(401)
    expect((await ana.form('/sign-in/again', { password: PASSWORD, code: '000000' })).status).toBe(401)
    const again = await ana.form('/sign-in/again', { password: PASSWORD, code: code() })
    expect(
      (await door.browserOf(again).form('/members/invite', { name: 'Bea', role: 'member' })).status,
    ).toBe(200)
  })

  it('are turned on, off and over by a fresh sign-in alone, and a page of another site can’t', async () => {
    const { code } = await turnOn()
    door.world.pass(16 * 60_000)
    for (const path of ['/account/codes', '/account/codes/recovery', '/account/codes/end'])
      expect((await ana.form(path, {})).status, path).toBe(403)
    ana = door.browserOf(await ana.form('/sign-in/again', { password: PASSWORD, code: code() }))
    const body = ''
    const headers = {
      'content-type': 'application/x-www-form-urlencoded',
      origin: 'https://elsewhere.example',
      'sec-fetch-site': 'cross-site',
    }
    expect((await ana.send('POST', '/account/codes/end', { headers, body })).status).toBe(403)
    expect((await ana.form('/account/codes/end', {})).status).toBe(303)
    expect(
      (await door.enter('/sign-in', { login: LOGIN, password: PASSWORD })).headers['set-cookie'],
    ).toBeDefined()
  })

  it('of another app take the place of the first, whose codes are over', async () => {
    const { code: first } = await turnOn()
    const second = appOf((await ana.form('/account/codes', {})).text)
    await ana.form('/account/codes/confirm', { code: second() })
    door.world.pass(HALF_MINUTE)
    const link = await passwordRight()
    expect((await door.enter(link, { code: first() })).status).toBe(401)
    expect((await door.enter(link, { code: second() })).status).toBe(303)
  })

  it('leave no secret in the database', async () => {
    const begun = await ana.form('/account/codes', {})
    const code = appOf(begun.text)
    const letters = /<code>([A-Z2-7 ]{39})<\/code>/.exec(begun.text)![1]!.replaceAll(' ', '')
    const recovery = codesIn((await ana.form('/account/codes/confirm', { code: code() })).text)
    const rows = JSON.stringify([
      await door.world.look('SELECT * FROM authenticators'),
      await door.world.look('SELECT * FROM recovery_codes'),
      await door.world.look('SELECT * FROM events'),
    ])
    for (const secret of [letters, Buffer.from(letters).toString('base64url'), ...recovery])
      expect(rows).not.toContain(secret)
  })
})

describe('a recovery code', () => {
  it('stands in for the app once, however it is written', async () => {
    const { recovery } = await turnOn()
    const written = recovery[0]!.toUpperCase().replaceAll('-', ' ')
    expect((await door.enter(await passwordRight(), { code: written })).status).toBe(303)
    expect((await door.enter(await passwordRight(), { code: recovery[0]! })).status).toBe(401)
    expect((await ana.get('/account')).text).toContain('9 recovery codes are left')
  })

  it('is over once there are new ones, or no codes any more', async () => {
    const { recovery } = await turnOn()
    const renewed = codesIn((await ana.form('/account/codes/recovery', {})).text)
    expect(renewed).toHaveLength(10)
    expect((await door.enter(await passwordRight(), { code: recovery[0]! })).status).toBe(401)
    expect((await door.enter(await passwordRight(), { code: renewed[0]! })).status).toBe(303)
    await ana.form('/account/codes/end', {})
    expect((await ana.form('/account/codes/recovery', {})).status).toBe(409)
  })
})
