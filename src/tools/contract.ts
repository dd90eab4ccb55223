import { createHash } from 'node:crypto'
import { annotationsFor, TOOL_NAMES, toolNamed } from './effects.ts'
import { schemaOf } from './parse.ts'

/** A tool as hosts are told of it. */
export function listedTool(name: string) {
  const tool = toolNamed(name)!
  const { title, does: description } = tool
  return { name, title, description, inputSchema: schemaOf(tool), annotations: annotationsFor(name) }
}

/**
 * SHA-256, in hex, over the whole list of tools, by name, hints included: a host or an agent that keeps it notices when a
 * tool's contract changes. The same for every credential, since it is the contract that counts and not what one may use.
 * `npm run generate` writes it down, and `get_me` says what is written.
 */
export const contractHash = (): string =>
  createHash('sha256')
    .update(JSON.stringify([...TOOL_NAMES].sort().map(listedTool)))
    .digest('hex')
