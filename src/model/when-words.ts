import type { Chrono, ParsedComponents } from 'chrono-node'
import { foldWords, NUMBER, numberOf, UNITS, type Unit, unitOf, WEEKDAY, weekdayNamed } from './date-words.ts'
import { invalid } from './error.ts'
import { atInstant, atWall, type Direction, existing, MINUTE, type Moment } from './moment.ts'
import { addDays, addMonths, type Clock, offsetAt, today, weekdayOf } from './zone.ts'

/**
 * Reads a moment said in words; undefined for anything that isn't wholly understood. Days are read here, because chrono-node
 * reads "pasado mañana" as tomorrow, "el viernes pasado" as the next Friday and "vendredi prochain" as the one after it. It
 * does clock times and dates with a month's name.
 */
export async function readWords(
  typed: string,
  clock: Clock,
  direction: Direction,
): Promise<Moment | undefined> {
  const text = foldWords(typed)
  if (/\d ?\/ ?\d|\b\d{1,2}[.-]\d{1,2}[.-]\d/.test(text)) {
    throw invalid(`"${typed}" can mean two dates, since some put the month first.`, {
      next: 'Send the date with the year first, as 2026-12-07.',
    })
  }
  if (/^(?:right now|now|ahora|maintenant)$/.test(text)) return atInstant(clock.now, clock.zone, true)
  const span = readSpan(text, direction)
  if (span?.ms !== undefined) return atInstant(clock.now + span.ms, clock.zone, true)
  const timed = withPlainTimes(text, today(clock))
  const day = findDay(timed, today(clock), direction)
  const here = { zone: clock.zone, words: true }
  if (!day) return readByChrono(timed, clock, direction)
  if (day.rest === '') return { ...here, date: day.date }
  // "lunes 15" is the 15th to those who say it, not three o'clock.
  if (/^\d+$/.test(day.rest)) return undefined
  const time = await readTime(day.rest, clock)
  // "Friday, 4 December" holds a weekday and a date: only chrono-node takes both together.
  if (!time) return readByChrono(timed, clock, direction)
  const moment = onDay(day.date, time, clock)
  // "monday at 9" at ten on a Monday is not this morning.
  return day.open && isPast(moment, clock, direction)
    ? onDay(addDays(day.date, direction === 'forward' ? 7 : -7), time, clock)
    : moment
}

const SPAN = new RegExp(
  `(?<![\\w:.-])(?:(?<before>in|en|dentro de|dans|hace|il y a|(?:the |los |las |les )?(?:last|past|ultim[oa]s|dernier(?:e)?s)) )?` +
    `(?<count>${NUMBER}) ?(?<unit>${Object.values(UNITS).join('|')})(?: (?<after>ago|from now|from today|later|atras))?(?![\\w'])`,
)

/** A distance from now: exact for hours and minutes, by the calendar for days and longer. */
function readSpan(text: string, direction: Direction) {
  const match = SPAN.exec(text)
  const { before = '', count = '', unit: word = '', after = '' } = match?.groups ?? {}
  const unit = unitOf(word)
  if (!match || !unit) return undefined
  const exact = unit === 'minute' || unit === 'hour'
  // "9 heures" is an hour of the day; a distance in hours says that it is one, and stands alone.
  if (exact && (match[0] !== text || !(before || after || /^(?:hour|min)/.test(word)))) return undefined
  const marks = before + after
  const back =
    marks === '' ? direction === 'backward' : /hace|il y|last|past|ultim|dernier|ago|atras/.test(marks)
  const amount = numberOf(count) * (back ? -1 : 1)
  return {
    found: match[0],
    unit,
    amount,
    ms: exact ? amount * (unit === 'hour' ? 60 : 1) * MINUTE : undefined,
  }
}

const PART =
  '(manana|morning|matin|afternoon|tarde|apres[ -]midi|noon|midday|mediodia|midi|evening|soir|night|noche|nuit)'

/** A part of the day as an hour: a guess, and therefore among what the answer says it understood. */
function hourOf(part: string): string {
  if (/^(?:ma|mo)/.test(part)) return '09:00'
  if (/^(?:noon|mid|medio)/.test(part)) return '12:00'
  if (/^[at]/.test(part)) return '15:00'
  return /^[es]/.test(part) ? '19:00' : '21:00'
}

