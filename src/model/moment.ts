import { invalid } from './error.ts'
import { fromWall, isoDate, localTime, offsetAt } from './zone.ts'

/** Which way an open expression ("friday", "9am", "7 December") points: plans forward, searches backward. */
export type Direction = 'forward' | 'backward'

/**
 * A day or a point in time as it was read. `ms` is set where the instant is known better than the canonical form, which stops
 * at minutes, can say.
 */
export interface Moment {
  date: string
  time?: string
  zone: string
  ms?: number
  words: boolean
}

export const MINUTE = 60_000

/** The date itself, if the calendar has it. */
export function existing(date: string): string {
  const ms = Date.parse(`${date}T00:00Z`)
  // Engines roll 02-30 over into March, hence the comparison; years before 1900 are typing errors in a task list.
  if (Number.isNaN(ms) || isoDate(ms) !== date || date < '1900') {
    throw invalid(`There is no date ${date}.`, { next: 'Send a date that exists, as 2026-12-07.' })
  }
  return date
}

/** The moment of a local time in a zone; a time that a change of the clocks skips is moved, which counts as words. */
export function atWall(wall: number, zone: string, words: boolean): Moment & { ms: number } {
  const ms = fromWall(wall, zone)
  return atInstant(ms, zone, words || ms + offsetAt(ms, zone) !== wall)
}

/** The moment of an instant, as the clocks of a zone show it. */
export function atInstant(ms: number, zone: string, words: boolean): Moment & { ms: number } {
  return { date: isoDate(ms + offsetAt(ms, zone)), time: localTime(ms, zone), zone, ms, words }
}
