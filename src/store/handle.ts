import { createHmac } from 'node:crypto'
import type { Compilable, Kysely, RawBuilder } from 'kysely'
import type { Actor } from '../model/actor.ts'
import type { NewEvent, StoredEvent } from '../model/event.ts'
import type { Kind } from '../model/id.ts'
import type { Dialect } from './dialect.ts'
import type { Queries, Result } from './engine.ts'
import { type LoggedEvent, textOfEvent } from './log.ts'
import type { Database, Row } from './tables.ts'

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
  readonly queries: Queries
  readonly dialect: Dialect
  readonly tool: string
  readonly tx: string
  readonly seal: (text: string) => string
  readonly events: StoredEvent[]
  /** Set when the transaction goes on without this job, or is over. */
  ended: boolean
}

type Reader = Pick<Kysely<Database>, 'selectFrom' | 'with' | 'fn' | 'getExecutor' | 'selectNoFrom'>

/**
 * The queries of a transaction. Only files of the store import this, so a tool can't write SQL; a {@link ReadTx} gives
 * no way to ask for a write.
 */
export function sqlOf(tx: WriteTx): Kysely<Database>
export function sqlOf(tx: ReadTx): Reader
export function sqlOf(tx: ReadTx): unknown {
  return queriesOf(tx).db
}

/** A part of a job that is still on its way when the job has ended must not write into another's transaction. */
function queriesOf(tx: ReadTx): Queries {
  if (tx[HANDLE].ended) throw new Error('The transaction of this handle has ended.')
  return tx[HANDLE].queries
}

/** Nothing is asked by this handle from now on. Called by the store alone. */
export function endHandle(tx: ReadTx): void {
  tx[HANDLE].ended = true
}

/** What this transaction's engine says in its own words. */
export function dialectOf(tx: ReadTx): Dialect {
  return tx[HANDLE].dialect
}

/** A list of numbers as one parameter, for `in`. */
export function inNumbers(tx: ReadTx, list: readonly number[]): RawBuilder<number> {
  return dialectOf(tx).numbers(JSON.stringify(list))
}

/** A list of texts as one parameter, for `in`. */
export function inTexts(tx: ReadTx, list: readonly string[]): RawBuilder<string> {
  return dialectOf(tx).texts(JSON.stringify(list))
}

/**
 * A query that is built and compiled once for each engine, and then only bound: building it again at each call costs more
 * than most queries themselves. `build` gets names in place of values, which may stand wherever a parameter may; a list is
 * given as JSON, for {@link Dialect.numbers}.
 *
 * @example const stepsOfTask = readQuery((db, p: { account: number; task: number }) =>
 *   db.selectFrom('steps').selectAll().where('account', '=', p.account).where('task', '=', p.task))
 */
export function readQuery<V extends object, R>(
  build: (db: Reader, values: V, dialect: Dialect) => Compilable<R>,
): (tx: ReadTx, values: V) => Promise<R[]> {
  const bind = boundOnce(build)
  return (tx, values) => queriesOf(tx).rows<R>(...bind(tx, values))
}

/** {@link readQuery} for what writes. */
export function writeQuery<V extends object, R>(
  build: (db: Kysely<Database>, values: V, dialect: Dialect) => Compilable<R>,
): (tx: WriteTx, values: V) => Promise<Result<R>> {
  const bind = boundOnce(build as (db: Reader, values: V, dialect: Dialect) => Compilable<unknown>)
  return (tx, values) => queriesOf(tx).run<R>(...bind(tx, values))
}

/** {@link writeQuery} for what gives nothing back, so that nobody has to wait for it. */
export function laterQuery<V extends object>(
  build: (db: Kysely<Database>, values: V, dialect: Dialect) => Compilable<unknown>,
): (tx: WriteTx, values: V) => void {
  const bind = boundOnce(build as (db: Reader, values: V, dialect: Dialect) => Compilable<unknown>)
  return (tx, values) => queriesOf(tx).later(...bind(tx, values))
}

/** A query's text, and which value stands at each of its parameters; what is not a value of the call's is fixed. */
interface Compiled {
  sql: string
  parameters: readonly (Named | { fixed: unknown })[]
}

interface Named {
  name: string
}

const isNamed = (value: unknown): value is Named =>
  typeof value === 'object' && value !== null && PLACE in value

