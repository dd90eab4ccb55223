import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { completeTask, readResource } from '../src/mcp/resources.ts'
import { TOOL_NAMES, WRITE_TOOLS } from '../src/tools/effects.ts'
import { canariesIn, type HiddenWorld, neverWas, newHiddenWorld } from './hidden.ts'
import { type HttpWorld, newHttpWorld } from './http.ts'
import { callsOf } from './narrowed-calls.ts'
import { type Snapshot, snapshot } from './observer.ts'
import { probesOf, put, saidBy, streamed, wordsOf } from './probes.ts'

/**
 * A credential that is narrowed to projects sees and touches nothing else (spec: product, "Who acts"). Generated from the
 * catalogue, so that a new tool is covered without anyone remembering.
 */

/** What only reads leaves its world to the next. */
let forReads: ReturnType<typeof newHiddenWorld> | undefined
afterAll(async () => (await forReads)?.world.close())

describe.each(TOOL_NAMES)('%s, narrowed to a project', (name) => {
  const calls = callsOf(name)
  const reads = !WRITE_TOOLS.has(name)

  it('tells and touches nothing outside, and knows no hidden id from one that never was', async () => {
    if (reads) forReads ??= newHiddenWorld()
    const { world, narrow, hidden } = await (reads ? forReads! : newHiddenWorld())
    try {
      const before = outside(await snapshot(world))
      const make = async (input: Record<string, unknown>) => {
        const said = await saidBy(narrow.call(name, input))
        // What the caller itself named may be repeated.
        const rest = wordsOf(input).reduce((text, word) => text.replaceAll(word, '(said)'), said)
        expect(canariesIn(rest), `${JSON.stringify(input)} answers ${said}`).toEqual([])
        return rest
      }
      for (const { input, place } of probesOf(calls)) {
        for (const id of Object.values(hidden).flat()) {
          const seen = await make(put(input, place, id))
          const absent = await make(put(input, place, neverWas(id)))
          expect(seen, `${id} for ${place.join('.')}`).toBe(absent)
        }
      }
      for (const input of calls) await make(input)
      expect(outside(await snapshot(world))).toEqual(before)
    } finally {
      if (!reads) await world.close()
    }
  })
})

describe('beside the tools', () => {
  let door: HttpWorld
  let made: HiddenWorld
  beforeAll(async () => {
    made = await newHiddenWorld()
    door = await newHttpWorld(made.world)
  })
  afterAll(() => door.close())

  const caller = () => ({
    actor: made.narrow.actor,
    call: door.world.done.call,
    isTool: (name: string) => TOOL_NAMES.includes(name as never),
  })

  it('resources tell nothing, and a hidden one is not there', async () => {
    const read = (uri: string) => readResource(caller(), uri, {})
    for (const id of ['T1', 'T3', 'T5', 'T9', 'T10', 'T11']) {
      expect(canariesIn(JSON.stringify(await read(`done://task/${id}`)))).toEqual([])
    }
    expect(canariesIn(JSON.stringify(await read('done://digest')))).toEqual([])
    for (const id of made.hidden.T!) {
      const [seen, absent] = await Promise.all(
        [id, neverWas(id)].map((each) =>
          read(`done://task/${each}`).catch((error: Error) => error.message.replaceAll(each, '(id)')),
        ),
      )
      expect(seen).toBe(absent)
    }
    const ref = { type: 'ref/prompt' as const, name: 'work' }
    const asked = { ref, argument: { name: 'task', value: '' } }
    const completed = await completeTask(caller(), new Set(TOOL_NAMES), asked, {})
    expect(completed.completion.values.length).toBeGreaterThan(0)
    expect(canariesIn(JSON.stringify(completed))).toEqual([])
  })

  it('the stream of events tells nothing, from its beginning', async () => {
    const text = await streamed(door, made.narrow.token!)
    expect(text).toContain('"task":"T11"')
    expect(canariesIn(text)).toEqual([])
  })

  it('the address of a hidden thing answers like one that never was', async () => {
    const agent = door.agent(made.narrow.token!)
    for (const [path, id] of [
      ['tasks', made.hidden.T![0]!],
      ['projects', made.hidden.P![0]!],
      ['runs', made.hidden.R![0]!],
    ] as const) {
      const [seen, absent] = await Promise.all(
        [id, neverWas(id)].map(async (each) => {
          const { status, text } = await agent.get(`/api/${path}/${each}`)
          return [status, text.replaceAll(each, '(id)')]
        }),
      )
      expect(seen).toEqual(absent)
    }
  })
})

