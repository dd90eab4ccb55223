import { z } from 'zod'
import { invalid } from '../model/error.ts'
import { formatId, parseId } from '../model/id.ts'
import { snippetOf, type Term, termsOf } from '../model/search.ts'
import { partyNames } from '../store/actor.ts'
import { artifactsOf } from '../store/artifact.ts'
import { statusOf } from '../store/claim.ts'
import { artifactText, commentText, type FullText, runText } from '../store/full-text.ts'
import type { ReadTx } from '../store/handle.ts'
import { newestNote } from '../store/note.ts'
import { projectMeant } from '../store/project-name.ts'
import { newestRequestOf } from '../store/request.ts'
import { type Hit, searchPage, textsOf } from '../store/search.ts'
import { shownIds } from '../store/sight.ts'
import { stepsOf } from '../store/step.ts'
import type { Row } from '../store/tables.ts'
import { taskById, tasksByIds } from '../store/task.ts'
import { page, projectId } from './fields.ts'
import { pieceOf } from './piece.ts'
import { read } from './tool.ts'
import { listAnswer, moment, sparse, start } from './view.ts'

const KINDS = ['task', 'step', 'comment', 'project', 'run', 'artifact'] as const

export const searchTools = {
  search: read({
    title: 'Search',
    does: 'Full text over tasks, steps, comments, projects, runs, artifacts in Done, any script, best first, with a snippet. All words must be found. Outside sources: search_context.',
    toolset: 'me',
    input: z.strictObject({
      query: z.string().max(1000),
      kinds: z.array(z.enum(KINDS)).optional(),
      project_id: projectId.optional(),
      include_closed: z.boolean().optional(),
      ...page,
    }),
    output: z.looseObject({
      today: z.string(),
      showing: z.int(),
      hits: z.array(z.looseObject({ id: z.string() })),
    }),
    http: 'GET /search',
    example: { query: 'certificate' },
    run: async (tx, { query, kinds, project_id, include_closed, ...page }) => {
      const terms = termsOf(query)
      if (terms.length === 0) {
        throw invalid('The query has no letter or digit to look for.', { next: 'Give one word or more.' })
      }
      const project = project_id === undefined ? undefined : (await projectMeant(tx, project_id)).id
      const filter = { kinds, project, includeClosed: include_closed ?? true }
      const found = await searchPage(tx, terms, filter, page)
      return listAnswer(tx, found, 'hits', await hitRows(tx, found.rows, terms))
    },
  }),

  get_full_text: read({
    title: 'Get a full text',
    does: 'The rest of a text that an answer cut, by offset: description, all steps or the list of artifacts of a task; comment, artifact or run summary.',
    toolset: 'tasks',
    input: z.strictObject({
      id: z.string().describe('T, C, F or R.'),
      part: z.enum(['description', 'steps', 'artifacts', 'summary', 'reason', 'note']).optional(),
      offset: z.int().min(0).optional(),
      limit: z.int().min(1).max(30_000).optional(),
    }),
    output: z.looseObject({ id: z.string(), offset: z.int(), total: z.int() }),
    http: 'GET /texts/:id',
    example: { id: 'T1' },
    run: async (tx, { id: said, part, offset, limit }) => {
      const { kind, number } = parseId(said, 'task', 'comment', 'artifact', 'run')
      const id = formatId(kind, number)
      if (kind === 'task') {
        const task = await taskById(tx, number)
        const { text, ...place } = pieceOf(await PARTS[part ?? 'description'](tx, task), offset, limit)
        const more = next(id, place.next_offset, part)
        return {
          id,
          title: start(task.title, 200).text,
          part: part ?? 'description',
          version: task.version,
          ...place,
          text,
          ...more,
        }
      }
      if (part !== undefined)
        throw invalid(`Only a task has parts, and ${id} is a ${kind}.`, { next: 'Leave part out.' })
      const found = await TEXTS[kind as 'comment' | 'artifact' | 'run'](tx, number)
      const { text, ...place } = pieceOf(found.text, offset, limit)
      return {
        id,
        ...sparse({
          title: found.title,
          task: formatId('task', found.task),
          author: (await partyNames(tx))(found.author),
          origin: (await shownIds(tx, [found.origin]))(found.origin),
          at: moment(found.at),
        }),
        ...place,
        material: text,
        ...next(id, place.next_offset),
      }
    },
  }),
}

const TEXTS: Record<'comment' | 'artifact' | 'run', (tx: ReadTx, id: number) => Promise<FullText>> = {
  comment: commentText,
  artifact: artifactText,
  run: runText,
}

/** The literal call that goes on where a text was cut. */
function next(id: string, offset: number | undefined, part?: string): { next?: string } {
  return offset === undefined ? {} : { next: `get_full_text ${JSON.stringify({ id, part, offset })}` }
}

const PARTS = {
  description: async (_tx, task) => task.description,
  steps: planText,
  artifacts: evidenceText,
  summary: async (tx, task) => {
    const kind = task.status === 'cancelled' ? 'cancel' : 'summary'
    return (await newestNote(tx, { task: task.id, kind }))?.text ?? ''
  },
  reason: async (tx, task) => (await newestNote(tx, { task: task.id, kind: 'block' }))?.text ?? '',
  note: async (tx, task) => (await newestRequestOf(tx, task.id))?.note ?? '',
} satisfies Record<string, (tx: ReadTx, task: Row<'tasks'>) => Promise<string>>

/** All artifacts of a task, a line each. */
async function evidenceText(tx: ReadTx, task: Row<'tasks'>): Promise<string> {
  const artifacts = await artifactsOf(tx, task.id)
  return artifacts
    .map(
      (each) =>
        `${formatId('artifact', each.id)} [${each.kind}] ${each.title}${each.url ? ` ${each.url}` : ''}`,
    )
    .join('\n')
}

/** All steps of a task, one after another, with nothing cut. */
async function planText(tx: ReadTx, task: Row<'tasks'>): Promise<string> {
  const steps = await stepsOf(tx, task.id)
  return steps
    .map(
      (step) =>
        `${formatId('step', step.id)} [${step.status}] ${step.title}${step.description ? `\n${step.description}` : ''}`,
    )
    .join('\n')
}

/** Rows of hits; what others said is marked as material, with who said it. */
async function hitRows(
  tx: ReadTx,
  hits: readonly Hit[],
  terms: readonly Term[],
): Promise<Record<string, unknown>[]> {
  const texts = await textsOf(tx, hits)
  const ids = [...new Set(hits.flatMap((hit) => hit.task ?? []))]
  const tasks = new Map((await tasksByIds(tx, ids)).map((task) => [task.id, task]))
  const name = await partyNames(tx)
  const shown = await shownIds(
    tx,
    [...texts.values()].map((text) => text.origin),
  )
  return hits.map((hit) => {
    const found = texts.get(hit.doc)
    const task = tasks.get(hit.task ?? -1)
    const snippet = snippetOf(found?.text ?? '', terms)
    const said = found?.author !== undefined
    return sparse({
      id: formatId(hit.kind, hit.object),
      kind: hit.kind,
      title: found?.title && start(found.title, 120).text,
      task:
        hit.kind === 'task' || !task
          ? undefined
          : `${formatId('task', task.id)} ${start(task.title, 60).text}`,
      status: task && statusOf(task, tx.now),
      [said ? 'material' : 'snippet']: snippet,
      author: name(found?.author),
      origin: shown(found?.origin),
    })
  })
}
