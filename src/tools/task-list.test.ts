import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { newWorld, type World } from '../../test/world.ts'
import { TOOL_NAMES, toolNamed, WRITE_TOOLS } from './effects.ts'
import { schemaOf } from './parse.ts'

let world: World
beforeEach(async () => {
  world = await newWorld()
})
afterEach(() => world.close())

describe('counting', () => {
  it('counts every group, and says how many of them it shows', async () => {
    const { scout } = world
    const day = (i: number) => new Date(Date.UTC(2027, 0, 1 + i)).toISOString().slice(0, 10)
    for (const from of [0, 75]) {
      await scout.call('create_tasks', {
        tasks: Array.from({ length: 75 }, (_, i) => ({ title: `Task ${from + i}`, due: day(from + i) })),
      })
    }
    await scout.call('create_task', { title: 'One more', due: day(149) })
    const counted = await scout.call('count_tasks', { group_by: 'due_day' })
    expect(counted).toMatchObject({
      total: 150,
      showing: 100,
      sum: 151,
      more: expect.stringContaining('filter'),
    })
    expect(counted.counts).toHaveLength(100)
    expect(counted.counts[0]).toEqual({ value: day(149), count: 2 })
    const few = await scout.call('count_tasks', { group_by: 'due_day', filter: { due_after: day(140) } })
    expect(few).toMatchObject({ total: 10, showing: 10, sum: 11 })
    expect(few).not.toHaveProperty('more')
    expect(
      await scout.call('count_tasks', { group_by: 'status', filter: { status: ['done'] } }),
    ).toMatchObject({
      total: 0,
      showing: 0,
      sum: 0,
      counts: [],
    })
  })
})

describe('what a filter names and is not there', () => {
  /** Of every read that takes such an argument beside others, whatever tools there are. */
  const FILTERS = {
    project_id: 'P999',
    task_id: 'T999',
    parent_id: 'T999',
    agent_id: 'G999',
    run_id: 'R999',
    assignee: 'G999',
    claimed_by: 'G999',
    actor: 'G999',
    deleted_by: 'G999',
    for: 'G999',
    scope: 'P999',
    view: 'No such view',
    labels: ['no such label'],
  }
  const reads = TOOL_NAMES.filter((name) => !WRITE_TOOLS.has(name)).flatMap((name) =>
    Object.entries(FILTERS).flatMap(([argument, value]) =>
      argument in (schemaOf(toolNamed(name)!).properties ?? {}) ? [{ name, argument, value }] : [],
    ),
  )

  it.each(reads)('is an error of $name, not an empty list: $argument', async ({ name, argument, value }) => {
    const needed = name === 'search' ? { query: 'tiles' } : {}
    expect(await world.scout.refused(name, { ...needed, [argument]: value })).toMatchObject({
      code: 'not_found',
    })
  })

  it('is one of a count, of a view and of a new task as well', async () => {
    const { scout } = world
    for (const filter of [{ project_id: 'P9' }, { parent_id: 'T9' }]) {
      const wanted = { code: 'not_found' }
      expect(await scout.refused('count_tasks', { group_by: 'status', filter })).toMatchObject(wanted)
      expect(await scout.refused('save_view', { name: 'Mine', filter })).toMatchObject(wanted)
      expect(await scout.refused('create_task', { title: 'Order', ...filter })).toMatchObject(wanted)
    }
  })

  it('names the projects that are near where a name was given for the id', async () => {
    const { scout } = world
    for (const name of ['Website', 'Websites', 'Garden']) await scout.call('create_project', { name })
    await scout.call('create_task', { title: 'Order tiles', project_id: 'P1 Website' })
    for (const [name, input] of [
      ['list_tasks', {}],
      ['search', { query: 'tiles' }],
      ['list_activity', {}],
      ['get_next_task', {}],
      ['list_dependencies', {}],
      ['create_task', { title: 'Order slates' }],
      ['update_task', { id: 'T1' }],
      ['create_tasks', { tasks: [{ title: 'Order slates' }] }],
    ] as const) {
      expect(await scout.refused(name, { ...input, project_id: 'website' }), name).toMatchObject({
        code: 'not_found',
        details: { allowed: ['P1 Website', 'P2 Websites'], next: expect.stringContaining('P1') },
      })
    }
    expect(await scout.call('list_tasks', { project_id: 'p1' })).toMatchObject({ total: 1 })
    const narrow = await world.agent('narrow', { projects: [3] })
    expect((await narrow.refused('list_tasks', { project_id: 'Website' })).details.allowed).toEqual([])
  })
})
