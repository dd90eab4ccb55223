import { spawn } from 'node:child_process'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { bundled } from '../../test/bundle.ts'
import { ERAS, type Era } from '../../test/mcp.ts'
import { newWorld, type World } from '../../test/world.ts'
import { revokeToken } from '../store/credential.ts'
import { systemActor } from '../tools/access.ts'
import { allowedTools } from '../tools/guard.ts'

let program: string
beforeAll(async () => {
  program = await bundled('test/mcp-stdio.ts')
})

let world: World
const clients: Client[] = []
beforeEach(async () => {
  world = await newWorld()
})
afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.close()))
  await world.close()
})

async function connect(
  options: { era?: Era; presets?: string; token?: string; opensAddresses?: boolean } = {},
) {
  const { era = 'auto', presets, token, opensAddresses } = options
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [program, world.dir, ...(presets ? [presets] : [])],
    env: { ...(process.env as Record<string, string>), ...(token ? { DONE_TOKEN: token } : {}) },
    stderr: 'pipe',
  })
  const log: string[] = []
  transport.stderr?.on('data', (chunk: Buffer) => log.push(String(chunk)))
  const client = new Client(
    { name: 'test', version: '1' },
    { ...ERAS[era], capabilities: opensAddresses ? { elicitation: { url: {} } } : {} },
  )
  await client.connect(transport)
  clients.push(client)
  return { client, log }
}

describe.each(Object.keys(ERAS) as Era[])('a host that opens as %s', (era) => {
  it('lists without the data folder, and works on it beside the server', async () => {
    const { client, log } = await connect({ era })
    const { tools } = await client.listTools()
    expect(tools.map((tool) => tool.name)).toEqual(allowedTools(world.scout.actor))
    expect(client.getInstructions()).toContain('complete_task')
    expect(log.join('')).toBe('')

    const { structuredContent } = await client.callTool({
      name: 'create_task',
      arguments: { title: 'From a host' },
    })
    expect(structuredContent).toMatchObject({ id: 'T1' })
    expect(await world.scout.call('get_task', { id: 'T1' })).toMatchObject({ title: 'From a host' })
    expect(log.join('')).toContain('opened')
  })

  it('refuses a key that the SDK would drop (gate, way 31)', async () => {
    await world.scout.call('create_task', { title: 'Gated' })
    const { client } = await connect({ era })
    for (const key of ['__proto__', 'constructor']) {
      const given = JSON.parse(`{"id":"T1","${key}":{"auto_ok":true}}`) as Record<string, unknown>
      const answer = await client.callTool({ name: 'complete_task', arguments: given })
      expect(answer, key).toMatchObject({
        isError: true,
        structuredContent: { error: { code: 'unknown_argument' } },
      })
    }
    expect(await client.callTool({ name: 'complete_task', arguments: { id: 'T1' } })).toMatchObject({
      structuredContent: { status: 'awaiting_approval' },
    })
  })

  it('hears of what others change', async () => {
    await world.scout.call('create_task', { title: 'Watched' })
    const { client } = await connect({ era })
    const heard: string[] = []
    client.setNotificationHandler('notifications/resources/updated', ({ params }) => {
      heard.push(params.uri)
    })
    if (era === 'legacy') await client.subscribeResource({ uri: 'done://task/T1' })
    else await client.listen({ resourceSubscriptions: ['done://task/T1'] })
    await client.callTool({ name: 'get_task', arguments: { id: 'T1' } })
    await world.scout.call('create_task', { title: 'Not watched' })
    await world.scout.call('complete_task', { id: 'T1' })
    await expect.poll(() => heard, { timeout: 3000 }).toEqual(['done://task/T1'])
  })
})

it('is narrowed, in the list and in calls', async () => {
  const { client } = await connect({ presets: 'worker' })
  const names = (await client.listTools()).tools.map((tool) => tool.name)
  expect(names).toEqual(allowedTools(world.scout.actor, ['worker']))
  expect(await client.callTool({ name: 'delete_task', arguments: { id: 'T1' } })).toMatchObject({
    isError: true,
    structuredContent: { error: { code: 'scope' } },
  })
})

