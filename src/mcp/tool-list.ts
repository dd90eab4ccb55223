import type { Scope } from '../model/actor.ts'
import { listedTool } from '../tools/contract.ts'
import { allowedTools } from '../tools/guard.ts'
import { NARROWINGS } from '../tools/presets.ts'
import type { ListedTool, ToolFile } from './tool-file.ts'

/** Lists are kept by what they depend on; addresses can combine presets, so there is a bound. */
const MOST_LISTS = 64
const lists = new Map<string, readonly ListedTool[]>()

/**
 * The tools for these scopes, within the credential's narrowing and the connection's: the guard's own answer, so that
 * what is listed is what can be called. Built once a combination, frozen.
 */
export function toolsListFor(
  scopes: readonly Scope[],
  credential?: readonly string[],
  connection?: readonly string[],
): readonly ListedTool[] {
  const key = [scopes, credential, connection].map((names) => names && [...names].sort().join()).join('|')
  let list = lists.get(key)
  if (!list) {
    const names = allowedTools({ scopes, ...(credential ? { presets: credential } : {}) }, connection)
    list = Object.freeze(names.map(listed))
    if (lists.size >= MOST_LISTS) lists.clear()
    lists.set(key, list)
  }
  return list
}

/** What {@link ToolFile} holds, from the catalogue; `npm run generate` writes it down. */
export function toolFile(): ToolFile {
  return {
    tools: toolsListFor(['read', 'write']),
    narrowings: Object.fromEntries(
      NARROWINGS.map((name) => [name, toolsListFor(['read', 'write'], [name]).map((tool) => tool.name)]),
    ),
  }
}

const TOOLS = new Map<string, ListedTool>()

function listed(name: string): ListedTool {
  let tool = TOOLS.get(name)
  if (!tool) {
    tool = frozen(listedTool(name))
    TOOLS.set(name, tool)
  }
  return tool
}

/** Lists are shared by all connections, so nobody may write on one. */
function frozen<T>(value: T): T {
  if (typeof value === 'object' && value !== null) {
    for (const each of Object.values(value)) frozen(each)
    Object.freeze(value)
  }
  return value
}
