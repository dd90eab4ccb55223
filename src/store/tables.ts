import type { ColumnType, Selectable } from 'kysely'
import type { ActorId, Role as PersonRole } from '../model/actor.ts'
import type { ClosedStatus, Status, StepStatus } from '../model/task.ts'

/**
 * What a column holds, judged by whose words they are (spec: effects, "Proof"):
 * - `authored`: somebody wrote it. Replacing it when it was not empty is destructive.
 * - `lifecycle`: it moves as work moves (status, claim, read marks, archive). Moving it loses nobody's words.
 * - `hides`: a lifecycle column that takes its row out of ordinary reads while it is set. Setting it is destructive.
 * - `record`: keys, times, counters and the log. Nobody's words.
 *
 * The database's own wall (triggers.ts) and the observer that tests every tool read this declaration.
 */
export type ColumnRole = 'authored' | 'lifecycle' | 'hides' | 'record'

interface Column<T> {
  readonly role: ColumnRole
  readonly type?: T
}

const authored = <T>(): Column<T> => ({ role: 'authored' })
const lifecycle = <T>(): Column<T> => ({ role: 'lifecycle' })
const hides = <T>(): Column<T> => ({ role: 'hides' })
const record = <T>(): Column<T> => ({ role: 'record' })

/** A column that an insert may leave to the schema's default. */
type Defaulted<T> = ColumnType<T, T | undefined, T>

