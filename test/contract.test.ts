import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { DESTRUCTIVE_TOOLS, OPEN_WORLD_TOOLS, TOOL_NAMES, WRITE_TOOLS } from '../src/tools/effects.ts'
import { PRESETS } from '../src/tools/presets.ts'
import { type Endpoint, listen } from './mcp.ts'
import { newWorld, type World } from './world.ts'

/** What the SDK's own client sees, and that what is listed is what can be called (spec: effects, "Parity"). */
let world: World
let endpoint: Endpoint
beforeAll(async () => {
  world = await newWorld()
  endpoint = await listen(world)
})
afterAll(async () => {
  await endpoint.close()
  await world.close()
})

const toolsFor = async (token: string, preset?: string) => {
  const client = await endpoint.connect(token, preset ? { tools: preset } : {})
  return { client, tools: (await client.listTools()).tools }
}

it('84 tools: 34 read, 20 are destructive, 38 are idempotent writes, 3 reach outside; all hints and titles said', async () => {
  const { tools } = await toolsFor(world.scout.token!)
  const count = (holds: (hints: Record<string, unknown>) => unknown) =>
    tools.filter((tool) => holds(tool.annotations as Record<string, unknown>)).length
  expect(tools).toHaveLength(84)
  expect(count((hints) => hints.readOnlyHint)).toBe(34)
  expect(count((hints) => hints.destructiveHint)).toBe(20)
  expect(count((hints) => !hints.readOnlyHint && hints.idempotentHint)).toBe(38)
  expect(count((hints) => hints.openWorldHint)).toBe(3)
  for (const { name, title, annotations } of tools) {
    const { title: repeated, ...hints } = annotations!
    expect(title, name).toBeTruthy()
    expect(repeated, name).toBe(title)
    const said = ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint']
    expect(Object.keys(hints).sort(), name).toEqual(said.sort())
    for (const hint of Object.values(hints)) expect(hint, name).toBeTypeOf('boolean')
  }
})

it('a read token lists exactly the 34, and every other call is refused with scope', async () => {
  const { client, tools } = await toolsFor(world.reader.token!)
  expect(tools.map((tool) => tool.name)).toEqual(TOOL_NAMES.filter((name) => !WRITE_TOOLS.has(name)))
  for (const name of WRITE_TOOLS) {
    const { isError, structuredContent } = await client.callTool({ name, arguments: {} })
    const { error } = structuredContent as { error: { code: string; message: string } }
    expect([name, isError, error.code]).toEqual([name, true, 'scope'])
    expect(error.message).toContain('"write"')
  }
})

describe.each(Object.keys(PRESETS))('the preset %s', (preset) => {
  it.each(['write', 'read'] as const)(
    'can call what it lists, and nothing else, with a %s token',
    async (scope) => {
      const { client, tools } = await toolsFor(
        (scope === 'write' ? world.scout : world.reader).token!,
        preset,
      )
      const listed = new Set(tools.map((tool) => tool.name))
      for (const name of TOOL_NAMES) {
        // An argument that no tool has: whoever may call the tool is told of that, everybody else of the scope.
        const { structuredContent } = await client.callTool({ name, arguments: { nonsense: 1 } })
        const { code } = (structuredContent as { error: { code: string } }).error
        expect([name, code]).toEqual([name, listed.has(name) ? 'unknown_argument' : 'scope'])
      }
    },
  )
})

it.each([
  ['all', 84],
  ['reader', 34],
  ['worker', 23],
  ['planner', 50],
])('the preset %s has %i tools', async (preset, tools) => {
  expect((await toolsFor(world.scout.token!, preset)).tools).toHaveLength(tools)
})

it('the worker preset has nothing that a host would have to ask about for harm or reach', async () => {
  const { tools } = await toolsFor(world.scout.token!, 'worker')
  expect(tools).toHaveLength(23)
  for (const { name } of tools)
    expect(DESTRUCTIVE_TOOLS.has(name) || OPEN_WORLD_TOOLS.has(name), name).toBe(false)
})
