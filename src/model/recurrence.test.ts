import { describe, expect, test } from 'vitest'
import { nextDates, readRule } from './recurrence.ts'
import { instantOf } from './zone.ts'

describe('Ana says how often', () => {
  test.each([
    ['every day', 'FREQ=DAILY'],
    ['every weekday', 'FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR'],
    ['every 2 weeks', 'FREQ=WEEKLY;INTERVAL=2'],
    ['every other week', 'FREQ=WEEKLY;INTERVAL=2'],
    ['Every Monday and Thursday', 'FREQ=WEEKLY;BYDAY=MO,TH'],
    ['every thursday, monday', 'FREQ=WEEKLY;BYDAY=MO,TH'],
    ['every 2 weeks on friday', 'FREQ=WEEKLY;INTERVAL=2;BYDAY=FR'],
    ['every other friday', 'FREQ=WEEKLY;INTERVAL=2;BYDAY=FR'],
    ['monthly on the 15th', 'FREQ=MONTHLY;BYMONTHDAY=15'],
    ['every month on the 1st and 15th', 'FREQ=MONTHLY;BYMONTHDAY=1,15'],
    ['every month on the last friday', 'FREQ=MONTHLY;BYDAY=-1FR'],
    ['first monday of every month', 'FREQ=MONTHLY;BYDAY=1MO'],
    ['last day of the month', 'FREQ=MONTHLY;BYMONTHDAY=-1'],
    ['quarterly', 'FREQ=MONTHLY;INTERVAL=3'],
    ['yearly', 'FREQ=YEARLY'],
    ['every monday for 10 times', 'FREQ=WEEKLY;COUNT=10;BYDAY=MO'],
    ['daily until 2026-12-31', 'FREQ=DAILY;UNTIL=20261231'],
    ['todos los días', 'FREQ=DAILY'],
    ['cada lunes', 'FREQ=WEEKLY;BYDAY=MO'],
    ['los lunes y jueves', 'FREQ=WEEKLY;BYDAY=MO,TH'],
    ['cada sábado', 'FREQ=WEEKLY;BYDAY=SA'],
    ['de lunes a viernes', 'FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR'],
    ['cada 2 semanas', 'FREQ=WEEKLY;INTERVAL=2'],
    ['cada dos semanas', 'FREQ=WEEKLY;INTERVAL=2'],
    ['mensual', 'FREQ=MONTHLY'],
    ['el 15 de cada mes', 'FREQ=MONTHLY;BYMONTHDAY=15'],
    ['el último viernes de cada mes', 'FREQ=MONTHLY;BYDAY=-1FR'],
    ['cada año', 'FREQ=YEARLY'],
    ['tous les jours', 'FREQ=DAILY'],
    ['chaque lundi', 'FREQ=WEEKLY;BYDAY=MO'],
    ['le lundi et le jeudi', 'FREQ=WEEKLY;BYDAY=MO,TH'],
    ['du lundi au vendredi', 'FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR'],
    ['toutes les 2 semaines', 'FREQ=WEEKLY;INTERVAL=2'],
    ['toutes les deux semaines le lundi', 'FREQ=WEEKLY;INTERVAL=2;BYDAY=MO'],
    ['mensuel', 'FREQ=MONTHLY'],
    ['le 15 de chaque mois', 'FREQ=MONTHLY;BYMONTHDAY=15'],
    ['le dernier vendredi du mois', 'FREQ=MONTHLY;BYDAY=-1FR'],
    ['tous les ans', 'FREQ=YEARLY'],
  ])('in words: %s', async (text, rule) => {
    expect(await readRule(text)).toEqual({ rule, understood: rule })
  })

  test.each([
    ['FREQ=WEEKLY', 'FREQ=WEEKLY'],
    ['RRULE:FREQ=WEEKLY;BYDAY=TH,MO', 'FREQ=WEEKLY;BYDAY=MO,TH'],
    ['byday=-1fr;freq=monthly;interval=1;', 'FREQ=MONTHLY;BYDAY=-1FR'],
    ['FREQ=MONTHLY;BYMONTHDAY=15,+1,15', 'FREQ=MONTHLY;BYMONTHDAY=1,15'],
    ['FREQ=MONTHLY;BYDAY=FR,MO;BYSETPOS=-1', 'FREQ=MONTHLY;BYDAY=MO,FR;BYSETPOS=-1'],
    ['FREQ=DAILY;COUNT=010', 'FREQ=DAILY;COUNT=10'],
    ['FREQ=WEEKLY;UNTIL=20261231T225900Z', 'FREQ=WEEKLY;UNTIL=20261231T225900Z'],
    ['FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29', 'FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29'],
  ])('as a rule: %s', async (text, rule) => {
    expect(await readRule(text)).toEqual({ rule })
    expect(await readRule(rule)).toEqual({ rule })
  })
})

