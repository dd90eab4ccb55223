import type { StoredEvent } from '../model/event.ts'
import type { Store } from '../store/store.ts'

/** How long events are gathered before they are told of, in milliseconds: writing to a stream is what costs. */
const JOIN_MS = 30

/** Tells listeners of an account that something was committed. What it was they read themselves, from where they are. */
export interface Bus {
  /** Returns what ends the listening. */
  subscribe(account: number, listener: (events: readonly StoredEvent[]) => void): () => void
  close(): void
}

/**
 * One subscription to the store for all streams of the process, indexed by account, so that an event costs the same
 * whoever else listens. Several events become one telling.
 */
export function openBus(store: Pick<Store, 'onEvents'>): Bus {
  const listeners = new Map<number, Set<(events: readonly StoredEvent[]) => void>>()
  let gathered: StoredEvent[] = []
  let timer: NodeJS.Timeout | undefined

  function tell(): void {
    timer = undefined
    const told = gathered
    gathered = []
    for (const account of new Set(told.map((event) => event.account))) {
      const events = told.filter((event) => event.account === account)
      for (const listener of listeners.get(account) ?? []) listener(events)
    }
  }

  let stop: (() => void) | undefined
  const listen = () =>
    store.onEvents((events) => {
      const heard = events.filter((event) => listeners.has(event.account))
      if (heard.length === 0) return
      gathered.push(...heard)
      timer ??= setTimeout(tell, JOIN_MS)
    })

  return {
    subscribe(account, listener) {
      stop ??= listen()
      const own = listeners.get(account) ?? new Set()
      listeners.set(account, own.add(listener))
      return () => {
        own.delete(listener)
        if (own.size === 0) listeners.delete(account)
        if (listeners.size > 0) return
        stop?.()
        stop = undefined
      }
    },
    close() {
      stop?.()
      stop = undefined
      clearTimeout(timer)
      listeners.clear()
    },
  }
}
