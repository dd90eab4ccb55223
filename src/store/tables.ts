import type { Selectable } from 'kysely'
import type { ActorId, Role as PersonRole, SessionBegin } from '../model/actor.ts'
import type { ClosedStatus, Status, StepStatus } from '../model/task.ts'
import { ACCESS_TABLES } from './access-tables.ts'
import {
  authored,
  type Column,
  type Defaulted,
  hides,
  inJson,
  lifecycle,
  quoting,
  record,
  shaped,
} from './column.ts'

/** Every column of the account's content, declared once. Times are milliseconds since the epoch; flags are 0 or 1. */
export const CONTENT_TABLES = {
  /** One row. */
  installation: {
    id: record<number>(),
    /** What only the right key gives. */
    key_check: record<string>(),
    /** Rises whenever something changes by which a credential is judged; a trigger sees to it. */
    credentials: record<Defaulted<number>>(),
  },
  accounts: {
    id: record<number>(),
    name: authored<string>(),
    zone: shaped(authored<string>()),
    lease_ms: shaped(authored<number>()),
    created_at: record<number>(),
  },
  counters: { account: record<number>(), kind: record<string>(), last: record<number>() },
  people: {
    account: record<number>(),
    id: record<number>(),
    name: authored<string>(),
    role: lifecycle<PersonRole>(),
    zone: shaped(authored<string | null>()),
    /** The name by which they sign in with a password; null until they have chosen one. */
    login: lifecycle<string | null>(),
    /** Its folded form, by which it is found. */
    login_key: lifecycle<string | null>(),
    /** Since then they are no member any more. Their row stays, since what they did names them. */
    left_at: lifecycle<number | null>(),
    created_at: record<number>(),
  },
  /** Each password a person ever set; the one in use was not replaced. */
  passwords: {
    account: record<number>(),
    id: record<number>(),
    person: record<number>(),
    /** Argon2id, in PHC form; empty once it is replaced. */
    hash: record<string>(),
    replaced_at: lifecycle<number | null>(),
    created_at: record<number>(),
  },
  /** Apps that make one-time codes. */
  authenticators: {
    account: record<number>(),
    id: record<number>(),
    person: record<number>(),
    /** Encrypted (auth/envelope.ts); empty once it is removed. */
    secret: record<string>(),
    /** The half minute of the last code that was used; none before it works any more. */
    last_step: record<number>(),
    confirmed_at: lifecycle<number | null>(),
    removed_at: lifecycle<number | null>(),
    created_at: record<number>(),
  },
  /** Keys in people's devices, by which they sign in and sign off (Web Authentication). */
  passkeys: {
    account: record<number>(),
    id: record<number>(),
    person: record<number>(),
    /** The device's own name for it, in base64url. */
    credential: record<string>(),
    /** In COSE form, base64url. */
    public_key: record<string>(),
    counter: record<number>(),
    /** The name of the site that it is bound to (relying party). */
    name_of_site: record<string>(),
    name: authored<string>(),
    removed_at: lifecycle<number | null>(),
    created_at: record<number>(),
  },
  /** What stands in for an app that is lost, once each. */
  recovery_codes: {
    account: record<number>(),
    id: record<number>(),
    person: record<number>(),
    hash: record<string>(),
    used_at: lifecycle<number | null>(),
    replaced_at: lifecycle<number | null>(),
    created_at: record<number>(),
  },
  /** Links by which somebody becomes a member, once. */
  invitations: {
    account: record<number>(),
    id: record<number>(),
    hash: record<string>(),
    name: authored<string>(),
    role: record<PersonRole>(),
    expires_at: record<number>(),
    used_at: lifecycle<number | null>(),
    revoked_at: lifecycle<number | null>(),
    /** Who came by it. */
    person: lifecycle<number | null>(),
    created_at: record<number>(),
    created_by: record<string>(),
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
  /** A person's word that a client may act as one of their agents (OAuth 2.1). */
  grants: {
    account: record<number>(),
    id: record<number>(),
    agent: record<number>(),
    /** Who has consented. */
    person: record<number>(),
    /** The client's id: an address, or what registration gave it. */
    client: record<string>(),
    client_name: record<string>(),
    /** Where the code was sent; empty where the client showed a code to a person. */
    returns_to: record<string>(),
    resource: record<string>(),
    scopes: record<'read' | 'read write'>(),
    presets: record<string | null>(),
    projects: record<string | null>(),
    expires_at: record<number>(),
    revoked_at: lifecycle<number | null>(),
    created_at: record<number>(),
  },
  sign_in_links: {
    account: record<number>(),
    hash: record<string>(),
    person: record<number>(),
    /** How a session that comes of it began. */
    began: record<SessionBegin>(),
    /** 1 where a one-time code is asked for beside it. */
    wants_code: record<number>(),
    expires_at: record<number>(),
    used_at: lifecycle<number | null>(),
    created_at: record<number>(),
  },
  sessions: {
    account: record<number>(),
    id: record<string>(),
    hash: record<string>(),
    person: record<number>(),
    began: record<SessionBegin>(),
    signed_in_at: record<number>(),
    expires_at: record<number>(),
    revoked_at: lifecycle<number | null>(),
  },
  projects: {
    account: record<number>(),
    id: record<number>(),
    name: authored<string>(),
    name_key: quoting(record<string>()),
    description: authored<string>(),
    auto_ok_default: lifecycle<number>(),
    /** 1 where who signs off must not be the one for whom an agent has worked. */
    second_person: lifecycle<Defaulted<number>>(),
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
    project: shaped(authored<number | null>()),
    parent: shaped(authored<number | null>()),
    priority: shaped(authored<number>()),
    due: shaped(authored<string | null>()),
    scheduled: shaped(authored<string | null>()),
    estimate: shaped(authored<number | null>()),
    assignee: shaped(authored<ActorId | null>()),
    recurrence: shaped(authored<string | null>()),
    recurrence_anchor: shaped(authored<'due' | 'completion' | null>()),
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
    position: shaped(authored<string>()),
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
    name_key: quoting(record<string>()),
    name: authored<string>(),
    color: shaped(authored<string | null>()),
    /** The key of the label that took its place: the old name is kept, so that a repeated rename finds it done. */
    renamed_to: quoting(hides<string | null>()),
    trash: hides<number | null>(),
    created_at: record<number>(),
    created_by: record<ActorId>(),
  },
  task_labels: {
    account: record<number>(),
    task: record<number>(),
    label: quoting(record<string>()),
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
    origin: quoting(record<string | null>()),
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
    media_type: quoting(record<string | null>()),
    size: record<number>(),
    sha256: record<string>(),
    origin: quoting(record<string | null>()),
    trash: hides<number | null>(),
    created_at: record<number>(),
    created_by: record<ActorId>(),
  },
  artifact_bytes: {
    account: record<number>(),
    artifact: record<number>(),
    bytes: shaped(authored<Uint8Array>()),
  },
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
    note: quoting(lifecycle<string | null>()),
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
    /** What the approver's passkey has signed, as JSON; null where they had none. */
    assertion: record<string | null>(),
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
    choices: inJson(authored<string | null>()),
    asked_by: record<ActorId>(),
    asked_of: record<ActorId>(),
    holds_task: record<number>(),
    answer: quoting(lifecycle<string | null>()),
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
    object: quoting(record<string | null>()),
    at: record<number>(),
    read_at: lifecycle<number | null>(),
  },
  events: {
    account: record<number>(),
    id: record<number>(),
    at: record<number>(),
    actor: record<string>(),
    tool: record<string>(),
    kind: record<string>(),
    task: record<number | null>(),
    project: record<number | null>(),
    object: quoting(record<string | null>()),
    data: quoting(inJson(record<string | null>())),
    /** A keyed hash over the rest of the row (log.ts). */
    seal: record<string>(),
  },
  /** The log, sealed part by part: each row covers the events from `first` to `last` and the seal before it (chain.ts). */
  seals: {
    account: record<number>(),
    id: record<number>(),
    first: record<number>(),
    last: record<number>(),
    /** Over the digests of the events, as they were written. */
    digest: record<string>(),
    /** The digests of what these events speak of and what must not be altered either, as JSON. */
    states: record<string>(),
    seal: record<string>(),
    at: record<number>(),
  },
  /** What a person took out of the log, or of a request, after it was written: purged or redacted. */
  amendments: {
    account: record<number>(),
    id: record<number>(),
    subject: record<Amended>(),
    number: record<number>(),
    /** The digest of the row as it was. */
    was: record<string>(),
    /** The digest of the row as it became; empty where it is gone. */
    became: record<string>(),
    by: record<ActorId>(),
    at: record<number>(),
    seal: record<string>(),
  },
  trash: {
    account: record<number>(),
    id: record<number>(),
    kind: record<TrashKind>(),
    object: quoting(record<string>()),
    title: quoting(record<string>()),
    task: record<number | null>(),
    project: record<number | null>(),
    by: record<ActorId>(),
    at: record<number>(),
    restored_at: lifecycle<number | null>(),
  },
  views: {
    account: record<number>(),
    name_key: quoting(record<string>()),
    name: authored<string>(),
    filter: inJson(authored<string>()),
    trash: hides<number | null>(),
    created_at: record<number>(),
    created_by: record<ActorId>(),
  },
  calendar_links: {
    account: record<number>(),
    task: record<number>(),
    uid: quoting(record<string>()),
    calendar: authored<string | null>(),
    title: authored<string | null>(),
    starts: shaped(authored<string | null>()),
    ends: shaped(authored<string | null>()),
    url: authored<string | null>(),
    removed_at: hides<number | null>(),
    created_at: record<number>(),
    created_by: record<ActorId>(),
  },
  connectors: {
    account: record<number>(),
    name_key: quoting(record<string>()),
    name: authored<string>(),
    kind: record<string>(),
    config: inJson(authored<string>()),
    may_save: shaped(authored<number>()),
    removed_at: hides<number | null>(),
    created_at: record<number>(),
    created_by: record<ActorId>(),
  },
  /** What save_context is about to write outside, and how it ended. */
  context_saves: {
    account: record<number>(),
    id: record<number>(),
    connector: quoting(record<string>()),
    title: authored<string>(),
    place: authored<string | null>(),
    mark: record<string>(),
    task: record<number | null>(),
    state: lifecycle<'intended' | 'saved' | 'failed'>(),
    uri: quoting(lifecycle<string | null>()),
    actor: record<ActorId>(),
    key: quoting(record<string | null>()),
    args_hash: record<string>(),
    at: record<number>(),
  },
  /** Stored answers of writes that were sent with an idempotency key. */
  replies: {
    account: record<number>(),
    actor: record<string>(),
    key: quoting(record<string>()),
    tool: record<string>(),
    args_hash: record<string>(),
    answer: quoting(inJson(record<string>())),
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

export const TABLES = { ...CONTENT_TABLES, ...ACCESS_TABLES }

/** What can be amended. */
export type Amended = 'event' | 'request'
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