describe('what is not understood, not allowed or never happens is refused with the next step', () => {
  test.each([
    ['', 'empty'],
    ['often', 'not a recurrence'],
    ['the 15th', 'not a recurrence'],
    ['every day whatever', 'not a recurrence'],
    ['every 0 days', 'not a recurrence'],
    ['every 32nd', 'not a recurrence'],
    ['every hour', 'not a recurrence'],
    ['every second friday', 'not a recurrence'],
    ['daily until 2026-02-30', 'not a recurrence'],
    ['every day '.repeat(100), 'not a recurrence'],
    ['FREQ=HOURLY', 'by days at most'],
    ['FREQ=DAILY;BYHOUR=9', 'by days at most'],
    ['FREQ=FOO', 'not a value of FREQ'],
    ['INTERVAL=2', 'FREQ is missing'],
    ['FREQ=DAILY;INTERVAL=0', 'not a value of INTERVAL'],
    ['FREQ=DAILY;FREQ=DAILY', 'twice'],
    ['FREQ=DAILY;X-FOO=1', '"X-FOO" is not a part'],
    ['FREQ=DAILY;CONSTRUCTOR=1', '"CONSTRUCTOR" is not a part'],
    ['FREQ=DAILY;COUNT=3;UNTIL=20261231', 'exclude each other'],
    ['FREQ=DAILY;UNTIL=20260230', 'not a value of UNTIL'],
    ['FREQ=WEEKLY;BYDAY=1MO', 'first or last weekday'],
    ['FREQ=YEARLY;BYDAY=53MO', 'counts to 52'],
    ['FREQ=MONTHLY;BYWEEKNO=3', 'BYWEEKNO needs'],
    ['FREQ=DAILY;BYSETPOS=1', 'BYSETPOS picks'],
    ['FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30', 'no day matches'],
    ['FREQ=MONTHLY;BYDAY=MO;BYSETPOS=6', 'no day matches'],
  ])('%j', async (text, message) => {
    await expect(readRule(text)).rejects.toMatchObject({
      code: 'invalid_value',
      message: expect.stringContaining(message),
      details: { next: expect.any(String) },
    })
  })
})

