import type { Context } from 'hono'
import { eventsSince, newestEvent } from '../events/feed.ts'
import type { Actor } from '../model/actor.ts'
import { AppError } from '../model/error.ts'
import type { StoredEvent } from '../model/event.ts'
import { formatId, formatIdOr, parseId } from '../model/id.ts'
import { narrow } from '../tools/presets.ts'
import { moment, sparse } from '../tools/view.ts'
import type { AppDeps } from './app.ts'
import { callerOf, stillHolds } from './caller.ts'
import { sendProblem, sendUnauthorized } from './problem.ts'

/** How many streams are open at once, in all and for one caller. */
const MOST = { all: 400, caller: 20 }

/** How many streams each caller has open. */
export type OpenStreams = Map<string, number>

/** How many there are in all. */
export const streamsIn = (open: OpenStreams): number => [...open.values()].reduce((sum, n) => sum + n, 0)

/** How many events are read and written at once. */
const BATCH = 200

/** How often a stream shows that it lives, and how often it asks whether its credential still holds, in milliseconds. */
const KEEP_ALIVE_MS = 15_000
const RECHECK_MS = 2000

/**
 * `GET /api/events`: what happens in the caller's account as server-sent events (HTML, 9.2), from the table itself, so that
 * a client that comes back with `Last-Event-ID` or `?after=E12` misses nothing and gets nothing twice.
 */
export function eventStream(deps: AppDeps): (c: Context) => Promise<Response> {
  const { done, streams: open } = deps

  return async (c) => {
    const caller = await callerOf(c, deps)
    if (!caller.actor) return sendUnauthorized(c, deps, caller.given)
    const { actor, secret } = caller
    mayListen(actor)
    const newest = await newestEvent(done.store, actor)
    // An id from the future, such as of a database that was put back, would keep the stream mute until it is reached.
    const after = Math.min(startOf(c) ?? newest, newest)
    if (c.req.method === 'HEAD') return c.body(null, 200, HEADERS)
    const key = `${actor.account}:${actor.id}`
    if (streamsIn(open) >= MOST.all || (open.get(key) ?? 0) >= MOST.caller) {
      const error = new AppError('rate_limited', 'Too many streams are open.', {
        retry: true,
        next: 'Close one first.',
      })
      return sendProblem(c, error, 429, { 'retry-after': '5' })
    }
    open.set(key, (open.get(key) ?? 0) + 1)
    const ended = () => {
      const left = (open.get(key) ?? 1) - 1
      if (left === 0) open.delete(key)
      else open.set(key, left)
    }
    const signal = AbortSignal.any([c.req.raw.signal, deps.closing])
    try {
      return c.body(await streamOf(deps, { actor, secret, after, signal, ended }), 200, HEADERS)
    } catch (error) {
      ended()
      throw error
    }
  }
}

const HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store',
  // Proxies that gather answers would hold events back.
  'x-accel-buffering': 'no',
} as const

/** The stream is the account's activity as it happens: whoever may not list that may not listen to it. */
function mayListen(actor: Actor): void {
  if (actor.scopes.includes('read') && narrow(actor.presets)('list_activity')) return
  throw new AppError('scope', 'This credential is narrowed to tools without the account’s activity.', {
    retry: false,
    next: 'Ask a person for a credential with a wider preset.',
  })
}

/** Where the stream goes on: the header that a browser sends when it comes back stands above the address. */
function startOf(c: Context): number | undefined {
  const said = c.req.header('last-event-id') || c.req.query('after')
  return said === undefined ? undefined : parseId(said, 'event').number
}

interface Listener {
  actor: Actor
  secret: string
  after: number
  signal: AbortSignal
  ended: () => void
}

/** One client's stream. It is pulled by the client, so that a slow one costs no memory here: it only falls behind. */
async function streamOf(
  deps: AppDeps,
  { actor, secret, after, signal, ended }: Listener,
): Promise<ReadableStream<Uint8Array>> {
  const { store } = deps.done
  const encoder = new TextEncoder()
  let last = after
  let behind = true
  let fresh: readonly StoredEvent[] = []
  let spokeAt = Date.now()
  let askedAt = Date.now()
  let wake = () => {}

  const unsubscribe = await deps.bus.subscribe(actor.account, (events) => {
    // A batch that follows without a gap is used as it is; anything else is read from the table.
    const follows =
      actor.projects === undefined && !behind && fresh.length === 0 && events[0]?.id === last + 1
    if (follows) fresh = events
    else behind = true
    wake()
  })
  let over = false
  const end = () => {
    if (over) return
    over = true
    signal.removeEventListener('abort', end)
    unsubscribe()
    ended()
    wake()
  }
  signal.addEventListener('abort', end)

  async function next(): Promise<readonly StoredEvent[]> {
    const waiting = fresh
    fresh = []
    if (!behind && waiting[0]?.id === last + 1) {
      last = waiting.at(-1)!.id
      return waiting
    }
    // What came while we read is behind what was read by now, and its end may not be in it.
    if (waiting.length > 0 && waiting.at(-1)!.id > last) behind = true
    if (!behind) return []
    behind = false
    const { events, upTo, more } = await eventsSince(store, actor, last, BATCH)
    last = upTo
    if (more) behind = true
    return events
  }

  /** Until there is news, or it is time to ask again whether the credential holds. */
  function pause(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, RECHECK_MS)
      wake = () => {
        clearTimeout(timer)
        resolve()
      }
      if (over || behind || fresh.length > 0) wake()
    })
  }

  async function pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    while (!over) {
      if (Date.now() - askedAt >= RECHECK_MS) {
        askedAt = Date.now()
        if (!(await stillHolds(deps, actor, secret))) break
      }
      const events = await next()
      const text = events.map(frame).join('') || (Date.now() - spokeAt > KEEP_ALIVE_MS ? ': here\n\n' : '')
      if (text !== '') {
        spokeAt = Date.now()
        return controller.enqueue(encoder.encode(text))
      }
      await pause()
    }
    end()
    controller.close()
  }

  return new ReadableStream<Uint8Array>(
    {
      start: (controller) => controller.enqueue(encoder.encode('retry: 2000\n\n')),
      pull,
      cancel: end,
    },
    { highWaterMark: 1 },
  )
}

/** One event. Its text says what and where; what it changed is read with the caller's own rights. */
function frame(event: StoredEvent): string {
  const data = sparse({
    id: formatId('event', event.id),
    kind: event.kind,
    task: formatIdOr('task', event.task),
    project: formatIdOr('project', event.project),
    object: event.object,
    actor: event.actor,
    tool: event.tool,
    at: moment(event.at),
  })
  return `id: ${formatId('event', event.id)}\ndata: ${JSON.stringify(data)}\n\n`
}