/** Every column of the account's content, declared once. Times are milliseconds since the epoch; flags are 0 or 1. */
export const CONTENT_TABLES = {
  accounts: {
    id: record<number>(),
    name: authored<string>(),
    zone: authored<string>(),
    lease_ms: authored<number>(),
    created_at: record<number>(),
  },
  counters: { account: record<number>(), kind: record<string>(), last: record<number>() },
  people: {
    account: record<number>(),
    id: record<number>(),
    name: authored<string>(),
    role: authored<PersonRole>(),
    zone: authored<string | null>(),
    created_at: record<number>(),
  },
  agents: {
    account: record<number>(),
    id: record<number>(),
    name: authored<string>(),
    owner: record<number>(),
    stop_at: lifecycle<number | null>(),
    stop_by: lifecycle<number | null>(),
    created_at: record<number>(),
  },
  tokens: {
    account: record<number>(),
    id: record<number>(),
    agent: record<number>(),
    prefix: record<string>(),
    hash: record<string>(),
    scopes: record<string>(),
    presets: record<string | null>(),
    projects: record<string | null>(),
    expires_at: record<number | null>(),
    revoked_at: lifecycle<number | null>(),
    created_at: record<number>(),
    created_by: record<string>(),
  },
  sign_in_links: {
    account: record<number>(),
    hash: record<string>(),
    person: record<number>(),
    expires_at: record<number>(),
    used_at: lifecycle<number | null>(),
    created_at: record<number>(),
  },
  sessions: {
    account: record<number>(),
    id: record<string>(),
    hash: record<string>(),
    person: record<number>(),
    began: record<'console_link'>(),
    signed_in_at: record<number>(),
    expires_at: record<number>(),
    revoked_at: lifecycle<number | null>(),
  },
  projects: {
    account: record<number>(),
    id: record<number>(),
    name: authored<string>(),
    name_key: record<string>(),
    description: authored<string>(),
    auto_ok_default: lifecycle<number>(),
    archived_at: lifecycle<number | null>(),
    trash: hides<number | null>(),
    version: record<number>(),
    created_at: record<number>(),
    created_by: record<ActorId>(),
    updated_at: record<number>(),
  },
  tasks: {
    account: record<number>(),
    id: record<number>(),
    title: authored<string>(),
    description: authored<string>(),
    project: authored<number | null>(),
    parent: authored<number | null>(),
    priority: authored<number>(),
    due: authored<string | null>(),
    scheduled: authored<string | null>(),
    estimate: authored<number | null>(),
    assignee: authored<ActorId | null>(),
    recurrence: authored<string | null>(),
    recurrence_anchor: authored<'due' | 'completion' | null>(),
    auto_ok: lifecycle<number>(),
    status: lifecycle<Status>(),
    claimed_by: lifecycle<ActorId | null>(),
    claimed_at: lifecycle<number | null>(),
    claim_until: lifecycle<number | null>(),
    blocked_by: lifecycle<number | null>(),
    closed_at: lifecycle<number | null>(),
    closed_by: lifecycle<ActorId | null>(),
    /** Set when a person edits a signed-off task after it closed (gate G9). */
    changed_since_sign_off: lifecycle<Defaulted<number>>(),
    /** The recurring task whose closing made this one. */
    succeeds: record<number | null>(),
    trash: hides<number | null>(),
    version: record<number>(),
    content_version: record<number>(),
    content_hash: record<string>(),
    created_at: record<number>(),
    created_by: record<ActorId>(),
    updated_at: record<number>(),
  },
  steps: {
    account: record<number>(),
    id: record<number>(),
    task: record<number>(),
    title: authored<string>(),
    description: authored<string>(),
    position: authored<string>(),
    status: lifecycle<StepStatus>(),
    trash: hides<number | null>(),
    version: record<number>(),
    created_at: record<number>(),
    created_by: record<ActorId>(),
    updated_at: record<number>(),
  },
  dependencies: {
    account: record<number>(),
    task: record<number>(),
    depends_on: record<number>(),
    removed_at: hides<number | null>(),
    created_at: record<number>(),
    created_by: record<ActorId>(),
  },
  labels: {
    account: record<number>(),
    name_key: record<string>(),
    name: authored<string>(),
    color: authored<string | null>(),
    /** The key of the label that took its place: the old name is kept, so that a repeated rename finds it done. */
    renamed_to: hides<string | null>(),
    trash: hides<number | null>(),
    created_at: record<number>(),
    created_by: record<ActorId>(),
  },
  task_labels: {
    account: record<number>(),
    task: record<number>(),
    label: record<string>(),
    removed_at: hides<number | null>(),
    /** The Trash entry of a deleted label that took this row along. */
    trash: hides<number | null>(),
  },
  comments: {
    account: record<number>(),
    id: record<number>(),
    task: record<number>(),
    text: authored<string>(),
    author: record<ActorId>(),
    /** Where the words come from when not typed here: a merged task, a source. */
    origin: record<string | null>(),
    reply_to: record<number | null>(),
    trash: hides<number | null>(),
    version: record<number>(),
    created_at: record<number>(),
    updated_at: record<number>(),
  },
  /** Reasons, summaries, progress and notes: rows that are added, never replaced. */
  notes: {
    account: record<number>(),
    id: record<number>(),
    task: record<number>(),
    step: record<number | null>(),
    run: record<number | null>(),
    kind: record<NoteKind>(),
    text: authored<string>(),
    by: record<ActorId>(),
    at: record<number>(),
  },
  runs: {
    account: record<number>(),
    id: record<number>(),
    task: record<number>(),
    agent: record<ActorId>(),
    goal: authored<string | null>(),
    outcome: lifecycle<'succeeded' | 'failed' | 'cancelled' | null>(),
    progress: lifecycle<number | null>(),
    tokens: lifecycle<number | null>(),
    cost: lifecycle<number | null>(),
    started_at: record<number>(),
    last_sign_at: lifecycle<number>(),
    /** Whether the run has shown more than its start. */
    signs: lifecycle<number>(),
    lease_until: lifecycle<number>(),
    ended_at: lifecycle<number | null>(),
  },
  run_events: {
    account: record<number>(),
    run: record<number>(),
    seq: record<number>(),
    kind: record<string>(),
    text: authored<string>(),
    progress: record<number | null>(),
    late: record<number>(),
    at: record<number>(),
  },
  artifacts: {
    account: record<number>(),
    id: record<number>(),
    task: record<number>(),
    run: record<number | null>(),
    title: authored<string>(),
    kind: record<'link' | 'text' | 'file'>(),
    url: authored<string | null>(),
    text: authored<string | null>(),
    file_name: authored<string | null>(),
    media_type: record<string | null>(),
    size: record<number>(),
    sha256: record<string>(),
    origin: record<string | null>(),
    trash: hides<number | null>(),
    created_at: record<number>(),
    created_by: record<ActorId>(),
  },
  artifact_bytes: { account: record<number>(), artifact: record<number>(), bytes: authored<Uint8Array>() },
  requests: {
    account: record<number>(),
    id: record<number>(),
    task: record<number>(),
    target: record<ClosedStatus>(),
    state: lifecycle<RequestState>(),
    content_version: record<number>(),
    content_hash: record<string>(),
    former_status: record<Status>(),
    asked_by: record<ActorId>(),
    asked_at: record<number>(),
    decided_by: lifecycle<ActorId | null>(),
    decided_at: lifecycle<number | null>(),
    note: lifecycle<string | null>(),
  },
  sign_offs: {
    account: record<number>(),
    id: record<number>(),
    task: record<number>(),
    request: record<number | null>(),
    content_version: record<number>(),
    content_hash: record<string>(),
    target: record<ClosedStatus>(),
    approver: record<ActorId>(),
    session: record<string>(),
    began: record<string>(),
    policy: record<string>(),
    /** The transaction that inserted and used it up; no other can close by it. */
    tx: record<string>(),
    seal: record<string>(),
    at: record<number>(),
  },
  questions: {
    account: record<number>(),
    id: record<number>(),
    task: record<number | null>(),
    text: authored<string>(),
    choices: authored<string | null>(),
    asked_by: record<ActorId>(),
    asked_of: record<ActorId>(),
    holds_task: record<number>(),
    answer: lifecycle<string | null>(),
    answered_by: lifecycle<ActorId | null>(),
    answered_at: lifecycle<number | null>(),
    asked_at: record<number>(),
  },
  notifications: {
    account: record<number>(),
    id: record<number>(),
    recipient: record<ActorId>(),
    kind: record<string>(),
    event: record<number>(),
    task: record<number | null>(),
    object: record<string | null>(),
    at: record<number>(),
    read_at: lifecycle<number | null>(),
  },
  events: {
    seq: record<Defaulted<number>>(),
    account: record<number>(),
    id: record<number>(),
    at: record<number>(),
    actor: record<string>(),
    tool: record<string>(),
    kind: record<string>(),
    task: record<number | null>(),
    project: record<number | null>(),
    object: record<string | null>(),
    data: record<string | null>(),
  },
  trash: {
    account: record<number>(),
    id: record<number>(),
    kind: record<TrashKind>(),
    object: record<string>(),
    title: record<string>(),
    task: record<number | null>(),
    project: record<number | null>(),
    by: record<ActorId>(),
    at: record<number>(),
    restored_at: lifecycle<number | null>(),
  },
  views: {
    account: record<number>(),
    name_key: record<string>(),
    name: authored<string>(),
    filter: authored<string>(),
    trash: hides<number | null>(),
    created_at: record<number>(),
    created_by: record<ActorId>(),
  },
  calendar_links: {
    account: record<number>(),
    task: record<number>(),
    uid: record<string>(),
    calendar: authored<string | null>(),
    title: authored<string | null>(),
    starts: authored<string | null>(),
    ends: authored<string | null>(),
    url: authored<string | null>(),
    removed_at: hides<number | null>(),
    created_at: record<number>(),
    created_by: record<ActorId>(),
  },
  connectors: {
    account: record<number>(),
    name_key: record<string>(),
    name: authored<string>(),
    kind: record<string>(),
    config: authored<string>(),
    may_save: authored<number>(),
    removed_at: hides<number | null>(),
    created_at: record<number>(),
    created_by: record<ActorId>(),
  },
  /** What save_context is about to write outside, and how it ended. */
  context_saves: {
    account: record<number>(),
    id: record<number>(),
    connector: record<string>(),
    title: authored<string>(),
    place: authored<string | null>(),
    mark: record<string>(),
    task: record<number | null>(),
    state: lifecycle<'intended' | 'saved' | 'failed'>(),
    uri: lifecycle<string | null>(),
    actor: record<ActorId>(),
    key: record<string | null>(),
    args_hash: record<string>(),
    at: record<number>(),
  },
  /** Stored answers of writes that were sent with an idempotency key. */
  replies: {
    account: record<number>(),
    actor: record<string>(),
    key: record<string>(),
    tool: record<string>(),
    args_hash: record<string>(),
    answer: record<string>(),
    at: record<number>(),
  },
  search_docs: {
    doc: record<Defaulted<number>>(),
    account: record<number>(),
    kind: record<string>(),
    object: record<number>(),
    task: record<number | null>(),
    project: record<number | null>(),
    at: record<number>(),
  },
} as const

