import { AppError, conflict, notFound } from '../model/error.ts'
import { formatId, type Kind, parseId } from '../model/id.ts'
import { fold } from '../model/suggest.ts'
import { isClosed } from '../model/task.ts'
import { artifactById } from './artifact.ts'
import { storedComment } from './comment.ts'
import { guardMeaning, meaningChanged, type Stale, storedTask } from './content.ts'
import { ringFrom } from './dependency-graph.ts'
import { emit, inNumbers, type ReadTx, sqlOf, type WriteTx } from './handle.ts'
import { keyOf, storedLabel } from './label.ts'
import { projectById, projectInTrash, refuseTaken } from './project.ts'
import { seesView, storedView } from './saved-view.ts'
import { sees, shownTask, shownTasks } from './sight.ts'
import { refuseTooMany, stepsOf, storedStep } from './step.ts'
import type { Row, TrashKind } from './tables.ts'
import { taskById, taskInTrash } from './task.ts'
import { refuseUnseenEntry, shownEntry, TRASH_KINDS, tasksInEntry, visibleTrash } from './trash.ts'

/** One thing that was asked back. */
export interface Restored {
  /** Absent where the thing named was not in the Trash. */
  entry?: number
  kind: TrashKind
  /** Public id, or the name of a label or view. */
  object: string
  title: string
  /** How many tasks came back, or carry a label again. */
  tasks: number
  already: boolean
}

/**
 * Brings things back as they were, status included; closes nothing. Named are entries of the Trash or the things
 * themselves. All or none: refused where the place of one is gone, naming what to restore first, or its name is taken.
 */
export async function restore(
  tx: WriteTx,
  names: readonly string[],
): Promise<{ restored: Restored[]; stale: Stale[] }> {
  const found: Found[] = []
  for (const name of names) found.push(await find(tx, name))
  const entries = new Map<number, Row<'trash'>>()
  for (const each of found)
    if ('entry' in each && each.entry.restored_at === null) entries.set(each.entry.id, each.entry)
  for (const entry of entries.values()) await refuseUnseenEntry(tx, entry)
  // What holds comes before what lies in it, so that the order in which they are named does not matter.
  const inOrder = [...entries.values()].sort((a, b) => RANK.indexOf(a.kind) - RANK.indexOf(b.kind))

  const counts = new Map<number, number>()
  const stale: Stale[] = []
  const brought: { entry: Row<'trash'>; tasks: Row<'tasks'>[] }[] = []
  for (const entry of inOrder.filter((each) => each.kind === 'project' || each.kind === 'task')) {
    const tasks = await bringTasks(tx, entry)
    counts.set(entry.id, tasks.length)
    brought.push({ entry, tasks })
  }
  for (const each of brought) stale.push(...(await settleTasks(tx, each.entry, each.tasks)))
  await refuseRing(
    tx,
    brought.flatMap(({ tasks }) => tasks.map((task) => task.id)),
  )
  for (const entry of inOrder.filter((each) => each.kind !== 'project' && each.kind !== 'task')) {
    counts.set(entry.id, await tasksInEntry(tx, entry))
    stale.push(...(await bringPart(tx, entry)))
  }
  for (const entry of inOrder) await leaveTrash(tx, entry)
  return {
    restored: found.map((each): Restored => {
      if (!('entry' in each)) return { ...each.live, tasks: 0, already: true }
      const { id, kind, object, title } = each.entry
      return { entry: id, kind, object, title, tasks: counts.get(id) ?? 0, already: !entries.has(id) }
    }),
    stale,
  }
}

const RANK: readonly TrashKind[] = ['project', ...TRASH_KINDS.filter((kind) => kind !== 'project')]

type Found = { entry: Row<'trash'> } | { live: { kind: TrashKind; object: string; title: string } }

/** What is meant: an entry, or a thing by its own id or name, be it in the Trash or back already. */
async function find(tx: ReadTx, name: string): Promise<Found> {
  if (!/^\s*[A-Za-z]?\d+(\s|$)/.test(name)) return findByName(tx, name)
  const { kind, number } = parseId(name, 'trash', 'task', 'project', 'step', 'comment', 'artifact')
  if (kind === 'trash') return { entry: await entryById(tx, number) }
  const thing = await LOOK[kind as keyof typeof LOOK](tx, number)
  const object = formatId(kind, number)
  if (thing.trash === null) return { live: { kind: kind as TrashKind, object, title: thing.title } }
  if ((await shownEntry(tx, thing.trash)) === undefined) {
    throw new AppError('scope', `${object} went to the Trash with what this credential can’t see.`, {
      written: false,
      next: 'Ask a person, or an agent with a wider credential, to restore it.',
    })
  }
  const entry = await entryById(tx, thing.trash)
  if (entry.object === object) return { entry }
  const [own, whole] = [formatId('trash', entry.id), `${entry.object} ${entry.title}`]
  throw conflict(`${object} went to the Trash with ${whole} (${own}).`, {
    next: `restore_from_trash {"ids":["${own}"]} brings back all of it.`,
  })
}

