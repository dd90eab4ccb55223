import { foldWords, NUMBER, numberOf, unitOf, weekdayNamed } from './date-words.ts'
import { type AppError, invalid } from './error.ts'
import { dateOf, instantOf } from './zone.ts'

/** What was read: the canonical rule, and the same again in `understood` if it came as words. */
export interface RuleReading {
  rule: string
  understood?: string
}

/**
 * Reads a recurrence into an RFC 5545 recurrence rule (section 3.3.10) in one canonical spelling: upper case, parts in
 * a fixed order, lists sorted, no `RRULE:`, no `INTERVAL=1`. Takes such a rule or words in English, Spanish and
 * French. The time of day belongs to the task's date, so a rule is by days at its finest and has no `BYHOUR`.
 *
 * Asynchronous because rules that may never come true are tried out with rrule-temporal, loaded only for them.
 * @throws AppError `invalid_value` for anything that isn't wholly understood, or never happens
 */
export async function readRule(text: string): Promise<RuleReading> {
  const typed = text.trim().replace(/\s+/g, ' ')
  // Lists of days make long rules; no honest one is longer than this.
  if (typed === '' || typed.length > 500) throw unreadable(text)
  if (/^(?:rrule *:|[a-z-]+ *=)/i.test(typed)) return { rule: await readParts(typed) }
  const rule = readWords(foldWords(typed))
  if (!rule) throw unreadable(text)
  return { rule, understood: rule }
}

/**
 * The next `count` occurrences strictly after the local date `after`, as canonical when-strings that keep the time and
 * zone of `start`; fewer if COUNT or UNTIL end the rule, none if it never comes true. COUNT counts from `start`.
 * A day on which the time of day is skipped by a DST change still has its occurrence, unlike in RFC 5545: a chore
 * should not fall out once a year. `instantOf` moves it, and the series keeps its time.
 *
 * Asynchronous because it loads rrule-temporal. Bounded: rules that match nothing give up after some 0.1 s.
 * @param rule a rule as {@link readRule} returns it
 */
export async function nextDates(
  rule: string,
  start: string,
  count: number,
  after: string,
): Promise<string[]> {
  const { RRuleTemporal } = await import('rrule-temporal')
  const parts = new Map(rule.split(';').map((part) => part.split('=') as [string, string]))
  const until = parts.get('UNTIL')
  parts.delete('UNTIL')
  // Only days are computed, in a zone without DST; the time is put back on them. UNTIL is compared here, since it may
  // be an instant, which days can't tell.
  const days = new RRuleTemporal({
    rruleString: `DTSTART;TZID=UTC:${dateOf(start).replaceAll('-', '')}T000000\nRRULE:${spell(parts)}`,
  })
  const dates: string[] = []
  let from = after
  while (dates.length < count) {
    const date = nextDay(days, from)
    if (date === undefined) break
    const when = date + start.slice(10)
    if (until && !isWithin(when, until)) break
    dates.push(when)
    from = date
  }
  return dates
}

interface Days {
  next(after: Date, inclusive: boolean): { toString(): string } | null
}

function nextDay(days: Days, after: string): string | undefined {
  try {
    const date = days.next(new Date(after), false)?.toString()
    // Years from 10000 on are written with a sign, and no task is due in them.
    return date?.startsWith('+') ? undefined : date?.slice(0, 10)
  } catch (error) {
    // So the library says that it found nothing in 10,000 periods.
    if (error instanceof Error && error.message.startsWith('Maximum')) return undefined
    throw error
  }
}

function isWithin(when: string, until: string): boolean {
  const date = `${until.slice(0, 4)}-${until.slice(4, 6)}-${until.slice(6, 8)}`
  if (until.length === 8 || when.length === 10) return dateOf(when) <= date
  const time = `${date}T${until.slice(9, 11)}:${until.slice(11, 13)}`
  // Without a Z it is a local time, in the zone of the start.
  return until.endsWith('Z')
    ? instantOf(when, 'UTC') <= Date.parse(`${time}:${until.slice(13)}`)
    : when.slice(0, 16) <= time
}

// RFC 5545

