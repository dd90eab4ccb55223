import type { Kysely } from 'kysely'
import type { Actor } from '../model/actor.ts'
import type { StoredEvent } from '../model/event.ts'
import type { Dialect } from './dialect.ts'
import type { EventFeed } from './feed.ts'
import type { Numbers } from './numbers.ts'
import type { Database } from './tables.ts'

/** What a query has come to. */
export interface Result<R> {
  rows: R[]
  /** Rows inserted, changed or removed. */
  affected: number
}

/** The queries of one transaction. */
export interface Queries {
  /** Builds queries and runs them. */
  db: Kysely<Database>
  /** Runs one that is compiled. */
  run<R>(sql: string, parameters: readonly unknown[]): Promise<Result<R>>
  /** The rows of one that is compiled. */
  rows<R>(sql: string, parameters: readonly unknown[]): Promise<R[]>
  /**
   * Sends one whose result nobody needs: over a network it travels with what follows. Where it fails, so does what follows,
   * or {@link settled}.
   */
  later(sql: string, parameters: readonly unknown[]): void
  /** The counters of this transaction: nobody else gives any number until it ends. */
  readonly numbers: Numbers
  /** Resolves once everything sent has succeeded. */
  settled(): Promise<void>
}

/** In whose name a transaction writes, which the database's own walls ask for. */
export interface Scope {
  account: number
  kind: Actor['kind']
  effect: 'write' | 'destroy'
}

/**
 * What a job of writing comes to: its value, and the events to tell of once it is committed. By the time the value is there
 * the next job may be on its way; all that the job writes has been sent before it.
 */
export interface Done<T> {
  value: Promise<T>
  events: readonly StoredEvent[]
}

/** A database under the store. Both engines promise the same; how they keep it is their own. */
export interface Engine {
  readonly dialect: Dialect
  /** Runs in one snapshot of an account, on a connection with which the database refuses writes. May run again. */
  read<T>(account: number, run: (queries: Queries) => Promise<T>): Promise<T>
  /**
   * Runs alone in its account, as one transaction whose name is `tx`; resolves after the commit is on disk. May run again
   * where the engine knows that nothing of it was kept.
   */
  write<T>(scope: Scope, run: (queries: Queries, tx: string) => Promise<Done<T>>): Promise<T>
  readonly feed: EventFeed
  /** Has the engine forget what rows have held before: until then it may stand in unused parts of its files. */
  scrub(): Promise<void>
  /** See {@link Store.credentialStamp}. */
  credentialStamp(): number | undefined
  /** The version of the schema that the database has by now. */
  schemaVersion(): Promise<number>
  /** Jobs of writing that no transaction has taken yet. */
  waiting(): number
  close(): Promise<void>
}
