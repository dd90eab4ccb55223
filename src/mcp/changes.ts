import type { Actor } from '../model/actor.ts'
import type { StoredEvent } from '../model/event.ts'
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
    ...(mayRead.digest && seen.length > 0 ? [updated(DIGEST_URI)] : []),
  ]
}

/** Whether the agent's tokens or state changed: what it may do can then be something else. */
export function concernsRights(actor: Actor, event: StoredEvent): boolean {
  return event.account === actor.account && event.kind === 'agent_changed' && event.object === actor.id
}

function sees(actor: Actor, event: StoredEvent): boolean {
  if (!actor.projects) return true
  return event.project !== null && actor.projects.includes(event.project)
}

const updated = (uri: string): Change => ({ kind: 'resource_updated', uri })
