import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { newWorld, type World } from '../../test/world.ts'

let world: World
beforeEach(async () => {
  world = await newWorld()
})
afterEach(() => world.close())

const DAY = 86_400_000

describe('a project', () => {
  it('has a name that no other has: a repeat gets a number and says so', async () => {
    const { scout } = world
    expect(await scout.call('create_project', { name: ' Website ' })).toMatchObject({
      id: 'P1',
      name: 'Website',
    })
    expect(await scout.call('create_project', { name: 'WEBSITE' })).toMatchObject({
      id: 'P2',
      name: 'WEBSITE (2)',
      likely_duplicate_of: 'P1 Website',
    })
    expect(await scout.refused('update_project', { id: 'P2', name: 'wébsite' })).toMatchObject({
      code: 'conflict',
      message: 'P1 is called "Website" already.',
    })
    const key = { name: 'Move', idempotency_key: 'k' }
    await scout.call('create_project', key)
    expect(await scout.call('create_project', key)).toMatchObject({ id: 'P3', replayed: true })
  })

  it('changes with a version, after its patch was compared with what is stored', async () => {
    const { scout, builder } = world
    await scout.call('create_project', { name: 'Website', description: 'All.' })
    await scout.call('update_project', { id: 'P1', description: 'Only www.', expected_version: 1 })
    expect(
      await builder.call('update_project', { id: 'P1', description: 'Only www.', expected_version: 1 }),
    ).toMatchObject({ already: true, version: 2 })
    expect(
      await builder.refused('update_project', { id: 'P1', name: 'Site', expected_version: 1 }),
    ).toMatchObject({
      details: { written: false, current: { version: 2 } },
    })
    expect(await builder.call('update_project', { id: 'P1', description: null })).not.toHaveProperty(
      'description',
    )
  })

  it('shows its people, labels, counts and likely duplicates', async () => {
    const { scout } = world
    await scout.call('create_project', { name: 'Website' })
    await scout.call('create_label', { name: 'ops' })
    const add = (title: string, more: Record<string, unknown> = {}) =>
      scout.call('create_task', { title, project_id: 'P1', ...more })
    await add('Design', { assignee: 'Ana', labels: ['ops'] })
    await add('Build', { depends_on: ['T1'] })
    await add('build')
    await add('Done before')
    await world.ana.call('complete_task', { id: 'T4' })
    await add('In the Trash')
    await scout.call('delete_task', { id: 'T5' })
    await scout.call('start_run', { task_id: 'T3' })
    const project = await scout.call('get_project', { id: 'P1' })
    expect(project).toMatchObject({
      open: 3,
      waiting: 1,
      closed: 1,
      auto_ok_default: false,
      members: [
        { who: 'G1 scout', open_tasks: 1 },
        { who: 'U1 Ana', open_tasks: 1 },
      ],
      labels: [{ name: 'ops', open_tasks: 1 }],
      likely_duplicates: ['T2, T3'],
    })
    expect(await scout.call('list_projects')).toMatchObject({
      total: 1,
      projects: [{ id: 'P1', open: 3, waiting: 1, closed: 1 }],
    })
  })

  it('is not archived while work that needs sign-off is open in it (gate, way 4)', async () => {
    const { scout } = world
    await scout.call('create_project', { name: 'Website' })
    await scout.call('create_task', { title: 'Design', project_id: 'P1' })
    expect(await scout.refused('archive_project', { id: 'P1' })).toMatchObject({
      code: 'blocked',
      details: { allowed: ['T1 Design (open)'] },
    })
    await world.ana.call('complete_task', { id: 'T1' })
    expect(await scout.call('archive_project', { id: 'P1' })).toHaveProperty('archived')
    expect(await scout.call('archive_project', { id: 'P1' })).toMatchObject({ already: true })
    expect(await scout.call('list_projects')).toMatchObject({ total: 0 })
    expect(await scout.call('list_projects', { include_archived: true })).toMatchObject({ total: 1 })
    expect(await scout.call('unarchive_project', { id: 'P1' })).not.toHaveProperty('archived')
  })

  it('is seen by a narrowed credential only where it is one of its own', async () => {
    const { scout } = world
    await scout.call('create_project', { name: 'Website' })
    await scout.call('create_project', { name: 'Secret' })
    const narrow = await world.agent('narrow', { projects: [1] })
    expect(await narrow.call('list_projects')).toMatchObject({ total: 1 })
    for (const name of ['get_project', 'get_project_progress', 'archive_project'])
      expect(await narrow.refused(name, { id: 'P2' })).toMatchObject({ code: 'not_found' })
    expect(await narrow.refused('create_project', { name: 'More' })).toMatchObject({ code: 'scope' })
  })
})

