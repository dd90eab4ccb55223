import { sql } from 'kysely'
import { type Term, titleScore } from '../model/search.ts'
import { inNumbers, inTexts, type ReadTx, sqlOf } from './handle.ts'
import { type Page, type PageInput, readCursor, tagOf, writeCursor } from './page.ts'
import { documentsWith, newestFirst, type SearchKind } from './search-index.ts'
import type { Row } from './tables.ts'

interface SearchFilter {
  kinds?: readonly SearchKind[] | undefined
  project?: number | undefined
  includeClosed: boolean
}

/** A thing whose text holds every term. */
export interface Hit {
  doc: number
  kind: SearchKind
  object: number
  task: number | null
  /** How well its title fits; within one score the newer comes first. */
  score: number
}

/**
 * Most hits that are ranked. Where more things hold the words the newest are taken, so that a common word costs the same
 * in a large account.
 */
const MOST_HITS = 1000

/**
 * A page of what the caller can see and what holds all terms, best first. The cursor is the last hit's place in that
 * order, so things that come or go between two pages neither repeat nor hide others.
 */
export async function searchPage(
  tx: ReadTx,
  terms: readonly Term[],
  filter: SearchFilter,
  input: PageInput,
): Promise<Page<Hit>> {
  const tag = tagOf(tx)
  const { hits, more } = await searchHits(tx, terms, filter)
  const [score, doc] =
    input.cursor === undefined ? [4, 0] : (readCursor(input.cursor, tag, 2) as [number, number])
  const left = hits.filter((hit) => hit.score < score || (hit.score === score && hit.doc < doc))
  const rows = left.slice(0, input.limit ?? 25)
  return {
    rows,
    ...(more ? { atLeast: MOST_HITS } : { total: hits.length }),
    after: (index) =>
      index < left.length - 1 ? writeCursor(tag, [rows[index]!.score, rows[index]!.doc]) : undefined,
  }
}

/** Everything that holds all terms, best first; `more` where there is more than is ranked. */
async function searchHits(
  tx: ReadTx,
  terms: readonly Term[],
  filter: SearchFilter,
): Promise<{ hits: Hit[]; more: boolean }> {
  const { projects } = tx.actor
  const narrowed = filter.project === undefined ? projects : [filter.project]
  const inProjects = (column: string) =>
    narrowed === undefined ? sql`1 = 1` : sql`${sql.ref(column)} IN ${inNumbers(tx, narrowed)}`
  if (terms.length === 0) return { hits: [], more: false }
  const { rows } = await sql<Omit<Hit, 'score'>>`
    SELECT d.doc, d.kind, d.object, d.task
    FROM ${documentsWith(tx, terms)}
      AND d.account = ${tx.account}
      ${filter.kinds ? sql`AND d.kind IN ${inTexts(tx, filter.kinds)}` : sql``}
      AND CASE d.kind
        WHEN 'project' THEN EXISTS (SELECT 1 FROM projects AS p WHERE p.account = d.account AND p.id = d.object
          AND p.trash IS NULL AND ${inProjects('p.id')})
        ELSE EXISTS (SELECT 1 FROM tasks AS t WHERE t.account = d.account AND t.id = d.task AND t.trash IS NULL
          AND ${inProjects('t.project')} ${filter.includeClosed ? sql`` : sql`AND t.status NOT IN ('done', 'cancelled')`})
      END
      AND CASE d.kind
        WHEN 'step' THEN EXISTS (SELECT 1 FROM steps AS s WHERE s.account = d.account AND s.id = d.object AND s.trash IS NULL)
        WHEN 'comment' THEN EXISTS (SELECT 1 FROM comments AS c WHERE c.account = d.account AND c.id = d.object AND c.trash IS NULL)
        WHEN 'artifact' THEN EXISTS (SELECT 1 FROM artifacts AS f WHERE f.account = d.account AND f.id = d.object AND f.trash IS NULL)
        ELSE 1 = 1
      END
    ORDER BY ${newestFirst(tx, terms)} LIMIT ${MOST_HITS + 1}`.execute(sqlOf(tx))
  const found = rows.slice(0, MOST_HITS)
  const titles = await titlesOf(tx, found)
  const hits = found
    .map((hit) => ({ ...hit, score: titleScore(titles.get(hit.doc) ?? '', terms) }))
    .sort((a, b) => b.score - a.score || b.doc - a.doc)
  return { hits, more: rows.length > MOST_HITS }
}

