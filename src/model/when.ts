import { type AppError, invalid } from './error.ts'
import { atInstant, atWall, type Direction, existing, MINUTE, type Moment } from './moment.ts'
import { readWords } from './when-words.ts'
import { type Clock, formatOf, instantOf, isZone, offsetAt } from './zone.ts'

/** What was read: the canonical value, and the same again in `understood` if it isn't what was typed. */
export interface Reading {
  value: string
  understood?: string
}

/**
 * Reads a `due` or `scheduled` value into its canonical form, a date `2026-12-07` or a local time with its zone
 * `2026-12-07T09:00[Europe/Madrid]`; both sort by local date. A date without a time stays a date.
 *
 * Takes ISO dates and date-times (without an offset they are in the caller's zone, with one they are converted to it,
 * a bracketed zone is kept) and words in English, Spanish and French. The rules for words: a bare weekday may be
 * today, "next friday" is the first Friday after today and "last friday" the last one before it, "friday next week"
 * is in the week that begins next Monday; "next week" is its Monday, "this week" its last day forwards and its first
 * backwards. `understood` is set for words, and for a time that a DST change skips (moved as Temporal's "compatible").
 *
 * Asynchronous because words load chrono-node, which would otherwise weigh on every cold start; ISO forms never do.
 * @throws AppError `invalid_value` for anything that isn't wholly understood
 */
export async function readWhen(text: string, clock: Clock, direction: Direction): Promise<Reading> {
  const moment = await readMoment(text, clock, direction)
  const value = canonical(moment)
  return moment.words ? { value, understood: value } : { value }
}

/**
 * Reads the same forms as {@link readWhen} for `since`- and `until`-like arguments and returns milliseconds since the
 * epoch; a date is its local midnight. Seconds count here. Asynchronous for the same reason.
 * @throws AppError `invalid_value` for anything that isn't wholly understood
 */
export async function readInstant(text: string, clock: Clock, direction: Direction): Promise<number> {
  const moment = await readMoment(text, clock, direction)
  return moment.ms ?? instantOf(canonical(moment), clock.zone)
}

async function readMoment(text: string, clock: Clock, direction: Direction): Promise<Moment> {
  const typed = text.trim().replace(/\s+/g, ' ')
  // No honest date is longer, and the patterns below should never meet a page of text.
  if (typed === '' || typed.length > 80) throw unreadable(text)
  const moment = readIso(typed, clock) ?? (await readWords(typed, clock, direction))
  if (!moment) throw unreadable(text)
  return moment
}

function canonical({ date, time, zone }: Moment): string {
  return time === undefined ? date : `${date}T${time}[${zone}]`
}

// ISO forms

const ISO =
  /^(\d{4})([-/])(\d\d)\2(\d\d)(?:[T ](\d{1,2}):(\d\d)(?::(\d\d)(?:[.,](\d{1,3})\d*)?)?\s?(Z|[+-]\d\d(?::?\d\d)?)?(?:\[([a-z][\w+/-]*)\])?)?$/i

function readIso(typed: string, clock: Clock): Moment | undefined {
  const match = ISO.exec(typed)
  if (!match) return undefined
  const [, year, , month, day, hour, minute, second = '00', fraction = '0', offset, named] = match
  const date = existing(`${year}-${month}-${day}`)
  if (hour === undefined || minute === undefined) return { date, zone: clock.zone, words: false }
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) throw unreadable(typed)
  const zone = named ? spelled(named) : clock.zone
  if (zone === undefined) {
    throw invalid(`There is no time zone "${named}".`, {
      allowed: ['Europe/Madrid', 'America/Los_Angeles', 'UTC'],
      next: 'Send an IANA zone name in the brackets, or leave them out to use your own zone.',
    })
  }
  const wall = Date.parse(`${date}T${hour.padStart(2, '0')}:${minute}:${second}.${fraction.padEnd(3, '0')}Z`)
  if (offset === undefined) return atWall(wall, zone, false)
  const moment = atInstant(wall - offsetMs(offset, typed), zone, false)
  if (named && wall - moment.ms !== offsetAt(moment.ms, zone)) {
    throw invalid(`The offset ${offset} and the zone ${zone} of "${typed}" contradict each other.`, {
      next: 'Send either the offset or the zone.',
    })
  }
  return moment
}

/** A zone's name with its usual capitals; an alias stays the alias that was typed. */
function spelled(name: string): string | undefined {
  if (!isZone(name)) return undefined
  const usual = formatOf(name).resolvedOptions().timeZone
  return usual.toLowerCase() === name.toLowerCase() ? usual : name
}

function offsetMs(offset: string, typed: string): number {
  if (offset.toUpperCase() === 'Z') return 0
  const hours = Number(offset.slice(1, 3))
  const minutes = Number(offset.slice(3).replace(':', ''))
  if (hours > 14 || minutes > 59) throw unreadable(typed)
  return (offset.startsWith('-') ? -1 : 1) * (hours * 60 + minutes) * MINUTE
}

function unreadable(text: string): AppError {
  return invalid(
    text.trim() === '' ? 'The date is empty.' : `"${text.slice(0, 80)}" is not a date I can read.`,
    {
      allowed: [
        '2026-12-07',
        '2026-12-07T09:00',
        '2026-12-07T09:00+01:00',
        '2026-12-07T09:00[Europe/Madrid]',
        'words in English, Spanish or French, as "tomorrow at 9", "el viernes" or "dans 3 jours"',
      ],
      next: 'Send one date in one of these forms, with nothing else in the text; 2026-12-07 is the safest.',
    },
  )
}
