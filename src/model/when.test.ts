import { describe, expect, test } from 'vitest'
import type { Direction } from './moment.ts'
import { readInstant, readWhen } from './when.ts'
import { addDays, type Clock, dateOf, instantOf, isZone, localTime, today, weekdayOf } from './zone.ts'

const at = (iso: string, zone: string): Clock => ({ now: Date.parse(iso), zone })

/** Ana is in Madrid; it is ten o'clock on Monday, 30 November 2026. */
const ana = at('2026-11-30T10:00:00+01:00', 'Europe/Madrid')
const here = '[Europe/Madrid]'
const read = async (text: string, direction: Direction = 'forward', clock = ana) =>
  (await readWhen(text, clock, direction)).value

describe('on a Monday morning Ana plans', () => {
  test.each([
    ['today', '2026-11-30'],
    ['tomorrow', '2026-12-01'],
    ['day after tomorrow', '2026-12-02'],
    ['in 3 days', '2026-12-03'],
    ['in two weeks', '2026-12-14'],
    ['in a month', '2026-12-30'],
    ['monday', '2026-11-30'],
    ['friday', '2026-12-04'],
    ['this friday', '2026-12-04'],
    ['next monday', '2026-12-07'],
    ['last friday', '2026-11-27'],
    ['friday next week', '2026-12-11'],
    ['next week', '2026-12-07'],
    ['next month', '2026-12-01'],
    ['end of the month', '2026-11-30'],
    ['end of next month', '2026-12-31'],
    ['7 December', '2026-12-07'],
    ['May 5', '2027-05-05'],
    ['Friday, December 4', '2026-12-04'],
    ['tomorrow at 9', `2026-12-01T09:00${here}`],
    ['9am on friday', `2026-12-04T09:00${here}`],
    ['at 9', `2026-12-01T09:00${here}`],
    ['monday at 9', `2026-12-07T09:00${here}`],
    ['tonight', `2026-11-30T21:00${here}`],
    ['in 2 hours', `2026-11-30T12:00${here}`],
    ['2026-12-04 at 5pm', `2026-12-04T17:00${here}`],
    ['tomorrow at 9am EST', `2026-12-01T15:00${here}`],
  ])('in English: %s', async (text, value) => {
    expect(await readWhen(text, ana, 'forward')).toEqual({ value, understood: value })
  })

  test.each([
    ['hoy', '2026-11-30'],
    ['mañana', '2026-12-01'],
    ['manana', '2026-12-01'],
    ['pasado mañana', '2026-12-02'],
    ['en 3 días', '2026-12-03'],
    ['dentro de dos semanas', '2026-12-14'],
    ['el viernes', '2026-12-04'],
    ['el próximo viernes', '2026-12-04'],
    ['el viernes que viene', '2026-12-04'],
    ['el viernes pasado', '2026-11-27'],
    ['el viernes de la próxima semana', '2026-12-11'],
    ['la semana que viene', '2026-12-07'],
    ['fin de mes', '2026-11-30'],
    ['7 de diciembre', '2026-12-07'],
    ['viernes 4 de diciembre', '2026-12-04'],
    ['el próximo viernes a las 9', `2026-12-04T09:00${here}`],
    ['mañana por la mañana', `2026-12-01T09:00${here}`],
    ['mañana a las 9 de la noche', `2026-12-01T21:00${here}`],
    ['el 7 de diciembre a las 18h', `2026-12-07T18:00${here}`],
  ])('in Spanish: %s', async (text, value) => {
    expect(await readWhen(text, ana, 'forward')).toEqual({ value, understood: value })
  })

  test.each([
    ["aujourd'hui", '2026-11-30'],
    ['aujourd’hui', '2026-11-30'],
    ['demain', '2026-12-01'],
    ['après-demain', '2026-12-02'],
    ['dans 3 jours', '2026-12-03'],
    ['dans deux semaines', '2026-12-14'],
    ['vendredi', '2026-12-04'],
    ['vendredi prochain', '2026-12-04'],
    ['vendredi dernier', '2026-11-27'],
    ['vendredi de la semaine prochaine', '2026-12-11'],
    ['la semaine prochaine', '2026-12-07'],
    ['fin du mois', '2026-11-30'],
    ['le 1er février', '2027-02-01'],
    ['vendredi 4 décembre à 9h', `2026-12-04T09:00${here}`],
    ['demain à 9h', `2026-12-01T09:00${here}`],
    ['demain à 14 h 30', `2026-12-01T14:30${here}`],
    ['demain à midi', `2026-12-01T12:00${here}`],
    ['lundi prochain à 9h30', `2026-12-07T09:30${here}`],
    ['vendredi soir', `2026-12-04T19:00${here}`],
  ])('in French: %s', async (text, value) => {
    expect(await readWhen(text, ana, 'forward')).toEqual({ value, understood: value })
  })
})

