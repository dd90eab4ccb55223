import { invalid } from './error.ts'

/** The moment at which a call is handled and the zone in which its caller lives. Nothing here asks the system. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now: number
  /** IANA name, as `Europe/Madrid`. */
  zone: string
}

/** A day, in milliseconds. */
const DAY = 86_400_000

/** The local date of the clock's moment in its zone. */
export function today(clock: Clock): string {
  return isoDate(clock.now + offsetAt(clock.now, clock.zone))
}

/** The time of day `HH:MM` at `ms` (since the epoch) in `zone`. */
export function localTime(ms: number, zone: string): string {
  return new Date(ms + offsetAt(ms, zone)).toISOString().slice(11, 16)
}

/** Whether `name` is a time zone that the runtime knows by name; bare offsets as `+01:00` are not. */
export function isZone(name: string): boolean {
  try {
    return /^[a-z]/i.test(name) && formatOf(name) !== undefined
  } catch {
    return false
  }
}

/** The date `n` days after `date`, before it if negative. */
export function addDays(date: string, n: number): string {
  return isoDate(Date.parse(date) + n * DAY)
}

/** A month's last day stands in for the days it hasn't: a month after 31 January is 28 or 29 February. */
export function addMonths(date: string, n: number): string {
  const first = new Date(`${date.slice(0, 7)}-01`)
  first.setUTCMonth(first.getUTCMonth() + n)
  const month = isoDate(first.getTime()).slice(0, 7)
  first.setUTCMonth(first.getUTCMonth() + 1, 0)
  const last = isoDate(first.getTime())
  return `${month}-${date.slice(8)}` < last ? `${month}-${date.slice(8)}` : last
}

/** 1 for Monday to 7 for Sunday (ISO 8601). */
export function weekdayOf(date: string): number {
  return new Date(date).getUTCDay() || 7
}

/** The date of a canonical value, with or without a time. */
export function dateOf(when: string): string {
  return when.slice(0, 10)
}

/**
 * Milliseconds since the epoch of a canonical value; a bare date is its local midnight in `zone`. A time that a DST
 * change skips moves forward by the gap, one that happens twice is the first (Temporal's "compatible").
 */
export function instantOf(when: string, zone: string): number {
  const timed = /^(.{10}T\d\d:\d\d)\[(.+)\]$/.exec(when)
  return timed ? fromWall(Date.parse(`${timed[1]}Z`), timed[2]!) : fromWall(Date.parse(when), zone)
}

// A wall time is held as the milliseconds at which a clock in UTC would show it.

export function fromWall(wall: number, zone: string): number {
  const [before, after] = [wall - offsetAt(wall - DAY, zone), wall - offsetAt(wall + DAY, zone)]
  const real = [before, after].filter((ms) => ms + offsetAt(ms, zone) === wall)
  return real.length > 0 ? Math.min(...real) : before
}

export function isoDate(ms: number): string {
  const iso = Number.isNaN(ms) || Math.abs(ms) > 8.64e15 ? '' : new Date(ms).toISOString()
  if (!/^\d{4}-/.test(iso))
    throw invalid('That date is too far away.', { next: 'Send a date up to the year 9999.' })
  return iso.slice(0, 10)
}

/** How far, in milliseconds, clocks in `zone` are ahead of UTC at `ms`. */
export function offsetAt(ms: number, zone: string): number {
  // Where a server has no zone of its own, and the first format of a process takes longer than a call.
  if (zone === 'UTC') return 0
  const [month, day, year, hour, minute, second] = formatOf(zone).format(ms).split(/\D+/).map(Number)
  return Date.UTC(year!, month! - 1, day, hour, minute, second) - Math.floor(ms / 1000) * 1000
}

// Making one takes a hundred times as long as using it.
const formats = new Map<string, Intl.DateTimeFormat>()

export function formatOf(zone: string): Intl.DateTimeFormat {
  // Names come in any case, and must not fill the map with spellings.
  const key = zone.toLowerCase()
  let format = formats.get(key)
  if (!format) {
    const digits = { year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit' } as const
    const rest = { minute: '2-digit', second: '2-digit', hourCycle: 'h23', timeZone: zone } as const
    format = new Intl.DateTimeFormat('en-US', { ...digits, ...rest })
    formats.set(key, format)
  }
  return format
}
