import type { ToolAnnotations } from '../hosts.ts'
import { CATALOG } from './catalog.ts'
import type { Tool } from './tool.ts'

/** A name in the catalogue. */
export type ToolName = keyof typeof CATALOG & string

export const TOOL_NAMES = Object.keys(CATALOG) as ToolName[]

const namesWhere = (holds: (tool: Tool) => boolean): ReadonlySet<string> =>
  new Set(TOOL_NAMES.filter((name) => holds(CATALOG[name])))

/** Tools of which some call can change a row of the account, or anything outside. The guard asks this set. */
export const WRITE_TOOLS = namesWhere((tool) => tool.effect !== 'read')

/** Tools of which some call replaces what somebody wrote, or takes it out of ordinary reads. */
export const DESTRUCTIVE_TOOLS = namesWhere((tool) => tool.effect === 'destroy')

/** Writes of which a second identical call changes nothing more. */
export const CONVERGENT_TOOLS = namesWhere((tool) => tool.effect !== 'read' && tool.convergent)

/** Tools that reach beyond the account's own rows. */
export const OPEN_WORLD_TOOLS = namesWhere((tool) => tool.world === 'open')

/** What the tool does, from the same sets that the guard asks. A name that is unknown is treated as the worst. */
export function annotationsFor(name: string): ToolAnnotations {
  const tool = toolNamed(name)
  if (!tool) {
    return {
      title: name,
      readOnlyHint: false,
      destructiveHint: true,
      idempotentHint: false,
      openWorldHint: true,
    }
  }
  const writes = WRITE_TOOLS.has(name)
  return {
    title: tool.title,
    readOnlyHint: !writes,
    destructiveHint: DESTRUCTIVE_TOOLS.has(name),
    idempotentHint: !writes || CONVERGENT_TOOLS.has(name),
    openWorldHint: OPEN_WORLD_TOOLS.has(name),
  }
}

/** A tool by its name; nothing for a name that is not in the catalogue, `__proto__` and the like included. */
export function toolNamed(name: string): Tool | undefined {
  return Object.hasOwn(CATALOG, name) ? CATALOG[name as ToolName] : undefined
}
