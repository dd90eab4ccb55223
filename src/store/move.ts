import type { Actor } from '../model/actor.ts'
import { openPostgresMoment, openPostgresSource } from './move-postgres-source.ts'
import { openPostgresTarget } from './move-postgres-target.ts'
import { openSqliteSource, openSqliteTarget } from './move-sqlite.ts'
import {
  differenceIn,
  type MoveRow,
  type MoveSource,
  type MoveTable,
  type MoveTarget,
  paired,
  tablesToMove,
} from './move-table.ts'

export interface MoveOptions {
  /** The engine that the data are moved to; they come from the other one. */
  to: 'postgres' | 'embedded'
  /** Folder of the embedded database. */
  dir: string
  /** Address of the PostgreSQL database, as its owner. */
  database: string
  /** How the names of the database's roles begin. */
  rolePrefix?: string | undefined
  /** A keyed hash over a sign-off's text, under the key of both. */
  seal: (text: string) => string
  /** Done itself in an account, in whose name rows are read. */
  actorOf: (account: number) => Actor
  /** Rows that are read at once; 500 by default. */
  chunk?: number
  /** Told of each step after it is on disk, and waited for. What it throws stops the move, which can be resumed. */
  tell: (step: MoveStep) => unknown
}

/** How far a move is: after a chunk, after all rows of a table, and after all of them were compared. */
export interface MoveStep {
  of: 'chunk' | 'table' | 'check'
  table: string
  /** Rows of the table up to here. */
  rows: number
  /** Of which are new in the target; the others were there from a move before. */
  copied: number
}

/** What was moved and compared. */
export interface Moved {
  tables: number
  rows: number
  /** A Done is still connected to what was moved from: what it writes from now on stays there. */
  leftAtWork: boolean
}

/**
 * Moves all data from one engine to the other: every row of every table, in chunks, each a transaction, so that a move that
 * was stopped goes on where it was. Then every row is read from both sides and compared in full, every closing must have
 * its sign-off, and only then are the walls laid and the target opened to Done (spec: gate, "In the database too"). Nothing
 * of the source is changed.
 *
 * Throws where the target is in use, where the source's key is another, and where the source changed meanwhile: then the
 * same move goes on. Throws and removes everything from the target where the two are not the same although it did not.
 */
export async function moveEngine(options: MoveOptions): Promise<Moved> {
  const source = await (options.to === 'postgres' ? openSqliteSource(options) : openPostgresSource(options))
  try {
    const target = await (options.to === 'postgres' ? openPostgresTarget : openSqliteTarget)(
      options,
      source.identity,
    )
    try {
      return await moveAll(source, target, options)
    } finally {
      await target.close()
    }
  } finally {
    await source.close()
  }
}

/**
 * Writes one moment of the PostgreSQL database into a new embedded one in `dir`, with every row compared, while others go on
 * writing. Throws as {@link moveEngine} does.
 */
export async function copyMoment(options: Omit<MoveOptions, 'to' | 'tell'>): Promise<void> {
  const source = await openPostgresMoment(options)
  try {
    const target = await openSqliteTarget(options, source.identity)
    try {
      await moveAll(source, target, { ...options, to: 'embedded', tell() {} })
    } finally {
      await target.close()
    }
  } finally {
    await source.close()
  }
}

async function moveAll(source: MoveSource, target: MoveTarget, options: MoveOptions): Promise<Moved> {
  const { to, chunk, tell } = options
  const tables = tablesToMove(chunk)
  const before = await source.stamp()
  for (const table of tables) await copy(table, source, target, tell)
  let rows = 0
  let changed = false
  const fault = await target.finish(async (rowsOf) => {
    let difference: string | undefined
    for (const table of tables) {
      const compared = await compare(table, source, rowsOf)
      difference = compared.difference
      if (difference !== undefined) break
      rows += compared.rows
      await tell({ of: 'check', table: table.name, rows: compared.rows, copied: 0 })
    }
    changed = (await source.stamp()) !== before
    return changed ? 'the source changed' : difference
  })
  if (changed) {
    throw new Error(
      `The data changed while they were moved, so a server still works on them. Stop every server and every donectl mcp, and run "donectl migrate-engine --to ${to}" again: it goes on from here.`,
    )
  }
  if (fault !== undefined) {
    await target.drop()
    throw new Error(
      `The move was given up: ${fault}. Everything that was moved is removed again, and the data are where they were.`,
    )
  }
  return { tables: tables.length, rows, leftAtWork: await source.isAtWork() }
}

/**
 * Brings the target's rows of a table to the source's. In a new target all are inserted; where a move goes on, what is
 * there is compared first, since the source may have changed in between. A document of the search is of its text: whenever
 * it is indexed anew its row gets another time.
 */
async function copy(
  table: MoveTable,
  source: MoveSource,
  target: MoveTarget,
  tell: MoveOptions['tell'],
): Promise<void> {
  let gone: MoveRow[] = []
  let come: MoveRow[] = []
  let [rows, copied] = [0, 0]
  const flush = async () => {
    if (gone.length + come.length === 0) return
    const texts = table.name === 'search_docs' ? await source.textsOf(come) : NO_TEXTS
    await target.replace(table, gone, come, texts)
    copied += come.length
    gone = []
    come = []
    await tell({ of: 'chunk', table: table.name, rows, copied })
  }
  for await (const pair of paired(table, source.rows(table), target.rows(table))) {
    if (pair.source) rows++
    if (differenceIn(table, pair) === undefined) continue
    if (pair.target) gone.push(pair.target)
    if (pair.source) come.push(pair.source)
    if (Math.max(gone.length, come.length) >= table.chunk) await flush()
  }
  await flush()
  await tell({ of: 'table', table: table.name, rows, copied })
}

const NO_TEXTS: ReadonlyMap<number, string> = new Map()

/** Reads all rows of a table from both sides, up to the first that is not the same. */
async function compare(
  table: MoveTable,
  source: MoveSource,
  rowsOf: MoveTarget['rows'],
): Promise<{ rows: number; difference?: string }> {
  let rows = 0
  for await (const pair of paired(table, source.rows(table), rowsOf(table))) {
    const difference = differenceIn(table, pair)
    if (difference !== undefined) return { rows, difference }
    rows++
  }
  return { rows }
}
