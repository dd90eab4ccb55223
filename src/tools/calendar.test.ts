import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { newWorld, type World } from '../../test/world.ts'

let world: World
beforeEach(async () => {
  world = await newWorld()
})
afterEach(() => world.close())

const KICKOFF = {
  task_id: 'T1',
  uid: 'kickoff@example.org',
  title: 'Kick-off',
  start: '2026-12-01T10:00',
  end: '2026-12-01T11:00',
}

describe('a calendar link', () => {
  it('is made once, refuses other details, and can be made anew after it was untied', async () => {
    const { scout } = world
    await scout.call('create_task', { title: 'Prepare' })
    expect(await scout.call('link_calendar_event', KICKOFF)).toMatchObject({
      task: 'T1',
      start: '2026-12-01T10:00[Europe/Madrid]',
    })
    expect(await scout.call('link_calendar_event', KICKOFF)).toMatchObject({ already: true })
    expect(await scout.refused('link_calendar_event', { ...KICKOFF, title: 'Start' })).toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('title'),
      details: { current: { title: 'Kick-off' }, next: expect.stringContaining('unlink_calendar_event') },
    })
    const untie = { task_id: 'T1', uid: KICKOFF.uid }
    expect(await scout.call('unlink_calendar_event', untie)).toMatchObject({ unlinked: true })
    expect(await scout.call('unlink_calendar_event', untie)).toMatchObject({ unlinked: true, already: true })
    expect(await scout.call('list_calendar_links', { task_id: 'T1' })).toMatchObject({ total: 0 })
    expect(await scout.call('link_calendar_event', { ...KICKOFF, title: 'Start' })).toMatchObject({
      title: 'Start',
    })
    const { events } = await scout.call('list_activity', { kinds: ['calendar_unlinked'] })
    expect(events).toMatchObject([{ changes: { title: ['Kick-off', null] } }])
  })

  it('that never was can’t be untied, and says which are there', async () => {
    const { scout } = world
    await scout.call('create_task', { title: 'Prepare' })
    await scout.call('link_calendar_event', KICKOFF)
    expect(await scout.refused('unlink_calendar_event', { task_id: 'T1', uid: 'other' })).toMatchObject({
      code: 'not_found',
      details: { allowed: [KICKOFF.uid] },
    })
  })

  it('refuses times that can’t be', async () => {
    const { scout } = world
    await scout.call('create_task', { title: 'Prepare' })
    for (const wrong of [
      { end: '2026-12-01T09:00' },
      { start: undefined },
      { end: '2026-12-02' },
      { url: 'javascript:alert(1)' },
    ]) {
      const { start, ...input } = { ...KICKOFF, ...wrong }
      const refusal = await scout.refused('link_calendar_event', { ...input, ...(start ? { start } : {}) })
      expect(refusal).toMatchObject({ code: 'invalid_value' })
    }
  })

  it('is listed by the days it takes', async () => {
    const { scout } = world
    await scout.call('create_task', { title: 'Prepare' })
    await scout.call('link_calendar_event', KICKOFF)
    await scout.call('link_calendar_event', {
      task_id: 'T1',
      uid: 'fair',
      start: '2026-12-03',
      end: '2026-12-05',
    })
    await scout.call('link_calendar_event', { task_id: 'T1', uid: 'bare' })
    const uids = async (input: object) =>
      (await scout.call('list_calendar_links', { ...input })).links.map((link: { uid: string }) => link.uid)
    expect(await uids({})).toEqual([KICKOFF.uid, 'fair', 'bare'])
    expect(await uids({ from: '2026-12-01', to: '2026-12-01' })).toEqual([KICKOFF.uid])
    expect(await uids({ from: '2026-12-04' })).toEqual(['fair'])
    expect(await uids({ from: '2026-12-05' })).toEqual([])
  })
})