it('lists what a token may do, and stops when it is revoked', async () => {
  const { client } = await connect({ token: world.reader.token! })
  const { tools } = await client.listTools()
  expect(tools.map((tool) => tool.name)).toEqual(allowedTools(world.reader.actor))
  await world.done.store.write(systemActor(world.account), 'test', (tx) =>
    revokeToken(tx, Number(world.reader.actor.credential.split(':')[1])),
  )
  expect(await client.callTool({ name: 'get_task', arguments: { id: 'T1' } })).toMatchObject({
    isError: true,
    structuredContent: { error: { code: 'scope', message: expect.stringContaining('not good') } },
  })
})

it.each(['legacy', 'auto'] as const)(
  'offers the sign-off page to a host (%s) that can open it',
  async (era) => {
    await world.scout.call('create_task', { title: 'Rotate the certificate' })
    const { client } = await connect({ era, opensAddresses: true })
    const offered: unknown[] = []
    client.setRequestHandler('elicitation/create', async ({ params }) => {
      offered.push(params)
      return { action: 'accept' }
    })
    const { structuredContent } = await client.callTool({ name: 'complete_task', arguments: { id: 'T1' } })
    expect(structuredContent).toMatchObject({ status: 'awaiting_approval' })
    await expect
      .poll(() => offered)
      .toMatchObject([{ mode: 'url', url: 'http://127.0.0.1:4747/sign-off/A1' }])
    expect(await world.scout.call('get_task', { id: 'T1' })).toMatchObject({ status: 'awaiting_approval' })
  },
)

/** Runs the program on lines and gives all that it wrote. */
function run(
  lines: readonly string[],
  args: string[] = [],
): Promise<{ out: string; log: string; code: number | null }> {
  const child = spawn(process.execPath, [program, world.dir, ...args], { stdio: 'pipe' })
  let out = ''
  let log = ''
  child.stdout.on('data', (chunk) => {
    out += chunk
  })
  child.stderr.on('data', (chunk) => {
    log += chunk
  })
  child.stdin.end(lines.map((line) => `${line}\n`).join(''))
  return new Promise((resolve) => child.on('close', (code) => resolve({ out, log, code })))
}

const initialize = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'pipe', version: '1' } },
})
const create = JSON.stringify({
  jsonrpc: '2.0',
  id: 2,
  method: 'tools/call',
  params: { name: 'create_task', arguments: { title: 'Piped' } },
})

it('answers what was asked before the host closed its end, and ends', async () => {
  const { out, code } = await run([initialize, create])
  const answers = out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { id: number; result: Record<string, unknown> })
  expect(answers.map((answer) => answer.id)).toEqual([1, 2])
  expect(answers[1]!.result).toMatchObject({ structuredContent: { title: 'Piped' } })
  expect(code).toBe(0)
})

it('writes nothing but the protocol to stdout, whatever comes in', async () => {
  const { out, code } = await run(['nonsense', initialize, '{"jsonrpc":"2.0"}', create])
  for (const line of out.trim().split('\n')) expect(JSON.parse(line)).toMatchObject({ jsonrpc: '2.0' })
  expect(code).toBe(0)
})

it('says at the start that a preset is unknown', async () => {
  const { out, log, code } = await run([initialize], ['wroker'])
  expect(out).toBe('')
  expect(log).toContain('There is no preset or toolset "wroker"')
  expect(code).toBe(1)
})

const MODERN = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
}

/** A request of 2026-07-28, on one line. */
const modern = (
  id: unknown,
  method: string,
  params: Record<string, unknown> = {},
  meta: Record<string, unknown> = {},
) => JSON.stringify({ jsonrpc: '2.0', id, method, params: { ...params, _meta: { ...MODERN, ...meta } } })

