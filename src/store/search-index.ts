import { type RawBuilder, sql } from 'kysely'
import { partsOf, piecesOf, piecesOfTerm, type Term, wordsOf } from '../model/search.ts'
import { fold } from '../model/suggest.ts'
import {
  type DestroyTx,
  dialectOf,
  inTexts,
  laterQuery,
  type ReadTx,
  sqlOf,
  type WriteTx,
  writeQuery,
} from './handle.ts'

export type SearchKind = 'task' | 'step' | 'comment' | 'project' | 'run' | 'artifact'

/** Where a found text belongs, so that a search can be narrowed without opening every hit. */
export interface SearchPlace {
  task?: number | null
  project?: number | null
}

/**
 * Full text, which the engines keep each in its own way: SQLite in two FTS5 indexes beside `search_docs`, one of words and
 * one of word parts; PostgreSQL in `search_docs` itself, as the folded text and its pieces under a GIN index.
 */
interface SearchEngine {
  put(
    tx: WriteTx,
    kind: SearchKind,
    object: number,
    place: Required<SearchPlace>,
    text: string,
  ): Promise<void>
  /** What `where` over `search_docs` names is forgotten. */
  drop(tx: WriteTx, where: RawBuilder<unknown>): Promise<void>
  /** The documents `d` with all of the terms: what stands between FROM and the rest of the conditions. */
  documentsWith(tx: ReadTx, terms: readonly Term[]): RawBuilder<unknown>
  newestFirst(terms: readonly Term[]): RawBuilder<unknown>
}

interface Document extends Required<SearchPlace> {
  account: number
  kind: SearchKind
  object: number
  at: number
}

const putDocument = writeQuery((db, p: Document) =>
  db
    .insertInto('search_docs')
    .values({
      account: p.account,
      kind: p.kind,
      object: p.object,
      task: p.task,
      project: p.project,
      at: p.at,
    })
    .onConflict((oc) =>
      oc.columns(['account', 'kind', 'object']).doUpdateSet((eb) => ({
        task: eb.ref('excluded.task'),
        project: eb.ref('excluded.project'),
        at: eb.ref('excluded.at'),
      })),
    )
    .returning('doc'),
)

const [putWords, putParts] = (['search_words', 'search_parts'] as const).map((index) =>
  laterQuery((db, p: { doc: number; text: string }) => ({
    compile: () =>
      sql<never>`REPLACE INTO ${sql.table(index)} (rowid, text) VALUES (${p.doc}, ${p.text})`.compile(db),
  })),
)

const IN_SQLITE: SearchEngine = {
  async put(tx, kind, object, place, text) {
    const { rows } = await putDocument(tx, { ...place, account: tx.account, kind, object, at: tx.now })
    const { doc } = rows[0]!
    putWords!(tx, { doc, text: wordsOf(text) })
    putParts!(tx, { doc, text: partsOf(text) })
  },
  async drop(tx, where) {
    const db = sqlOf(tx)
    const docs = sql`SELECT doc FROM search_docs WHERE account = ${tx.account} AND ${where}`
    await sql`DELETE FROM search_words WHERE rowid IN (${docs})`.execute(db)
    await sql`DELETE FROM search_parts WHERE rowid IN (${docs})`.execute(db)
  },
  documentsWith(_tx, terms) {
    const [first, second] = indexesFor(terms)
    // CROSS JOIN keeps the index of words in front, so that the newest come first and the search stops when it has enough.
    return sql`${first!.table} CROSS JOIN search_docs AS d ON d.doc = ${first!.table}.rowid
      WHERE ${first!.table} MATCH ${first!.match}
        ${second ? sql`AND d.doc IN (SELECT rowid FROM ${second.table} WHERE ${second.table} MATCH ${second.match})` : sql``}`
  },
  newestFirst: (terms) => sql`${indexesFor(terms)[0]!.table}.rowid DESC`,
}