const DAYS = ['MO', 'TU', 'WE', 'TH', 'FR', 'SA', 'SU']
const FREQUENCIES = ['DAILY', 'WEEKLY', 'MONTHLY', 'YEARLY']

/** A list of whole numbers up to `most`; negative ones count from the end. */
const numbers =
  (most: number, negative = true) =>
  (value: string) =>
    value.split(',').every((item) => {
      const number = Number(item)
      return (
        /^[+-]?\d{1,3}$/.test(item) &&
        Math.abs(number) >= 1 &&
        Math.abs(number) <= most &&
        (negative || number > 0)
      )
    })

/** The parts in their canonical order, each with the test of its value. */
const PARTS: Record<string, (value: string) => boolean> = {
  FREQ: (value) => FREQUENCIES.includes(value),
  INTERVAL: (value) => /^\d{1,3}$/.test(value) && Number(value) > 0,
  COUNT: (value) => /^\d{1,4}$/.test(value) && Number(value) > 0,
  UNTIL: isUntil,
  BYMONTH: numbers(12, false),
  BYWEEKNO: numbers(53),
  BYYEARDAY: numbers(366),
  BYMONTHDAY: numbers(31),
  BYDAY: (value) =>
    value.split(',').every((item) => /^(?:[+-]?[1-9]\d?)?(?:MO|TU|WE|TH|FR|SA|SU)$/.test(item)),
  BYSETPOS: numbers(366),
  WKST: (value) => DAYS.includes(value),
}

function isUntil(value: string): boolean {
  const match = /^(\d{4})(\d\d)(\d\d)(?:T([01]\d|2[0-3])([0-5]\d)([0-5]\d)Z?)?$/.exec(value)
  if (!match) return false
  const date = `${match[1]}-${match[2]}-${match[3]}`
  const ms = Date.parse(date)
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(date)
}

async function readParts(typed: string): Promise<string> {
  const parts = new Map<string, string>()
  const bare = typed
    .toUpperCase()
    .replace(/^RRULE *:/, '')
    .replaceAll(' ', '')
    .replace(/;$/, '')
  for (const part of bare.split(';')) {
    const [name = '', value = '', ...more] = part.split('=')
    checkPart(name, value, more.length === 0 && !parts.has(name), typed)
    parts.set(name, tidy(name, value))
  }
  checkTogether(parts, typed)
  const rule = spell(parts)
  if (!(await comesTrue(parts))) throw refused(typed, 'no day matches it', 'Send a rule whose days exist.')
  return rule
}

function checkPart(name: string, value: string, once: boolean, typed: string) {
  if (
    /^(?:BYHOUR|BYMINUTE|BYSECOND)$/.test(name) ||
    (name === 'FREQ' && /^(?:HOUR|MINUTE|SECOND)LY$/.test(value))
  ) {
    throw refused(
      typed,
      'a task repeats by days at most',
      `Use FREQ=DAILY or longer; put the time into the task's due date.`,
    )
  }
  const isAllowed = Object.hasOwn(PARTS, name) ? PARTS[name] : undefined
  if (!isAllowed) {
    throw invalid(`"${name}" is not a part of a recurrence rule here.`, {
      allowed: Object.keys(PARTS),
      next: 'Leave it out; the start of the series is the due date of the task.',
    })
  }
  if (!once) throw refused(typed, `${name} stands in it twice or has two values`, `Give ${name} once.`)
  if (!isAllowed(value)) {
    const allowed = name === 'FREQ' ? FREQUENCIES : name === 'WKST' ? DAYS : undefined
    throw invalid(`"${value}" is not a value of ${name}.`, {
      ...(allowed ? { allowed } : {}),
      next: `Correct ${name} as in RFC 5545, section 3.3.10, or say it in words, as "every 2 weeks".`,
    })
  }
}