/** Kept apart from the account's content; no answer about content reads from them (spec: effects). */
const ACCESS_TABLES = {
  access: {
    account: record<number>(),
    credential: record<string>(),
    actor: record<string>(),
    tool: record<string>(),
    /** Start of the 20 seconds counted. */
    bucket: record<number>(),
    calls: record<number>(),
    refusals: record<number>(),
  },
  refusals: {
    seq: record<Defaulted<number>>(),
    account: record<number>(),
    credential: record<string>(),
    actor: record<string>(),
    tool: record<string>(),
    code: record<string>(),
    message: record<string>(),
    /** 1 where the call ran against the approval gate; such rows are kept for 90 days, the rest for one. */
    gate: record<number>(),
    at: record<number>(),
  },
  token_use: { account: record<number>(), token: record<number>(), last_used_at: record<number>() },
} as const

export const TABLES = { ...CONTENT_TABLES, ...ACCESS_TABLES }

export type NoteKind = 'summary' | 'block' | 'cancel' | 'reopen' | 'release' | 'reject' | 'step' | 'progress'
export type RequestState = 'pending' | 'approved' | 'rejected' | 'stale' | 'withdrawn'
export type TrashKind = 'task' | 'project' | 'step' | 'comment' | 'artifact' | 'label' | 'view'

type Declared = typeof TABLES
export type Database = {
  [T in keyof Declared]: {
    -readonly [C in keyof Declared[T]]: Declared[T][C] extends Column<infer V> ? V : never
  }
}

/** A row as a query gives it back. */
export type Row<T extends keyof Database> = Selectable<Database[T]>
