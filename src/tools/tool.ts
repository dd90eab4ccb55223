import type { z } from 'zod'
import type { Actor } from '../model/actor.ts'
import type { Kind } from '../model/id.ts'
import type { Outside } from '../model/outside.ts'
import type { DestroyTx, ReadTx, WriteTx } from '../store/handle.ts'

type Effect = 'read' | 'write' | 'destroy'
type World = 'closed' | 'open'
type Toolset =
  | 'me'
  | 'tasks'
  | 'discussion'
  | 'projects'
  | 'runs'
  | 'approvals'
  | 'organise'
  | 'trash'
  | 'calendar'
  | 'context'
  | 'plan'
export type Method = 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'

/**
 * What a tool of the open world gets instead of a transaction, since no network call may hold one: the connectors, and
 * short transactions before and after.
 */
export interface OpenRead {
  readonly actor: Actor
  readonly now: number
  readonly outside: Outside
  readonly signal: AbortSignal
  read<T>(run: (tx: ReadTx) => Promise<T>): Promise<T>
}
export interface OpenWrite extends OpenRead {
  write<T>(run: (tx: WriteTx) => Promise<T>): Promise<T>
}

/** What every tool says of itself, whatever it does. The key in the catalogue is its name. */
export interface Description<Input extends z.ZodObject, Tx> {
  /** For people: what a host shows in its button and its question. */
  title: string
  /** For models: what it does, when to take another tool instead. One or two short sentences. */
  does: string
  toolset: Toolset
  /** Arguments, strict: an unknown one is an error that names the right one. */
  input: Input
  /** Shape of the answer's structured content. */
  output: z.ZodObject
  /** Address in REST; `:name` takes the argument of that name. */
  http: `${Method} /${string}`
  /** A call that works on the sample account; feeds docs, help and the contract test. */
  example: Record<string, unknown>
  /** Kind of the object that `id` names: `<kind>_id` is then accepted as well. */
  noun?: Kind
  /** A property, not a method: as a method a read tool could ask for a WriteTx and it would compile. */
  run: (tx: Tx, input: z.output<Input>) => Promise<Record<string, unknown>>
  /**
   * For reads that can wait: while this holds and the input's `wait_seconds` have not passed, the answer is held back and
   * read again, in a new snapshot, after each commit.
   */
  pending?: (output: Record<string, unknown>) => boolean
}

/** A tool of the catalogue. `effect` and `world` choose the transaction, the scope and the hints. */
export interface Tool {
  readonly title: string
  readonly does: string
  readonly toolset: Toolset
  readonly input: z.ZodObject
  readonly output: z.ZodObject
  readonly http: `${Method} /${string}`
  readonly example: Record<string, unknown>
  readonly noun?: Kind
  readonly effect: Effect
  readonly convergent: boolean
  readonly world: World
  readonly run: (tx: never, input: never) => Promise<Record<string, unknown>>
  readonly pending?: (output: Record<string, unknown>) => boolean
}

interface Convergent {
  /** True where a second identical call leaves every row as the first left it, and succeeds. */
  convergent?: true
}

/** A tool that can change nothing. It runs on a connection with which the database itself refuses writes. */
export function read<I extends z.ZodObject>(tool: Description<I, ReadTx>): Tool {
  return { ...tool, effect: 'read', convergent: true, world: 'closed' } as Tool
}

/** A tool that only adds rows or moves lifecycle state, so that nothing anyone wrote is lost or hidden. */
export function write<I extends z.ZodObject>(tool: Description<I, WriteTx> & Convergent): Tool {
  return { ...tool, effect: 'write', convergent: tool.convergent ?? false, world: 'closed' } as Tool
}

/** A tool that may replace what people wrote, or move things to the Trash. */
export function destroy<I extends z.ZodObject>(tool: Description<I, DestroyTx> & Convergent): Tool {
  return { ...tool, effect: 'destroy', convergent: tool.convergent ?? false, world: 'closed' } as Tool
}

/** A read that reaches beyond the account's own rows. */
export function readOutside<I extends z.ZodObject>(tool: Description<I, OpenRead>): Tool {
  return { ...tool, effect: 'read', convergent: true, world: 'open' } as Tool
}

/** A write that reaches beyond the account's own rows and adds there, never replaces. */
export function writeOutside<I extends z.ZodObject>(tool: Description<I, OpenWrite> & Convergent): Tool {
  return { ...tool, effect: 'write', convergent: tool.convergent ?? false, world: 'open' } as Tool
}