/** The combinations that RFC 5545 forbids, and the ones that rrule-temporal is known to get wrong. */
function checkTogether(parts: Map<string, string>, typed: string) {
  const freq = parts.get('FREQ')
  const days = parts.get('BYDAY') ?? ''
  const refuse = (why: string, next: string) => {
    throw refused(typed, why, next)
  }
  if (!freq) refuse('FREQ is missing', `Add FREQ, one of ${FREQUENCIES.join(', ')}.`)
  if (parts.has('COUNT') && parts.has('UNTIL'))
    refuse('COUNT and UNTIL exclude each other', 'Keep one of them.')
  if (parts.has('BYWEEKNO') && freq !== 'YEARLY')
    refuse('BYWEEKNO needs FREQ=YEARLY', 'Change FREQ or drop it.')
  if (parts.has('BYYEARDAY') && freq !== 'YEARLY')
    refuse('BYYEARDAY needs FREQ=YEARLY', 'Change FREQ or drop it.')
  if (parts.has('BYMONTHDAY') && freq === 'WEEKLY')
    refuse('BYMONTHDAY contradicts FREQ=WEEKLY', 'Use FREQ=MONTHLY.')
  if (parts.has('BYSETPOS') && ![...parts.keys()].some((name) => /^BY(?!SETPOS)/.test(name))) {
    refuse('BYSETPOS picks from another BY part, and there is none', 'Add BYDAY, or drop BYSETPOS.')
  }
  const ordinals = [...days.matchAll(/\d+/g)].map(Number)
  if (ordinals.length === 0) return
  if ((freq !== 'MONTHLY' && freq !== 'YEARLY') || parts.has('BYWEEKNO')) {
    refuse(
      'only months and years have a first or last weekday',
      'Use FREQ=MONTHLY, or drop the number in BYDAY.',
    )
  }
  // The 53rd Monday of a year without one would come out as the first of the next.
  const most = freq === 'MONTHLY' || parts.has('BYMONTH') ? 5 : 52
  if (Math.max(...ordinals) > most) refuse(`BYDAY counts to ${most} there`, 'Use a smaller number in BYDAY.')
}

/** One spelling for each value, so that the same rule is the same text. */
function tidy(name: string, value: string): string {
  if (name === 'FREQ' || name === 'UNTIL' || name === 'WKST') return value
  const items = [
    ...new Set(value.split(',').map((item) => item.replace(/^\+/, '').replace(/^(-?)0+(?=\d)/, '$1'))),
  ]
  const rank = (item: string) =>
    name === 'BYDAY'
      ? DAYS.indexOf(item.slice(-2)) + Number.parseInt(item, 10) * 10 || DAYS.indexOf(item)
      : Number(item)
  return items.sort((one, other) => rank(one) - rank(other)).join(',')
}

function spell(parts: ReadonlyMap<string, string>): string {
  const given = Object.keys(PARTS).filter(
    (name) => parts.has(name) && !(name === 'INTERVAL' && parts.get(name) === '1'),
  )
  return given.map((name) => `${name}=${parts.get(name)}`).join(';')
}

/** Plain rules always do; those with days of the month or year, or positions, are tried from a leap year on. */
async function comesTrue(parts: ReadonlyMap<string, string>): Promise<boolean> {
  if (!['BYMONTHDAY', 'BYYEARDAY', 'BYWEEKNO', 'BYSETPOS'].some((name) => parts.has(name))) return true
  // Which intervals meet depends on the start; whether a day exists at all doesn't.
  const endless = new Map([...parts].filter(([name]) => !['COUNT', 'UNTIL', 'INTERVAL'].includes(name)))
  return (await nextDates(spell(endless), '2024-01-01', 1, '2023-12-31')).length > 0
}

// Words. All below sees folded text: lower case, without accents.

const EACH = '(?:every|each|on|cada|todos los|todas las|los|tous les|toutes les|chaque|le|les)'
const OF = "(?:of|de|del|du|d')(?: (?:the|every|each|cada|la|el|le|chaque))?"

const ADVERBS: readonly (readonly [RegExp, string])[] = [
  [/^(?:daily|diari[oa]|diariamente|a diario|quotidien(?:ne|nement)?)$/, 'FREQ=DAILY'],
  [/^(?:weekly|semanal|semanalmente|hebdomadaire)$/, 'FREQ=WEEKLY'],
  [/^(?:fortnightly|every fortnight|quincenal|cada quincena)$/, 'FREQ=WEEKLY;INTERVAL=2'],
  [/^(?:monthly|mensual|mensualmente|mensuel|mensuelle|mensuellement)$/, 'FREQ=MONTHLY'],
  [
    /^(?:quarterly|every quarter|trimestral|cada trimestre|trimestriel|trimestrielle|chaque trimestre)$/,
    'FREQ=MONTHLY;INTERVAL=3',
  ],
  [/^(?:yearly|annually|anual|anualmente|annuel|annuelle|annuellement)$/, 'FREQ=YEARLY'],
]

