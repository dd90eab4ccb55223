import { createHash } from 'node:crypto'
import { channel } from 'node:diagnostics_channel'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { NEWS } from '../src/mcp/changes.ts'
import type { EventKind } from '../src/model/event.ts'
import { type ReadTx, sqlOf, type WriteTx } from '../src/store/handle.ts'
import {
  CONVERGENT_TOOLS,
  DESTRUCTIVE_TOOLS,
  OPEN_WORLD_TOOLS,
  TOOL_NAMES,
  toolNamed,
  WRITE_TOOLS,
} from '../src/tools/effects.ts'
import type { OpenRead } from '../src/tools/tool.ts'
import { CASES } from './cases/all.ts'
import { evidencePage } from './evidence.ts'
import { mcpCaller } from './in-process.ts'
import { type Difference, difference, isEmpty, type Snapshot, snapshot } from './observer.ts'
import { newWorld, type World } from './world.ts'

/** What every tool was seen to do, over all of its cases. */
const seen = new Map<string, Difference[]>()
/** The kinds of events of which somebody got news. */
const newsKinds = new Set<EventKind>()
/** Writes tried on the handle of reads, each of which the database refused. */
const wall = { tools: new Set<string>(), attempts: 0 }
/** Writes that may do more when repeated, and those that did so in some case. */
const REPEATS = new Set([...WRITE_TOOLS].filter((name) => !CONVERGENT_TOOLS.has(name)))
const doMore = new Set<string>()
const MINUTE = 60_000

describe.each(TOOL_NAMES)('%s', (name) => {
  const cases = CASES[name] ?? []

  it('has at least five cases', () => {
    expect(cases.length).toBeGreaterThanOrEqual(5)
  })

  // One world a case, since to make it takes longer than what is proven there: each of its tests goes on from the one before.
  describe.each(cases)('$says', (each) => {
    let world: World
    let call: Call
    let once: Snapshot
    beforeAll(async () => {
      world = await newWorld()
      const input = await each.given(world)
      const by = each.by?.(world) ?? world.scout
      const door = by.token ? await mcpCaller(world, by.token) : by
      call = () => door.call(name, input)
    })
    afterAll(async () => {
      for (const kind of await kindsOfNews(world)) newsKinds.add(kind)
      await world.close()
    })

    it('does what its hints say', async () => {
      const before = await snapshot(world)
      const { connections, files } = await watched(world, call)
      once = await snapshot(world)
      const found = difference(before, once)
      seen.set(name, [...(seen.get(name) ?? []), found])
      if (!WRITE_TOOLS.has(name)) expect(found, 'a read changes no row').toSatisfy(isEmpty)
      expect(found.gone, 'no row is gone').toEqual([])
      if (!DESTRUCTIVE_TOOLS.has(name)) {
        expect(found.replaced, 'no authored value is replaced').toEqual([])
        expect(found.hidden, 'no row is hidden').toEqual([])
      }
      if (!OPEN_WORLD_TOOLS.has(name)) {
        expect(connections, 'no connection is opened').toBe(0)
        expect(files, 'no file is made, changed or removed').toEqual([])
      }
      if (REPEATS.has(name) && (await changesMore(world, call, once))) doMore.add(name)
    })

    if (!WRITE_TOOLS.has(name)) {
      it('can write nothing by its handle', async () => {
        const { attempts, refusals } = await smuggling(name, call)
        expect(attempts, 'a write was tried').toBeGreaterThan(0)
        expect(refusals, 'the database refused each').toHaveLength(attempts)
        expect(refusals.filter((said) => BY_THE_ENGINE.test(said)).length).toBeGreaterThanOrEqual(3)
        for (const refusal of refusals) expect(refusal).toMatch(/no such function: done_|readonly|read-only/)
        expect(difference(once, await snapshot(world))).toSatisfy(isEmpty)
        wall.tools.add(name)
        wall.attempts += attempts
      })
    }

    if (CONVERGENT_TOOLS.has(name)) {
      it('changes nothing when repeated', async () => {
        world.pass(MINUTE)
        const again = await call()
        expect(difference(once, await snapshot(world)), 'a repeat after a minute').toSatisfy(isEmpty)
        expect(again, 'a repeat says that it was so').toHaveProperty('already', true)
        const answers = await Promise.all(Array.from({ length: 10 }, call))
        expect(difference(once, await snapshot(world)), 'ten repeats at once').toSatisfy(isEmpty)
        expect(answers).toHaveLength(10)
      })
    }
  })

  if (REPEATS.has(name)) {
    it('does more when repeated, or its hint is too modest', () => {
      expect(doMore).toContain(name)
    })
  }

  if (DESTRUCTIVE_TOOLS.has(name)) {
    it('replaces or hides something in some case, or its hint is a lie too', () => {
      const harm = (seen.get(name) ?? []).flatMap(({ replaced, hidden }) => [...replaced, ...hidden])
      expect(harm.length).toBeGreaterThan(0)
    })
  }
})