describe('what is told of', () => {
  let made: HiddenWorld
  beforeAll(async () => {
    made = await newHiddenWorld()
  })
  afterAll(() => made.world.close())

  it('the far end of a link is that it is there', async () => {
    const { narrow } = made
    const unseen = 'a task you can’t see'
    const tell = async (id: string) => narrow.call('get_task', { id })
    expect(await tell('T1')).toMatchObject({
      waits_for: [{ id: unseen }],
      waited_for_by: [unseen],
      cannot: { start_run: `it waits for ${unseen}` },
    })
    expect(await tell('T3')).toMatchObject({ parent: unseen })
    expect(await tell('T5')).toMatchObject({
      blocked_by: unseen,
      blocked: { reason: `${unseen} has to be finished first.` },
    })
    expect(await tell('T9')).toMatchObject({ subtasks: [{ id: unseen }] })
    expect(await tell('T10')).toMatchObject({ comments: [{ origin: unseen }] })
    const { history } = await narrow.call('get_task_history', { id: 'T11' })
    expect(history[0].changes.project).toEqual({ old: 'a project you can’t see', new: 'P1' })
  })

  it('news is counted as it is listed', async () => {
    const { narrow } = made
    const { total } = await narrow.call('list_notifications', { unread_only: true })
    const { unread } = await narrow.call('create_label', { name: 'ops' })
    expect(unread).toBe(total)
    expect((await made.world.scout.call('create_label', { name: 'ops' })).unread).toBeGreaterThan(total)
  })

  it('an agent at work elsewhere is that it is idle', async () => {
    const { agents } = await made.narrow.call('fleet_status')
    expect(agents).toMatchObject([
      { agent: 'G1 scout', run: 'R1', awaits_answer: 1 },
      { agent: 'G2 builder', state: 'idle', awaits_decision: 1 },
      { agent: 'G3 reader' },
    ])
    expect(agents[0]).not.toHaveProperty('also')
    expect(agents[0]).not.toHaveProperty('awaits_decision')
  })

  it('a hidden thing that a write would take along is that it would', async () => {
    const { narrow } = made
    for (const [name, input] of [
      ['delete_task', { id: 'T9' }],
      ['merge_tasks', { id: 'T2', duplicates: ['T9'] }],
      ['merge_tasks', { id: 'T2', duplicates: ['T1'] }],
      ['delete_project', { id: 'P1', name: 'Website' }],
      ['update_task', { id: 'T3', parent_id: null }],
      ['update_task', { id: 'T2', project_id: null }],
      ['restore_from_trash', { ids: ['T12'] }],
      ['restore_from_trash', { ids: ['T9001'] }],
      ['restore_from_trash', { ids: ['gone'] }],
      ['update_label', { name: 'shared', color: 'red' }],
      ['update_label', { name: 'ops', new_name: 'shared', color: 'red' }],
    ] as const) {
      expect(await narrow.refused(name, input), `${name} ${JSON.stringify(input)}`).toMatchObject({
        code: 'scope',
      })
    }
  })

  it('a request on a hidden whole is that there is one', async () => {
    expect(await made.narrow.refused('add_step', { task_id: 'T13', title: 'One more' })).toMatchObject({
      code: 'conflict',
      message: 'This would void a request, which waits for a person’s sign-off of a task you can’t see.',
    })
  })

  it('the Trash is what went there in sight', async () => {
    const { entries } = await made.narrow.call('list_trash', { limit: 100 })
    const told = entries.map((entry: Record<string, unknown>) => [entry.object, entry.tasks])
    expect(told).toEqual([
      ['T12', 1],
      ['gone', 1],
      ['T7', 1],
    ])
    expect(await made.narrow.refused('get_task', { id: 'T9001' })).toMatchObject({
      code: 'not_found',
      message: 'T9001 is in the Trash.',
    })
  })

  it('a name that is taken is that it is', async () => {
    const { narrow } = made
    expect(await narrow.refused('update_project', { id: 'P1', name: 'canary plan' })).toMatchObject({
      code: 'conflict',
      message: 'The name "canary plan" is taken.',
    })
    expect(await narrow.refused('save_view', { name: 'canary view', filter: {} })).toMatchObject({
      message: 'The name "canary view" is taken.',
    })
  })

  it('an answer to another credential of the same agent is nothing', async () => {
    const [worked] = made.hidden.T!
    const key = { task_id: worked, goal: 'CANARY', idempotency_key: 'wide' }
    expect(await made.world.scout.call('start_run', key)).toMatchObject({ replayed: true })
    expect(await made.narrow.refused('start_run', key)).toMatchObject({ code: 'conflict' })
  })
})

/** Rows of what lies outside P1, by table and key. */
function outside(all: Snapshot): Record<string, Record<string, unknown>> {
  const hidden = new Set(
    [...all.get('tasks')!.values()].filter((task) => task.project !== 1).map((task) => task.id),
  )
  const found: Record<string, Record<string, unknown>> = {}
  for (const [table, rows] of all)
    for (const [key, row] of rows) {
      const task = table === 'tasks' ? row.id : row.task
      const project = table === 'projects' ? row.id : row.project
      const numbered = typeof row.id === 'number' && row.id >= 7000 && row.id < 8000
      if (!hidden.has(task) && !(typeof project === 'number' && project !== 1) && !numbered) continue
      found[`${table} ${key}`] = table === 'tasks' ? withoutSeal(row) : row
    }
  return found
}

/** A change inside a part is a change of the whole, for the gate (G5): its seal moves, and nothing else of it. */
function withoutSeal({ content_version, content_hash, updated_at, ...row }: Record<string, unknown>) {
  return row
}
