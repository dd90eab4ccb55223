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
