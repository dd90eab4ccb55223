import { createHash } from 'node:crypto'
import type { Actor } from '../model/actor.ts'
import { AppError } from '../model/error.ts'
import type { Outside } from '../model/outside.ts'
import { extendLeases } from '../store/claim.ts'
import { type DestroyTx, eventsOf, type ReadTx, type WriteTx } from '../store/handle.ts'
import { newsFor } from '../store/news.ts'
import { storedReply, storeReply } from '../store/reply.ts'
import type { Store } from '../store/store.ts'
import type { AccessLog } from './access.ts'
import { toolNamed } from './effects.ts'
import { guard } from './guard.ts'
import { parseInput } from './parse.ts'
import type { OpenRead, OpenWrite, Tool } from './tool.ts'

/** What a connection adds to a call: it can only narrow. */
export interface Connection {
  presets?: readonly string[] | undefined
  signal?: AbortSignal | undefined
}

/** Structured content of an answer. */
export type Output = Record<string, unknown>

/**
 * Makes a call of a tool, whatever door it came through: guard, parse, one transaction, answer. Throws AppError for a
 * refusal that the caller may see; anything else is a fault of ours.
 */
export type Call = (actor: Actor, name: string, input: unknown, connection?: Connection) => Promise<Output>

export interface Deps {
  store: Store
  outside: Outside
  access: AccessLog
  /** Aborted when the process is about to end: nobody waits any longer for something to happen. */
  ending?: AbortSignal | undefined
}

type Run<Tx> = (tx: Tx, input: Output) => Promise<Output>

/** What can be called, and by whom: the tools, or the operations for people only. */
export interface Callable {
  toolNamed(name: string): Tool | undefined
  /** Throws AppError where this caller may not make this call. */
  guard(actor: Actor, name: string, presets?: readonly string[]): void
}

const TOOLS: Callable = { toolNamed, guard }

export function callWith(
  { store, outside, access, ending }: Deps,
  { toolNamed, guard }: Callable = TOOLS,
): Call {
  return async (actor, name, raw, connection = {}) => {
    try {
      guard(actor, name, connection.presets)
      const tool = toolNamed(name)!
      const { input, understood } = await parseInput(name, tool, raw, { now: store.now(), zone: actor.zone })
      const output = await open(actor, name, tool, input, () => hashOf(name, raw, actor), connection)
      access.count(actor, name, false)
      return Object.keys(understood).length > 0 ? { ...output, understood } : output
    } catch (error) {
      if (error instanceof AppError) {
        access.count(actor, name, true)
        await access.refuse(actor, name, error)
      }
      throw error
    }
  }

  /** The effect chooses the transaction; nothing else opens one. */
  function open(
    actor: Actor,
    name: string,
    tool: Tool,
    input: Output,
    argsHash: () => string,
    connection: Connection,
  ): Promise<Output> {
    if (tool.world === 'open') return reachOut(actor, name, tool, input, connection)
    if (tool.effect === 'read') return readUntil(actor, name, tool, input, connection)
    const run = tool.run as Run<WriteTx & DestroyTx>
    const job = (tx: WriteTx) => asWrite(tx, input, argsHash, () => run(tx as DestroyTx, input))
    return tool.effect === 'destroy'
      ? store.destroy(actor, name, job, withNews)
      : store.write(actor, name, job, withNews)
  }

  /** A read, and where it may wait, read again in a new snapshot after each commit until there is something to say. */
  async function readUntil(
    actor: Actor,
    name: string,
    tool: Tool,
    input: Output,
    connection: Connection,
  ): Promise<Output> {
    const once = () => store.read(actor, name, (tx) => (tool.run as Run<ReadTx>)(tx, input))
    const seconds = Number(input.wait_seconds ?? 0)
    if (!tool.pending || seconds <= 0) return once()
    // Watching begins before the first look, so that no commit falls between the two.
    const signals = [connection.signal, ending].filter((signal) => signal !== undefined)
    const commits = await watchCommits(store, actor.account, seconds * 1000, AbortSignal.any(signals))
    try {
      let output = await once()
      while (tool.pending(output) && (await commits.next())) output = await once()
      return output
    } finally {
      commits.stop()
    }
  }

  function reachOut(
    actor: Actor,
    name: string,
    tool: Tool,
    input: Output,
    connection: Connection,
  ): Promise<Output> {
    const signal = AbortSignal.any([
      AbortSignal.timeout(60_000),
      ...(connection.signal ? [connection.signal] : []),
    ])
    const port: OpenRead & Partial<OpenWrite> = {
      actor,
      now: store.now(),
      outside,
      signal,
      read: (run) => store.read(actor, name, run),
      // Given to writes alone, so that a read of the open world has no way to a row of ours.
      ...(tool.effect === 'read' ? {} : { write: (run) => store.write(actor, name, run) }),
    }
    return (tool.run as Run<OpenRead>)(port, input)
  }
}

/** The answer of every write tells the agent of news and of a person's wish that it stop. */
const withNews = async (tx: ReadTx, output: Output): Promise<Output> => ({
  ...output,
  ...(await newsFor(tx)),
})

/**
 * What every write shares: a key that was used before answers as then, and what changed something on a task is a sign of
 * life there.
 */
async function asWrite(
  tx: WriteTx,
  input: Output,
  argsHash: () => string,
  run: () => Promise<Output>,
): Promise<Output> {
  const key = typeof input.idempotency_key === 'string' ? input.idempotency_key : undefined
  const replay = key === undefined ? undefined : await storedReply(tx, key, argsHash())
  if (replay) return { ...replay, replayed: true }
  const output = await run()
  // Nobody holds what this very call has made.
  const made = new Set(eventsOf(tx).flatMap(({ kind, task }) => (kind === 'created' ? [task] : [])))
  const touched = [...new Set(eventsOf(tx).flatMap(({ task }) => (made.has(task) ? [] : (task ?? []))))]
  await extendLeases(tx, touched)
  if (key !== undefined) storeReply(tx, key, argsHash(), output)
  return output
}

/** Tells of commits in an account: `next` is true when there was one since the last look, false when the time is up. */
async function watchCommits(store: Store, account: number, ms: number, signal: AbortSignal) {
  let seen = false
  let over = false
  let wake = () => {}
  const end = () => {
    over = true
    wake()
  }
  const unsubscribe = await store.onEvents(account, () => {
    seen = true
    wake()
  })
  const timer = setTimeout(end, ms)
  signal.addEventListener('abort', end)
  if (signal.aborted) over = true
  return {
    async next(): Promise<boolean> {
      if (!seen && !over)
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      const changed = seen
      seen = false
      return changed && !over
    },
    stop(): void {
      clearTimeout(timer)
      signal.removeEventListener('abort', end)
      unsubscribe()
    },
  }
}

/**
 * Two calls are the same when tool and arguments are, whatever the order of the arguments, and when they see the same: a
 * credential that is narrowed to projects gets no answer that a wider one of its agent was given.
 */
function hashOf(name: string, raw: unknown, { projects }: Actor): string {
  const sorted = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(sorted)
    if (typeof value !== 'object' || value === null) return value
    return Object.entries(value)
      .filter(([key]) => key !== 'idempotency_key')
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, each]) => [key, sorted(each)])
  }
  return createHash('sha256')
    .update(JSON.stringify([name, sorted(raw), projects?.toSorted((a, b) => a - b)]))
    .digest('hex')
}