const PLACE = Symbol('place of a value')

/** Stands in for the values of a call while its query is built: each gives its name in place of itself. */
const names = new Proxy({}, { get: (_, name) => ({ [PLACE]: true, name }) })

function boundOnce<V extends object>(
  build: (db: Reader, values: V, dialect: Dialect) => Compilable<unknown>,
): (tx: ReadTx, values: V) => [sql: string, parameters: unknown[]] {
  const compiled = new Map<Dialect, Compiled>()
  return (tx, values) => {
    const { queries, dialect } = tx[HANDLE]
    let query = compiled.get(dialect)
    if (!query) {
      const { sql, parameters } = build(queries.db, names as V, dialect).compile()
      query = { sql, parameters: parameters.map((value) => (isNamed(value) ? value : { fixed: value })) }
      compiled.set(dialect, query)
    }
    const parameters = query.parameters.map((each) =>
      'fixed' in each ? each.fixed : values[each.name as keyof V],
    )
    return [query.sql, parameters]
  }
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

const logKeys = new WeakMap<Handle['seal'], string>()

/**
 * A keyed hash over what stands in the log or seals it, in base64url, under a key that is made from the installation's and
 * used for nothing else. `what` keeps one kind of text from standing in for another.
 */
export function logSealOf(tx: ReadTx, what: string, text: string): string {
  const { seal } = tx[HANDLE]
  let key = logKeys.get(seal)
  if (key === undefined) {
    key = seal('key of the log, version 1')
    logKeys.set(seal, key)
  }
  return createHmac('sha256', key).update(what).update('\n').update(text).digest('base64url')
}

/** What an event's row carries so that it can't be forged: half of a keyed hash, which is 128 bits. */
export function sealOfEvent(tx: ReadTx, event: LoggedEvent): string {
  return logSealOf(tx, 'event', textOfEvent(event)).slice(0, 22)
}

/** Events inserted so far in this transaction. */
export function eventsOf(tx: ReadTx): readonly StoredEvent[] {
  return tx[HANDLE].events
}

/** Makes the handle of one job. Called by the store alone. */
export function openHandle(
  { queries, dialect, tool, tx, seal }: Omit<Handle, 'events' | 'ended'>,
  actor: Actor,
  now: number,
  site: string,
): DestroyTx {
  const handle: Handle = { queries, dialect, tool, tx, seal, events: [], ended: false }
  return { [HANDLE]: handle, actor, account: actor.account, now, site } as unknown as DestroyTx
}

const lastNumber = readQuery((db, p: { account: number; kind: Kind }) =>
  db.selectFrom('counters').select('last').where('account', '=', p.account).where('kind', '=', p.kind),
)

/**
 * The next number of a kind; rises for ever and is never given twice, whatever happens to its row. See {@link Numbers} for
 * when it is written down.
 */
export async function nextNumber(tx: WriteTx, kind: Kind, count = 1): Promise<number> {
  const { account } = tx
  const { numbers } = queriesOf(tx)
  if (!numbers.knows(account, kind)) {
    const [counter] = await lastNumber(tx, { account, kind })
    // Another part of the job may have read it meanwhile, and given numbers since.
    if (!numbers.knows(account, kind)) numbers.read({ account, kind, last: counter?.last ?? 0 })
  }
  return numbers.give(account, kind, count)
}

const insertEvent = laterQuery((db, row: Row<'events'>) =>
  db.insertInto('events').values({
    account: row.account,
    id: row.id,
    at: row.at,
    actor: row.actor,
    tool: row.tool,
    kind: row.kind,
    task: row.task,
    project: row.project,
    object: row.object,
    data: row.data,
    seal: row.seal,
  }),
)

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
  insertEvent(tx, { ...row, data, seal: sealOfEvent(tx, { ...row, data }) })
  tx[HANDLE].events.push(row)
  return id
}

const projectOfTask = readQuery((db, p: { account: number; task: number }) =>
  db.selectFrom('tasks').select('project').where('account', '=', p.account).where('id', '=', p.task),
)

/** A task's event is its project's too, so that feeds of a project are whole; most callers have the project at hand. */
async function projectOf(tx: ReadTx, task: number | null | undefined): Promise<number | null> {
  if (task == null) return null
  const [found] = await projectOfTask(tx, { account: tx.account, task })
  return found?.project ?? null
}
