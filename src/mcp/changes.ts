import type { Actor } from '../model/actor.ts'
import type { EventKind, StoredEvent } from '../model/event.ts'
import { formatId } from '../model/id.ts'

/** What a subscriber is told of; the same shape as the SDK's events. */
export type Change = { kind: 'tools_list_changed' } | { kind: 'resource_updated'; uri: string }

/** Address of a task as a resource. */
export const taskUri = (id: string): string => `done://task/${id}`

/** Address of the caller's digest as a resource. */
export const DIGEST_URI = 'done://digest'

/**
 * What these events change for one caller: tasks it can see, its digest, its list of tools. Nothing of another account,
 * nothing outside the projects its credential is narrowed to, and of resources only those it may read.
 */
export function changesFor(
  actor: Actor,
  mayRead: { task: boolean; digest: boolean },
  events: readonly StoredEvent[],
): Change[] {
  const own = events.filter((event) => event.account === actor.account)
  const seen = own.filter((event) => sees(actor, event))
  const tasks = new Set(seen.flatMap((event) => (event.task === null ? [] : [event.task])))
  return [
    ...(own.some((event) => concernsRights(actor, event)) ? [{ kind: 'tools_list_changed' } as const] : []),
    ...(mayRead.task ? [...tasks].map((task) => updated(taskUri(formatId('task', task)))) : []),
    ...(mayRead.digest && own.some((event) => concernsDigest(actor, event)) ? [updated(DIGEST_URI)] : []),
  ]
}

/** Whether the agent's tokens or state changed: what it may do can then be something else. */
export function concernsRights(actor: Actor, event: StoredEvent): boolean {
  return event.account === actor.account && event.kind === 'agent_changed' && event.object === actor.id
}

/** What others do of which somebody may get news, or that takes a task out of sight or brings it back. An author gets none. */
export const NEWS: ReadonlySet<EventKind> = new Set([
  'approval_requested',
  'approved',
  'rejected',
  'request_stale',
  'request_withdrawn',
  'closed',
  'reopened',
  'blocked',
  'unblocked',
  'claimed',
  'released',
  'lease_lapsed',
  'trashed',
  'restored',
  'merged',
  'purged',
  'commented',
  'comment_updated',
  'run_started',
  'run_ended',
  'asked',
  'answered',
  'loop_damped',
] as const)

/** What the caller does that begins or ends a run of its own, or marks its news read. */
const OWN: ReadonlySet<EventKind> = new Set([
  'approval_requested',
  'closed',
  'blocked',
  'released',
  'trashed',
  'restored',
  'run_started',
  'run_resumed',
  'run_ended',
  'notifications_read',
] as const)

/**
 * Whether the caller's digest can be another by this event. It can't by most of what is done on tasks: a step, a label, a
 * line in a log. What a wish to stop says to one agent, no other hears of.
 */
function concernsDigest(actor: Actor, event: StoredEvent): boolean {
  if (event.kind === 'stop_asked' || event.kind === 'agent_changed') return event.object === actor.id
  if (event.task !== null && !sees(actor, event)) return false
  return (event.actor === actor.id ? OWN : NEWS).has(event.kind)
}

function sees(actor: Actor, event: StoredEvent): boolean {
  if (!actor.projects) return true
  return event.project !== null && actor.projects.includes(event.project)
}

const updated = (uri: string): Change => ({ kind: 'resource_updated', uri })
