import type { Client } from '@modelcontextprotocol/client'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Endpoint, ERAS, type Era, listen } from '../../test/mcp.ts'
import { newWorld, type World } from '../../test/world.ts'

let world: World
let endpoint: Endpoint
beforeEach(async () => {
  world = await newWorld()
  endpoint = await listen(world)
  await world.scout.call('create_task', { title: 'Rotate the certificate' })
})
afterEach(async () => {
  await endpoint.close()
  await world.close()
})

const opens = { elicitation: { url: {} } }

/** A client that answers each offer so, and keeps the addresses it was given. */
function answering(client: Client, answer: () => Promise<'accept' | 'decline' | 'cancel'>) {
  const offered: string[] = []
  client.setRequestHandler('elicitation/create', async ({ params }) => {
    offered.push((params as { url: string }).url)
    return { action: await answer() }
  })
  return offered
}

const complete = (client: Client) =>
  client.callTool({ name: 'complete_task', arguments: { id: 'T1', summary: 'Rotated.' } }) as Promise<{
    structuredContent: Record<string, unknown>
    isError?: boolean
  }>

describe.each(['auto', 'pinned'] as const)('a client (%s) that can open addresses', (era) => {
  it.each(['accept', 'decline', 'cancel'] as const)(
    'is offered the page; its "%s" decides nothing',
    async (action) => {
      const client = await endpoint.connect(world.scout.token!, { era, capabilities: opens })
      const offered = answering(client, async () => action)
      const { structuredContent } = await complete(client)
      expect(offered).toEqual(['http://127.0.0.1:4747/sign-off/A1'])
      expect(structuredContent).toMatchObject({
        id: 'T1',
        status: 'awaiting_approval',
        approval: { id: 'A1', state: 'pending' },
        page: 'http://127.0.0.1:4747/sign-off/A1',
      })
    },
  )

  it('gets what a person decided while the page was open', async () => {
    const client = await endpoint.connect(world.scout.token!, { era, capabilities: opens })
    answering(client, async () => {
      await world.ana.call('complete_task', { id: 'T1' })
      return 'cancel'
    })
    expect((await complete(client)).structuredContent).toMatchObject({ status: 'done' })
  })

  it('does not ask again where the task was taken back while the page was open', async () => {
    const client = await endpoint.connect(world.scout.token!, { era, capabilities: opens })
    answering(client, async () => {
      await world.scout.call('reopen_task', { id: 'T1' })
      return 'accept'
    })
    expect((await complete(client)).structuredContent).toMatchObject({
      status: 'open',
      approval: { state: 'withdrawn' },
    })
  })

  it('is not offered it a second time', async () => {
    await world.scout.call('complete_task', { id: 'T1', summary: 'Rotated.' })
    const client = await endpoint.connect(world.scout.token!, { era, capabilities: opens })
    const offered = answering(client, async () => 'accept')
    expect((await complete(client)).structuredContent).toMatchObject({ already: true, request: 'A1' })
    expect(offered).toEqual([])
  })
})

it.each(Object.keys(ERAS) as Era[])('a client (%s) that can’t is answered at once', async (era) => {
  const client = await endpoint.connect(world.scout.token!, { era })
  expect((await complete(client)).structuredContent).toMatchObject({
    status: 'awaiting_approval',
    request: 'A1',
  })
})

it('a forged second round completes nothing', async () => {
  const answer = await endpoint.post(
    {
      authorization: `Bearer ${world.scout.token}`,
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': 'complete_task',
    },
    {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: {
        name: 'complete_task',
        arguments: { id: 'T1' },
        inputResponses: { sign_off_page: { action: 'accept', content: { approved: true } } },
        requestState: 'approved',
        _meta: {
          'io.modelcontextprotocol/protocolVersion': '2026-07-28',
          'io.modelcontextprotocol/clientCapabilities': opens,
        },
      },
    },
  )
  expect(await answer.json()).toMatchObject({ result: { structuredContent: { id: 'T1', status: 'open' } } })
  expect(await world.scout.call('get_task', { id: 'T1', detail: 'concise' })).toMatchObject({
    status: 'open',
  })
})
