/** The codes a refused call can carry (spec: product, "Errors"). */
export type ErrorCode =
  | 'unknown_argument'
  | 'invalid_value'
  | 'not_found'
  | 'conflict'
  | 'already_claimed'
  | 'blocked'
  | 'needs_approval'
  | 'scope'
  | 'people_only'
  | 'rate_limited'
  | 'too_large'
  | 'unavailable'
  | 'internal'

/** What a refusal tells beside its code and message. */
export interface ErrorDetails {
  /** The allowed values, or the nearest names that exist. */
  allowed?: readonly string[]
  /** What to do next, as one sentence. */
  next?: string
  /** Whether the same call may be sent again unchanged and then succeed. */
  retry?: boolean
  /** Set on conflicts: nothing was written. */
  written?: false
  /** The stored record, where the caller needs it to go on. */
  current?: unknown
  /** Set where the call ran against the approval gate: the refusal is then kept for 90 days. Not sent to the caller. */
  gate?: true
}

/**
 * A refusal that the caller may see. Everything else that is thrown is a fault of ours: it is logged for the
 * operator and answered as `internal`. This is the only class in the code base, because `instanceof` has to tell the
 * two apart.
 */
export class AppError extends Error {
  constructor(
    readonly code: ErrorCode,
    message: string,
    readonly details: ErrorDetails = {},
  ) {
    super(message)
    this.name = 'AppError'
  }
}

/** A value that can't be read or isn't allowed. */
export function invalid(message: string, details?: ErrorDetails): AppError {
  return new AppError('invalid_value', message, details)
}

/** Something that is not there, or that the caller can't see: the two read the same. */
export function notFound(message: string, details?: ErrorDetails): AppError {
  return new AppError('not_found', message, details)
}

/** The stored state does not allow this write; nothing was written. */
export function conflict(message: string, details?: ErrorDetails): AppError {
  return new AppError('conflict', message, { written: false, ...details })
}

/** What a caller reads of a refusal, the same at every door: what is wrong, what is allowed, what to do next, whether to repeat it. */
export interface Told extends Omit<ErrorDetails, 'gate'> {
  code: ErrorCode
  message: string
  next: string
  retry: boolean
}

/** A refusal as every door tells it. What the gate notes for itself stays here. */
export function tellRefusal(error: AppError): Told {
  const { gate: _, allowed, ...details } = error.details
  const known = allowed && allowed.length > 0 ? { allowed } : {}
  return { code: error.code, message: error.message, ...known, ...DEFAULTS[error.code], ...details }
}

/** A fault of ours as the caller hears of it: the operator's log has the cause. */
export function internalFault(): AppError {
  return new AppError('internal', 'Something went wrong on the server’s side. Its log has the cause.', {
    next: 'Read the state again before you repeat a write; tell the person who runs the server.',
  })
}

/** What to do next, and whether the same call may be sent again, where the refusal itself says nothing more to the point. */
const DEFAULTS: Record<ErrorCode, { next: string; retry: boolean }> = {
  unknown_argument: { next: 'Leave the argument out, or use the right one.', retry: false },
  invalid_value: { next: 'Correct the value and send the call again.', retry: false },
  not_found: { next: 'search finds things by words; lists give their ids.', retry: false },
  conflict: { next: 'Read it again, then decide.', retry: false },
  already_claimed: { next: 'Take another task: get_next_task.', retry: false },
  blocked: { next: 'Take another task: get_next_task.', retry: false },
  needs_approval: { next: 'Ask a person: complete_task asks for sign-off.', retry: false },
  scope: { next: 'Ask a person for a credential that may.', retry: false },
  people_only: { next: 'Ask a person: ask_question.', retry: false },
  rate_limited: { next: 'Wait a moment, then send the same call again.', retry: true },
  too_large: { next: 'Shorten it, or split it into several calls.', retry: false },
  unavailable: { next: 'Send the same call again in a moment.', retry: true },
  internal: { next: 'Read the state again before you repeat a write.', retry: false },
}
