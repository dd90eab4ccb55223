/** Exactly these strings, in code, on the wire and in the schema's CHECK. */
export const STATUSES = ['open', 'in_progress', 'blocked', 'awaiting_approval', 'done', 'cancelled'] as const
export type Status = (typeof STATUSES)[number]

const CLOSED_STATUSES = ['done', 'cancelled'] as const
export type ClosedStatus = (typeof CLOSED_STATUSES)[number]

export const OPEN_STATUSES = ['open', 'in_progress', 'blocked', 'awaiting_approval'] as const

export function isClosed(status: string): status is ClosedStatus {
  return (CLOSED_STATUSES as readonly string[]).includes(status)
}

/** Most urgent first: the position is what the store keeps and sorts by. */
export const PRIORITIES = ['urgent', 'high', 'normal', 'low'] as const

export const STEP_STATUSES = ['pending', 'in_progress', 'done', 'skipped', 'failed'] as const
export type StepStatus = (typeof STEP_STATUSES)[number]

/** What one account can hold in one place; each has an error of its own (spec: product, "Tasks"). */
export const LIMITS = {
  title: 500,
  description: 100_000,
  comment: 50_000,
  question: 10_000,
  step: 500,
  steps: 200,
  children: 500,
  depth: 8,
  labels: 50,
  artifactText: 200_000,
  fileBytes: 10 * 1024 * 1024,
  /** A request at any door: a file of 10 MiB is 13.4 MiB in base64, and there is JSON around it. */
  requestBytes: 16 * 1024 * 1024,
  idempotencyKey: 128,
  bulk: 100,
} as const

/** How long a claim lasts without a sign of life, in milliseconds, where the account sets nothing else. */
export const DEFAULT_LEASE_MS = 10 * 60_000