describe('deleting a project', () => {
  it('needs its name, takes all its tasks, and restoring brings all of them back as they were (R16)', async () => {
    const { scout, ana } = world
    await scout.call('create_project', { name: 'Website' })
    await scout.call('create_label', { name: 'ops' })
    for (let i = 1; i <= 20; i++) {
      await scout.call('create_task', {
        title: `Page ${i}`,
        project_id: 'P1',
        labels: ['ops'],
        steps: [{ title: 'Write' }, { title: 'Check' }],
        ...(i % 5 === 0 ? { parent_id: `T${i - 1}` } : {}),
        ...(i > 1 && i % 5 === 1 ? { depends_on: [`T${i - 1}`] } : {}),
      })
      await scout.call('comment_on_task', { task_id: `T${i}`, text: `About page ${i}` })
    }
    await scout.call('set_step_status', { id: 'S1', status: 'done' })
    await scout.call('complete_task', { id: 'T2' })
    await ana.call('complete_task', { id: 'T3' })
    await scout.call('delete_task', { id: 'T7' })
    const tasks = () =>
      scout.call('list_tasks', { project_id: 'P1', include_closed: true, detail: 'detailed' })
    const before = await tasks()
    const whole = await scout.call('get_task', { id: 'T1' })

    const wrong = await scout.refused('delete_project', { id: 'P1', name: 'website' })
    expect(wrong).toMatchObject({ code: 'invalid_value', details: { allowed: ['Website'] } })
    expect(await scout.call('delete_project', { id: 'P1', name: 'Website' })).toMatchObject({
      trash: 'X2',
      tasks: 19,
    })
    expect(await scout.call('delete_project', { id: 'P1', name: 'Website' })).toMatchObject({ already: true })
    expect((await scout.refused('get_task', { id: 'T1' })).message).toBe('T1 is in the Trash (X2).')
    expect(await scout.call('list_approvals', { state: ['pending'] })).toMatchObject({ total: 0 })
    expect((await scout.refused('restore_from_trash', { ids: ['T1'] })).message).toContain(
      'with P1 Website (X2)',
    )

    expect(await scout.call('restore_from_trash', { ids: ['P1'] })).toMatchObject({
      restored: [{ id: 'P1', tasks: 19 }],
    })
    expect(await tasks()).toEqual(before)
    expect(await scout.call('get_task', { id: 'T1' })).toEqual(whole)
    expect(await scout.call('get_task', { id: 'T2' })).toMatchObject({ status: 'awaiting_approval' })
    expect((await scout.refused('get_task', { id: 'T7' })).message).toBe('T7 is in the Trash (X1).')
  })

  it('is told to the agent’s person', async () => {
    const { scout, ana } = world
    await scout.call('create_project', { name: 'Website' })
    await scout.call('delete_project', { id: 'P1', name: 'Website' })
    const { notifications } = await ana.call('list_notifications')
    expect(notifications).toContainEqual(expect.objectContaining({ kind: 'trashed', object: 'X1' }))
  })
})

describe('progress', () => {
  it('counts by the caller’s days, and forecasts from the pace', async () => {
    const { scout } = world
    await scout.call('create_project', { name: 'Website' })
    for (let i = 1; i <= 9; i++) {
      await scout.call('create_task', { title: `Page ${i}`, project_id: 'P1' })
    }
    await scout.call('add_dependency', { id: 'T9', depends_on: ['T8'] })
    await scout.call('complete_task', { id: 'T7' })
    expect((await scout.call('get_project_progress', { id: 'P1' })).forecast).toHaveProperty('none')
    for (let day = 0; day < 3; day++) {
      world.pass(DAY)
      const ana = await world.signInAgain()
      await ana.call('complete_task', { id: `T${day * 2 + 1}` })
      await ana.call('complete_task', { id: `T${day * 2 + 2}` })
    }
    const progress = await scout.call('get_project_progress', { id: 'P1', days: 4 })
    expect(progress).toMatchObject({ open: 3, opened: 9, closed: 6 })
    expect(progress.per_day).toEqual([
      { day: '2026-11-30', opened: 9, closed: 0, waiting: 2 },
      { day: '2026-12-01', opened: 0, closed: 2, waiting: 2 },
      { day: '2026-12-02', opened: 0, closed: 2, waiting: 2 },
      { day: '2026-12-03', opened: 0, closed: 2, waiting: 2 },
    ])
    expect(progress.forecast).toMatchObject({
      finish: '2026-12-05',
      earliest: '2026-12-05',
      closed_per_day: 2,
    })
  })
})
