import { afterEach, beforeEach, expect, it } from 'vitest'
import { newWorld, type World } from '../../test/world.ts'
import { IDLE_MS } from '../model/actor.ts'
import { endSession, revokeToken } from '../store/credential.ts'
import { systemActor } from '../tools/access.ts'
import { actorOfSession, actorOfToken } from './actor.ts'
import { issueSignInLink, issueToken, LINK_MS, signIn } from './console.ts'
import { hashSecret, newSecret } from './secret.ts'
import { SESSION_MS } from './sign-in.ts'

let world: World
beforeEach(async () => {
  world = await newWorld()
})
afterEach(() => world.close())

/** Whether the engine can tell for nothing that what is remembered still holds. */
const remembers = () => world.done.store.credentialStamp() !== undefined

it('a token says who calls, until it expires or is revoked', async () => {
  const { store, account } = { ...world.done, account: world.account }
  const expires_at = store.now() + 1000
  const token = await issueToken(store, account, 'guest', { scopes: 'read', expires_at })
  expect(await actorOfToken(store, token)).toMatchObject({
    kind: 'agent',
    name: 'guest',
    scopes: ['read'],
    zone: 'Europe/Madrid',
  })
  world.pass(999)
  expect(await actorOfToken(store, token)).toBeDefined()
  world.pass(1)
  expect(await actorOfToken(store, token)).toBeUndefined()

  expect(await actorOfToken(store, world.scout.token!)).toMatchObject({ name: 'scout' })
  await store.write(world.ana.actor, 'test', (tx) => revokeToken(tx, 1))
  expect(await actorOfToken(store, world.scout.token!)).toBeUndefined()
  expect(await actorOfToken(store, newSecret('done'))).toBeUndefined()
})

it('a token that another process revokes is refused at the very next request', async () => {
  const { store } = world.done
  const token = world.scout.token!
  const first = await actorOfToken(store, token)
  expect((await actorOfToken(store, token)) === first).toBe(remembers())
  expect(Object.isFrozen(first)).toBe(true)

  const other = await world.another()
  await other.store.write(systemActor(world.account), 'test', (tx) => revokeToken(tx, 1))
  expect(await actorOfToken(store, token)).toBeUndefined()
  expect(await actorOfToken(store, world.builder.token!)).toMatchObject({ name: 'builder' })
  await other.close()
})

it('what somebody may do changes with the very next request, too', async () => {
  const { store } = world.done
  const link = await issueSignInLink(store, world.account)
  const { secret } = (await signIn(world.done, link.slice('/sign-in/'.length)))!
  const person = (await actorOfSession(store, secret))!
  expect((await actorOfSession(store, secret)) === person).toBe(remembers())
  await store.write(person, 'test', (tx) => endSession(tx, person.session.id))
  expect(await actorOfSession(store, secret)).toBeUndefined()
})

it('a revocation that falls into the look is not overlooked', async () => {
  const { store } = world.done
  const { read } = store
  // Between the look's snapshot and its answer, another revokes.
  store.read = async (actor, tool, run) => {
    const found = await read(actor, tool, run)
    store.read = read
    await store.write(systemActor(world.account), 'test', (tx) => revokeToken(tx, 1))
    return found
  }
  await actorOfToken(store, world.scout.token!)
  expect(await actorOfToken(store, world.scout.token!)).toBeUndefined()
})

it('a session is no token and a token no session', async () => {
  const link = await issueSignInLink(world.done.store, world.account)
  const session = await signIn(world.done, link.slice('/sign-in/'.length))
  expect(await actorOfSession(world.done.store, session!.secret)).toMatchObject({
    kind: 'person',
    role: 'owner',
  })
  expect(await actorOfToken(world.done.store, session!.secret)).toBeUndefined()
  expect(await actorOfSession(world.done.store, world.scout.token!)).toBeUndefined()
  world.pass(SESSION_MS)
  expect(await actorOfSession(world.done.store, session!.secret)).toBeUndefined()
})

it('a session that nobody uses for a week ends; one that is used goes on, for a month at most', async () => {
  const { store, credentialUse } = world.done
  const link = await issueSignInLink(store, world.account)
  const { secret } = (await signIn(world.done, link.slice('/sign-in/'.length)))!
  const used = async () => {
    const actor = await actorOfSession(store, secret)
    if (actor) credentialUse.saw(actor)
    await credentialUse.flush()
    return actor !== undefined
  }
  for (let day = 0; day < 24; day += 6) {
    world.pass(6 * 24 * 3_600_000)
    expect(await used()).toBe(true)
  }
  world.pass(6 * 24 * 3_600_000 + 1)
  expect(await used()).toBe(false)

  const other = await issueSignInLink(store, world.account)
  const idle = (await signIn(world.done, other.slice('/sign-in/'.length)))!
  world.pass(IDLE_MS - 1)
  expect(await actorOfSession(store, idle.secret)).toBeDefined()
  world.pass(1)
  expect(await actorOfSession(store, idle.secret)).toBeUndefined()
})

it('a sign-in link works once, and not after its time', async () => {
  const { store } = world.done
  const secret = async () => (await issueSignInLink(store, world.account)).slice('/sign-in/'.length)
  const first = await secret()
  expect(await signIn(world.done, first)).toBeDefined()
  expect(await signIn(world.done, first)).toBeUndefined()
  const late = await secret()
  world.pass(LINK_MS)
  expect(await signIn(world.done, late)).toBeUndefined()
})

it('a secret has 256 random bits, and only its hash is kept', () => {
  const secrets = new Set(Array.from({ length: 100 }, () => newSecret('done')))
  expect(secrets.size).toBe(100)
  for (const secret of secrets) expect(Buffer.from(secret.slice(5), 'base64url')).toHaveLength(32)
  expect(hashSecret('done_x')).toMatch(/^[0-9a-f]{64}$/)
})
