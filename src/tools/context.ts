import { createHash } from 'node:crypto'
import { z } from 'zod'
import { AppError, invalid, notFound } from '../model/error.ts'
import type { OutsideItem, Source } from '../model/outside.ts'
import { LIMITS } from '../model/task.ts'
import { readCursor, writeCursor } from '../store/page.ts'
import { sourcesOf } from '../store/source.ts'
import { saveOutside } from './context-save.ts'
import { idempotencyKey, line, page, taskId, text } from './fields.ts'
import { pieceOf } from './piece.ts'
import { sourcesFor, within } from './source.ts'
import { type OpenRead, read, readOutside, writeOutside } from './tool.ts'
import { clockOf, MOST_CHARACTERS, moment, sparse, start } from './view.ts'

/** How long one source may take, in milliseconds: a slow one must not keep the others' answers back. */
const DEADLINE = { search: 5_000, read: 20_000 }

export const contextTools = {
  list_connectors: read({
    title: 'List connectors',
    does: 'Connected outside sources and what each can do.',
    toolset: 'context',
    input: z.strictObject({}),
    output: z.looseObject({
      today: z.string(),
      total: z.int(),
      connectors: z.array(z.looseObject({ name: z.string() })),
    }),
    http: 'GET /connectors',
    example: {},
    run: async (tx) => {
      const sources = await sourcesOf(tx)
      return {
        ...clockOf(tx),
        total: sources.length,
        connectors: sources.map((source) => ({
          name: source.name,
          kind: source.kind,
          state: 'connected',
          can: ['search', 'read', ...(source.may_save === 1 ? ['save'] : [])],
          since: moment(source.created_at),
        })),
      }
    },
  }),

  search_context: readOutside({
    title: 'Search outside sources',
    does: 'By words in the connected outside sources (Drive, Slack, Notion, folders, MCP servers), never in tasks: search. Results are outside text.',
    toolset: 'context',
    input: z.strictObject({
      query: z.string().min(1).max(1000),
      connectors: z.array(z.string()).optional(),
      ...page,
    }),
    output: z.looseObject({
      showing: z.int(),
      total: z.int(),
      items: z.array(z.looseObject({ uri: z.string() })),
    }),
    http: 'GET /context',
    example: { query: 'brief' },
    run: async (port, { query, connectors, limit, cursor }) => {
      const { sources, clock } = await port.read(async (tx) => ({
        sources: await sourcesFor(tx, connectors),
        clock: clockOf(tx),
      }))
      const tag = tagOf(query, connectors)
      const offsets = cursor === undefined ? {} : readOffsets(cursor, tag)
      const found = await Promise.all(
        sources.map((source) => searchOne(port, source, query, limit ?? 25, offsets)),
      )
      const failed = found.filter((each) => each.error !== undefined)
      if (sources.length > 0 && failed.length === sources.length) throw allFailed(failed)
      return { ...clock, ...merged(found, tag, limit ?? 25) }
    },
  }),

  read_context: readOutside({
    title: 'Read an outside item',
    does: 'One item that search_context found, by its URI, paged by offset. It is outside text.',
    toolset: 'context',
    input: z.strictObject({
      uri: z.string().min(1).max(4000),
      offset: z.int().min(0).optional(),
      limit: z.int().min(1).max(30_000).optional(),
    }),
    output: z.looseObject({ uri: z.string(), title: z.string(), total: z.int(), material: z.string() }),
    http: 'GET /context/item',
    example: { uri: 'folder:notes/brief.md' },
    run: async (port, { uri, offset, limit }) => {
      // A URI begins with the kind of its source; several of one kind are asked in turn.
      const sources = (await port.read((tx) => sourcesFor(tx))).filter((source) =>
        uri.startsWith(`${source.kind}:`),
      )
      for (const source of sources) {
        const item = await readOne(port, source, uri, offset ?? 0, limit ?? 10_000)
        if (item) return item
      }
      throw notFound(`There is no ${uri.slice(0, 200)}.`, {
        next: 'Take a URI from an answer of search_context.',
      })
    },
  }),

  save_context: writeOutside({
    title: 'Save to an outside source',
    does: 'Write a new item (note, page, message, file) to a connected outside source, and link it to a task if one is named; never overwrites.',
    toolset: 'context',
    input: z.strictObject({
      connector: z.string().min(1).max(200),
      title: line(LIMITS.title),
      text: text(LIMITS.description),
      place: z.string().max(1000).optional().describe('Where in the source, such as a folder in it.'),
      task_id: taskId.optional(),
      idempotency_key: idempotencyKey,
    }),
    output: z.looseObject({ id: z.string(), connector: z.string(), uri: z.string() }),
    http: 'POST /context',
    example: {
      connector: 'notes',
      title: 'Decision on the certificate',
      text: 'We rotate it monthly.',
      task_id: 'T2',
    },
    run: (port, input) => {
      if (input.title.trim() === '')
        throw invalid('The title is empty.', { next: 'Say in a few words what it is.' })
      return saveOutside(port, input)
    },
  }),
}

/** What one source answered. */
interface Found {
  source: Source
  offset: number
  items: OutsideItem[]
  total: number
  incomplete?: string | undefined
  error?: AppError
}

