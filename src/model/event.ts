/** What happened, as one of the words that activity, notifications and streams share. */
export const EVENT_KINDS = [
  'created',
  'updated',
  'closed',
  'approval_requested',
  'approved',
  'rejected',
  'request_stale',
  'request_withdrawn',
  'reopened',
  'blocked',
  'unblocked',
  'claimed',
  'released',
  'lease_lapsed',
  'trashed',
  'restored',
  'purged',
  'merged',
  'step_added',
  'step_updated',
  'step_moved',
  'commented',
  'comment_updated',
  'run_started',
  'run_resumed',
  'run_event',
  'run_ended',
  'artifact_attached',
  'asked',
  'answered',
  'labelled',
  'unlabelled',
  'label_changed',
  'dependency_added',
  'dependency_removed',
  'project_created',
  'project_updated',
  'project_archived',
  'project_unarchived',
  'view_saved',
  'calendar_linked',
  'calendar_unlinked',
  'context_saved',
  'notifications_read',
  'agent_changed',
  'member_changed',
  'stop_asked',
  'session_ended',
  'loop_damped',
  'source_changed',
  'redacted',
] as const
export type EventKind = (typeof EVENT_KINDS)[number]

/** A field change as history shows it. */
export type Changes = Record<string, readonly [old: unknown, now: unknown]>

/** An event as written: the handle adds who, when and by which tool. */
export interface NewEvent {
  kind: EventKind
  task?: number | null
  project?: number | null
  /** Public id of the thing itself, where it is not the task: `S40`, `C9`. */
  object?: string
  changes?: Changes
  /** Whatever else a reader of the event needs; small. */
  data?: Record<string, unknown>
}

/** An event as published after its commit. */
export interface StoredEvent {
  account: number
  id: number
  at: number
  actor: string
  tool: string
  kind: EventKind
  task: number | null
  project: number | null
  object: string | null
}
