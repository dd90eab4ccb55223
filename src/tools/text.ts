/**
 * An answer as text, for hosts that show the model only that: every id and figure of the structured content stands in it,
 * as lines of `name: value`, with a line for each row of a list.
 */
export function textOf(output: Record<string, unknown>): string {
  return lines(output, '').join('\n')
}

function lines(record: Record<string, unknown>, indent: string): string[] {
  return Object.entries(record).flatMap(([name, value]) => {
    if (value === undefined) return []
    if (Array.isArray(value)) {
      if (value.length === 0) return [`${indent}${name}: none`]
      if (value.every((each) => !isRecord(each))) return [`${indent}${name}: ${value.map(scalar).join(', ')}`]
      return [`${indent}${name}:`, ...value.map((each) => `${indent}- ${row(each)}`)]
    }
    if (isRecord(value)) return [`${indent}${name}:`, ...lines(value, `${indent}  `)]
    return [`${indent}${name}: ${scalar(value)}`]
  })
}

/** A row on one line; what lies deeper is in brackets. */
function row(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(row).join(', ')}]`
  if (!isRecord(value)) return scalar(value)
  return Object.entries(value)
    .filter(([, each]) => each !== undefined)
    .map(([name, each]) => `${name}: ${isRecord(each) ? `{${row(each)}}` : row(each)}`)
    .join('; ')
}

function scalar(value: unknown): string {
  return typeof value === 'string' ? value : String(value)
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