function indexesFor(terms: readonly Term[]) {
  return (['words', 'parts'] as const).flatMap((index) => {
    const match = terms.filter((term) => term.index === index).map((term) => term.match)
    return match.length > 0 ? [{ table: sql.table(`search_${index}`), match: match.join(' ') }] : []
  })
}

interface Folded extends Document {
  folded: string
  /** As JSON. */
  pieces: string
}

const putFolded = laterQuery((db, p: Folded, dialect) => ({
  compile: () =>
    sql<never>`INSERT INTO search_docs (account, kind, object, task, project, at, folded, pieces)
      VALUES (${p.account}, ${p.kind}, ${p.object}, ${p.task}, ${p.project}, ${p.at}, ${p.folded}, ARRAY${dialect.texts(p.pieces)})
      ON CONFLICT (account, kind, object) DO UPDATE SET task = excluded.task, project = excluded.project,
        at = excluded.at, folded = excluded.folded, pieces = excluded.pieces`.compile(db),
}))

const IN_POSTGRES: SearchEngine = {
  async put(tx, kind, object, place, text) {
    const pieces = JSON.stringify(own(tx.account, [...piecesOf(text)]))
    const document = { ...place, account: tx.account, kind, object, at: tx.now }
    putFolded(tx, { ...document, folded: fold(text), pieces })
  },
  async drop() {},
  documentsWith(tx, terms) {
    // Row-level security would keep the planner from the index of pieces, so a function looks there for us, in the own account.
    const pieces = inTexts(tx, own(tx.account, [...new Set(terms.flatMap(piecesOfTerm))]))
    const whole = terms.filter((term) => piecesOfTerm(term).length > 1).map((term) => term.folded)
    return sql`done_documents(ARRAY${pieces}, ARRAY${inTexts(tx, whole)}) AS d WHERE true`
  },
  newestFirst: () => sql`d.doc DESC`,
}

/** Pieces carry the account, so that an index that all accounts share is read in one account's part alone. */
export const own = (account: number, pieces: readonly string[]): string[] =>
  pieces.map((piece) => `${account} ${piece}`)

const engineOf = (tx: ReadTx): SearchEngine => (dialectOf(tx).engine === 'sqlite' ? IN_SQLITE : IN_POSTGRES)

/** Puts the words of a thing into the index, in place of what stood there for it. */
export async function indexText(
  tx: WriteTx,
  kind: SearchKind,
  object: number,
  place: SearchPlace,
  texts: readonly (string | null | undefined)[],
): Promise<void> {
  const { task = null, project = null } = place
  await engineOf(tx).put(tx, kind, object, { task, project }, texts.filter(Boolean).join('\n'))
}

/** Takes things out of the index; `where` is over search_docs. */
export async function dropFromIndex(tx: WriteTx, where: RawBuilder<unknown>): Promise<void> {
  await engineOf(tx).drop(tx, where)
  await sql`DELETE FROM search_docs WHERE account = ${tx.account} AND ${where}`.execute(sqlOf(tx))
}

/**
 * Has the index forget the words of what it no longer holds. SQLite only marks them as gone until it merges its parts, and does
 * that here at once; PostgreSQL keeps the words in their row.
 */
export async function compactIndex(tx: DestroyTx): Promise<void> {
  if (dialectOf(tx).engine !== 'sqlite') return
  for (const index of ['search_words', 'search_parts'])
    await sql`INSERT INTO ${sql.table(index)} (${sql.ref(index)}) VALUES ('optimize')`.execute(sqlOf(tx))
}

/** The documents `d` that hold all of the terms, one or more: what follows FROM, up to the first AND. */
export function documentsWith(tx: ReadTx, terms: readonly Term[]): RawBuilder<unknown> {
  return engineOf(tx).documentsWith(tx, terms)
}

/** The order of {@link documentsWith} in which the newest come first. */
export function newestFirst(tx: ReadTx, terms: readonly Term[]): RawBuilder<unknown> {
  return engineOf(tx).newestFirst(terms)
}