/** The titles of things that have one of their own. */
async function titlesOf(tx: ReadTx, hits: readonly Omit<Hit, 'score'>[]): Promise<Map<number, string>> {
  const titles = new Map<number, string>()
  const tables = {
    task: ['tasks', 'title'],
    step: ['steps', 'title'],
    artifact: ['artifacts', 'title'],
  } as const
  const named = { ...tables, project: ['projects', 'name'] } as const
  for (const [kind, [table, column]] of Object.entries(named)) {
    const own = new Map(hits.filter((hit) => hit.kind === kind).map((hit) => [hit.object, hit.doc]))
    if (own.size === 0) continue
    const { rows } = await sql<{ id: number; title: string }>`
      SELECT id, ${sql.ref(column)} AS title FROM ${sql.table(table)}
      WHERE account = ${tx.account} AND id IN ${inNumbers(tx, [...own.keys()])}`.execute(sqlOf(tx))
    for (const { id, title } of rows) titles.set(own.get(id)!, title)
  }
  return titles
}

/** What a hit's row shows of it. */
interface HitText {
  title?: string
  text: string
  author?: string
  origin?: string | null
}

/** The texts of one page of hits, by their document. */
export async function textsOf(tx: ReadTx, hits: readonly Hit[]): Promise<Map<number, HitText>> {
  const texts = new Map<number, HitText>()
  const db = sqlOf(tx)
  const of = (kind: SearchKind) =>
    new Map(hits.filter((hit) => hit.kind === kind).map((hit) => [hit.object, hit.doc]))
  const put = (docs: Map<number, number>, id: number, text: HitText) => texts.set(docs.get(id)!, text)

  const tasks = of('task')
  for (const row of await byId(tx, 'tasks', tasks))
    put(tasks, row.id, { title: row.title, text: row.description })
  const steps = of('step')
  for (const row of await byId(tx, 'steps', steps))
    put(steps, row.id, { title: row.title, text: row.description })
  const comments = of('comment')
  for (const row of await byId(tx, 'comments', comments)) {
    put(comments, row.id, { text: row.text, author: row.author, origin: row.origin })
  }
  const projects = of('project')
  for (const row of await byId(tx, 'projects', projects)) {
    put(projects, row.id, { title: row.name, text: row.description })
  }
  const artifacts = of('artifact')
  for (const row of await byId(tx, 'artifacts', artifacts)) {
    const text = [row.url, row.file_name, row.text].filter(Boolean).join('\n')
    put(artifacts, row.id, { title: row.title, text, author: row.created_by, origin: row.origin })
  }
  const runs = of('run')
  if (runs.size > 0) {
    const notes = await db
      .selectFrom('notes')
      .select(['run', 'text'])
      .where('account', '=', tx.account)
      .where('run', 'in', inNumbers(tx, [...runs.keys()]))
      .orderBy('id', 'desc')
      .execute()
    for (const row of await byId(tx, 'runs', runs)) {
      const said = notes.filter((note) => note.run === row.id).map((note) => note.text)
      put(runs, row.id, { text: [row.goal, ...said].filter(Boolean).join('\n'), author: row.agent })
    }
  }
  return texts
}

type Found = 'tasks' | 'steps' | 'comments' | 'projects' | 'artifacts' | 'runs'

async function byId<T extends Found>(tx: ReadTx, table: T, docs: Map<number, number>): Promise<Row<T>[]> {
  if (docs.size === 0) return []
  const { rows } = await sql<Row<T>>`
    SELECT * FROM ${sql.table(table)} WHERE account = ${tx.account} AND id IN ${inNumbers(tx, [...docs.keys()])}`.execute(
    sqlOf(tx),
  )
  return rows
}