describe('"next friday" is the first Friday after today, on any day of the week', () => {
  // chrono-node alone says 11 December on Monday; most people, and all who say "el próximo viernes", mean the 4th.
  test.each([
    ['2026-11-30', '2026-12-04'],
    ['2026-12-03', '2026-12-04'],
    ['2026-12-04', '2026-12-11'],
    ['2026-12-05', '2026-12-11'],
  ])('on %s it is %s', async (day, friday) => {
    const clock = at(`${day}T10:00:00+01:00`, 'Europe/Madrid')
    expect(await read('next friday', 'forward', clock)).toBe(friday)
    expect(await read('el próximo viernes', 'forward', clock)).toBe(friday)
    expect(await read('vendredi prochain', 'forward', clock)).toBe(friday)
  })
})

describe('Ana looks back', () => {
  test.each([
    ['friday', '2026-11-27'],
    ['el viernes', '2026-11-27'],
    ['vendredi', '2026-11-27'],
    ['monday', '2026-11-30'],
    ['next friday', '2026-12-04'],
    ['yesterday', '2026-11-29'],
    ['anteayer', '2026-11-28'],
    ['avant-hier', '2026-11-28'],
    ['3 days ago', '2026-11-27'],
    ['hace 3 días', '2026-11-27'],
    ['il y a 3 jours', '2026-11-27'],
    ['last 7 days', '2026-11-23'],
    ['2 weeks', '2026-11-16'],
    ['this week', '2026-11-30'],
    ['last week', '2026-11-23'],
    ['la semana pasada', '2026-11-23'],
    ['la semaine dernière', '2026-11-23'],
    ['this month', '2026-11-01'],
    ['7 december', '2025-12-07'],
    ['monday at 11', `2026-11-23T11:00${here}`],
    ['9am', `2026-11-30T09:00${here}`],
    ['2 hours', `2026-11-30T08:00${here}`],
  ])('%s', async (text, value) => {
    expect(await read(text, 'backward')).toBe(value)
  })
})

describe('ISO forms keep what they say and load nothing', () => {
  test.each([
    ['2026-12-07', '2026-12-07'],
    ['2026/12/07', '2026-12-07'],
    [' 2028-02-29 ', '2028-02-29'],
    ['2026-12-07T09:00', `2026-12-07T09:00${here}`],
    ['2026-12-07 09:00:30', `2026-12-07T09:00${here}`],
    ['2026-12-07T09:00:00.000Z', `2026-12-07T10:00${here}`],
    ['2026-12-07T23:30-05:00', `2026-12-08T05:30${here}`],
    ['2026-12-07T09:00[America/New_York]', '2026-12-07T09:00[America/New_York]'],
    ['2026-12-07T09:00[america/new_york]', '2026-12-07T09:00[America/New_York]'],
    ['2026-12-07T09:00-05:00[America/New_York]', '2026-12-07T09:00[America/New_York]'],
  ])('%s', async (text, value) => {
    expect(await readWhen(text, ana, 'forward')).toEqual({ value })
  })

  test('so that stored values sort by their local date', () => {
    const sorted = [
      '2026-12-07',
      '2026-12-07T09:00[Europe/Madrid]',
      '2026-12-07T10:00[Asia/Tokyo]',
      '2026-12-08',
    ]
    expect([...sorted].reverse().sort()).toEqual(sorted)
    expect(sorted.map(dateOf)).toEqual(['2026-12-07', '2026-12-07', '2026-12-07', '2026-12-08'])
  })
})

describe('what is not wholly understood is refused, with the forms that would be', () => {
  test.each([
    '',
    '   ',
    'asap',
    'whatever',
    '9',
    '2026',
    '2026-02-30',
    '2026-13-01',
    '0206-12-01',
    '2026-12-01 whatever',
    '2026-02-30 at 9',
    '2026-12-01T25:00',
    '2026-12-01T09:60',
    '2026-12-01T09:00+99:00',
    '2026-12-01T09:00[Mars/Olympus]',
    '2026-12-01T09:00[+01:00]',
    '2026-12-01T09:00+05:00[Europe/Madrid]',
    'tomorrow whatever',
    'mañana quizás',
    'demain peut-être',
    'friday or monday',
    'monday tomorrow',
    'tomorrow at 9 days',
    'tomorrow at at',
    'lunes 15',
    'tomorrow 15',
    '15 tomorrow',
    'dec 1 - dec 5',
    'thursday, december 4 2026',
    'feb 30',
    '31 de abril',
    '31 avril',
    'tomorrow at 25:00',
    'midnight',
    '7/12',
    '12/7/2026',
    '07.12.2026',
    'every friday',
    'in 9999 years',
    'x'.repeat(10_000),
    '1 '.repeat(40),
  ])('%j', async (text) => {
    const refusal = { code: 'invalid_value', details: { next: expect.any(String) } }
    await expect(readWhen(text, ana, 'forward')).rejects.toMatchObject(refusal)
    await expect(readInstant(text, ana, 'backward')).rejects.toMatchObject(refusal)
  })
})

