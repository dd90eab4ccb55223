import type { EventKind, StoredEvent } from '../model/event.ts'
import type { SqliteConnection } from './sqlite.ts'

/** How often other processes' commits are looked for, in milliseconds. */
const POLL_MS = 50

/**
 * Hands on the events of every commit in their order. The commits of this process come at once; those of others are
 * seen by `data_version`, which costs a microsecond a look.
 */
export function eventFeed(watcher: SqliteConnection) {
  const listeners = new Set<(events: readonly StoredEvent[]) => void>()
  const latest = () => Number(watcher.value('SELECT COALESCE(MAX(seq), 0) FROM events'))
  let last = 0
  let version: unknown
  let timer: NodeJS.Timeout | undefined

  function catchUp(): void {
    const events = watcher
      .prepare(
        'SELECT seq, account, id, at, actor, tool, kind, task, project, object FROM events WHERE seq > ? ORDER BY seq LIMIT 1000',
      )
      .all([last]) as unknown as (StoredEvent & { kind: EventKind })[]
    if (events.length === 0) return
    last = events.at(-1)!.seq
    for (const listener of listeners) listener(events)
    if (events.length === 1000) catchUp()
  }

  function look(): void {
    const now = watcher.value('PRAGMA data_version')
    if (now === version) return
    version = now
    catchUp()
  }

  return {
    /** Events that this process committed. Others' commits may lie between, so they are read back, not passed on. */
    own(events: readonly StoredEvent[]): void {
      if (events.length > 0 && listeners.size > 0) queueMicrotask(catchUp)
    },
    listen(listener: (events: readonly StoredEvent[]) => void): () => void {
      if (listeners.size === 0) last = latest()
      listeners.add(listener)
      timer ??= setInterval(look, POLL_MS).unref()
      return () => {
        listeners.delete(listener)
        if (listeners.size === 0) {
          clearInterval(timer)
          timer = undefined
        }
      }
    },
    stop(): void {
      clearInterval(timer)
      listeners.clear()
    },
  }
}
