import { channel } from 'node:diagnostics_channel'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import {
  CONVERGENT_TOOLS,
  DESTRUCTIVE_TOOLS,
  OPEN_WORLD_TOOLS,
  TOOL_NAMES,
  WRITE_TOOLS,
} from '../src/tools/effects.ts'
import { CASES } from './cases/all.ts'
import type { Case } from './cases.ts'
import { evidencePage } from './evidence.ts'
import { mcpCaller } from './in-process.ts'
import { type Difference, difference, isEmpty, snapshot } from './observer.ts'
import { newWorld, type World } from './world.ts'

/** What every tool was seen to do, over all of its cases. */
const seen = new Map<string, Difference[]>()
const MINUTE = 60_000

describe.each(TOOL_NAMES)('%s', (name) => {
  const cases = CASES[name] ?? []

  it('has at least five cases', () => {
    expect(cases.length).toBeGreaterThanOrEqual(5)
  })

  it.each(cases)('does what its hints say: $says', (each) =>
    inWorld(each, async (world, call) => {
      const before = snapshot(world.dir)
      const connections = await countConnections(call)
      const found = difference(before, snapshot(world.dir))
      seen.set(name, [...(seen.get(name) ?? []), found])
      if (!WRITE_TOOLS.has(name)) expect(found, 'a read changes no row').toSatisfy(isEmpty)
      expect(found.gone, 'no row is gone').toEqual([])
      if (!DESTRUCTIVE_TOOLS.has(name)) {
        expect(found.replaced, 'no authored value is replaced').toEqual([])
        expect(found.hidden, 'no row is hidden').toEqual([])
      }
      if (!OPEN_WORLD_TOOLS.has(name)) expect(connections, 'no connection is opened').toBe(0)
    }),
  )

  if (CONVERGENT_TOOLS.has(name)) {
    it.each(cases)('changes nothing when repeated: $says', (each) =>
      inWorld(each, async (world, call) => {
        await call()
        const once = snapshot(world.dir)
        world.pass(MINUTE)
        const again = await call()
        expect(difference(once, snapshot(world.dir)), 'a repeat after a minute').toSatisfy(isEmpty)
        expect(again, 'a repeat says that it was so').toHaveProperty('already', true)
        const answers = await Promise.all(Array.from({ length: 10 }, call))
        expect(difference(once, snapshot(world.dir)), 'ten repeats at once').toSatisfy(isEmpty)
        expect(answers).toHaveLength(10)
      }),
    )
  } else if (WRITE_TOOLS.has(name)) {
    it('does more when repeated, or its hint is too modest', async () => {
      const effects = await Promise.all(cases.map((each) => inWorld(each, changesTwice)))
      expect(effects).toContain(true)
    })
  }

  if (DESTRUCTIVE_TOOLS.has(name)) {
    it('replaces or hides something in some case, or its hint is a lie too', () => {
      const harm = (seen.get(name) ?? []).flatMap(({ replaced, hidden }) => [...replaced, ...hidden])
      expect(harm.length).toBeGreaterThan(0)
    })
  }
})

describe('the page of evidence', () => {
  const page = join(import.meta.dirname, '../docs/evidence.md')

  it('says what was seen', async () => {
    const text = evidencePage(seen)
    if (process.env.DONE_WRITE_EVIDENCE) writeFileSync(page, text)
    expect(text, 'run npm run generate').toBe(readFileSync(page, 'utf8'))
  })
})

afterAll(() => {
  const cases = [...seen.values()].reduce((sum, each) => sum + each.length, 0)
  console.log(`observer and twice-test: ${seen.size} tools, ${cases} cases`)
})

type Call = () => Promise<Record<string, unknown>>

/** Brings a fresh account into the case's state and hands on its one call: an agent's through a real MCP client. */
async function inWorld<T>(each: Case, run: (world: World, call: Call) => Promise<T>): Promise<T> {
  const world = await newWorld()
  try {
    const input = await each.given(world)
    const by = each.by?.(world) ?? world.scout
    const door = by.token ? await mcpCaller(world, by.token) : by
    const name = nameOf(each)
    return await run(world, () => door.call(name, input))
  } finally {
    await world.close()
  }
}

function nameOf(wanted: Case): string {
  return Object.keys(CASES).find((name) => CASES[name]!.includes(wanted))!
}

async function changesTwice(world: World, call: Call): Promise<boolean> {
  await call()
  const once = snapshot(world.dir)
  world.pass(MINUTE)
  try {
    await call()
  } catch {
    return false
  }
  return !isEmpty(difference(once, snapshot(world.dir)))
}

/** Outgoing sockets opened while a call ran. */
async function countConnections(call: Call): Promise<number> {
  let opened = 0
  const count = () => {
    opened++
  }
  channel('net.client.socket').subscribe(count)
  try {
    await call()
  } finally {
    channel('net.client.socket').unsubscribe(count)
  }
  return opened
}
