import { formatId } from '../model/id.ts'
import { PRIORITIES } from '../model/task.ts'
import { localTime, today } from '../model/zone.ts'
import type { ReadTx } from '../store/handle.ts'
import type { Page } from '../store/page.ts'
import { sizeOf } from './text.ts'

/** Longest answer, in characters; some hosts move longer ones to a file or cut them. */
export const MOST_CHARACTERS = 40_000

/** What every list and digest carries, so that "today" means one thing on both sides. */
export function clockOf(tx: ReadTx): { today: string; time_zone: string } {
  return { today: today({ now: tx.now, zone: tx.actor.zone }), time_zone: tx.actor.zone }
}

/** A moment, in ISO 8601 UTC, to the second. */
export function moment(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d{3}Z$/, 'Z')
}

/** A moment of today as the caller's clock shows it, `14:32`; another day's in full. */
export function shortMoment(tx: ReadTx, ms: number): string {
  const same = today({ now: ms, zone: tx.actor.zone }) === today({ now: tx.now, zone: tx.actor.zone })
  return same ? localTime(ms, tx.actor.zone) : moment(ms)
}

export const priorityName = (priority: number): string => PRIORITIES[priority]!

/** Leaves out what is empty (a list or record without entries too), null, false or absent: a row says only what there is to say. */
export function sparse(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).filter(
      ([, value]) =>
        value !== undefined &&
        value !== null &&
        value !== '' &&
        value !== false &&
        !(typeof value === 'object' && Object.keys(value).length === 0),
    ),
  )
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
  let shown = 0
  for (const row of rows) {
    // As it stands in the list, where each line of a text is deeper than alone.
    size += sizeOf({ [name]: [row] })
    if (shown > 0 && size > MOST_CHARACTERS - 4000) break
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
