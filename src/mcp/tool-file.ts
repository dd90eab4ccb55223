import type { ToolAnnotations } from '../hosts.ts'
import type { Scope } from '../model/actor.ts'
import { readNarrowing } from '../model/narrowing.ts'
import type { JsonSchema } from '../tools/schema.ts'

/** A tool as `tools/list` sends it. Always whole: all four hints, both titles, no output schema. */
export interface ListedTool {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly inputSchema: JsonSchema
  readonly annotations: ToolAnnotations
}

/**
 * Every list that a credential can see, as data: written when the program is built, so that the first answer over stdio
 * needs neither the catalogue nor the database.
 */
export interface ToolFile {
  readonly tools: readonly ListedTool[]
  /** The tools of each preset and toolset, by name. */
  readonly narrowings: Readonly<Record<string, readonly string[]>>
}

/** The tools for these scopes, within each of the narrowings: the credential's and the connection's. */
export function listFrom(
  file: ToolFile,
  scopes: readonly Scope[],
  ...narrowings: (readonly string[] | undefined)[]
): readonly ListedTool[] {
  const within = narrowings.flatMap((names) =>
    names === undefined ? [] : [new Set(names.flatMap((name) => file.narrowings[name] ?? []))],
  )
  return file.tools.filter(
    ({ name, annotations }) =>
      scopes.includes(annotations.readOnlyHint ? 'read' : 'write') &&
      within.every((names) => names.has(name)),
  )
}

/** Reads `worker,planner` by the names that the file knows. Throws `invalid_value` on another. */
export function narrowingFrom(file: ToolFile, text: string | null | undefined): string[] | undefined {
  return readNarrowing(text, Object.keys(file.narrowings))
}
