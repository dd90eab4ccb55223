import { afterEach, beforeEach, expect, it } from 'vitest'
import { newWorld, type World } from '../../test/world.ts'
import { revokeToken } from '../store/credential.ts'
import { actorOfSession, actorOfToken } from './actor.ts'
import { issueSignInLink, issueToken, LINK_MS, SESSION_MS, signIn } from './console.ts'
import { hashSecret, newSecret } from './secret.ts'

let world: World
beforeEach(async () => {
  world = await newWorld()
})
afterEach(() => world.close())

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

it('a session is no token and a token no session', async () => {
  const link = await issueSignInLink(world.done.store, world.account)
  const session = await signIn(world.done.store, link.slice('/sign-in/'.length))
  expect(await actorOfSession(world.done.store, session!.secret)).toMatchObject({
    kind: 'person',
    role: 'owner',
  })
  expect(await actorOfToken(world.done.store, session!.secret)).toBeUndefined()
  expect(await actorOfSession(world.done.store, world.scout.token!)).toBeUndefined()
  world.pass(SESSION_MS)
  expect(await actorOfSession(world.done.store, session!.secret)).toBeUndefined()
})

it('a sign-in link works once, and not after its time', async () => {
  const { store } = world.done
  const secret = async () => (await issueSignInLink(store, world.account)).slice('/sign-in/'.length)
  const first = await secret()
  expect(await signIn(store, first)).toBeDefined()
  expect(await signIn(store, first)).toBeUndefined()
  const late = await secret()
  world.pass(LINK_MS)
  expect(await signIn(store, late)).toBeUndefined()
})

it('a secret has 256 random bits, and only its hash is kept', () => {
  const secrets = new Set(Array.from({ length: 100 }, () => newSecret('done')))
  expect(secrets.size).toBe(100)
  for (const secret of secrets) expect(Buffer.from(secret.slice(5), 'base64url')).toHaveLength(32)
  expect(hashSecret('done_x')).toMatch(/^[0-9a-f]{64}$/)
})
