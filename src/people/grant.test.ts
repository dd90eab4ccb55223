import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { linkFor } from '../../test/http.ts'
import { newWorld, type World } from '../../test/world.ts'
import { actorOfSession } from '../auth/actor.ts'
import { giveConsent } from '../auth/consent.ts'
import { signIn } from '../auth/console.ts'
import type { Asked } from '../auth/oauth-server.ts'
import type { PersonActor } from '../model/actor.ts'
import { peopleCall } from './call.ts'

let world: World
let ana: PersonActor
beforeEach(async () => {
  world = await newWorld()
  ana = world.ana.actor as PersonActor
})
afterEach(() => world.close())

const people = (name: string, input: object = {}, by: PersonActor = ana): Promise<any> =>
  peopleCall(world.done)(by, name, input)

const asked: Asked = {
  client: { id: 'https://host.example/client.json', name: 'Host', isDocument: true },
  returnsTo: 'https://host.example/back',
  resource: 'https://done.example/mcp',
  scopes: ['read', 'write'],
}

const connect = (who: PersonActor, agent: string) =>
  giveConsent(world.done, who, asked, { agent, writes: true, presets: ['worker'], projects: [] })

describe('grants', () => {
  it('are listed with what they are good for, and revoked once', async () => {
    await connect(ana, 'Helper')
    const { grants } = await people('list_grants')
    expect(grants).toEqual([
      {
        id: 'O1',
        client: 'Host',
        client_id: 'https://host.example/client.json',
        returns_to: 'https://host.example/back',
        agent: 'G4 Helper',
        scopes: ['read', 'write'],
        presets: ['worker'],
        state: 'good',
        expires_at: '2027-11-30T08:00:00Z',
        created_at: '2026-11-30T08:00:00Z',
        created_by: 'U1',
      },
    ])
    expect(await people('revoke_grant', { id: 'O1' })).toEqual({ id: 'O1', revoked: true })
    expect(await people('revoke_grant', { id: 'O1' })).toEqual({ id: 'O1', revoked: true, already: true })
    expect((await people('list_grants')).grants[0].state).toBe('revoked')
    await expect(people('revoke_grant', { id: 'O9' })).rejects.toMatchObject({ code: 'not_found' })
  })

  it('are seen and revoked by their own person and by an owner', async () => {
    const link = await linkFor(world, 'Bea', 'member')
    const { secret } = (await signIn(world.done, link.slice('/sign-in/'.length)))!
    const bea = (await actorOfSession(world.done.store, secret))!
    await connect(ana, 'Helper')
    await connect(bea, 'Of Bea')
    expect((await people('list_grants', {}, bea)).grants.map(({ id }: { id: string }) => id)).toEqual(['O2'])
    expect((await people('list_grants')).grants).toHaveLength(2)
    await expect(people('revoke_grant', { id: 'O1' }, bea)).rejects.toMatchObject({ code: 'people_only' })
    expect(await people('revoke_grant', { id: 'O2' })).toMatchObject({ revoked: true })
  })

  it('end with their agent', async () => {
    await connect(ana, 'Helper')
    expect(await people('revoke_agent', { id: 'G4' })).toMatchObject({ revoked: ['O1'] })
    expect((await people('list_grants')).grants[0].state).toBe('revoked')
  })

  it('end by themselves after a year', async () => {
    await connect(ana, 'Helper')
    world.pass(366 * 24 * 3_600_000)
    const again = (await world.signInAgain()).actor as PersonActor
    expect((await people('list_grants', {}, again)).grants[0].state).toBe('expired')
  })
})