/** Writes "9 de la noche", "14 h 30", "tonight" or "por la mañana" as times of the clock. */
function withPlainTimes(text: string, date: string): string {
  return text
    .replace(/\btonight\b/, 'this night')
    .replace(/\b(?:anoche|last night)\b/, `${addDays(date, -1)} 21:00`)
    .replace(
      new RegExp(`\\b(\\d{1,2})(?: ?[:h] ?(\\d\\d)?)? ?(?:heures )?(?:de la|du|de l'|in the|at) ?${PART}\\b`),
      (_all, hour: string, minute = '00', part: string) =>
        `${two(Number(hour) + (hourOf(part) > '12:00' && Number(hour) < 12 ? 12 : 0))}:${minute}`,
    )
    .replace(
      /\b(?:(?:a|vers) )?(\d{1,2}) ?(?:hrs|heures?|horas|h)(?: ?([0-5]\d))?\b/,
      (_all, hour: string, minute = '00') => `${two(Number(hour))}:${minute}`,
    )
    .replace(
      new RegExp(`\\b(?:this|esta|este|cette|cet|ce) ${PART}\\b`),
      (_all, part: string) => `${date} ${hourOf(part)}`,
    )
    .replace(
      new RegExp(`\\b((?:in the|at|por la|en la|a la|de la|la|al|a|dans l'|l'|le|du) ?)?${PART}\\b`, 'g'),
      // Alone, "mañana" is tomorrow; "la mañana" is the morning.
      (all, lead: string | undefined, part: string) => (part === 'manana' && !lead ? all : hourOf(part)),
    )
}