/** How each kind of thing is found, in the Trash or not. */
const LOOK = {
  task: async (tx: ReadTx, id: number) => (await taskInTrash(tx, id)) ?? (await taskById(tx, id)),
  project: async (tx: ReadTx, id: number) => {
    const { name, trash } = (await projectInTrash(tx, id)) ?? (await projectById(tx, id))
    return { title: name, trash }
  },
  step: storedStep,
  comment: async (tx: ReadTx, id: number) => {
    const { text, trash } = await storedComment(tx, id)
    return { title: text.slice(0, 200), trash }
  },
  artifact: artifactById,
} satisfies Partial<
  Record<Kind, (tx: ReadTx, id: number) => Promise<{ title: string; trash: number | null }>>
>

/** Labels and views go by name. */
async function findByName(tx: ReadTx, name: string): Promise<Found> {
  const inTrash = await visibleTrash(tx)
    .selectAll('trash')
    .where('trash.kind', 'in', ['label', 'view'])
    .where('trash.restored_at', 'is', null)
    .orderBy('trash.id', 'desc')
    .execute()
  const entry = inTrash.find((each) => fold(each.object) === fold(name.trim()))
  if (entry) return { entry }
  const label = await storedLabel(tx, name)
  if (label && label.trash === null && label.renamed_to === null) {
    return { live: { kind: 'label', object: label.name, title: label.name } }
  }
  const view = await storedView(tx, name)
  if (view?.trash === null && (await seesView(tx, view)))
    return { live: { kind: 'view', object: view.name, title: view.name } }
  throw notFound(`There is no "${name.slice(0, 80)}" in the Trash.`, {
    next: 'list_trash shows what is: give an id like X12, or T12, P3, S40, C9, F4, or the name of a label or view.',
  })
}

async function entryById(tx: ReadTx, id: number): Promise<Row<'trash'>> {
  const entry = await visibleTrash(tx).selectAll('trash').where('trash.id', '=', id).executeTakeFirst()
  if (entry) return entry
  throw notFound(`There is no ${formatId('trash', id)} in the Trash.`, { next: 'list_trash shows what is.' })
}

/** Shows the tasks of an entry again, and its project. What was in the Trash before it stays there under its own. */
async function bringTasks(tx: WriteTx, entry: Row<'trash'>): Promise<Row<'tasks'>[]> {
  if (entry.kind === 'project') {
    const project = await projectInTrash(tx, entry.project!)
    if (project) {
      await refuseTaken(tx, project)
      await sqlOf(tx)
        .updateTable('projects')
        .set({ trash: null })
        .where('account', '=', tx.account)
        .where('id', '=', project.id)
        .execute()
    }
  }
  const tasks = await sqlOf(tx)
    .selectFrom('tasks')
    .selectAll()
    .where('account', '=', tx.account)
    .where('trash', '=', entry.id)
    .orderBy('id')
    .execute()
  await sqlOf(tx)
    .updateTable('tasks')
    .set({ trash: null })
    .where('account', '=', tx.account)
    .where('trash', '=', entry.id)
    .execute()
  return tasks
}

/** Looks whether the place is still there, and tells the parents that they have these subtasks again. */
async function settleTasks(
  tx: WriteTx,
  entry: Row<'trash'>,
  tasks: readonly Row<'tasks'>[],
): Promise<Stale[]> {
  const own = new Set(tasks.map((task) => task.id))
  const tops = tasks.filter((task) => task.parent !== null && !own.has(task.parent))
  const parents = await sqlOf(tx)
    .selectFrom('tasks')
    .selectAll()
    .where('account', '=', tx.account)
    .where(
      'id',
      'in',
      inNumbers(
        tx,
        tops.map((task) => task.parent!),
      ),
    )
    .execute()
  for (const parent of parents) {
    const shown = shownTask(tx, parent)
    if (parent.trash !== null) throw await placeGone(tx, entry, shown, parent.trash)
    if (isClosed(parent.status) && tops.some((top) => top.parent === parent.id && !isClosed(top.status))) {
      throw conflict(`${entry.object} is open and ${shown}, of which it is a part, is ${parent.status}.`, {
        next: sees(tx, parent.project)
          ? `Call reopen_task with ${shown} first.`
          : 'Ask a person to reopen that.',
      })
    }
    await guardMeaning(tx, parent)
  }
  await refuseGoneProjects(tx, entry, tasks)
  const stale: Stale[] = []
  for (const parent of parents)
    stale.push(...(await meaningChanged(tx, await storedTask(tx, parent.id))).stale)
  return stale
}

