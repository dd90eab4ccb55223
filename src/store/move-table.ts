import { MIGRATIONS } from './migrate.ts'
import { openSqlite } from './sqlite.ts'
import { TABLES } from './tables.ts'

/** A table to move: what both engines keep of it, and the order in which its rows are read on both. */
export interface MoveTable {
  readonly name: string
  readonly columns: readonly string[]
  readonly key: readonly string[]
  /** Rows that are read, and written, at once. */
  readonly chunk: number
}

export type MoveRow = Readonly<Record<string, unknown>>

/** Rows of one table in the order of its key, some at a time. */
export type Rows = AsyncIterable<readonly MoveRow[]>

/** A pair of rows with one key; at least one is there. */
export interface Pair {
  source?: MoveRow
  target?: MoveRow
}

/** The database that everything is read from, of which nothing is changed. */
export interface MoveSource {
  /** What tells this installation from another. */
  readonly identity: string
  rows(table: MoveTable): Rows
  /** The texts under which documents of the search are found, by document. */
  textsOf(documents: readonly MoveRow[]): Promise<ReadonlyMap<number, string>>
  /** Changes with every commit of anybody's. */
  stamp(): Promise<string>
  /** Whether a Done is connected, idle as it may be. A file does not tell. */
  isAtWork(): Promise<boolean>
  close(): Promise<void>
}

/** The database that is filled: tables without indexes, references, triggers, policies and grants, and the mark of a move. */
export interface MoveTarget {
  rows(table: MoveTable): Rows
  /** One transaction: rows go, by their keys, and rows come. */
  replace(
    table: MoveTable,
    gone: readonly MoveRow[],
    come: readonly MoveRow[],
    texts: ReadonlyMap<number, string>,
  ): Promise<void>
  /**
   * In one transaction: has the rows checked, lays indexes and references, asks whether every sign-off holds, lays the
   * walls, and takes the mark away. Gives what is wrong where something is; then nothing of it is kept.
   */
  finish(check: (rows: MoveTarget['rows']) => Promise<string | undefined>): Promise<string | undefined>
  /** Removes everything that was moved here. */
  drop(): Promise<void>
  close(): Promise<void>
}

/** Rows at once, where one may be large: files have up to 10 MB, texts up to 100,000 characters. */
const FEW: Readonly<Record<string, number>> = { artifact_bytes: 2, artifacts: 50, search_docs: 250 }

/** Every table, in the order in which they are declared. `chunk` is how many rows are read at once, 500 by default. */
export function tablesToMove(chunk = 500): MoveTable[] {
  const db = openSqlite(':memory:', 'write')
  for (const { sqlite } of MIGRATIONS) db.exec(sqlite)
  // The keys are SQLite's, of which two are shorter there; they name one row on PostgreSQL too.
  const tables = Object.entries(TABLES).map(([name, columns]) => ({
    name,
    columns: Object.keys(columns),
    key: (
      db.prepare(`SELECT name FROM pragma_table_info('${name}') WHERE pk > 0 ORDER BY pk`).all([]) as {
        name: string
      }[]
    ).map((column) => column.name),
    chunk: Math.min(chunk, FEW[name] ?? chunk),
  }))
  db.close()
  return tables
}

/** The rows of both sides by their keys, in order. */
export async function* paired(table: MoveTable, source: Rows, target: Rows): AsyncGenerator<Pair> {
  const [left, right] = [reader(source), reader(target)]
  try {
    for (;;) {
      const [from, to] = [await left.peek(), await right.peek()]
      if (!from && !to) return
      const order = !from ? 1 : !to ? -1 : compareKeys(table, from, to)
      if (order <= 0) left.next()
      if (order >= 0) right.next()
      yield { ...(order <= 0 ? { source: from! } : {}), ...(order >= 0 ? { target: to! } : {}) }
    }
  } finally {
    await left.stop()
    await right.stop()
  }
}

function reader(rows: Rows) {
  const chunks = rows[Symbol.asyncIterator]()
  let chunk: readonly MoveRow[] = []
  let at = 0
  let ended = false
  return {
    async peek(): Promise<MoveRow | undefined> {
      while (at >= chunk.length && !ended) {
        const { value, done } = await chunks.next()
        ended = done === true
        chunk = ended ? [] : (value as readonly MoveRow[])
        at = 0
      }
      return chunk[at]
    },
    next: () => void at++,
    stop: () => chunks.return?.(),
  }
}

/** In the order of both databases: numbers by size, texts by their bytes. */
function compareKeys({ key }: MoveTable, a: MoveRow, b: MoveRow): number {
  for (const column of key) {
    const [x, y] = [a[column], b[column]]
    const order = typeof x === 'number' ? x - (y as number) : Buffer.compare(bytesOf(x), bytesOf(y))
    if (order !== 0) return order
  }
  return 0
}

const bytesOf = (text: unknown): Buffer => Buffer.from(text as string)

/** What differs in a pair, in words; undefined where they are the same in every column. */
export function differenceIn(table: MoveTable, { source, target }: Pair): string | undefined {
  if (!target) return `${nameOf(table, source!)} is missing in the new database`
  if (!source) return `${nameOf(table, target)} is in the new database only`
  const column = table.columns.find((each) => !same(source[each], target[each]))
  return column && `${nameOf(table, source)} has another ${column} in the new database`
}

const nameOf = ({ name, key }: MoveTable, row: MoveRow): string =>
  `${name} (${key.map((column) => `${column} ${row[column]}`).join(', ')})`

function same(a: unknown, b: unknown): boolean {
  return a === b || (a instanceof Uint8Array && b instanceof Uint8Array && Buffer.compare(a, b) === 0)
}
