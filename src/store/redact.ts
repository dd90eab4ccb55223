import { createHash } from 'node:crypto'
import { type RawBuilder, sql } from 'kysely'
import { invalid } from '../model/error.ts'
import { formatId } from '../model/id.ts'
import { formsOf, isUtf8, replacedIn } from '../model/redaction.ts'
import { amendEvent, amendRequest } from './amendment.ts'
import { meaningChanged, storedTask } from './content.ts'
import { type DestroyTx, dialectOf, emit, inNumbers, sqlOf } from './handle.ts'
import { redactNames } from './redact-name.ts'
import { updateById } from './row.ts'
import { textsOf } from './search.ts'
import { compactIndex, indexText, type SearchKind } from './search-index.ts'
import { type Row, TABLES } from './tables.ts'

/** Rows that are read at once. */
const CHUNK = 50

/** What was taken out: how many rows of each table said it, and files that could not be changed. */
export interface Redacted {
  places: Record<string, number>
  /** Files that are no text and hold it: they have to be deleted and purged. */
  left: string[]
}

/** What a redaction works on and gathers. */
interface Work {
  text: string
  places: Record<string, number>
  /** What is found by other words from now on. */
  reindex: Map<SearchKind, Set<number>>
}

/**
 * Takes a text out of everything that people and agents have written in the account, and of everything that repeats it, as
 * the tables declare it: a mark stands in its place. What it means for the gate is what a person's edit means: the content
 * version rises, pending requests become stale, a signed-off task is marked as changed since. What is in the log is recorded as
 * amended. The text itself is kept nowhere.
 */
export async function redact(tx: DestroyTx, text: string, note: string | undefined): Promise<Redacted> {
  if (note?.includes(text)) throw invalid('The note holds the very text that is to be taken out.')
  const work: Work = { text, places: {}, reindex: new Map() }
  const before = await redactTasks(tx, work)
  await redactParts(tx, work, before)
  const left = await redactFiles(tx, work)
  const { places, projects } = await redactNames(tx, text)
  count(work, places)
  for (const project of projects) toReindex(work, 'project', project)
  for (const table of PLAIN) await redactPlain(tx, work, table)
  await redactRequests(tx, work)
  await redactEvents(tx, work)
  await reindex(tx, work)
  await compactIndex(tx)
  await emit(tx, { kind: 'redacted', data: { places: work.places, ...(note ? { note } : {}) } })
  return { places: work.places, left }
}

type Table = keyof typeof TABLES

/** Tables with something to see to beside the words. */
const SEEN_TO = new Set<Table>([
  'tasks',
  'steps',
  'artifacts',
  'events',
  'requests',
  'projects',
  'labels',
  'task_labels',
  'views',
  'connectors',
])

/** All others in which words stand, with the columns by which a row is found. */
const PLAIN = (Object.keys(TABLES) as Table[]).filter(
  (table) => wordsOf(table).length > 0 && !SEEN_TO.has(table),
)
const KEYS: Partial<Record<Table, readonly string[]>> = {
  run_events: ['run', 'seq'],
  calendar_links: ['task', 'uid'],
  replies: ['actor', 'key'],
  refusals: ['seq'],
  access: ['actor', 'bucket', 'tool', 'credential'],
}
const keysOf = (table: Table): readonly string[] => KEYS[table] ?? ['id']

/** The columns in which words stand, each with whether they are the texts of a JSON value. */
function wordsOf(table: Table): { column: string; json: boolean }[] {
  return Object.entries(TABLES[table]).flatMap(([column, { words = false, json = false }]) =>
    words ? [{ column, json }] : [],
  )
}

function count(work: Work, places: Record<string, number>): void {
  for (const [place, rows] of Object.entries(places)) {
    if (rows > 0) work.places[place] = (work.places[place] ?? 0) + rows
  }
}

function toReindex(work: Work, kind: SearchKind, object: number): void {
  const objects = work.reindex.get(kind) ?? new Set()
  work.reindex.set(kind, objects.add(object))
}

/**
 * Goes through the rows of a table that say the text, some at a time, with what their words become. Those that turn out not to
 * say it, as where only the form of a JSON value looks like it, are passed over.
 */
