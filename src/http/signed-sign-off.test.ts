import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Device, newDevice } from '../../test/device.ts'
import { type Client, formOf, type HttpWorld, newHttpWorld } from '../../test/http.ts'
import { forge } from '../../test/past.ts'
import { sealKey } from '../auth/console.ts'
import { sealBy } from '../done.ts'
import { challengeOf } from '../model/assertion.ts'
import { sealedText } from '../store/approval.ts'
import type { Row } from '../store/tables.ts'
import { unsignedClosings } from '../store/verify.ts'
import { systemActor } from '../tools/access.ts'

let door: HttpWorld
let ana: Client
let device: Device
/** Ana has a passkey, and two tasks of the agent's wait for her. */
beforeEach(async () => {
  door = await newHttpWorld()
  ana = door.client({ ...door.named, cookie: (await door.browser()).headers.cookie! })
  device = newDevice(door.named.origin)
  const asked = (await ana.post('/account/passkeys/ask')).json
  await ana.form('/account/passkeys', { response: device.create(asked), label: 'Laptop' })
  const { scout } = door.world
  for (const title of ['One', 'Two']) await scout.call('create_task', { title })
  for (const id of ['T1', 'T2']) await scout.call('complete_task', { id })
  door.world.pass(1000)
})
afterEach(() => door.close())

const formFor = async (id: string) => formOf((await ana.get(`/sign-off/${id}`)).text)
const askedFor = async (id: string, form: Record<string, string>) =>
  (await ana.form(`/sign-off/${id}/ask`, form)).json

async function approve(id: string, how: Parameters<Device['get']>[1] = {}, of = device) {
  const form = await formFor(id)
  const response = of.get(await askedFor(id, form), how)
  return ana.form(`/sign-off/${id}/approve`, { ...form, response })
}

const statusOf = async (id: string) => (await door.world.scout.call('get_task', { id })).status
const unsigned = async () =>
  (await door.world.done.store.read(systemActor(1), 'verify', unsignedClosings)).map(({ id }) => `T${id}`)

describe('a person with a passkey', () => {
  it('signs off by it: the sign-off carries the signature, and verify checks it', async () => {
    expect((await ana.get('/sign-off/A1')).text).toContain('Approve with your passkey')
    expect((await approve('A1')).status).toBe(303)
    expect(await statusOf('T1')).toBe('done')
    const [signOff] = await door.world.look<{ assertion: string; content_hash: string }>(
      'SELECT * FROM sign_offs',
    )
    const { nonce, clientDataJSON } = JSON.parse(signOff!.assertion)
    const { challenge } = JSON.parse(Buffer.from(clientDataJSON, 'base64url').toString())
    const decided = {
      account: 1,
      request: 1,
      task: 1,
      version: 1,
      hash: signOff!.content_hash,
      target: 'done',
    }
    expect(challenge).toBe(challengeOf(decided, nonce))
    expect(await unsigned()).toEqual([])
  })

  it('can’t sign off by the session alone, on the page, over REST or by closing the task', async () => {
    const form = await formFor('A1')
    expect((await ana.form('/sign-off/A1/approve', form)).status).toBe(403)
    const body = { version: Number(form.version), hash: form.hash, nonce: form.nonce }
    const rest = await ana.post('/api/people/sign-offs/A1/approve', body)
    expect([rest.status, rest.json.error.code]).toEqual([403, 'people_only'])
    expect((await ana.post('/api/tasks/T1/complete')).status).toBe(403)
    expect((await ana.post('/api/tasks/T2/cancel', { reason: 'No.' })).status).toBe(403)
    expect([await statusOf('T1'), await statusOf('T2')]).toEqual(['awaiting_approval', 'awaiting_approval'])
    // Sending back closes nothing.
    expect((await ana.form('/sign-off/A1/reject', { note: 'Not yet.' })).status).toBe(303)
  })

  it.each([
    [
      'that is another request’s',
      async () => ({ challenge: (await askedFor('A2', await formFor('A2'))).challenge }),
    ],
    ['of a device that has not seen who touches it', async () => ({ verified: false })],
    ['for another site', async () => ({ site: 'elsewhere.example' })],
    ['as if for something else', async () => ({ type: 'webauthn.create' })],
  ])('is not taken by a signature %s', async (_says, how) => {
    expect((await approve('A1', await how())).status).toBe(403)
    expect(await statusOf('T1')).toBe('awaiting_approval')
  })

  it('is not taken by another device, an answer to another form, or what is no answer', async () => {
    expect((await approve('A1', {}, newDevice(ana.headers.origin!))).status).toBe(403)
    const first = await formFor('A1')
    door.world.pass(1000)
    const second = await formFor('A1')
    const response = device.get(await askedFor('A1', first))
    expect((await ana.form('/sign-off/A1/approve', { ...second, response })).status).toBe(403)
    expect((await ana.form('/sign-off/A1/approve', { ...second, response: '{}' })).status).toBe(400)
    expect(await statusOf('T1')).toBe('awaiting_approval')
    expect((await ana.form('/sign-off/A1/approve', { ...first, response })).status).toBe(303)
  })

  it('signs off without it again once it is removed, and what it has signed can still be checked', async () => {
    await approve('A1')
    door.world.pass(1000)
    await ana.form('/account/passkeys/1/remove', {})
    door.world.pass(1000)
    expect((await ana.form('/sign-off/A2/approve', await formFor('A2'))).status).toBe(303)
    expect(await unsigned()).toEqual([])
  })
})

/** What somebody can do who has the key beside the database, and not the device. */
async function sealAnew(): Promise<void> {
  const { world } = door
  const seal = sealBy(sealKey(world.dir, world.database.sealKey, false))
  for (const row of await world.look<Row<'sign_offs'>>('SELECT * FROM sign_offs'))
    await forge(world, `UPDATE sign_offs SET seal = '${seal(sealedText(row))}' WHERE id = ${row.id}`)
}

describe('verify', () => {
  it.each([
    ['the signature', `assertion = replace(assertion, '"signature":"', '"signature":"A')`],
    ['what was signed', `assertion = replace(assertion, '"clientDataJSON":"', '"clientDataJSON":"A')`],
    ['the form’s nonce', `assertion = replace(assertion, '"nonce":"', '"nonce":"1')`],
    ['which passkey it was', `assertion = replace(assertion, '"credential":"', '"credential":"x')`],
    ['that there was one', `assertion = NULL`],
  ])('finds %s altered, by whoever could seal it anew as well', async (_says, change) => {
    await approve('A1')
    expect(await unsigned()).toEqual([])
    await forge(door.world, `UPDATE sign_offs SET ${change}`)
    expect(await unsigned()).toEqual(['T1'])
    await sealAnew()
    expect(await unsigned()).toEqual(['T1'])
  })
})
