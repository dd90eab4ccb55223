import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { newWorld, type World } from '../../test/world.ts'

let world: World
beforeEach(async () => {
  world = await newWorld()
})
afterEach(() => world.close())

describe('updating a task', () => {
  it('keeps what is absent and clears what is null', async () => {
    const { scout } = world
    await scout.call('create_task', { title: 'Order', due: '2026-12-07', assignee: 'builder', estimate: 30 })
    expect(await scout.call('update_task', { id: 'T1', title: 'Order tiles' })).toMatchObject({
      title: 'Order tiles',
      due: '2026-12-07',
      assignee: 'G2 builder',
      version: 2,
    })
    expect(await scout.call('update_task', { id: 'T1', due: null, assignee: null })).not.toHaveProperty('due')
    expect(await scout.refused('update_task', { id: 'T1', due: '' })).toMatchObject({ code: 'invalid_value' })
  })

  it('refuses the second of two lost updates and shows what stands there', async () => {
    const { scout, builder } = world
    await scout.call('create_task', { title: 'Write the copy' })
    await scout.call('update_task', { id: 'T1', description: 'From scout', expected_version: 1 })
    expect(
      await builder.refused('update_task', { id: 'T1', description: 'From builder', expected_version: 1 }),
    ).toMatchObject({
      code: 'conflict',
      message: 'T1 is at version 2, not the expected one. G1 changed description last.',
      details: { written: false, current: { description: 'From scout', version: 2 } },
    })
    await builder.call('update_task', { id: 'T1', description: 'From builder' })
    const { history } = await builder.call('get_task_history', { id: 'T1' })
    expect(history[0]).toMatchObject({
      changes: { description: { old: 'From scout', new: 'From builder' } },
      by: 'G2 builder',
      tool: 'update_task',
    })
  })

  it('shows the beginning of a long text where the version is old, and where the rest is', async () => {
    const { scout } = world
    await scout.call('create_task', { title: 'Write the copy', description: '𝄞'.repeat(45_000) })
    await scout.call('comment_on_task', { task_id: 'T1', text: 'x'.repeat(50_000) })
    await scout.call('update_comment', { id: 'C1', text: 'y'.repeat(50_000) })
    const task = await scout.refused('update_task', { id: 'T1', title: 'Other', expected_version: 9 })
    expect(task.details).toMatchObject({ current: { description_length: 90_000 } })
    expect((task.details.current as { description: string }).description).toBe('𝄞'.repeat(3000))
    expect(task.details.next).toContain('get_full_text {"id":"T1"}')
    const comment = await scout.refused('update_comment', { id: 'C1', text: 'z', expected_version: 1 })
    expect(comment.details).toMatchObject({ current: { text_length: 50_000, version: 2 } })
    expect(comment.details.next).toContain('get_full_text {"id":"C1"}')
  })

  it('takes all labels off for null, as for an empty set', async () => {
    const { scout } = world
    await scout.call('create_label', { name: 'ops' })
    await scout.call('create_tasks', {
      tasks: [
        { title: 'One', labels: ['ops'] },
        { title: 'Two', labels: ['ops'] },
      ],
    })
    expect(await scout.call('update_task', { id: 'T1', labels: null })).not.toHaveProperty('labels')
    expect(await scout.call('update_task', { id: 'T1', labels: null })).toMatchObject({ already: true })
    await scout.call('update_tasks', { ids: ['T1', 'T2'], patch: { labels: null } })
    expect(await scout.call('count_tasks', { group_by: 'label' })).toMatchObject({
      counts: [{ value: 'no label', count: 2 }],
    })
  })

  it('says already, whatever the version, where nothing would change', async () => {
    const { scout } = world
    await scout.call('create_task', { title: 'Same' })
    await scout.call('update_task', { id: 'T1', title: 'Same but different' })
    expect(
      await scout.call('update_task', { id: 'T1', title: 'Same but different', expected_version: 1 }),
    ).toMatchObject({
      already: true,
      version: 2,
    })
  })

  it('names the argument that was meant, and the verbs instead of a status', async () => {
    const { scout } = world
    await scout.call('create_task', { title: 'x' })
    expect(await scout.refused('update_task', { id: 'T1', prioriti: 'high' })).toMatchObject({
      code: 'unknown_argument',
      details: { allowed: ['priority'] },
    })
    const closing = await scout.refused('update_task', { id: 'T1', status: 'done' })
    expect(closing.details.next).toMatch(/complete_task/)
    expect((await scout.call('get_task', { id: 'T1' })).status).toBe('open')
  })

  it('takes a standing permission away when an agent changes the meaning', async () => {
    const { scout } = world
    await scout.call('create_task', { title: 'Water the plants' })
    await world.autoOk('T1')
    expect(await scout.call('update_task', { id: 'T1', title: 'Sell the house' })).toMatchObject({
      gate: true,
    })
    expect(await scout.call('complete_task', { id: 'T1' })).toMatchObject({ status: 'awaiting_approval' })
  })
})

