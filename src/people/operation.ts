import type { Role } from '../model/actor.ts'
import { AppError } from '../model/error.ts'
import { requireFreshPerson } from '../store/approval.ts'
import type { ReadTx } from '../store/handle.ts'
import { requireLiveSession } from '../store/session.ts'
import type { OpenRead, Tool } from '../tools/tool.ts'

/** What only a person can do, with their own session. Made with the tools' constructors, but never listed to an agent. */
export interface Operation extends Tool {
  /** The least role that may do it. */
  readonly role: Role
  /** Whether it needs a sign-in within the last 15 minutes: decisions and credentials do (gate G2). */
  readonly fresh: boolean
}

/**
 * Gives a tool to people alone. Beside the guard, which refuses by kind and role before anything is read, the operation
 * itself asks in its own transaction whether the session still holds and is fresh enough.
 */
export function forPeople(role: Role, tool: Tool, fresh?: 'fresh'): Operation {
  const check = async (tx: ReadTx) => {
    requirePerson(tx)
    if (fresh) requireFreshPerson(tx)
    await requireLiveSession(tx)
  }
  const run = tool.run as (tx: ReadTx, input: never) => Promise<Record<string, unknown>>
  const checked = async (tx: ReadTx | OpenRead, input: never) => {
    // An operation of the open world gets a port to transactions instead of one.
    await ('read' in tx ? tx.read(check) : check(tx))
    return run(tx as ReadTx, input)
  }
  return { ...tool, role, fresh: fresh !== undefined, run: checked as Tool['run'] }
}

function requirePerson(tx: ReadTx): void {
  if (tx.actor.kind !== 'person') throw peopleOnly('This')
}

/** The refusal for tokens and grants. It counts as one at the gate, so it is kept for 90 days. */
export function peopleOnly(what: string): AppError {
  return new AppError('people_only', `${what} is for people only: it takes a person’s own session.`, {
    gate: true,
    retry: false,
    next: 'Ask a person: complete_task asks for a sign-off, ask_question for anything else.',
  })
}