describe('the next dates', () => {
  test.each([
    ['FREQ=DAILY', '2026-11-30', '2026-11-30', ['2026-12-01', '2026-12-02', '2026-12-03']],
    ['FREQ=WEEKLY', '2026-11-30', '2026-12-24', ['2026-12-28', '2027-01-04', '2027-01-11']],
    [
      'FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,TH',
      '2026-11-30',
      '2026-11-30',
      ['2026-12-03', '2026-12-14', '2026-12-17'],
    ],
    ['FREQ=MONTHLY;BYDAY=-1FR', '2026-11-27', '2026-11-27', ['2026-12-25', '2027-01-29', '2027-02-26']],
    ['FREQ=MONTHLY', '2027-01-31', '2027-01-31', ['2027-03-31', '2027-05-31', '2027-07-31']],
    ['FREQ=YEARLY', '2028-02-29', '2028-02-29', ['2032-02-29', '2036-02-29', '2040-02-29']],
    [
      'FREQ=YEARLY;BYMONTH=2;BYDAY=5MO',
      '2024-01-01',
      '2024-01-01',
      ['2044-02-29', '2072-02-29', '2112-02-29'],
    ],
    // Before the start, the series begins with it.
    ['FREQ=WEEKLY', '2026-12-07', '2026-11-01', ['2026-12-07', '2026-12-14', '2026-12-21']],
    // COUNT counts from the start, UNTIL is inclusive.
    ['FREQ=DAILY;COUNT=3', '2026-11-30', '2026-11-30', ['2026-12-01', '2026-12-02']],
    ['FREQ=DAILY;COUNT=3', '2026-11-30', '2026-12-05', []],
    ['FREQ=DAILY;UNTIL=20261202', '2026-11-30', '2026-11-30', ['2026-12-01', '2026-12-02']],
  ])('of %s from %s after %s', async (rule, start, after, dates) => {
    expect(await nextDates(rule, start, 3, after)).toEqual(dates)
  })

  test("nine o'clock stays nine o'clock over the change of clocks", async () => {
    const dates = await nextDates('FREQ=DAILY', '2026-03-27T09:00[Europe/Madrid]', 3, '2026-03-27')
    expect(dates).toEqual([
      '2026-03-28T09:00[Europe/Madrid]',
      '2026-03-29T09:00[Europe/Madrid]',
      '2026-03-30T09:00[Europe/Madrid]',
    ])
    expect(dates.map((date) => new Date(instantOf(date, 'UTC')).toISOString().slice(11, 16))).toEqual([
      '08:00',
      '07:00',
      '07:00',
    ])
  })

  test('a skipped hour costs no occurrence and shifts none after it', async () => {
    const dates = await nextDates('FREQ=DAILY', '2026-03-08T02:30[America/Los_Angeles]', 2, '2026-03-07')
    expect(dates).toEqual(['2026-03-08T02:30[America/Los_Angeles]', '2026-03-09T02:30[America/Los_Angeles]'])
    expect(instantOf(dates[0]!, 'UTC')).toBe(Date.parse('2026-03-08T10:30Z'))
  })

  test.each([
    ['20261201T080000Z', ['2026-12-01']],
    ['20261201T075900Z', []],
    ['20261202T085900', ['2026-12-01']],
    ['20261202', ['2026-12-01', '2026-12-02']],
  ])('UNTIL=%s ends a series at nine in Madrid', async (until, days) => {
    const dates = await nextDates(
      `FREQ=DAILY;UNTIL=${until}`,
      '2026-11-30T09:00[Europe/Madrid]',
      5,
      '2026-11-30',
    )
    expect(dates).toEqual(days.map((day) => `${day}T09:00[Europe/Madrid]`))
  })

  test.each([
    ['FREQ=DAILY', 3],
    ['FREQ=DAILY;COUNT=9999', 3],
    ['FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR', 3],
    ['FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1', 3],
    ['FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29;COUNT=9999', 3],
    ['FREQ=DAILY;INTERVAL=7;BYDAY=MO', 0],
    ['FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30', 0],
    ['FREQ=YEARLY;INTERVAL=4;BYMONTH=2;BYMONTHDAY=29', 3],
    ['FREQ=YEARLY;INTERVAL=999;BYYEARDAY=366;BYWEEKNO=20', 0],
    ['FREQ=DAILY;BYMONTH=1,2,3;BYMONTHDAY=31,30;BYSETPOS=366', 0],
  ])('come, or come to an end, for a task begun ten years ago: %s', async (rule, found) => {
    expect(await nextDates(rule, '2016-01-01', 3, '2026-11-30')).toHaveLength(found)
  })
})
