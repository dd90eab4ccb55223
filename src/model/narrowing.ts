import { invalid } from './error.ts'

/**
 * Reads `worker,planner` as it stands in an address or after `--tools`. Undefined where nothing is named, which narrows
 * nothing. Throws `invalid_value` on a name that is not among the known ones.
 */
export function readNarrowing(
  text: string | null | undefined,
  known: readonly string[],
): string[] | undefined {
  if (text == null) return undefined
  const names = text
    .split(',')
    .map((name) => name.trim().toLowerCase())
    .filter(Boolean)
  for (const name of names) {
    if (!known.includes(name))
      throw invalid(`There is no preset or toolset "${name.slice(0, 80)}".`, { allowed: known })
  }
  return names.length > 0 ? names : undefined
}