/** Answers by id. */
async function answersTo(lines: readonly string[]) {
  const { out, log, code } = await run(lines)
  const answers = out
    .trim()
    .split('\n')
    .map(
      (line) =>
        JSON.parse(line) as { id: unknown; result?: Record<string, unknown>; error?: { code: number } },
    )
  return { answers: new Map(answers.map((answer) => [answer.id, answer])), count: answers.length, log, code }
}

it('answers what is regular as the SDK does', async () => {
  await world.scout.call('create_task', { title: 'Rotate “the” certificate' })
  const asked: [string, Record<string, unknown>?][] = [
    ['server/discover'],
    ['tools/list'],
    ['tools/call', { name: 'get_task', arguments: { id: 'T1' } }],
    ['tools/call', { name: 'get_task', arguments: { id: 'T99' } }],
    ['tools/call', { name: 'get_task', arguments: { di: 'T1' } }],
    ['tools/call', { name: 'list_projects' }],
  ]
  // A level of logs is the SDK's: asking for one is what makes the difference.
  const viaSdk = { 'io.modelcontextprotocol/logLevel': 'error' }
  const { answers, count, code } = await answersTo(
    asked.flatMap(([method, params], i) => [
      modern(i, method, params),
      modern(`sdk ${i}`, method, params, viaSdk),
    ]),
  )
  expect(count).toBe(2 * asked.length)
  for (const i of asked.keys())
    expect({ ...answers.get(i), id: 0 }, asked[i]![0]).toEqual({ ...answers.get(`sdk ${i}`), id: 0 })
  expect(code).toBe(0)
})

it('stays with the revision that a client has begun with, whoever answers', async () => {
  const { answers, count, log, code } = await answersTo([
    modern(1, 'tools/list'),
    // Neither says which revision it is of, so a client of before would have begun with them.
    JSON.stringify({ jsonrpc: '2.0', method: 'notifications/roots/list_changed' }),
    initialize.replace('"id":1', '"id":2'),
    modern(3, 'prompts/list'),
    modern(4, 'tools/call', { name: 'create_task', arguments: { title: 'Still modern' } }),
    modern(5, 'tools/call', { name: 'approve_task', arguments: {} }),
    'null',
    '[]',
  ])
  expect(count).toBe(5)
  expect(answers.get(2)!.error!.code).toBe(-32022)
  expect(answers.get(3)!.result).toMatchObject({ resultType: 'complete', prompts: expect.any(Array) })
  expect(answers.get(4)!.result).toMatchObject({ resultType: 'complete', structuredContent: { id: 'T1' } })
  expect(answers.get(5)!.error!.code).toBe(-32602)
  expect(log).toContain('Rejected 2025-era request')
  expect(code).toBe(0)
})

it('gives a client of before everything by the SDK, even what looks like later', async () => {
  const { answers } = await answersTo([
    initialize,
    modern(2, 'tools/list'),
    create.replace('"id":2', '"id":3'),
  ])
  expect(answers.get(2)).not.toHaveProperty('result.resultType')
  expect(answers.get(3)!.result).toMatchObject({ structuredContent: { id: 'T1' } })
})

it('answers no call that was taken back, and waits for none', async () => {
  await world.scout.call('create_task', { title: 'Waits for a decision' })
  await world.scout.call('complete_task', { id: 'T1' })
  const waits = { name: 'get_approval', arguments: { id: 'A1', wait_seconds: 50 } }
  const takeBack = (requestId: unknown) =>
    JSON.stringify({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } })
  const { answers } = await answersTo([
    modern(1, 'tools/call', waits),
    modern(2, 'tools/call', waits, { 'io.modelcontextprotocol/logLevel': 'error' }),
    takeBack(1),
    takeBack(2),
    takeBack(3),
    modern(4, 'tools/call', { name: 'get_task', arguments: { id: 'T1' } }),
  ])
  expect([...answers.keys()]).toEqual([4])
})
