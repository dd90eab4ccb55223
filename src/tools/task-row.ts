import { formatId, formatIdOr } from '../model/id.ts'
import { partyNames } from '../store/actor.ts'
import { holderOf, statusOf } from '../store/claim.ts'
import { openDependencies } from '../store/dependency.ts'
import type { ReadTx } from '../store/handle.ts'
import { labelsOf } from '../store/label.ts'
import { newsOn } from '../store/news.ts'
import { projectNames } from '../store/project.ts'
import { stepCounts } from '../store/step.ts'
import type { Row } from '../store/tables.ts'
import { priorityName, shortMoment, sparse, start } from './view.ts'

/** How much of a title a concise row shows, so that no row is over 80 tokens. */
const SHORT_TITLE = 90

/** Rows of a list of tasks, with all that they show fetched once for the page. */
export async function taskRows(
  tx: ReadTx,
  tasks: readonly Row<'tasks'>[],
  detail: 'concise' | 'detailed' = 'concise',
): Promise<Record<string, unknown>[]> {
  const ids = tasks.map((task) => task.id)
  const name = await partyNames(tx)
  const projects = await projectNames(
    tx,
    tasks.map((task) => task.project),
  )
  const labels = await labelsOf(tx, ids)
  const steps = await stepCounts(tx, ids)
  const waits = await openDependencies(tx, ids)
  const news = await newsOn(tx, ids)
  return tasks.map((task) => {
    const counts = steps.get(task.id)
    const concise = detail === 'concise'
    return sparse({
      id: formatId('task', task.id),
      title: concise ? short(task.title, SHORT_TITLE) : task.title,
      status: statusOf(task, tx.now),
      priority: task.priority === 2 ? undefined : priorityName(task.priority),
      due: task.due,
      scheduled: task.scheduled,
      project: concise ? short(projects.get(task.project ?? -1), 30) : projects.get(task.project ?? -1),
      parent: formatIdOr('task', task.parent),
      assignee: short(name(task.assignee), 30),
      claim: short(name(holderOf(task, tx.now)), 30),
      until: holderOf(task, tx.now) && shortMoment(tx, task.claim_until!),
      steps: counts && `${counts.done}/${counts.all}`,
      waits_for: (waits.get(task.id) ?? []).slice(0, concise ? 3 : 100).map((each) => idOrHidden(tx, each)),
      labels: (labels.get(task.id) ?? []).slice(0, concise ? 3 : 50),
      news: news.get(task.id),
      gate: task.auto_ok === 0,
      recurrence: concise ? undefined : task.recurrence,
      estimate: concise ? undefined : task.estimate,
      description: concise ? undefined : start(task.description, 300).text,
      version: task.version,
    })
  })
}

/** The far end of a dependency, which a narrowed credential may know of but not see. */
export function idOrHidden(tx: ReadTx, task: { id: number; project: number | null }): string {
  const { projects } = tx.actor
  return projects === undefined || projects.includes(task.project ?? -1)
    ? formatId('task', task.id)
    : 'a task you can’t see'
}

function short(text: string | undefined, characters: number): string | undefined {
  if (text === undefined || text.length <= characters) return text
  return `${start(text, characters - 1).text}…`
}
