import type { Actor, Scope } from '../model/actor.ts'
import { AppError } from '../model/error.ts'
import { nearest } from '../model/suggest.ts'
import { TOOL_NAMES, toolNamed, WRITE_TOOLS } from './effects.ts'
import { narrow } from './presets.ts'

/** What a credential may do at all; the rest of the caller does not matter here. */
export type Rights = Pick<Actor, 'scopes' | 'presets'>

/** The scope that a call of this tool needs. */
export function scopeOf(name: string): Scope {
  return toolNamed(name) && !WRITE_TOOLS.has(name) ? 'read' : 'write'
}

/** Whether this credential may call this tool. The same answer filters the list and refuses calls. */
function may(actor: Rights, name: string, presets?: readonly string[]): boolean {
  if (!toolNamed(name) || !holds(actor, scopeOf(name))) return false
  return narrow(actor.presets)(name) && narrow(presets)(name)
}

/** The tools that this credential can see, in the catalogue's order. */
export function allowedTools(actor: Rights, presets?: readonly string[]): string[] {
  return TOOL_NAMES.filter((name) => may(actor, name, presets))
}

/**
 * Refuses a call that the credential or the connection is not for: `not_found` for a name that is no tool, `scope` naming
 * what is needed.
 */
export function guard(actor: Rights, name: string, presets?: readonly string[]): void {
  if (may(actor, name, presets)) return
  if (!toolNamed(name)) {
    throw new AppError('not_found', `There is no tool "${name.slice(0, 80)}".`, {
      allowed: nearest(name, TOOL_NAMES),
      next: 'tools/list names them all.',
    })
  }
  const scope = scopeOf(name)
  if (!holds(actor, scope)) {
    throw new AppError(
      'scope',
      `${name} needs the scope "${scope}"; this credential has ${actor.scopes.join(', ')}.`,
      {
        retry: false,
        next: `Ask a person for a token with the scope ${scope}. Go on with what you may read.`,
      },
    )
  }
  throw new AppError(
    'scope',
    `${name} is not among the tools this ${narrow(presets)(name) ? 'credential' : 'connection'} is narrowed to.`,
    {
      retry: false,
      next: 'Ask a person for a credential or a connection with a wider preset.',
    },
  )
}

function holds(actor: Rights, scope: Scope): boolean {
  // A person's own role decides what a session may do; a viewer has no scope to write.
  return actor.scopes.includes(scope)
}