describe('news', () => {
  it('comes of such events only as tell a listener that its digest has changed', () => {
    expect(newsKinds.size).toBeGreaterThan(10)
    const personal: EventKind[] = ['stop_asked', 'agent_changed']
    expect([...newsKinds].filter((kind) => !NEWS.has(kind) && !personal.includes(kind))).toEqual([])
  })
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
  console.log(`engine wall: ${wall.tools.size} read tools, ${wall.attempts} attempts, all refused`)
})

type Call = () => Promise<Record<string, unknown>>

/** Whether a repeat after a minute changes more than the first call, after which all was as in `once`. */
async function changesMore(world: World, call: Call, once: Snapshot): Promise<boolean> {
  world.pass(MINUTE)
  try {
    await call()
  } catch {
    return false
  }
  return !isEmpty(difference(once, await snapshot(world)))
}

/** What a call did beside the rows: outgoing sockets, and files in the data folder and where the process stands. */
async function watched(world: World, call: Call): Promise<{ connections: number; files: string[] }> {
  const scratch = mkdtempSync(join(tmpdir(), 'done-scratch-'))
  const home = process.cwd()
  let connections = 0
  const count = () => {
    connections++
  }
  const before = [...filesIn(world.dir), ...filesIn(scratch)]
  channel('net.client.socket').subscribe(count)
  process.chdir(scratch)
  try {
    await call()
    const after = [...filesIn(world.dir), ...filesIn(scratch)]
    const files = [
      ...after.filter((file) => !before.includes(file)),
      ...before.filter((file) => !after.includes(file)),
    ]
    return { connections, files }
  } finally {
    process.chdir(home)
    channel('net.client.socket').unsubscribe(count)
    rmSync(scratch, { recursive: true })
  }
}

/** Every file of a folder with its content's hash; of the database, whose rows are compared, the name alone. */
function filesIn(dir: string): string[] {
  return readdirSync(dir, { recursive: true, withFileTypes: true }).map((entry) => {
    const path = join(entry.parentPath, entry.name)
    if (!entry.isFile() || /^done\.db(-wal|-shm)?$/.test(entry.name)) return path
    return `${path} ${createHash('sha256').update(readFileSync(path)).digest('hex')}`
  })
}

/** How the database says that this connection writes nothing, whatever its triggers say. */
const BY_THE_ENGINE = /readonly database|read-only transaction/

/** On a table without triggers, so that it is the engine that refuses, and on one with them. */
const SMUGGLED = [
  sql`INSERT INTO access VALUES (1, 'smuggled', 'G1', 'smuggled', 0, 1, 0)`,
  sql`UPDATE access SET calls = 0`,
  sql`DELETE FROM access`,
  sql`UPDATE accounts SET name = 'Mallory'`,
  sql`UPDATE tasks SET title = 'Mallory'`,
]

/** Makes the call of a read tool that first tries to write by the handle it was given. Tells what the database said. */
async function smuggling(name: string, call: Call): Promise<{ attempts: number; refusals: string[] }> {
  const tool = toolNamed(name) as unknown as { run: (handle: unknown, input: unknown) => Promise<unknown> }
  const honest = tool.run
  let attempts = 0
  const refusals: string[] = []
  const smuggle = async (tx: ReadTx) => {
    for (const statement of SMUGGLED) {
      attempts++
      const db = sqlOf(tx as WriteTx)
      // PostgreSQL takes nothing more in a transaction that has failed, but behind a savepoint.
      await sql`SAVEPOINT attempt`.execute(db)
      await statement.execute(db).catch((error: Error) => refusals.push(error.message))
      await sql`ROLLBACK TO attempt`.execute(db)
    }
  }
  tool.run = async (handle, input) => {
    if (OPEN_WORLD_TOOLS.has(name)) await (handle as OpenRead).read(smuggle)
    else await smuggle(handle as ReadTx)
    return honest(handle, input)
  }
  try {
    await call()
  } finally {
    tool.run = honest
  }
  return { attempts, refusals }
}

async function kindsOfNews(world: World): Promise<EventKind[]> {
  const rows = await world.look<{ kind: EventKind }>(
    'SELECT DISTINCT e.kind FROM notifications n JOIN events e ON e.account = n.account AND e.id = n.event',
  )
  return rows.map(({ kind }) => kind)
}