async function refuseGoneProjects(
  tx: ReadTx,
  entry: Row<'trash'>,
  tasks: readonly Row<'tasks'>[],
): Promise<void> {
  const ids = [...new Set(tasks.map((task) => task.project).filter((id) => id !== null))]
  const projects = await sqlOf(tx)
    .selectFrom('projects')
    .select(['id', 'trash', 'archived_at'])
    .where('account', '=', tx.account)
    .where('id', 'in', inNumbers(tx, ids))
    .execute()
  for (const project of projects) {
    const shown = formatId('project', project.id)
    if (project.trash !== null) throw await placeGone(tx, entry, shown, project.trash)
    const open = tasks.some((task) => task.project === project.id && !isClosed(task.status))
    if (project.archived_at !== null && entry.kind === 'task' && open) {
      throw conflict(`${entry.object} is open and its project ${shown} is archived.`, {
        next: `Call unarchive_project with ${shown} first.`,
      })
    }
  }
}

async function placeGone(tx: ReadTx, entry: Row<'trash'>, place: string, trash: number): Promise<AppError> {
  const [own, first] = [formatId('trash', entry.id), await shownEntry(tx, trash)]
  return conflict(
    `${entry.object} belongs to ${place}, which is in the Trash itself${first ? ` (${first})` : ''}.`,
    {
      next: first
        ? `Restore both: restore_from_trash {"ids":["${first}","${own}"]}.`
        : 'Ask a person to restore both.',
    },
  )
}

/** Links were made while the tasks were away; together with theirs they must not make a ring. */
async function refuseRing(tx: ReadTx, tasks: readonly number[]): Promise<void> {
  const ring = tasks.length === 0 ? undefined : await ringFrom(tx, tasks)
  if (!ring) return
  const path = (await shownTasks(tx, ring)).join(' → ')
  throw conflict(`This would make a ring in which nothing can close: ${path}.`, {
    next: 'Drop one of the newer links first: remove_dependency.',
  })
}

/** Shows one thing again that is not a task or project. */
async function bringPart(tx: WriteTx, entry: Row<'trash'>): Promise<Stale[]> {
  if (entry.kind === 'label') {
    await bringLabel(tx, entry)
    return []
  }
  if (entry.kind === 'view') {
    await sqlOf(tx)
      .updateTable('views')
      .set({ trash: null })
      .where('account', '=', tx.account)
      .where('trash', '=', entry.id)
      .execute()
    return []
  }
  // Throws where the task itself is in the Trash, naming its entry.
  const task = await taskById(tx, entry.task!)
  const table = PARTS[entry.kind as keyof typeof PARTS]
  if (table !== 'comments') await guardMeaning(tx, task)
  if (table === 'steps') refuseTooMany(task.id, (await stepsOf(tx, task.id)).length + 1)
  await sqlOf(tx)
    .updateTable(table)
    .set({ trash: null })
    .where('account', '=', tx.account)
    .where('trash', '=', entry.id)
    .execute()
  return table === 'comments' ? [] : (await meaningChanged(tx, task)).stale
}

const PARTS = { step: 'steps', comment: 'comments', artifact: 'artifacts' } as const

/** A label comes back on the tasks it was taken off, also where it was made anew in the meantime. */
async function bringLabel(tx: WriteTx, entry: Row<'trash'>): Promise<void> {
  const key = keyOf(entry.object)
  const label = await storedLabel(tx, entry.object)
  if (label?.renamed_to != null) {
    throw conflict(`The label "${label.name}" was renamed since.`, {
      next: `create_label {"name":"${label.name}"} first, then restore it.`,
    })
  }
  await sqlOf(tx)
    .updateTable('labels')
    .set({ trash: null })
    .where('account', '=', tx.account)
    .where('name_key', '=', key)
    .execute()
  await sqlOf(tx)
    .updateTable('task_labels')
    .set({ trash: null })
    .where('account', '=', tx.account)
    .where('label', '=', key)
    .where('trash', '=', entry.id)
    .execute()
}

async function leaveTrash(tx: WriteTx, entry: Row<'trash'>): Promise<void> {
  await sqlOf(tx)
    .updateTable('trash')
    .set({ restored_at: tx.now })
    .where('account', '=', tx.account)
    .where('id', '=', entry.id)
    .execute()
  await emit(tx, {
    kind: 'restored',
    task: entry.task,
    project: entry.project,
    object: entry.object,
    data: { trash: formatId('trash', entry.id), title: entry.title },
  })
}