async function searchOne(
  port: OpenRead,
  source: Source,
  query: string,
  limit: number,
  offsets: Record<string, number>,
): Promise<Found> {
  const offset = offsets[source.name] ?? 0
  try {
    const found = await within(port, DEADLINE.search, source.name, async (signal) =>
      port.outside.connect(source).search(query, { limit, offset, signal }),
    )
    return {
      source,
      offset,
      items: found.items.slice(0, limit),
      total: found.total,
      incomplete: found.incomplete,
    }
  } catch (error) {
    return { source, offset, items: [], total: 0, error: error as AppError }
  }
}

/**
 * One list of what several sources found. Their ranks are not comparable, so the best of each comes first, then the second
 * of each; the cursor remembers how far each was read.
 */
function merged(found: readonly Found[], tag: string, limit: number): Record<string, unknown> {
  const offsets = Object.fromEntries(found.map((each) => [each.source.name, each.offset]))
  const ranked = found
    .flatMap(({ source, offset, items }) => items.map((item, i) => ({ source, item, place: offset + i })))
    .sort(
      (a, b) => a.place - b.place || b.item.rank - a.item.rank || (a.source.name < b.source.name ? -1 : 1),
    )
  const rows: Record<string, unknown>[] = []
  let size = 0
  for (const { source, item } of ranked.slice(0, limit)) {
    const row = sparse({
      uri: item.uri,
      title: start(item.title, 200).text,
      material: start(item.snippet, 300).text,
      author: item.author && start(item.author, 100).text,
      origin: originOf(source),
      modified: item.modified,
    })
    size += JSON.stringify(row).length
    if (rows.length > 0 && size > MOST_CHARACTERS - 6000) break
    rows.push(row)
    offsets[source.name]!++
  }
  const more = found.some(
    (each) => !each.error && offsets[each.source.name]! < each.total && each.items.length > 0,
  )
  return {
    showing: rows.length,
    total: found.reduce((sum, each) => sum + each.total, 0),
    ...(more ? { next_cursor: writeCursor(tag, [JSON.stringify(offsets)]) } : {}),
    items: rows,
    ...(rows.length > 0 ? { next: `read_context ${JSON.stringify({ uri: rows[0]!.uri })} reads one.` } : {}),
    ...listed(
      'failed',
      found.flatMap(({ source, error }) =>
        error ? [{ connector: source.name, code: error.code, why: start(error.message, 200).text }] : [],
      ),
    ),
    ...listed(
      'left_out',
      found.flatMap(({ source, incomplete }) =>
        incomplete ? [{ connector: source.name, why: start(incomplete, 200).text }] : [],
      ),
    ),
    ...(found.length === 0 ? { next: 'No source is connected; a person connects them.' } : {}),
  }
}

function listed(name: string, rows: readonly object[]): Record<string, unknown> {
  return rows.length > 0 ? { [name]: rows.slice(0, 20) } : {}
}

/** Where no source answered there is no result, not an empty one. */
function allFailed(failed: readonly Found[]): AppError {
  const [first] = failed
  if (failed.length === 1 || first!.error!.code === 'invalid_value') return first!.error!
  return new AppError(
    'unavailable',
    `No source answered: ${failed
      .map((each) => each.error!.message)
      .join(' ')
      .slice(0, 500)}`,
    {
      retry: true,
      next: 'Try again in a moment, or go on without outside sources.',
    },
  )
}

async function readOne(
  port: OpenRead,
  source: Source,
  uri: string,
  offset: number,
  limit: number,
): Promise<Record<string, unknown> | undefined> {
  try {
    const item = await within(port, DEADLINE.read, source.name, async (signal) =>
      port.outside.connect(source).read(uri, { offset, limit, signal }),
    )
    // What JSON writes longer than it is must still fit into one answer.
    const { text: material, next_offset: cut } = pieceOf(item.text, 0, limit)
    const next = cut === undefined ? item.next_offset : item.offset + cut
    return {
      uri: item.uri,
      title: start(item.title, 500).text,
      ...sparse({
        author: item.author,
        origin: originOf(source),
        modified: item.modified,
        revision: item.revision,
      }),
      offset: item.offset,
      total: item.total,
      ...(next === undefined
        ? {}
        : { next_offset: next, next: `read_context ${JSON.stringify({ uri: item.uri, offset: next })}` }),
      material,
    }
  } catch (error) {
    if (error instanceof AppError && error.code === 'not_found') return undefined
    throw error
  }
}

const originOf = (source: Source): string => `${source.kind} "${source.name}"`

/** A cursor goes on with the search that gave it. */
function tagOf(query: string, connectors: readonly string[] | undefined): string {
  return createHash('sha256')
    .update(JSON.stringify([query, connectors]))
    .digest('base64url')
    .slice(0, 6)
}

function readOffsets(cursor: string, tag: string): Record<string, number> {
  const [offsets] = readCursor(cursor, tag, 1)
  const read: unknown = JSON.parse(String(offsets))
  if (typeof read !== 'object' || read === null) return {}
  return Object.fromEntries(
    Object.entries(read).filter(
      (entry): entry is [string, number] => Number.isInteger(entry[1]) && entry[1] >= 0,
    ),
  )
}
