import type { Kysely, RawBuilder } from 'kysely'
import type { Actor } from '../model/actor.ts'
import type { NewEvent, StoredEvent } from '../model/event.ts'
import type { Kind } from '../model/id.ts'
import type { Dialect } from './dialect.ts'
import type { Database } from './tables.ts'

const HANDLE = Symbol('handle')
declare const READS: unique symbol
declare const WRITES: unique symbol
declare const DESTROYS: unique symbol

/** What a read tool gets: one snapshot of the account, on a connection with which the database itself refuses writes. */
export interface ReadTx {
  readonly [READS]: true
  readonly [HANDLE]: Handle
  readonly actor: Actor
  readonly account: number
  /** Milliseconds since the epoch; the only clock inside a call. */
  readonly now: number
  /** Where people open Done, for the addresses of pages in answers; without a slash at the end. */
  readonly site: string
}

/** What an additive write gets: it adds rows and moves lifecycle state, and can call nothing that does more. */
export interface WriteTx extends ReadTx {
  readonly [WRITES]: true
}

/** What a destructive write gets: it may also replace what people wrote, and move things to the Trash. */
export interface DestroyTx extends WriteTx {
  readonly [DESTROYS]: true
}

interface Handle {
  readonly db: Kysely<Database>
  readonly dialect: Dialect
  readonly tool: string
  readonly tx: string
  readonly seal: (text: string) => string
  readonly events: StoredEvent[]
}

type Reader = Pick<Kysely<Database>, 'selectFrom' | 'with' | 'fn' | 'getExecutor' | 'selectNoFrom'>

/**
 * The queries of a transaction. Only files of the store import this, so a tool can't write SQL; a {@link ReadTx} gives
 * no way to ask for a write.
 */
export function sqlOf(tx: WriteTx): Kysely<Database>
export function sqlOf(tx: ReadTx): Reader
export function sqlOf(tx: ReadTx): unknown {
  return tx[HANDLE].db
}

/** What this transaction's engine says in its own words. */
export function dialectOf(tx: ReadTx): Dialect {
  return tx[HANDLE].dialect
}

/** A list of numbers as one parameter, for `in`. */
export function inNumbers(tx: ReadTx, list: readonly number[]): RawBuilder<number> {
  return dialectOf(tx).numbers(list)
}

/** A list of texts as one parameter, for `in`. */
export function inTexts(tx: ReadTx, list: readonly string[]): RawBuilder<string> {
  return dialectOf(tx).texts(list)
}

/** The tool in whose name the transaction runs: the tool column of events. */
export function toolOf(tx: ReadTx): string {
  return tx[HANDLE].tool
}

/** This transaction's own name, which a sign-off carries (gate: "used up in the closing transaction"). */
export function transactionOf(tx: WriteTx): string {
  return tx[HANDLE].tx
}

/** A keyed hash over a sign-off or its form, under a key that lies outside the database. */
export function sealOf(tx: ReadTx, text: string): string {
  return tx[HANDLE].seal(text)
}

/** Events inserted so far in this transaction. */
export function eventsOf(tx: ReadTx): readonly StoredEvent[] {
  return tx[HANDLE].events
}

/** Makes the handle of one job. Called by the store alone. */
export function openHandle(
  handle: Omit<Handle, 'events'>,
  actor: Actor,
  now: number,
  site: string,
): DestroyTx {
  return {
    [HANDLE]: { ...handle, events: [] },
    actor,
    account: actor.account,
    now,
    site,
  } as unknown as DestroyTx
}

/** The next number of a kind; rises for ever and is never given twice, whatever happens to its row. */
export async function nextNumber(tx: WriteTx, kind: Kind, count = 1): Promise<number> {
  const { last } = await sqlOf(tx)
    .insertInto('counters')
    .values({ account: tx.account, kind, last: count })
    .onConflict((oc) =>
      oc.columns(['account', 'kind']).doUpdateSet((eb) => ({ last: eb('counters.last', '+', count) })),
    )
    .returning('last')
    .executeTakeFirstOrThrow()
  return last - count + 1
}

/**
 * Inserts an event in the transaction whose change it records. It is published after the commit; a rollback says
 * nothing. Returns the event's number.
 */
export async function emit(tx: WriteTx, event: NewEvent): Promise<number> {
  const id = await nextNumber(tx, 'event')
  const data = event.changes || event.data ? JSON.stringify({ ...event.data, changes: event.changes }) : null
  const row = {
    account: tx.account,
    id,
    at: tx.now,
    actor: tx.actor.id,
    tool: tx[HANDLE].tool,
    kind: event.kind,
    task: event.task ?? null,
    project: event.project === undefined ? await projectOf(tx, event.task) : event.project,
    object: event.object ?? null,
  }
  await sqlOf(tx)
    .insertInto('events')
    .values({ ...row, data })
    .execute()
  tx[HANDLE].events.push(row)
  return id
}

/** A task's event is its project's too, so that feeds of a project are whole; most callers have the project at hand. */
async function projectOf(tx: ReadTx, task: number | null | undefined): Promise<number | null> {
  if (task == null) return null
  const found = await sqlOf(tx)
    .selectFrom('tasks')
    .select('project')
    .where('account', '=', tx.account)
    .where('id', '=', task)
    .executeTakeFirst()
  return found?.project ?? null
}
