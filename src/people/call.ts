import { type Call, callWith, type Deps } from '../tools/call.ts'
import { PEOPLE } from './guard.ts'

/** The one way to call an operation for people: the same as for tools, with a guard that lets only people pass. */
export function peopleCall(deps: Deps): Call {
  return callWith(deps, PEOPLE)
}