const WORKDAYS = new RegExp(
  `^(?:${EACH} )?(?:weekdays?|workdays?|(?:working|business) days?|dias? laborables?|entre semana|jours? ouvrables?|jours? ouvres?|en semaine|monday (?:to|through) friday|(?:de )?lunes a viernes|(?:du )?lundi au vendredi)$`,
)

function readWords(text: string): string | undefined {
  const limited = /^(.+?),? (?:for )?(\d{1,4}) (?:times|veces|fois)$/.exec(text)
  const ended = /^(.+?),? (?:until|till|hasta(?: el)?|jusqu'au) (\d{4})-(\d\d)-(\d\d)$/.exec(text)
  const rule = readSeries(limited?.[1] ?? ended?.[1] ?? text)
  if (!rule) return undefined
  if (limited) return Number(limited[2]) > 0 ? withPart(rule, 'COUNT', `${Number(limited[2])}`) : undefined
  const until = ended && `${ended[2]}${ended[3]}${ended[4]}`
  if (until) return isUntil(until) ? withPart(rule, 'UNTIL', until) : undefined
  return rule
}

function withPart(rule: string, name: string, value: string): string {
  return spell(
    new Map([...rule.split(';').map((part) => part.split('=') as [string, string]), [name, value]]),
  )
}

function readSeries(text: string): string | undefined {
  if (WORKDAYS.test(text)) return 'FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR'
  const period = readPeriod(text)
  if (period) return period
  const bare = text.replace(new RegExp(`^${EACH} `), '')
  const other = new RegExp(`^(?:every |cada |tous les |toutes les )(?<n>other|${NUMBER}) (?<days>.+)$`).exec(
    text,
  )
  const weekly = readWeekdays(bare)
  if (weekly) return `FREQ=WEEKLY;BYDAY=${weekly}`
  const skipping = other?.groups && readWeekdays(other.groups.days!)
  if (skipping) return `FREQ=WEEKLY;INTERVAL=${numberIn(other.groups!.n!)};BYDAY=${skipping}`
  // "every 15th" and "every last friday" can only be of a month; "every second friday" has two meanings.
  const monthly = /^(?:every|each|cada|chaque) (?!second |2nd |segund|deuxieme )/.test(text)
    ? readMonthDays(bare)
    : undefined
  return monthly ? `FREQ=MONTHLY;${monthly}` : readBoth(text)
}

/** "every month on the last friday", "el 15 de cada mes": a period and its days, in either order. */
function readBoth(text: string): string | undefined {
  const words = text.split(' ')
  for (let cut = 1; cut < words.length; cut++) {
    const [left, right] = [words.slice(0, cut).join(' ').replace(/,$/, ''), words.slice(cut).join(' ')]
    const first = readPeriod(left)
    const days = first && readDays(first, right.replace(new RegExp(`^(?:in|on|en|el|${EACH}) (?:the )?`), ''))
    if (days) return `${first};${days}`
    const of = new RegExp(`^${OF} `).exec(`${right} `)
    const second = of && readPeriod(`every ${right.slice(of[0].length)}`)
    const before =
      second && readDays(second, left.replace(new RegExp(`^(?:the|el|los|${EACH}) (?:the )?`), ''))
    if (before) return `${second};${before}`
  }
  return undefined
}

function readDays(period: string, text: string): string | undefined {
  if (period.startsWith('FREQ=MONTHLY')) return readMonthDays(text)
  const weekdays = period.startsWith('FREQ=WEEKLY') ? readWeekdays(text) : undefined
  return weekdays && `BYDAY=${weekdays}`
}

function readPeriod(text: string): string | undefined {
  const adverb = ADVERBS.find(([pattern]) => pattern.test(text))
  if (adverb) return adverb[1]
  const match = new RegExp(`^${EACH} (?:(other|${NUMBER}) )?([a-z]+)$`).exec(text)
  const unit = unitOf(match?.[2] ?? '')
  if (!match || !unit || unit === 'hour' || unit === 'minute') return undefined
  const freq = { day: 'DAILY', week: 'WEEKLY', month: 'MONTHLY', year: 'YEARLY' }[unit]
  const interval = match[1] ? numberIn(match[1]) : 1
  if (interval < 1 || interval > 999) return undefined
  return interval === 1 ? `FREQ=${freq}` : `FREQ=${freq};INTERVAL=${interval}`
}

const numberIn = (word: string) => (word === 'other' ? 2 : numberOf(word))

const AND = /(?:,| and| y| et|,? & ?) ?(?:on |el |los |le |les |the )*/

/** "monday and thursday" as `MO,TH`; nothing unless every word of it is a weekday. */
function readWeekdays(text: string): string | undefined {
  const days = text.split(AND).map((name) => (/week|semana/.test(name) ? 0 : weekdayNamed(name)))
  return days.every((day) => day > 0) ? tidy('BYDAY', days.map((day) => DAYS[day - 1]).join(',')) : undefined
}

const ORDINALS: readonly (readonly [RegExp, number])[] = [
  [/^(?:first|1st|primer[oa]?|premiere?)$/, 1],
  [/^(?:second|2nd|segund[oa]|deuxieme|seconde?)$/, 2],
  [/^(?:third|3rd|tercer[oa]?|troisieme)$/, 3],
  [/^(?:fourth|4th|cuart[oa]|quatrieme)$/, 4],
  [/^(?:last|ultim[oa]|derniere?)$/, -1],
]
const ordinalOf = (word: string) => ORDINALS.find(([pattern]) => pattern.test(word))?.[1]

/** "15th", "dia 15", "last day", "last friday and first monday" as BYMONTHDAY or BYDAY. */
function readMonthDays(text: string): string | undefined {
  const items = text.split(AND).map((item) => {
    const day = /^(?:(?:the|dia|jour|day) )?(\d{1,2})(?:st|nd|rd|th|er|e|o)?$/.exec(item)
    if (day) return numbers(31)(day[1]!) ? `${Number(day[1])}` : ''
    const [, word = '', name = ''] = /^([a-z0-9]+) ([a-z-]+)$/.exec(item) ?? []
    const ordinal = ordinalOf(word)
    if (ordinal === undefined) return ''
    if (unitOf(name) === 'day') return `${ordinal}`
    const weekday = /week|semana/.test(name) ? 0 : weekdayNamed(name)
    return weekday > 0 ? `${ordinal}${DAYS[weekday - 1]}` : ''
  })
  if (items.every((item) => /^-?\d+$/.test(item))) return `BYMONTHDAY=${tidy('BYMONTHDAY', items.join(','))}`
  return items.every((item) => /[A-Z]$/.test(item)) ? `BYDAY=${tidy('BYDAY', items.join(','))}` : undefined
}

function refused(typed: string, why: string, next: string): AppError {
  return invalid(`"${typed.slice(0, 120)}" can't be used: ${why}.`, { next })
}

function unreadable(text: string): AppError {
  const what =
    text.trim() === ''
      ? 'The recurrence is empty.'
      : `"${text.slice(0, 120)}" is not a recurrence I can read.`
  return invalid(what, {
    allowed: [
      'FREQ=WEEKLY;BYDAY=MO,TH',
      'every weekday',
      'every 2 weeks on friday',
      'monthly on the 15th',
      'every month on the last friday',
      'cada lunes',
      'tous les jours',
    ],
    next: 'Send an RFC 5545 rule, which is the safest, or words in one of these forms with nothing else in the text.',
  })
}

/**
 * The rule as the next occurrence carries it: `COUNT` counts from the start, and each occurrence is a task with a start of
 * its own, so one is taken off. Undefined where this was the last.
 */
export function takeFromCount(rule: string): string | undefined {
  const count = /(?:^|;)COUNT=(\d+)/.exec(rule)
  if (!count) return rule
  const left = Number(count[1]) - 1
  return left < 1 ? undefined : rule.replace(/COUNT=\d+/, `COUNT=${left}`)
}
