import type { Actor } from '../model/actor.ts'
import type { StoredEvent } from '../model/event.ts'
import type { Store } from '../store/store.ts'
import { eventsAfter, latestEvent } from '../store/stream.ts'

/** A stretch of the account's events as one caller may see them. */
export interface Stretch {
  events: StoredEvent[]
  /** Where to go on: what lies before it and is not in `events` is not for the caller. */
  upTo: number
  more: boolean
}

/** The caller's events behind a number, at most `limit` of them. */
export function eventsSince(store: Store, actor: Actor, after: number, limit: number): Promise<Stretch> {
  return store.read(actor, 'events', async (tx) => {
    const events = await eventsAfter(tx, after, limit)
    const more = events.length === limit
    return { events, more, upTo: more ? events.at(-1)!.id : Math.max(after, await latestEvent(tx)) }
  })
}

/** Where a stream begins that asks for nothing past. */
export function newestEvent(store: Store, actor: Actor): Promise<number> {
  return store.read(actor, 'events', latestEvent)
}
