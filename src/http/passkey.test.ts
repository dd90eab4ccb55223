import { Secret, TOTP } from 'otpauth'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Device, newDevice } from '../../test/device.ts'
import { type Client, type HttpWorld, newHttpWorld } from '../../test/http.ts'

let door: HttpWorld
let nobody: Client
let ana: Client
let device: Device
beforeEach(async () => {
  door = await newHttpWorld()
  nobody = door.client(door.named)
  ana = door.client({ ...door.named, cookie: (await door.browser()).headers.cookie! })
  device = newDevice(door.named.origin)
})
afterEach(() => door.close())

const askedToMake = async (who = ana) => (await who.post('/account/passkeys/ask')).json
const askedToShow = async () => (await nobody.post('/sign-in/passkey/ask')).json

async function make(of = device): Promise<void> {
  const made = await ana.form('/account/passkeys', {
    response: of.create(await askedToMake()),
    label: 'Laptop',
  })
  expect(made.status).toBe(303)
}

const show = async (...how: Parameters<Device['get']> extends [unknown, ...infer Rest] ? Rest : never) =>
  nobody.form('/sign-in/passkey', { response: device.get(await askedToShow(), ...how) })

/** The browser that an answer has signed in. */
const entered = ({ headers }: Awaited<ReturnType<Client['get']>>): Client =>
  door.client({ ...nobody.headers, cookie: headers['set-cookie']![0]!.split(';')[0]! })

describe('a passkey', () => {
  it('opens Done by itself, also where one-time codes are asked for, and proves again who sits there', async () => {
    const login = { login: 'ana@example.org', password: 'gravel lantern otter dune' }
    await ana.form('/account/password', login)
    const letters = /<code>([A-Z2-7 ]{39})</.exec((await ana.form('/account/codes', {})).text)![1]!
    const app = new TOTP({ secret: Secret.fromBase32(letters.replaceAll(' ', '')) })
    await ana.form('/account/codes/confirm', {
      code: app.generate({ timestamp: door.world.done.store.now() }),
    })
    expect((await nobody.form('/sign-in', login)).headers['set-cookie']).toBeUndefined()
    await make()
    expect((await ana.get('/account')).text).toContain('Laptop')
    const answer = await show()
    expect(answer.status).toBe(303)
    const account = await entered(answer).get('/account')
    expect(account.text).toContain('Signed in by passkey')

    door.world.pass(16 * 60_000)
    const stale = entered(answer)
    expect((await stale.form('/members/invite', { name: 'Bea', role: 'member' })).status).toBe(403)
    expect((await stale.get('/sign-in/again')).text).toContain('data-passkey="/sign-in/passkey/ask"')
    const fresh = entered(await show())
    expect((await fresh.form('/members/invite', { name: 'Bea', role: 'member' })).status).toBe(200)
  })

  it('is made for a name, by a fresh sign-in, from a page of ours', async () => {
    const bare = await door.browser()
    const refused = await bare.post('/account/passkeys/ask')
    expect([refused.status, refused.json.message]).toEqual([409, expect.stringContaining('bare address')])
    expect((await bare.get('/account')).text).toContain(`http://localhost:${door.server.port}/account`)

    const asked = await askedToMake()
    expect(asked).toMatchObject({
      rp: { id: 'localhost' },
      authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    })
    const foreign = { ...ana.headers, origin: 'https://elsewhere.example', 'sec-fetch-site': 'cross-site' }
    for (const path of [
      '/account/passkeys/ask',
      '/account/passkeys',
      '/sign-in/passkey/ask',
      '/sign-in/passkey',
    ])
      expect((await door.client(foreign).form(path, {})).status, path).toBe(403)
    door.world.pass(16 * 60_000)
    expect((await ana.post('/account/passkeys/ask')).status).toBe(403)
    expect((await ana.form('/account/passkeys', { response: device.create(asked), label: 'x' })).status).toBe(
      400,
    )
    expect(await door.world.look('SELECT * FROM passkeys')).toEqual([])
  })

  it.each([
    ['for another site', { site: 'elsewhere.example' }],
    ['on another site’s page', { origin: 'https://elsewhere.example' }],
    ['by a device that has not seen who touches it', { verified: false }],
    ['as if for something else', { type: 'webauthn.create' }],
    ['to a challenge of its own', { challenge: Buffer.from('v1.of.mine').toString('base64url') }],
  ])('that is shown %s opens nothing', async (_says, how) => {
    await make()
    const refused = await show(how)
    expect([refused.status, refused.headers['set-cookie']]).toEqual([401, undefined])
    expect((await show()).status).toBe(303)
  })

  it('opens nothing by an answer that was sent before, is late, or was meant for another page', async () => {
    await make()
    const asked = await askedToShow()
    const response = device.get(asked)
    expect((await nobody.form('/sign-in/passkey', { response })).status).toBe(303)
    expect((await nobody.form('/sign-in/passkey', { response })).status).toBe(401)
    const late = device.get(await askedToShow())
    door.world.pass(5 * 60_000)
    expect((await nobody.form('/sign-in/passkey', { response: late })).status).toBe(401)
    const { challenge } = await askedToMake(entered(await show()))
    expect((await show({ challenge })).status).toBe(401)
  })

  it('of a session is kept for that session alone', async () => {
    const asked = await askedToMake()
    const other = door.client({ ...ana.headers, cookie: (await door.browser()).headers.cookie! })
    const fields = { response: device.create(asked), label: 'Theirs' }
    expect((await other.form('/account/passkeys', fields)).status).toBe(400)
    expect((await ana.form('/account/passkeys', { response: '{"id":', label: '' })).status).toBe(400)
    expect((await ana.form('/account/passkeys', fields)).status).toBe(303)
  })

  it('whose device counts its uses shows where there is a copy of it', async () => {
    device = newDevice(nobody.headers.origin!, true)
    await make()
    const old = device.get(await askedToShow())
    expect((await show()).status).toBe(303)
    expect((await nobody.form('/sign-in/passkey', { response: old })).status).toBe(401)
  })

  it('that was removed opens nothing, and another one does', async () => {
    await make()
    expect((await ana.form('/account/passkeys/1/remove', {})).status).toBe(303)
    expect((await ana.form('/account/passkeys/1/remove', {})).status).toBe(404)
    expect((await show()).status).toBe(401)
    device = newDevice(nobody.headers.origin!)
    await make()
    expect((await show()).status).toBe(303)
  })

  it('is not removed, joined by another one or by codes by who knows the password alone', async () => {
    await make()
    await ana.form('/account/password', { login: 'ana@example.org', password: 'gravel lantern otter dune' })
    const thief = door.browserOf(
      await nobody.form('/sign-in', { login: 'ana@example.org', password: 'gravel lantern otter dune' }),
    )
    const named = door.client({ ...nobody.headers, cookie: thief.headers.cookie! })
    expect((await named.form('/account/passkeys/1/remove', {})).status).toBe(403)
    expect((await named.form('/account/codes', {})).status).toBe(403)
    const asked = JSON.parse((await named.form('/account/passkeys/ask', {})).text)
    const other = newDevice(nobody.headers.origin!)
    const fields = { response: other.create(asked), label: 'Theirs' }
    expect((await named.form('/account/passkeys', fields)).status).toBe(403)

    const own = door.client({ ...nobody.headers, cookie: door.browserOf(await show()).headers.cookie! })
    expect((await own.form('/account/passkeys/1/remove', {})).status).toBe(303)
  })
})