describe('half past eleven at night (R21)', () => {
  const zones = [
    ['Pacific/Auckland', '2026-12-01T23:30:00+13:00'],
    ['America/Los_Angeles', '2026-12-01T23:30:00-08:00'],
  ] as const

  describe.each(zones)('in %s', (zone, now) => {
    const clock = at(now, zone)

    test.each([
      ['2026-12-01', '2026-12-01'],
      ['today', '2026-12-01'],
      ['tomorrow', '2026-12-02'],
      ['hoy', '2026-12-01'],
      ['mañana', '2026-12-02'],
      ["aujourd'hui", '2026-12-01'],
      ['demain', '2026-12-02'],
      ['yesterday', '2026-11-30'],
      ['in 1 hour', `2026-12-02T00:30[${zone}]`],
      ['at 9', `2026-12-02T09:00[${zone}]`],
      ['7 december', '2026-12-07'],
      ['1 december', '2026-12-01'],
    ])('%s', async (text, value) => {
      expect(await read(text, 'forward', clock)).toBe(value)
    })

    test('today is the local date, whatever UTC says', () => {
      expect(today(clock)).toBe('2026-12-01')
      expect(localTime(clock.now, zone)).toBe('23:30')
      // Overdue is `due < today`: neither today's nor tomorrow's.
      expect(['2026-11-30', '2026-12-01', '2026-12-02'].filter((due) => due < today(clock))).toEqual([
        '2026-11-30',
      ])
    })
  })
})

describe('on the days when clocks change', () => {
  test('a skipped time moves on by the gap, and the answer says so', async () => {
    const value = `2027-03-28T03:30${here}`
    expect(await readWhen('2027-03-28T02:30', ana, 'forward')).toEqual({ value, understood: value })
    expect(instantOf(`2027-03-28T02:30${here}`, 'UTC')).toBe(Date.parse('2027-03-28T01:30Z'))
    expect(instantOf('2026-03-08T02:30[America/Los_Angeles]', 'UTC')).toBe(Date.parse('2026-03-08T10:30Z'))
  })

  test('a time that comes twice is the first', () => {
    expect(instantOf(`2026-10-25T02:30${here}`, 'UTC')).toBe(Date.parse('2026-10-25T00:30Z'))
    expect(instantOf('2026-04-05T02:30[Pacific/Auckland]', 'UTC')).toBe(Date.parse('2026-04-04T13:30Z'))
  })

  test("a day begins at its own midnight, which may be one o'clock", () => {
    expect(instantOf('2026-03-29', 'Europe/Madrid')).toBe(Date.parse('2026-03-28T23:00Z'))
    expect(instantOf('2026-03-30', 'Europe/Madrid')).toBe(Date.parse('2026-03-29T22:00Z'))
    expect(instantOf('2018-11-04', 'America/Sao_Paulo')).toBe(Date.parse('2018-11-04T03:00Z'))
  })

  test('tomorrow at 9 is at 9, and three hours are three hours', async () => {
    const evening = at('2026-03-28T23:30:00+01:00', 'Europe/Madrid')
    expect(await read('tomorrow at 9', 'forward', evening)).toBe(`2026-03-29T09:00${here}`)
    expect(await read('in 3 hours', 'forward', evening)).toBe(`2026-03-29T03:30${here}`)
  })
})

describe('instants for since and until', () => {
  test.each([
    ['2026-11-30', '2026-11-29T23:00:00Z'],
    ['today', '2026-11-29T23:00:00Z'],
    ['ayer', '2026-11-28T23:00:00Z'],
    ['hier à 9h', '2026-11-29T08:00:00Z'],
    ['2026-11-30T08:00:15Z', '2026-11-30T08:00:15Z'],
    ['2 hours ago', '2026-11-30T07:00:00Z'],
    ['now', '2026-11-30T09:00:00Z'],
  ])('%s', async (text, instant) => {
    expect(await readInstant(text, ana, 'backward')).toBe(Date.parse(instant))
  })
})

describe('small parts', () => {
  test('days are counted over months and leap days', () => {
    expect(addDays('2028-02-28', 2)).toBe('2028-03-01')
    expect(addDays('2027-01-01', -1)).toBe('2026-12-31')
    expect(['2026-11-30', '2026-12-06'].map(weekdayOf)).toEqual([1, 7])
  })

  test.each([
    ['Europe/Madrid', true],
    ['UTC', true],
    ['Pacific/Auckland', true],
    ['Mars/Olympus', false],
    ['+01:00', false],
    ['', false],
  ])('isZone(%j) is %s', (name, known) => {
    expect(isZone(name)).toBe(known)
  })

  test('a month after 31 January is its last day', async () => {
    expect(await read('in a month', 'forward', at('2027-01-31T12:00:00Z', 'UTC'))).toBe('2027-02-28')
    expect(await read('in a year', 'forward', at('2028-02-29T12:00:00Z', 'UTC'))).toBe('2029-02-28')
  })
})