async function* saying<T extends Table>(
  tx: DestroyTx,
  { text }: Work,
  table: T,
): AsyncGenerator<{ row: Row<T>; words: Record<string, string> }> {
  const columns = wordsOf(table)
  const says = columns.flatMap(({ column }) =>
    formsOf(text).map((form) => dialectOf(tx).holds(sql.ref(column), form)),
  )
  const own = table === 'accounts' ? sql`id` : sql`account`
  for (let passed = 0; ; ) {
    const { rows } = await sql<Row<T>>`SELECT * FROM ${sql.table(table)} WHERE ${own} = ${tx.account}
      AND (${sql.join(says, sql` OR `)}) ORDER BY ${sql.join(keysOf(table).map((key) => sql.ref(key)))}
      LIMIT ${CHUNK} OFFSET ${passed}`.execute(sqlOf(tx))
    for (const row of rows) {
      const words = replacedWords(row as Record<string, unknown>, columns, text)
      if (Object.keys(words).length === 0) passed++
      else yield { row, words }
    }
    if (rows.length < CHUNK) return
  }
}

function replacedWords(
  row: Record<string, unknown>,
  columns: readonly { column: string; json: boolean }[],
  text: string,
): Record<string, string> {
  const words: Record<string, string> = {}
  for (const { column, json } of columns) {
    const value = row[column]
    if (typeof value !== 'string') continue
    const replaced = replacedIn(value, text, json)
    if (replaced !== value) words[column] = replaced
  }
  return words
}

/** Title and description are of the meaning. Returns the numbers of the tasks that have changed. */
async function redactTasks(tx: DestroyTx, work: Work): Promise<Set<number>> {
  const changed = new Set<number>()
  for await (const { row, words } of saying(tx, work, 'tasks')) {
    await meaningChanged(tx, await storedTask(tx, row.id), { ...words, version: row.version + 1 })
    await taskChanged(tx, row.id, changed)
    toReindex(work, 'task', row.id)
    count(work, { tasks: 1 })
  }
  return changed
}

/** Tells once for each task that something was taken out of it or of its parts. */
async function taskChanged(tx: DestroyTx, task: number, told: Set<number>): Promise<void> {
  if (told.has(task)) return
  told.add(task)
  await emit(tx, { kind: 'redacted', task })
}

async function redactParts(tx: DestroyTx, work: Work, told: Set<number>): Promise<void> {
  for await (const { row, words } of saying(tx, work, 'steps')) {
    await updateById(tx, 'steps', row.id, { ...words, version: row.version + 1, updated_at: tx.now })
    await meaningChanged(tx, await storedTask(tx, row.task))
    await taskChanged(tx, row.task, told)
    toReindex(work, 'step', row.id)
    count(work, { steps: 1 })
  }
  for await (const { row, words } of saying(tx, work, 'artifacts')) {
    const redacted = { ...row, ...words }
    const content = redacted.kind === 'link' ? redacted.url : redacted.kind === 'text' ? redacted.text : null
    await updateById(tx, 'artifacts', row.id, {
      ...words,
      ...(content === null ? {} : sealOfContent(redacted.kind, Buffer.from(content))),
    })
    await meaningChanged(tx, await storedTask(tx, row.task))
    await taskChanged(tx, row.task, told)
    toReindex(work, 'artifact', row.id)
    count(work, { artifacts: 1 })
  }
}

const sealOfContent = (kind: Row<'artifacts'>['kind'], bytes: Buffer) => ({
  sha256: createHash('sha256').update(bytes).digest('hex'),
  ...(kind === 'link' ? {} : { size: bytes.length }),
})

/**
 * Files that are text get other bytes, as a new row, since bytes are never changed in place. Of one that is none the rest would
 * be worth nothing with other bytes in it: returns those.
 */
async function redactFiles(tx: DestroyTx, work: Work): Promise<string[]> {
  const db = sqlOf(tx)
  const { rows } = await sql<{
    artifact: number
  }>`SELECT artifact FROM artifact_bytes WHERE account = ${tx.account}
    AND ${dialectOf(tx).holdsBytes(sql.ref('bytes'), Buffer.from(work.text))} ORDER BY artifact`.execute(db)
  const left: string[] = []
  for (const { artifact } of rows) {
    const { bytes } = await db
      .selectFrom('artifact_bytes')
      .select('bytes')
      .where('account', '=', tx.account)
      .where('artifact', '=', artifact)
      .executeTakeFirstOrThrow()
    if (!isUtf8(bytes)) {
      left.push(formatId('artifact', artifact))
      continue
    }
    const redacted = Buffer.from(replacedIn(Buffer.from(bytes).toString(), work.text))
    await db
      .deleteFrom('artifact_bytes')
      .where('account', '=', tx.account)
      .where('artifact', '=', artifact)
      .execute()
    await db.insertInto('artifact_bytes').values({ account: tx.account, artifact, bytes: redacted }).execute()
    await updateById(tx, 'artifacts', artifact, sealOfContent('file', redacted))
    const { task } = await db
      .selectFrom('artifacts')
      .select('task')
      .where('account', '=', tx.account)
      .where('id', '=', artifact)
      .executeTakeFirstOrThrow()
    await meaningChanged(tx, await storedTask(tx, task))
    count(work, { files: 1 })
  }
  return left
}