const FIXED: readonly (readonly [RegExp, number])[] = [
  [/\b(?:(?:the )?day after tomorrow|pasado manana|apres[ -]demain)\b/, 2],
  [/\b(?:(?:the )?day before yesterday|anteayer|antes de ayer|avant[ -]hier)\b/, -2],
  [/\b(?:tomorrow|manana|demain)\b/, 1],
  [/\b(?:yesterday|ayer|hier)\b/, -1],
  [/\b(?:today|hoy|aujourd'hui|eod|end of (?:the )?day)\b/, 0],
]

const BEFORE =
  '(?:next|this coming|this|last|past|coming|proxim[oa]|est[ea]|pasad[oa]|ultim[oa]|cette|cet|ce)'
const AFTER = '(?:que viene|proxim[oa]|pasad[oa]|prochaine?|derniere?)'
const ARTICLE = "(?:(?:on the|on|the|el|la|le|l')? ?)"
const PERIOD = '(?:week|semana|semaine|month|mes|mois|year|ano|annee|an)'
const NAMED_PERIOD = `(?:${BEFORE} ${PERIOD}|${PERIOD} ${AFTER})`
const ON_WEEKDAY = new RegExp(
  `\\b${ARTICLE}(?:(?<before>${BEFORE}) )?(?<name>${WEEKDAY})(?: (?<after>${AFTER}))?(?:,? (?:of |de la |de )?(?<week>${BEFORE} (?:week|semana|semaine)|(?:week|semana|semaine) ${AFTER}))?\\b`,
)
const END_OF = new RegExp(
  `\\b(?:(?:at |by |a |para )?(?:the )?(?:end of|fin(?:ales)? de|fin du|final del?)) ?(?:the |la |el |l')?(?<period>${NAMED_PERIOD}|${PERIOD})\\b`,
)
const IN_PERIOD = new RegExp(`\\b${ARTICLE}(?<period>${NAMED_PERIOD})\\b`)

interface Day {
  date: string
  /** What the text says besides the day. */
  rest: string
  /** Whether the next or last day of that name would do as well. */
  open?: boolean
}

function findDay(text: string, from: string, direction: Direction): Day | undefined {
  const found = (part: string, date: string, open = false): Day => {
    const rest = text.replace(part, ' ').replace(/ +/g, ' ').trim()
    return { date, rest: rest.replace(/^,\s*|(?:,| on| el| le| the)$/g, '').trim(), open }
  }
  const written = /\b\d{4}-\d\d-\d\d\b/.exec(text)
  if (written) return found(written[0], existing(written[0]))
  for (const [pattern, days] of FIXED) {
    const match = pattern.exec(text)
    if (match) return found(match[0], addDays(from, days))
  }
  const span = readSpan(text, direction)
  if (span && span.ms === undefined) {
    const days = span.unit === 'day' ? 1 : span.unit === 'week' ? 7 : 0
    const months = span.unit === 'month' ? 1 : 12
    const date = days ? addDays(from, span.amount * days) : addMonths(from, span.amount * months)
    return found(span.found, date)
  }
  const named = ON_WEEKDAY.exec(text)
  if (named?.groups) {
    const { before, after, name = '', week } = named.groups
    const weekday = weekdayNamed(name)
    if (week) return found(named[0], addDays(firstOf('week', from, stepOf(week)), weekday - 1))
    const step = stepOf(before ?? after ?? '')
    return found(named[0], nearest(weekday, from, step, direction), step === 0)
  }
  const end = END_OF.exec(text)
  if (end) return found(end[0], lastOf(end.groups?.period ?? '', from))
  const period = IN_PERIOD.exec(text)
  if (period) {
    const name = period.groups?.period ?? ''
    const whole = stepOf(name) === 0 && direction === 'forward'
    return found(period[0], whole ? lastOf(name, from) : firstOf(unitIn(name), from, stepOf(name)))
  }
  return undefined
}

/** -1, 0 or 1 for "last", "this" and "next" in the three languages. */
function stepOf(words: string): number {
  if (/\b(?:next|proxim|que viene|prochain)/.test(words)) return 1
  return /\b(?:last|past|pasad|ultim|dernier)/.test(words) ? -1 : 0
}

function nearest(weekday: number, from: string, step: number, direction: Direction): string {
  const ahead = (weekday - weekdayOf(from) + 7) % 7
  if (ahead === 0) return addDays(from, step * 7)
  return addDays(from, step > 0 || (step === 0 && direction === 'forward') ? ahead : ahead - 7)
}

const unitIn = (period: string) =>
  period
    .split(' ')
    .map(unitOf)
    .find((unit) => unit) ?? 'week'

/** The first day of the week (Monday), month or year that is `step` after the one around `date`. */
function firstOf(unit: Unit, date: string, step: number): string {
  if (unit === 'week') return addDays(date, 1 - weekdayOf(date) + step * 7)
  if (unit === 'month') return addMonths(`${date.slice(0, 7)}-01`, step)
  return addMonths(`${date.slice(0, 4)}-01-01`, step * 12)
}

function lastOf(period: string, date: string): string {
  return addDays(firstOf(unitIn(period), date, stepOf(period) + 1), -1)
}

// chrono-node

interface Time {
  clock: string
  /** Minutes east of UTC, where the words named a zone. */
  offset: number | null
}

const LANGUAGES: readonly (() => Promise<{ casual: Chrono }>)[] = [
  () => import('chrono-node/en'),
  () => import('chrono-node/es'),
  () => import('chrono-node/fr'),
]

/** The only reading of the whole text, in the first language that has one; half understood is not understood. */
async function parse(text: string, clock: Clock): Promise<ParsedComponents | undefined> {
  const reference = { instant: new Date(clock.now), timezone: offsetAt(clock.now, clock.zone) / MINUTE }
  for (const load of LANGUAGES) {
    const { casual } = await load()
    const [result, ...others] = casual.parse(text, reference)
    if (!result || result.end || others.length > 0) continue
    const [before, after] = text.split(result.text, 2)
    // In Spanish and French it leaves out an article or preposition before what it read.
    if (after === '' && /^(?:(?:on|on the|the|at|in|el|le|a|en) )?$/.test(before ?? '')) return result.start
  }
  return undefined
}

async function readTime(text: string, clock: Clock): Promise<Time | undefined> {
  const parsed = await parse(text, clock)
  const dated = parsed && (['day', 'month', 'weekday'] as const).some((part) => parsed.isCertain(part))
  return parsed && !dated ? timeIn(parsed) : undefined
}

/** Asks for certain minutes: words as "midnight" come without, and could mean either end of the day. */
function timeIn(parsed: ParsedComponents): Time | undefined {
  if (!parsed.isCertain('hour') || !parsed.isCertain('minute')) return undefined
  const offset = parsed.isCertain('timezoneOffset') ? parsed.get('timezoneOffset') : null
  return { clock: `${two(parsed.get('hour'))}:${two(parsed.get('minute'))}`, offset }
}

async function readByChrono(text: string, clock: Clock, direction: Direction): Promise<Moment | undefined> {
  const parsed = await parse(text, clock)
  if (!parsed) return undefined
  const time = timeIn(parsed)
  if (parsed.isCertain('month')) {
    // "feb 30" would be February 2030.
    if (!parsed.isCertain('day') && parsed.isCertain('year') && !/\d{4}/.test(text)) return undefined
    const date = dateIn(parsed, today(clock), direction)
    if (date && time) return onDay(date, time, clock)
    return date ? { date, zone: clock.zone, words: true } : undefined
  }
  if (!time || parsed.isCertain('weekday')) return undefined
  const moment = onDay(today(clock), time, clock)
  return isPast(moment, clock, direction)
    ? onDay(addDays(today(clock), direction === 'forward' ? 1 : -1), time, clock)
    : moment
}

function dateIn(parsed: ParsedComponents, from: string, direction: Direction): string | undefined {
  const rest = `${two(parsed.get('month'))}-${parsed.isCertain('day') ? two(parsed.get('day')) : '01'}`
  let year = parsed.isCertain('year') ? Number(parsed.get('year')) : Number(from.slice(0, 4))
  if (!parsed.isCertain('year')) {
    if (direction === 'forward' && rest < from.slice(5)) year += 1
    if (direction === 'backward' && rest > from.slice(5)) year -= 1
  }
  const date = existing(`${year}-${rest}`)
  const weekday = parsed.isCertain('weekday') ? parsed.get('weekday') : null
  return weekday === null || weekday === weekdayOf(date) % 7 ? date : undefined
}

const two = (value: number | null) => String(value ?? 0).padStart(2, '0')

function onDay(date: string, time: Time, clock: Clock): Moment {
  const wall = Date.parse(`${date}T${time.clock}Z`)
  if (time.offset === null) return atWall(wall, clock.zone, true)
  return atInstant(wall - time.offset * MINUTE, clock.zone, true)
}

function isPast(moment: Moment, clock: Clock, direction: Direction): boolean {
  const distance = (moment.ms ?? clock.now) - clock.now
  return direction === 'forward' ? distance < 0 : distance > 0
}
