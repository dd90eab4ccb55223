import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { newWorld, type World } from '../../test/world.ts'
import { accountMeant, accountsOf, addAccount } from './accounts.ts'
import { actorOfSession } from './actor.ts'
import { issueSignInLink, issueToken, signIn } from './console.ts'

let world: World
beforeEach(async () => {
  world = await newWorld()
})
afterEach(() => world.close())

const add = (name: string, owner = 'Olga') =>
  addAccount(world.done.store, { name, owner, zone: 'America/Lima' })

describe('one more account', () => {
  it('has an owner of its own, and numbers that begin at one', async () => {
    const { done } = world
    await world.scout.call('create_task', { title: 'Of the first' })
    expect(await add('Beta')).toBe(2)
    const session = await signIn(done, (await issueSignInLink(done.store, 2)).slice('/sign-in/'.length))
    const olga = (await actorOfSession(done.store, session!.secret))!
    expect(olga).toMatchObject({ account: 2, id: 'U1', name: 'Olga', role: 'owner', zone: 'America/Lima' })
    expect(await done.call(olga, 'create_task', { title: 'Of the second' })).toMatchObject({ id: 'T1' })
    const { tasks } = await done.call(olga, 'list_tasks', {})
    expect(tasks).toMatchObject([{ title: 'Of the second' }])
    expect((await world.scout.call('get_task', { id: 'T1' })).title).toBe('Of the first')
  })

  it('of several that are made at once is made once each', async () => {
    const numbers = await Promise.all(['Beta', 'Gamma', 'Delta'].map((name) => add(name)))
    expect([...numbers].sort()).toEqual([2, 3, 4])
    expect(await accountsOf(world.done.store)).toHaveLength(4)
  })

  it('has a name of its own, by which it is meant', async () => {
    await add('Beta')
    await expect(add('beta')).rejects.toThrow('Account 2 is called "Beta".')
    for (const name of ['', 'Two\nlines', 'x'.repeat(61)])
      await expect(add(name)).rejects.toThrow('A name is one line')
    await expect(add('Gamma', '')).rejects.toThrow('A name is one line')
    const { store } = world.done
    expect([await accountMeant(store, 'BETA'), await accountMeant(store, '2')]).toEqual([2, 2])
    await expect(accountMeant(store, 'Gamma')).rejects.toThrow('There is no account "Gamma".')
    await issueToken(store, 2, 'scout', { scopes: 'read' })
  })
})
