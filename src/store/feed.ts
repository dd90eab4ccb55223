import type { StoredEvent } from '../model/event.ts'

/** Events read back at once. */
const BATCH = 1000

/** Where an engine keeps the events of an account, in the order of their commits. */
export interface EventSource {
  /** Number of the newest event, 0 where there is none. */
  latest(account: number): Promise<number>
  /** The events behind a number, oldest first, at most `limit` of them. */
  after(account: number, id: number, limit: number): Promise<StoredEvent[]>
}

type Listener = (events: readonly StoredEvent[]) => void

/** The listeners of one account, and the event up to which they were told. */
interface Listening {
  listeners: Set<Listener>
  last: number
  reading: boolean
  /** Something was committed while we were reading. */
  again: boolean
}

/**
 * Hands on the events of every commit in their order and once each, account by account. What this process commits is
 * handed on as it is where it follows on what was told before; whatever lies between is read back.
 */
export interface EventFeed {
  /** Events that this process has just committed, of one account. */
  own(events: readonly StoredEvent[]): void
  /** Somebody committed something: in one account, or in any. */
  changed(account?: number): void
  /** Accounts that somebody listens to, and the event up to which each was told. */
  following(): Map<number, number>
  /** Resolves once nothing that is committed from then on can be missed, with what ends the listening. */
  listen(account: number, listener: Listener): Promise<() => void>
  stop(): void
}

export function eventFeed(source: EventSource): EventFeed {
  const accounts = new Map<number, Promise<Listening>>()
  const known = new Map<number, Listening>()

  function tell(listening: Listening, events: readonly StoredEvent[]): void {
    listening.last = events.at(-1)!.id
    queueMicrotask(() => {
      for (const listener of listening.listeners) listener(events)
    })
  }

  async function catchUp(account: number, listening: Listening): Promise<void> {
    listening.again = true
    if (listening.reading) return
    listening.reading = true
    try {
      while (listening.again) {
        listening.again = false
        const events = await source.after(account, listening.last, BATCH)
        if (events.length > 0) tell(listening, events)
        listening.again ||= events.length === BATCH
      }
    } finally {
      listening.reading = false
    }
  }

  /** A failure is made good by the next look, which begins where the last one came to. */
  function look(account: number): void {
    const listening = known.get(account)
    if (listening) catchUp(account, listening).catch((error) => console.error('Events wait:', error))
  }

  async function begin(account: number): Promise<Listening> {
    const last = await source.latest(account)
    const listening = { listeners: new Set<Listener>(), last, reading: false, again: false }
    known.set(account, listening)
    return listening
  }

  async function listen(account: number, listener: Listener): Promise<() => void> {
    const beginning = accounts.get(account) ?? begin(account)
    accounts.set(account, beginning)
    try {
      const listening = await beginning
      // The last listener may have left meanwhile, and taken it away.
      if (known.get(account) !== listening) return listen(account, listener)
      listening.listeners.add(listener)
      return () => {
        listening.listeners.delete(listener)
        if (listening.listeners.size > 0 || known.get(account) !== listening) return
        known.delete(account)
        accounts.delete(account)
      }
    } catch (error) {
      accounts.delete(account)
      throw error
    }
  }

  return {
    own(events) {
      const [first] = events
      const listening = first && known.get(first.account)
      if (!listening) return
      if (!listening.reading && first.id === listening.last + 1) tell(listening, events)
      else look(first.account)
    },
    changed(account) {
      for (const each of account === undefined ? known.keys() : [account]) look(each)
    },
    following: () => new Map([...known].map(([account, { last }]) => [account, last])),
    listen,
    stop() {
      known.clear()
      accounts.clear()
    },
  }
}