/** Rows that need no more than other words; where words are of the key and another row has them by now, the row goes. */
async function redactPlain(tx: DestroyTx, work: Work, table: Table): Promise<void> {
  for await (const { row, words } of saying(tx, work, table)) {
    const values = row as unknown as Record<string, unknown>
    const byKey = keysOf(table).map((key) => sql`${sql.ref(key)} = ${values[key]}`)
    const own = table === 'accounts' ? sql`id` : sql`account`
    const which = sql`WHERE ${own} = ${tx.account} AND ${sql.join(byKey, sql` AND `)}`
    if (KEPT_FOR_A_WHILE.has(table) && keysOf(table).some((key) => key in words)) {
      await sql`DELETE FROM ${sql.table(table)} ${which}`.execute(sqlOf(tx))
    } else {
      const columns: RawBuilder<unknown>[] = Object.entries(await withFreeKey(tx, table, values, words)).map(
        ([column, value]) => sql`${sql.ref(column)} = ${value}`,
      )
      if ('version' in values) columns.push(sql`version = version + 1`)
      if ('updated_at' in values) columns.push(sql`updated_at = ${tx.now}`)
      await sql`UPDATE ${sql.table(table)} SET ${sql.join(columns)} ${which}`.execute(sqlOf(tx))
    }
    const run = table === 'notes' ? values.run : table === 'runs' ? values.id : null
    if (typeof run === 'number') toReindex(work, 'run', run)
    if (table === 'comments') toReindex(work, 'comment', values.id as number)
    count(work, { [table]: 1 })
  }
}

/** What expires by itself, and is of no use any more under another key. */
const KEPT_FOR_A_WHILE = new Set<Table>(['replies', 'access'])

/** Two links of one task may come to the same name. */
async function withFreeKey(
  tx: DestroyTx,
  table: Table,
  row: Record<string, unknown>,
  words: Record<string, string>,
): Promise<Record<string, string>> {
  if (table !== 'calendar_links' || words.uid === undefined) return words
  for (let n = 1; ; n++) {
    const uid = n === 1 ? words.uid : `${words.uid} ${n}`
    const taken = await sqlOf(tx)
      .selectFrom('calendar_links')
      .select('uid')
      .where('account', '=', tx.account)
      .where('task', '=', row.task as number)
      .where('uid', '=', uid)
      .executeTakeFirst()
    if (!taken) return { ...words, uid }
  }
}

async function redactRequests(tx: DestroyTx, work: Work): Promise<void> {
  for await (const { row, words } of saying(tx, work, 'requests')) {
    await amendRequest(tx, row, words.note!)
    count(work, { requests: 1 })
  }
}

async function redactEvents(tx: DestroyTx, work: Work): Promise<void> {
  for await (const { row, words } of saying(tx, work, 'events')) {
    await amendEvent(tx, row, words)
    count(work, { events: 1 })
  }
}

/** Puts what has other words by now into the index anew. */
async function reindex(tx: DestroyTx, { reindex: kinds }: Work): Promise<void> {
  for (const [kind, objects] of kinds) {
    const numbers = [...objects]
    for (let from = 0; from < numbers.length; from += CHUNK) {
      const docs = await sqlOf(tx)
        .selectFrom('search_docs')
        .select(['doc', 'kind', 'object', 'task', 'project'])
        .where('account', '=', tx.account)
        .where('kind', '=', kind)
        .where('object', 'in', inNumbers(tx, numbers.slice(from, from + CHUNK)))
        .execute()
      const texts = await textsOf(
        tx,
        docs.map((doc) => ({ ...doc, kind, score: 0 })),
      )
      for (const { doc, object, task, project } of docs) {
        const { title, text } = texts.get(doc) ?? {}
        await indexText(tx, kind, object, { task, project }, [title, text])
      }
    }
  }
}
