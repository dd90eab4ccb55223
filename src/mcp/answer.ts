import type { CallToolResult } from '@modelcontextprotocol/server'
import type { Actor } from '../model/actor.ts'
import { AppError, internalFault, tellRefusal } from '../model/error.ts'
import type { Call, Connection, Output } from '../tools/call.ts'
import { textOf } from '../tools/text.ts'

/** Who calls, and the one way to call a tool. */
export interface Caller {
  actor: Actor
  call: Call
  /** Whether the catalogue has this name, whoever may call it. */
  isTool(name: string): boolean
}

/** A call's answer: structured content and the same as text, since some hosts show the model only the text. */
function answered(output: Output): CallToolResult {
  return { content: [{ type: 'text', text: textOf(output) }], structuredContent: output }
}

/** A refused call: a result with `isError`, so that the model reads what was wrong and what to do next. */
export function refused(error: unknown): CallToolResult {
  const output = { error: explained(error) }
  return { content: [{ type: 'text', text: textOf(output) }], structuredContent: output, isError: true }
}

/** Makes a call and answers it, whatever comes of it. */
export async function answerCall(
  { call, actor }: Caller,
  name: string,
  input: unknown,
  connection: Connection,
): Promise<CallToolResult> {
  try {
    return answered(await call(actor, name, input, connection))
  } catch (error) {
    return refused(error)
  }
}

/** What the caller may know of an error. A fault of ours goes to the operator's log and is only named here. */
export function explained(error: unknown): Record<string, unknown> {
  if (error instanceof AppError) return { ...tellRefusal(error) }
  console.error(error)
  return { ...tellRefusal(internalFault()) }
}
