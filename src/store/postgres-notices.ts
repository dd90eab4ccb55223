import pg from 'pg'
import type { EventFeed } from './feed.ts'

const CHANNEL = 'done_events'

/** How often accounts that somebody follows are looked at, in milliseconds, in case a notice was lost. */
const LOOK_MS = 1000

/** The longest pause between two tries to connect, in milliseconds. */
const LONGEST_PAUSE_MS = 1000

/** Tells the other processes of commits, and hears of theirs. */
export interface Notices {
  /** Something was committed in the account. */
  tell(account: number): void
  close(): Promise<void>
}

/**
 * One connection that listens, and that sends one notice for all accounts that were written since the last: within the
 * transactions a notice would make all of the database's commits wait for each other. A notice can be lost, where a process
 * dies between its commit and the notice, or the connection breaks; so accounts that are followed are also looked at every
 * second, and after each new connection.
 */
export function openNotices(options: pg.ClientConfig, feed: EventFeed): Notices {
  const written = new Set<number>()
  let client: pg.Client | undefined
  let sending: Promise<void> | undefined
  let closed = false
  let lookDue = false
  let pause = 20

  async function connect(): Promise<void> {
    const fresh = new pg.Client(options)
    fresh.on('error', () => {})
    fresh.once('end', () => {
      if (client === fresh) client = undefined
      retry()
    })
    fresh.on('notification', ({ payload = '', processId }) => {
      if (processId === ownOf(fresh)) return
      for (const account of payload.split(',')) feed.changed(Number(account))
    })
    try {
      await fresh.connect()
      await fresh.query(`LISTEN ${CHANNEL}`)
    } catch {
      await fresh.end().catch(() => {})
      return
    }
    if (closed) return fresh.end()
    client = fresh
    pause = 20
    feed.changed()
    send()
  }

  function retry(): void {
    if (closed) return
    setTimeout(() => {
      if (!closed) connecting = connect().catch(retry)
    }, pause).unref()
    pause = Math.min(pause * 2, LONGEST_PAUSE_MS)
  }

  /** Sends what there is to tell, then looks; a connection has one query in hand at a time. */
  async function turn(client: pg.Client): Promise<void> {
    while (written.size > 0) {
      // A notice holds 8,000 bytes at most.
      const accounts = [...written].slice(0, 500)
      for (const account of accounts) written.delete(account)
      try {
        await client.query('SELECT pg_notify($1, $2)', [CHANNEL, accounts.join(',')])
      } catch (error) {
        for (const account of accounts) written.add(account)
        throw error
      }
    }
    const following = feed.following()
    if (!lookDue || following.size === 0) return
    lookDue = false
    const { rows } = await client.query<{ account: number; id: number }>(
      'SELECT account, id FROM done_newest($1::bigint[])',
      [[...following.keys()]],
    )
    for (const { account, id } of rows) if (id > (following.get(account) ?? 0)) feed.changed(account)
  }

  /** A connection that breaks meanwhile leaves the rest to the next one. */
  function send(): void {
    if (!client || sending) return
    sending = turn(client)
      .then(
        () => {},
        () => {},
      )
      .finally(() => {
        sending = undefined
        if (client && written.size > 0) send()
      })
  }

  let connecting = connect()
  const looking = setInterval(() => {
    lookDue = true
    send()
  }, LOOK_MS).unref()

  return {
    tell(account) {
      written.add(account)
      send()
    },
    async close() {
      closed = true
      clearInterval(looking)
      await connecting.catch(() => {})
      await sending
      await client?.end().catch(() => {})
    },
  }
}

/** The number of a connection's own server process, which its own notices carry. */
function ownOf(client: pg.Client): number {
  return (client as unknown as { processID: number }).processID
}
