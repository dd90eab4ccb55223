import type { StoredEvent } from '../model/event.ts'
import type { Store } from '../store/store.ts'

/** How long events are gathered before they are told of, in milliseconds: writing to a stream is what costs. */
const JOIN_MS = 30

type Listener = (events: readonly StoredEvent[]) => void

/** Tells listeners of an account that something was committed. What it was they read themselves, from where they are. */
export interface Bus {
  /** Resolves, once nothing can be missed any more, with what ends the listening. */
  subscribe(account: number, listener: Listener): Promise<() => void>
  close(): void
}

/** One account's listeners, and what they will be told of together. */
interface Channel {
  listeners: Set<Listener>
  gathered: StoredEvent[]
  timer?: NodeJS.Timeout | undefined
  stop: Promise<() => void>
}

/**
 * One subscription to the store for all streams of an account in this process, so that an event costs the same whoever
 * else listens. Several events become one telling.
 */
export function openBus(store: Pick<Store, 'onEvents'>): Bus {
  const channels = new Map<number, Channel>()

  function open(account: number): Channel {
    const channel: Channel = {
      listeners: new Set(),
      gathered: [],
      stop: store.onEvents(account, (events) => {
        channel.gathered.push(...events)
        channel.timer ??= setTimeout(tell, JOIN_MS, channel)
      }),
    }
    channels.set(account, channel)
    return channel
  }

  function tell(channel: Channel): void {
    const told = channel.gathered
    channel.gathered = []
    channel.timer = undefined
    for (const listener of channel.listeners) listener(told)
  }

  function shut(account: number, channel: Channel): void {
    if (channels.get(account) === channel) channels.delete(account)
    clearTimeout(channel.timer)
    // One that could not be opened has told its subscriber so.
    channel.stop.then(
      (stop) => stop(),
      () => {},
    )
  }

  return {
    async subscribe(account, listener) {
      const channel = channels.get(account) ?? open(account)
      channel.listeners.add(listener)
      const leave = () => {
        channel.listeners.delete(listener)
        if (channel.listeners.size === 0) shut(account, channel)
      }
      try {
        await channel.stop
      } catch (error) {
        leave()
        throw error
      }
      return leave
    },
    close() {
      for (const [account, channel] of channels) shut(account, channel)
    },
  }
}
