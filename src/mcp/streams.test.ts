import type { Client } from '@modelcontextprotocol/client'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { type Endpoint, listen } from '../../test/mcp.ts'
import { newWorld, type World } from '../../test/world.ts'
import { issueToken } from '../auth/console.ts'
import { createAccount } from '../store/account.ts'
import { revokeToken } from '../store/credential.ts'
import { emit } from '../store/handle.ts'
import { systemActor } from '../tools/access.ts'
import { toolNamed } from '../tools/effects.ts'

let world: World
let endpoint: Endpoint
beforeEach(async () => {
  world = await newWorld()
  endpoint = await listen(world)
})
afterEach(async () => {
  await endpoint.close()
  await world.close()
})

/** Listens for everything, and keeps what is heard. */
async function ear(client: Client, tasks: readonly string[]) {
  const heard: string[] = []
  client.setNotificationHandler('notifications/resources/updated', ({ params }) => {
    heard.push(params.uri)
  })
  client.setNotificationHandler('notifications/tools/list_changed', () => {
    heard.push('tools')
  })
  const subscription = await client.listen({
    toolsListChanged: true,
    resourceSubscriptions: ['done://digest', ...tasks.map((id) => `done://task/${id}`)],
  })
  return { heard, closed: subscription.closed }
}

// The digest is a resource where there is a tool that reads it.
const digest = toolNamed('get_digest') ? ['done://digest'] : []

const quiet = () => new Promise((resolve) => setTimeout(resolve, 150))

it('tells of what changed, once for events that come together', async () => {
  await world.scout.call('create_task', { title: 'One' })
  const { heard } = await ear(await endpoint.connect(world.builder.token!), ['T1'])
  await world.scout.call('complete_task', { id: 'T1' })
  await world.scout.call('create_task', { title: 'Two' })
  await expect.poll(() => [...heard].sort()).toEqual([...digest, 'done://task/T1'])
})

it('never carries an event of another account', async () => {
  const { store } = world.done
  await store.write(systemActor(2), 'setup', (tx) =>
    createAccount(tx, { name: 'Other', zone: 'UTC', owner: 'Ben', leaseMs: 600_000 }),
  )
  const stranger = await endpoint.connect(await issueToken(store, 2, 'stranger', { scopes: 'read write' }))
  const theirs = await ear(stranger, ['T1', 'T2'])
  const own = await ear(await endpoint.connect(world.scout.token!), ['T1', 'T2'])

  await world.scout.call('create_task', { title: 'Ours' })
  await expect.poll(() => own.heard).toContain('done://task/T1')
  await quiet()
  expect(theirs.heard).toEqual([])

  await stranger.callTool({ name: 'create_task', arguments: { title: 'Theirs' } })
  await expect.poll(() => theirs.heard).toContain('done://task/T1')
  await quiet()
  expect(own.heard.filter((uri) => uri === 'done://task/T1')).toHaveLength(1)
})

it('keeps to the projects that a token is narrowed to', async () => {
  const { store } = world.done
  await world.scout.call('create_project', { name: 'Website' })
  const narrow = await world.agent('narrow', { projects: [1] })
  const { heard } = await ear(await endpoint.connect(narrow.token!), ['T1', 'T2', 'T3'])
  await store.write(systemActor(world.account), 'test', async (tx) => {
    await emit(tx, { kind: 'updated', task: 1, project: 1 })
    await emit(tx, { kind: 'updated', task: 2, project: 2 })
    await emit(tx, { kind: 'commented', task: 2, project: 2 })
    await emit(tx, { kind: 'updated', task: 3 })
  })
  await expect.poll(() => heard).toContain('done://task/T1')
  await quiet()
  expect(heard).toEqual(['done://task/T1'])
  await store.write(systemActor(world.account), 'test', (tx) =>
    emit(tx, { kind: 'commented', task: 1, project: 1 }),
  )
  await expect.poll(() => heard).toEqual(['done://task/T1', 'done://task/T1', ...digest])
})

it('tells an agent that its tools changed, and ends with its token', async () => {
  const { store } = world.done
  const scout = await ear(await endpoint.connect(world.scout.token!), [])
  const builder = await ear(await endpoint.connect(world.builder.token!), [])
  await store.write(systemActor(world.account), 'test', (tx) =>
    emit(tx, { kind: 'agent_changed', object: world.scout.actor.id }),
  )
  await expect.poll(() => scout.heard).toContain('tools')

  await store.write(systemActor(world.account), 'test', (tx) =>
    revokeToken(tx, Number(world.scout.actor.credential.split(':')[1])),
  )
  expect(await scout.closed).toBe('graceful')
  expect(scout.heard.filter((what) => what === 'tools').length).toBeGreaterThan(1)
  expect(builder.heard).not.toContain('tools')
})

it('ends every stream when the server stops', async () => {
  const { closed } = await ear(await endpoint.connect(world.scout.token!), [])
  await endpoint.close()
  expect(await closed).not.toBe('local')
})

it('opens no more streams for one token than it can have', async () => {
  const client = await endpoint.connect(world.scout.token!)
  for (let i = 0; i < 32; i++) await client.listen({ toolsListChanged: true })
  await expect(client.listen({ toolsListChanged: true })).rejects.toThrow('Subscription limit')
  const other = await endpoint.connect(world.builder.token!)
  await other.listen({ toolsListChanged: true })
})