describe('several at once', () => {
  it('are changed all or none', async () => {
    const { scout } = world
    await scout.call('create_tasks', { tasks: [{ title: 'One' }, { title: 'Two' }] })
    expect(
      await scout.refused('update_tasks', { ids: ['T1', 'T9'], patch: { priority: 'high' } }),
    ).toMatchObject({ code: 'not_found' })
    expect(await scout.call('get_task', { id: 'T1' })).toMatchObject({ priority: 'normal' })
    expect(
      await scout.call('update_tasks', { ids: ['T1', 'T2'], patch: { priority: 'high' } }),
    ).toMatchObject({ changed: 2 })
    expect(
      await scout.refused('update_tasks', { ids: ['T1', 'T2'], patch: { due: 'tomorrow' } }),
    ).toMatchObject({ code: 'invalid_value' })
  })

  it('are each named once and in one form, so that a repeat undoes nothing', async () => {
    const { scout } = world
    await scout.call('create_tasks', { tasks: [{ title: 'One' }, { title: 'Two' }] })
    expect(
      await scout.refused('update_tasks', {
        updates: [
          { id: 'T1', title: 'A' },
          { id: 't1', title: 'B' },
        ],
      }),
    ).toMatchObject({ code: 'invalid_value', message: 'T1 is named twice.' })
    expect(
      await scout.refused('update_tasks', { ids: ['T2', 'T2'], patch: { priority: 'high' } }),
    ).toMatchObject({ code: 'invalid_value', message: 'T2 is named twice.' })
    for (const other of [{ ids: ['T2'], patch: { priority: 'high' } }, { ids: ['T2'] }, { patch: {} }]) {
      expect(
        await scout.refused('update_tasks', { updates: [{ id: 'T1', title: 'A' }], ...other }),
      ).toMatchObject({ code: 'invalid_value', message: expect.stringContaining('not both') })
    }
    expect(await scout.call('get_task', { id: 'T1' })).toMatchObject({ title: 'One', version: 1 })
  })

  it('are created with order among them, whatever their order in the call', async () => {
    const { scout } = world
    const made = await scout.call('create_tasks', {
      tasks: [
        { title: 'Publish', depends_on: ['draft'], parent_id: 'page' },
        { ref: 'draft', title: 'Draft', parent_id: 'page' },
        { ref: 'page', title: 'The page' },
      ],
    })
    expect(
      made.tasks.map((task: { title: string; waits_for?: string[] }) => [task.title, task.waits_for]),
    ).toEqual([
      ['Publish', [made.tasks[1].id]],
      ['Draft', undefined],
      ['The page', undefined],
    ])
    expect(await scout.refused('create_tasks', { tasks: [{ title: 'x', ref: 'T5' }] })).toMatchObject({
      code: 'invalid_value',
    })
    expect(
      await scout.refused('create_tasks', {
        tasks: [
          { ref: 'a', title: 'a', depends_on: ['b'] },
          { ref: 'b', title: 'b', depends_on: ['a'] },
        ],
      }),
    ).toMatchObject({ code: 'conflict' })
  })
})

describe('merging', () => {
  it('keeps what others wrote, leads the waiting over, and says already when repeated', async () => {
    const { scout } = world
    await scout.call('create_tasks', {
      tasks: [
        { title: 'Pay rent' },
        { title: 'Pay the rent', ref: 'twin' },
        { title: 'Move out', depends_on: ['twin'] },
      ],
    })
    expect(await scout.call('merge_tasks', { id: 'T1', duplicates: ['T2'] })).toMatchObject({
      merged: [{ id: 'T2', trash: 'X1' }],
    })
    expect(await scout.call('get_task', { id: 'T3' })).toMatchObject({ waits_for: [{ id: 'T1' }] })
    expect(await scout.call('merge_tasks', { id: 'T1', duplicates: ['T2'] })).toMatchObject({ already: true })
  })

  it('tells that a subtask which it leads over needs a person now (G10)', async () => {
    const { scout } = world
    await scout.call('create_tasks', {
      tasks: [
        { title: 'Pay rent' },
        { title: 'Pay the rent', ref: 'twin' },
        { title: 'Ask', parent_id: 'twin' },
      ],
    })
    await world.autoOk('T3')
    expect(await scout.call('merge_tasks', { id: 'T1', duplicates: ['T2'] })).toMatchObject({
      auto_ok_fell: expect.stringMatching(/^T3 now needs a person’s sign-off/),
    })
  })
})

describe('a recurring task', () => {
  it('makes its next occurrence in the future when it closes, once', async () => {
    const { scout, ana } = world
    await scout.call('create_task', {
      title: 'Backup',
      due: '2026-11-02',
      recurrence: 'every monday',
      steps: [{ title: 'Run it' }],
    })
    const set = await scout.call('set_recurrence', { id: 'T1', rule: 'every 2 weeks' })
    expect(set.next_dates).toHaveLength(3)
    const closed = await ana.call('complete_task', { id: 'T1' })
    expect(closed).toMatchObject({ next_occurrence: 'T2', next_due: '2026-12-14' })
    await ana.call('reopen_task', { id: 'T1' })
    expect(await ana.call('complete_task', { id: 'T1' })).not.toHaveProperty('next_occurrence')
    expect(await scout.call('get_task', { id: 'T2' })).toMatchObject({
      status: 'open',
      due: '2026-12-14',
      steps: [{ status: 'pending' }],
    })
  })
})

