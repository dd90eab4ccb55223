import { invalid } from './error.ts'

/** Longest name of a label or saved view, in characters. */
export const NAME_LIMIT = 60

const NAMED_COLORS = [
  'red',
  'orange',
  'yellow',
  'green',
  'teal',
  'blue',
  'purple',
  'pink',
  'brown',
  'gray',
] as const

/** Reads a label's color: a name, or `#rrggbb`; kept in lower case. */
export function readColor(said: string): string {
  const color = said.trim().toLowerCase()
  if ((NAMED_COLORS as readonly string[]).includes(color) || /^#[0-9a-f]{6}$/.test(color)) return color
  throw invalid(`"${said.slice(0, 40)}" is not a color.`, { allowed: [...NAMED_COLORS, '#rrggbb'] })
}
