import { isObject } from '../model/json.ts'

/**
 * An answer as text, for hosts that show the model only that: every id and figure of the structured content stands in it,
 * as lines of `name: value`, with a line for each row of a list. Texts can be other people's: what could be taken for a
 * line or a field of ours stands below its name, with `| ` before each of its lines.
 */
export function textOf(output: Record<string, unknown>): string {
  const lines: string[] = []
  addLines(lines, output, '')
  return lines.join('\n')
}

/** How long a part of an answer is, as structured content or as text, whichever is longer. */
export function sizeOf(value: Record<string, unknown> | string): number {
  const record = typeof value === 'string' ? { value } : value
  return Math.max(JSON.stringify(record).length, textOf(record).length)
}

/** Whether a part of an answer takes at most so many characters, by {@link sizeOf}; mostly its JSON tells. */
export function fits(value: Record<string, unknown>, characters: number): boolean {
  const json = JSON.stringify(value)
  if (json.length > characters) return false
  // However many lines there are in it: what parts two of them takes two characters.
  if (18 * json.length <= characters) return true
  return mostOf(json) <= characters || textOf(value).length <= characters
}

/**
 * No less than a part of an answer takes that is this JSON: as text a name or value is never twice as long, but for the
 * beginnings of lines where a text needs lines of its own.
 */
export function mostOf(json: string): number {
  return 2 * json.length + 32 * (json.match(OWN_LINES)?.length ?? 0)
}

/** Appends the lines of a record. With a loop, since every answer comes through here. */
function addLines(lines: string[], record: Record<string, unknown>, indent: string): void {
  for (const [name, value] of Object.entries(record)) {
    if (value === undefined) continue
    const begin = `${indent}${name}:`
    if (Array.isArray(value)) {
      if (value.length === 0) lines.push(`${begin} none`)
      else if (!value.some((each) => isObject(each) || LINE_BREAK.test(String(each))))
        lines.push(`${begin} ${value.map(String).join(', ')}`)
      else {
        lines.push(begin)
        for (const each of value) lines.push(`${indent}- ${row(each, indent).trimEnd()}`)
      }
    } else if (isObject(value)) {
      lines.push(begin)
      addLines(lines, value, `${indent}  `)
    } else {
      const text = String(value)
      lines.push(LINE_BREAK.test(text) ? `${begin}${block(text, indent).trimEnd()}` : `${begin} ${text}`)
    }
  }
}

/** A row on one line, but for texts that need lines of their own; what lies deeper is in brackets. */
function row(value: unknown, indent: string): string {
  if (Array.isArray(value)) return `[${value.map((each) => row(each, indent)).join(', ')}]`
  if (!isObject(value)) {
    const text = String(value)
    return FIELD_END.test(text) ? block(text, `${indent}  `) : text
  }
  let fields = ''
  for (const [name, each] of Object.entries(value)) {
    if (each === undefined) continue
    const said = row(each, indent)
    fields += `${fields === '' ? '' : '; '}${name}: ${isObject(each) ? `{${said}}` : said}`
  }
  return fields
}

/** Whatever some reader takes for the end of a line. */
const LINE_BREAK = /\r\n|[\n\v\f\r\u0085\u2028\u2029]/

/** In a row also what parts two fields. */
const FIELD_END = new RegExp(`${LINE_BREAK.source}|;\\s`)

/** What parts lines or fields as it stands in JSON, where it may be escaped. */
const OWN_LINES = /\\[nrfu]|[\u0085\u2028\u2029]|;\s/g

/** A text in lines of its own, deeper than what it belongs to; whatever comes after it begins a new line. */
function block(text: string, indent: string): string {
  const quoted = text.split(LINE_BREAK).map((line) => `\n${indent}  | ${line}`)
  return `${quoted.join('')}\n${indent}`
}
