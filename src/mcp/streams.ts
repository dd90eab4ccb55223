import type { ServerEvent, ServerEventBus } from '@modelcontextprotocol/server'
import type { Actor } from '../model/actor.ts'
import type { StoredEvent } from '../model/event.ts'
import { changesFor, concernsRights } from './changes.ts'

/** Tells of the events of every commit in an account, from when it resolves on; what it resolves with ends it. */
export type OnEvents = (
  account: number,
  listener: (events: readonly StoredEvent[]) => void,
) => Promise<() => void>

/** Who listens on a stream. */
export interface Listener {
  actor: Actor
  mayRead: { task: boolean; digest: boolean }
  /** Whose the credential is by now; undefined once it is not good any more. */
  renew(): Promise<Actor | undefined>
  /** Ends the stream. */
  end(): void
}

interface Stream extends Listener {
  send(change: ServerEvent): void
  renewedAt: number
  /** What is told one after another, so that nothing overtakes a change of rights. */
  told: Promise<void>
}

/** Events are joined for this long, in milliseconds: writing to a stream is what costs. */
const JOIN_MS = 25

/** How long a credential is believed between two events, in milliseconds; a change of rights is believed at once. */
const BELIEVED_MS = 5000

const MOST_STREAMS = 1024
const MOST_OF_ONE = 32

/**
 * The open `subscriptions/listen` streams. The SDK's bus knows no accounts, so every stream has a bus of its own that
 * carries only what its caller may see: it is indexed by account and asked by `changesFor`.
 */
export function openStreams(onEvents: OnEvents) {
  const streams = new Map<number, Set<Stream>>()
  const feeds = new Map<number, Promise<() => void>>()
  const pending = new Map<number, StoredEvent[]>()

  function take(account: number, events: readonly StoredEvent[]): void {
    const waiting = pending.get(account)
    if (waiting) waiting.push(...events)
    else {
      pending.set(account, [...events])
      setTimeout(() => flush(account), JOIN_MS).unref()
    }
  }

  function flush(account: number): void {
    const events = pending.get(account) ?? []
    pending.delete(account)
    for (const stream of streams.get(account) ?? []) {
      stream.told = stream.told
        .then(() => deliver(stream, events))
        .catch((error) => {
          console.error(error)
          stream.end()
        })
    }
  }

  async function deliver(stream: Stream, events: readonly StoredEvent[]): Promise<void> {
    const changes = changesFor(stream.actor, stream.mayRead, events)
    if (changes.length === 0) return
    const rights = events.some((event) => concernsRights(stream.actor, event))
    if (rights || performance.now() - stream.renewedAt > BELIEVED_MS) {
      const actor = await stream.renew()
      if (!actor) {
        // The last word of a stream whose credential is gone: ask again, and be told why not.
        stream.send({ kind: 'tools_list_changed' })
        return stream.end()
      }
      stream.actor = actor
      stream.renewedAt = performance.now()
    }
    for (const change of changes) stream.send(change)
  }

  function add(stream: Stream): void {
    const { account } = stream.actor
    streams.set(account, (streams.get(account) ?? new Set()).add(stream))
    // The account's last stream may have ended since the bus was made.
    follow(account).catch(stream.end)
  }

  function remove(stream: Stream): void {
    const { account } = stream.actor
    streams.get(account)?.delete(stream)
    if (streams.get(account)?.size === 0) streams.delete(account)
    tidy(account)
  }

  function follow(account: number): Promise<unknown> {
    const feed = feeds.get(account) ?? onEvents(account, (events) => take(account, events))
    feeds.set(account, feed)
    return feed
  }

  /** An account on which nobody listens is not followed. */
  function tidy(account: number): void {
    if (streams.has(account)) return
    feeds.get(account)?.then(
      (stop) => stop(),
      () => {},
    )
    feeds.delete(account)
  }

  return {
    /**
     * The bus of one request; a stream exists while the SDK listens on it. Resolves once nothing that is committed from then
     * on can be missed.
     */
    async busFor(listener: Listener): Promise<ServerEventBus> {
      const { account } = listener.actor
      try {
        await follow(account)
      } catch (error) {
        feeds.delete(account)
        throw error
      }
      return {
        publish() {},
        subscribe(send) {
          const stream: Stream = { ...listener, send, renewedAt: performance.now(), told: Promise.resolve() }
          add(stream)
          return () => remove(stream)
        },
      }
    },
    /** Lets go of an account whose bus nobody has come to listen on, as where a request asks for nothing. */
    tidy,
    /** Whether this credential may open one more stream. */
    hasRoom(actor: Actor): boolean {
      const all = [...streams.values()].flatMap((each) => [...each])
      const own = all.filter(
        (each) => each.actor.account === actor.account && each.actor.credential === actor.credential,
      )
      return all.length < MOST_STREAMS && own.length < MOST_OF_ONE
    },
    /** How many are open. */
    count: (): number => [...streams.values()].reduce((sum, each) => sum + each.size, 0),
    close(): void {
      for (const stream of [...streams.values()].flatMap((each) => [...each])) stream.end()
    },
  }
}
