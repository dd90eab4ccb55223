import { formatId } from '../model/id.ts'
import { PRIORITIES } from '../model/task.ts'
import { localTime, today } from '../model/zone.ts'
import type { ReadTx } from '../store/handle.ts'
import type { Page } from '../store/page.ts'
import { mostOf, sizeOf } from './text.ts'

/** Longest answer, in characters; some hosts move longer ones to a file or cut them. */
export const MOST_CHARACTERS = 40_000

/** How many characters of an answer its rows can take. */
const MOST_OF_ROWS = MOST_CHARACTERS - 4000

/** What every list and digest carries, so that "today" means one thing on both sides. */
export function clockOf(tx: ReadTx): { today: string; time_zone: string } {
  const { zone } = tx.actor
  return { today: dayIn(zone, tx.now), time_zone: zone }
}

// Zones pass midnight at full minutes, and asking for the date takes longer than most of a row.
const days = new Map<string, { minute: number; day: string }>()

function dayIn(zone: string, now: number): string {
  const minute = Math.floor(now / 60_000)
  // Names come in any case, and must not fill the map with spellings.
  const key = zone.toLowerCase()
  let known = days.get(key)
  if (known?.minute !== minute) {
    known = { minute, day: today({ now, zone }) }
    days.set(key, known)
  }
  return known.day
}

/** A moment, in ISO 8601 UTC, to the second. */
export function moment(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, -5)}Z`
}

/** A moment of today as the caller's clock shows it, `14:32`; another day's in full. */
export function shortMoment(tx: ReadTx, ms: number): string {
  const same = today({ now: ms, zone: tx.actor.zone }) === clockOf(tx).today
  return same ? localTime(ms, tx.actor.zone) : moment(ms)
}

export const priorityName = (priority: number): string => PRIORITIES[priority]!

/** Leaves out what is empty (a list or record without entries too), null, false or absent: a row says only what there is to say. */
export function sparse(fields: Record<string, unknown>): Record<string, unknown> {
  const kept: Record<string, unknown> = {}
  for (const name of Object.keys(fields)) {
    const value = fields[name]
    if (!isEmpty(value)) kept[name] = value
  }
  return kept
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null || value === '' || value === false) return true
  if (typeof value !== 'object') return false
  return Array.isArray(value) ? value.length === 0 : Object.keys(value).length === 0
}

/** The beginning of a text, and how long it is where that is not all. */
export function start(text: string, characters: number): { text: string; total?: number } {
  if (text.length <= characters) return { text }
  // Never half of a character that takes two units.
  const end = /[\uD800-\uDBFF]/.test(text[characters - 1]!) ? characters - 1 : characters
  return { text: text.slice(0, end), total: text.length }
}

/**
 * A list's answer: the rows that fit, how many there are, and where to go on. Rows that would make the answer too long
 * are left for the next page.
 */
export function listAnswer(
  tx: ReadTx,
  page: Page<unknown>,
  name: string,
  rows: readonly Record<string, unknown>[],
): Record<string, unknown> {
  let size = 0
  // Each row is measured only where all of them might be too long.
  let shown =
    mostOf(JSON.stringify(rows)) + rows.length * 2 * (name.length + 8) <= MOST_OF_ROWS ? rows.length : 0
  for (const row of rows.slice(shown)) {
    // As it stands in the list, where each line of a text is deeper than alone.
    size += sizeOf({ [name]: [row] })
    if (shown > 0 && size > MOST_OF_ROWS) break
    shown++
  }
  const next = shown > 0 ? page.after(shown - 1) : undefined
  return {
    ...clockOf(tx),
    showing: shown,
    ...(page.total === undefined ? { total_at_least: page.atLeast } : { total: page.total }),
    ...(next ? { next_cursor: next } : {}),
    [name]: rows.slice(0, shown),
  }
}

/** The address of the page where a person decides a request. */
export function signOffPage(tx: ReadTx, request: number): string {
  return `${tx.site}/sign-off/${formatId('request', request)}`
}