describe('the next dates of a rule', () => {
  it('are those that closing makes, by its anchor', async () => {
    const { scout, ana } = world
    await scout.call('create_task', { title: 'Water the plants', due: '2026-12-10' })
    const set = (anchor: string) =>
      scout.call('set_recurrence', { id: 'T1', rule: 'FREQ=DAILY;INTERVAL=3', anchor })
    expect((await set('due')).next_dates).toEqual(['2026-12-13', '2026-12-16', '2026-12-19'])
    const { next_dates } = await set('completion')
    expect(next_dates).toEqual(['2026-12-03', '2026-12-06', '2026-12-09'])
    expect(await ana.call('complete_task', { id: 'T1' })).toMatchObject({ next_due: next_dates[0] })
    expect((await scout.call('set_recurrence', { id: 'T2', rule: null })).next_dates).toEqual([])
  })

  it('are counted by the account’s day, whoever asks, as closing counts them', async () => {
    const { scout } = world
    await scout.call('create_task', { title: 'Water the plants' })
    const far = { ...scout.actor, zone: 'Pacific/Kiritimati' }
    world.pass(6 * 3_600_000)
    const set = await world.done.call(far, 'set_recurrence', { id: 'T1', rule: 'every day' })
    expect(set.next_dates).toEqual(['2026-12-01', '2026-12-02', '2026-12-03'])
  })
})

describe('the next occurrence', () => {
  it('keeps the time of day when it is counted from completion', async () => {
    const { scout, ana } = world
    await scout.call('create_task', { title: 'Backup', due: '2026-12-01T09:00[Europe/Madrid]' })
    const rule = await scout.call('set_recurrence', { id: 'T1', rule: 'every 2 weeks', anchor: 'completion' })
    expect(rule.next_dates[0]).toBe('2026-12-14T09:00[Europe/Madrid]')
    expect(await ana.call('complete_task', { id: 'T1' })).toMatchObject({
      next_due: '2026-12-14T09:00[Europe/Madrid]',
    })
  })

  it('is said to be none where the rule has ended', async () => {
    const { scout } = world
    await scout.call('create_task', { title: 'Backup' })
    const set = await scout.call('set_recurrence', { id: 'T1', rule: 'FREQ=DAILY;UNTIL=20200101' })
    expect(set).toMatchObject({ next_dates: [], ended: expect.stringContaining('no date in the future') })
  })

  it('never keeps a task from closing where its project is archived', async () => {
    const { scout } = world
    await scout.call('create_project', { name: 'Old' })
    await scout.call('create_task', { title: 'Backup', recurrence: 'daily', project_id: 'P1' })
    await world.autoOk('T1')
    await scout.call('archive_project', { id: 'P1' })
    expect(await scout.call('complete_task', { id: 'T1' })).toMatchObject({
      status: 'done',
      no_next_occurrence: 'P1 is archived',
    })
  })
})

describe('lists and counts', () => {
  it('reach every task, whatever is added between the pages', async () => {
    const { scout } = world
    await scout.call('create_tasks', {
      tasks: Array.from({ length: 60 }, (_, i) => ({ title: `Task ${i}` })),
    })
    const first = await scout.call('list_tasks', { limit: 50 })
    expect(first).toMatchObject({ showing: 50, total: 60 })
    await scout.call('create_task', { title: 'Urgent', priority: 'urgent' })
    const second = await scout.call('list_tasks', { limit: 50, cursor: first.next_cursor })
    expect(second.showing).toBe(10)
    const ids = [...first.tasks, ...second.tasks].map((task: { id: string }) => task.id)
    expect(new Set(ids).size).toBe(60)
    expect((await scout.call('list_tasks', { limit: '5' })).tasks).toHaveLength(5)
    expect(await scout.refused('count_tasks', { group_by: 'status', cursor: 'x' })).toMatchObject({
      code: 'unknown_argument',
    })
    expect(await scout.call('count_tasks', { group_by: 'priority' })).toMatchObject({
      counts: [
        { value: 'normal', count: 60 },
        { value: 'urgent', count: 1 },
      ],
    })
  })

  it('call overdue what was due before today, and nothing else', async () => {
    const { scout } = world
    await scout.call('create_tasks', {
      tasks: [
        { title: 'Yesterday', due: '2026-11-29' },
        { title: 'Today', due: 'today' },
        { title: 'Tomorrow', due: 'tomorrow' },
        { title: 'Some day' },
      ],
    })
    const { tasks } = await scout.call('list_tasks', { overdue: true })
    expect(tasks.map((task: { title: string }) => task.title)).toEqual(['Yesterday'])
    expect(await scout.call('list_tasks', { due_before: '2026-11-30' })).toMatchObject({ total: 1 })
  })
})