describe('an agenda', () => {
  const day = (agenda: Record<string, unknown>, date: string) =>
    (agenda.days as { date: string }[]).find((each) => each.date === date)

  it('shows what is due and planned, events, and the time left between them', async () => {
    const { scout } = world
    await scout.call('create_task', {
      title: 'Prepare',
      due: '2026-12-01',
      scheduled: '2026-12-01T13:00',
      estimate: 90,
    })
    await scout.call('link_calendar_event', KICKOFF)
    await scout.call('create_task', { title: 'Urgent', priority: 'urgent' })
    await scout.call('create_task', { title: 'Somebody else’s', due: '2026-12-01', assignee: 'builder' })
    await scout.call('create_task', { title: 'Late', due: '2026-11-01' })
    world.pass(2 * 3_600_000 + 1000)
    const agenda = await scout.call('get_agenda', { for: 'owner', days: 2 })
    expect(agenda).toMatchObject({
      for: 'U1 Ana',
      today: '2026-11-30',
      time_zone: 'Europe/Madrid',
      overdue: 1,
    })
    expect(day(agenda, '2026-11-30')).toMatchObject({ weekday: 'Mon', free: ['11:01-18:00'] })
    expect(day(agenda, '2026-12-01')).toMatchObject({
      events: [{ title: 'Kick-off', time: '10:00-11:00', task: 'T1 Prepare' }],
      scheduled: [{ id: 'T1', when: '13:00', minutes: 90 }],
      due: [{ id: 'T1' }],
      free: ['09:00-10:00', '11:00-13:00', '14:30-18:00'],
    })
    expect(agenda.unscheduled.map((task: { id: string }) => task.id)).toEqual(['T2', 'T4'])
    expect((await scout.call('get_agenda', { for: 'builder', days: 2 })).days[1].due).toMatchObject([
      { id: 'T1' },
      { id: 'T3' },
    ])
  })

  it('lays whole days over the days they take, and leaves working time free on no weekend', async () => {
    const { scout } = world
    await scout.call('create_task', { title: 'Fair' })
    await scout.call('link_calendar_event', {
      task_id: 'T1',
      uid: 'fair',
      title: 'Fair',
      start: '2026-11-28',
      end: '2026-12-02',
    })
    const agenda = await scout.call('get_agenda')
    expect(agenda.days.map((each: { events?: unknown[] }) => each.events?.length ?? 0)).toEqual([
      1, 1, 0, 0, 0, 0, 0,
    ])
    expect(agenda.days.map((each: { free?: string[] }) => each.free?.length ?? 0)).toEqual([
      1, 1, 1, 1, 1, 0, 0,
    ])
  })

  it('puts a time of another zone on the day it has here (R21)', async () => {
    const { scout } = world
    await scout.call('create_task', { title: 'Call', due: '2026-12-01T23:30[America/Los_Angeles]' })
    await scout.call('create_task', { title: 'Plain', due: '2026-12-01' })
    await scout.call('link_calendar_event', {
      task_id: 'T1',
      uid: 'call',
      title: 'Call',
      start: '2026-12-02T00:30[Pacific/Auckland]',
      end: '2026-12-02T01:30[Pacific/Auckland]',
    })
    const agenda = await scout.call('get_agenda', { days: 3 })
    expect(day(agenda, '2026-12-01')).toMatchObject({
      due: [{ id: 'T2' }],
      events: [{ time: '12:30-13:30' }],
      free: ['09:00-12:30', '13:30-18:00'],
    })
    expect(day(agenda, '2026-12-02')).toMatchObject({ due: [{ id: 'T1', when: '08:30' }] })
  })

  it('counts by the clock of a day that has 23 or 25 hours (R21)', async () => {
    const { scout } = world
    await scout.call('create_task', { title: 'Night' })
    const night = { task_id: 'T1', title: 'Night' }
    await scout.call('link_calendar_event', {
      ...night,
      uid: 'spring',
      start: '2027-03-28T00:00',
      end: '2027-03-29T10:00',
    })
    await scout.call('link_calendar_event', {
      ...night,
      uid: 'autumn',
      start: '2027-10-31T00:00',
      end: '2027-11-01T10:00',
    })
    for (const from of ['2027-03-28', '2027-10-31']) {
      const agenda = await scout.call('get_agenda', { from, days: 2 })
      expect(agenda.days).toMatchObject([
        { events: [{ time: '00:00-00:00' }] },
        { events: [{ time: '00:00-10:00' }], free: ['10:00-18:00'] },
      ])
    }
  })

  it('stays short, and says where the rest is (R4)', async () => {
    const { scout } = world
    for (let i = 0; i < 3; i++) {
      await scout.call('create_tasks', {
        tasks: Array.from({ length: 80 }, () => ({
          title: '"t" '.repeat(100),
          due: '2026-12-02',
          scheduled: '2026-12-01T10:00',
          priority: 'urgent',
          estimate: 30,
        })),
      })
    }
    for (let i = 1; i <= 100; i++) {
      await scout.call('link_calendar_event', {
        task_id: `T${i}`,
        uid: `"${i}"`.repeat(60),
        title: '"e" '.repeat(100),
        start: '2026-12-01T12:00',
      })
    }
    const agenda = await scout.call('get_agenda', { days: 31 })
    expect(JSON.stringify(agenda).length).toBeLessThan(40_000)
    expect(agenda.more).toContain('list_tasks {"due_after":"2026-11-30","due_before":"2026-12-31"}')
  })

  it('is refused for nobody and for too many days', async () => {
    const { scout } = world
    expect(await scout.refused('get_agenda', { for: 'nobody' })).toMatchObject({ code: 'invalid_value' })
    expect(await scout.refused('get_agenda', { days: 32 })).toMatchObject({ code: 'too_large' })
    expect(await scout.refused('get_agenda', { for: 'Anna' })).toMatchObject({ code: 'not_found' })
  })
})
