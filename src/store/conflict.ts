import { type AppError, conflict } from '../model/error.ts'
import { whole } from '../model/search.ts'

/** How much of a long text a refusal shows. */
const SHOWN = 6000

/** A record as a refusal shows it: of a long text the beginning, and how long it is. */
export function shownRecord(record: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(record).flatMap(([name, text]) =>
      typeof text === 'string' && text.length > SHOWN
        ? [
            [name, text.slice(0, whole(text, SHOWN))],
            [`${name}_length`, text.length],
          ]
        : [[name, text]],
    ),
  )
}

/**
 * The refusal of a write that was made from an older version, with the record as it stands. Where a text is cut in it, it
 * says so and names `rest`, the call that shows the whole.
 */
export function versionConflict(
  record: { id: string; version: number } & Record<string, unknown>,
  rest: string,
  by = '',
): AppError {
  const { id, version } = record
  const current = shownRecord(record)
  const cut = Object.keys(current).length > Object.keys(record).length
  return conflict(`${id} is at version ${version}, not the expected one.${by}`, {
    current,
    next: `Merge your change into the current record and send it with expected_version ${version}.${cut ? ` A text is cut here; ${rest} shows the whole.` : ''}`,
  })
}
