import { formatId, formatIdOr } from '../model/id.ts'
import { partyNames } from '../store/actor.ts'
import { holderOf, statusOf } from '../store/claim.ts'
import { openDependencies } from '../store/dependency.ts'
import type { ReadTx } from '../store/handle.ts'
import { labelsOf } from '../store/label.ts'
import { newsOn } from '../store/news.ts'
import { projectNames } from '../store/project.ts'
import { shownIds, shownTask } from '../store/sight.ts'
import { stepCounts } from '../store/step.ts'
import type { Row } from '../store/tables.ts'
import { priorityName, shortMoment, sparse, start } from './view.ts'

/** How much of a title and of a name a concise row shows where there is room. */
const SHORT = { title: 90, name: 30 }

/** Longest concise row, in characters of JSON: 80 tokens of four each (spec: product, "Answers"). */
export const ROW_CHARACTERS = 320

/**
 * Rows of a list of tasks, with all that they show fetched once for the page. `has` says of what they are known to have
 * nothing, so that it need not be asked for.
 */
export async function taskRows(
  tx: ReadTx,
  tasks: readonly Row<'tasks'>[],
  detail: 'concise' | 'detailed' = 'concise',
  has: Partial<Record<'labels' | 'steps' | 'waits' | 'news', boolean>> = {},
): Promise<Record<string, unknown>[]> {
  const ids = tasks.map((task) => task.id)
  const parents = tasks.map((task) => formatIdOr('task', task.parent))
  // Asked for together, so that over a network they travel together.
  const [name, projects, labels, steps, waits, news, shown] = await Promise.all([
    partyNames(
      tx,
      tasks.flatMap((task) => [task.assignee, task.claimed_by]),
    ),
    projectNames(
      tx,
      tasks.map((task) => task.project),
    ),
    has.labels === false ? new Map<number, never>() : labelsOf(tx, ids),
    has.steps === false ? new Map<number, never>() : stepCounts(tx, ids),
    has.waits === false ? new Map<number, never>() : openDependencies(tx, ids),
    has.news === false ? new Map<number, never>() : newsOn(tx, ids),
    shownIds(tx, parents),
  ])
  return tasks.map((task, i) => {
    const counts = steps.get(task.id)
    const concise = detail === 'concise'
    const waitsFor = [...new Set((waits.get(task.id) ?? []).map((each) => shownTask(tx, each)))]
    const row = sparse({
      id: formatId('task', task.id),
      title: concise ? short(task.title, SHORT.title) : task.title,
      status: statusOf(task, tx.now),
      priority: task.priority === 2 ? undefined : priorityName(task.priority),
      due: task.due,
      scheduled: concise ? undefined : task.scheduled,
      project: short(projects.get(task.project ?? -1), concise ? SHORT.name : Number.POSITIVE_INFINITY),
      parent: shown(parents[i]),
      assignee: short(name(task.assignee), SHORT.name),
      claim: short(name(holderOf(task, tx.now)), SHORT.name),
      until: holderOf(task, tx.now) && shortMoment(tx, task.claim_until!),
      steps: counts && `${counts.done}/${counts.all}`,
      waits_for: waitsFor.slice(0, concise ? 3 : 100),
      labels: (labels.get(task.id) ?? []).slice(0, concise ? 3 : 50),
      news: news.get(task.id),
      gate: task.auto_ok === 0,
      recurrence: concise ? undefined : task.recurrence,
      estimate: concise ? undefined : task.estimate,
      description: concise ? undefined : start(task.description, 300).text,
      version: task.version,
    })
    return concise ? brief(row) : row
  })
}

type Fields = Record<string, unknown>

/**
 * What a concise row gives up, in this order, until it is short enough; get_task shows it all. Ids stay whole, and so do
 * labels, which go by their names.
 */
const GIVES_UP: readonly ((row: Fields) => Fields)[] = [
  (row) => first(row, 'labels', 2),
  (row) => first(row, 'labels', 1),
  (row) => named(row, 18),
  (row) => titled(row, 60),
  (row) => first(row, 'labels', 0),
  (row) => named(row, 0),
  (row) => titled(row, 40),
  (row) => first(row, 'waits_for', 2),
  (row) => first(row, 'waits_for', 1),
  (row) => ({ ...row, until: undefined }),
  (row) => ({ ...row, steps: undefined }),
  (row) => ({ ...row, parent: undefined }),
  (row) => titled(row, 20),
  (row) => ({ ...row, news: undefined }),
  (row) => titled(row, 10),
]

/** A row within {@link ROW_CHARACTERS}. */
function brief(full: Fields): Fields {
  let row = full
  for (const without of GIVES_UP) {
    if (JSON.stringify(row).length <= ROW_CHARACTERS) break
    row = sparse(without(row))
  }
  return row
}

function first(row: Fields, list: string, most: number): Fields {
  return { ...row, [list]: (row[list] as unknown[] | undefined)?.slice(0, most) }
}

function titled(row: Fields, characters: number): Fields {
  return { ...row, title: short(row.title as string, characters) }
}

/** Whoever and whatever goes by id and name, with so much of the name; with none of it the id alone. */
function named(row: Fields, characters: number): Fields {
  const shorter = (said: unknown) =>
    characters === 0 ? (said as string).split(' ')[0] : short(said as string, characters)
  const fields = ['project', 'assignee', 'claim'].filter((field) => row[field] !== undefined)
  return { ...row, ...Object.fromEntries(fields.map((field) => [field, shorter(row[field])])) }
}

function short(text: string | undefined, characters: number): string | undefined {
  if (text === undefined || text.length <= characters) return text
  return `${start(text, characters - 1).text}…`
}
