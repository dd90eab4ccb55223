import { AppError, conflict, invalid } from '../model/error.ts'
import { formatId } from '../model/id.ts'
import { isClosed } from '../model/task.ts'
import { artifactsOf } from './artifact.ts'
import { guardMeaning, meaningChanged, type Stale } from './content.ts'
import { addDependencies, dependentsOf, pathBetween, removeDependencies } from './dependency.ts'
import { type DestroyTx, emit, nextNumber, type ReadTx, sqlOf } from './handle.ts'
import { addLabels, labelsOf } from './label.ts'
import { indexText } from './search-index.ts'
import { refuseOutOfSight } from './sight.ts'
import type { Row } from './tables.ts'
import { childrenOf, type Edited, editTask, taskById, taskInTrash } from './task.ts'
import { shownEntry, trashed } from './trash.ts'
import { trashTask } from './trash-task.ts'

/** A duplicate that was folded in, and its entry in the Trash. */
export interface Merged {
  task: number
  entry: number
  already: boolean
}

/**
 * Folds duplicates into one task. What others wrote on them is copied with author and time, their subtasks and whoever
 * waited for them are led to the kept task, and they go to the Trash. Refused where a duplicate needs sign-off and the
 * kept task does not, which would be a way round the gate, and where what is led over is out of the caller's sight.
 */
export async function mergeTasks(
  tx: DestroyTx,
  kept: Row<'tasks'>,
  duplicates: readonly number[],
): Promise<{ task: Row<'tasks'>; merged: Merged[]; moved: Edited[]; stale: Stale[] }> {
  const merged: Merged[] = []
  const moved: Edited[] = []
  const stale: Stale[] = []
  for (const id of new Set(duplicates)) {
    const before = await mergedBefore(tx, kept, id)
    if (before) {
      merged.push(before)
      continue
    }
    const duplicate = await taskById(tx, id)
    refuseMerge(kept, duplicate)
    const children = await childrenOf(tx, duplicate.id)
    const links = { from: await dependentsOf(tx, duplicate.id), to: await targetsOf(tx, duplicate.id) }
    refuseOutOfSight(
      tx,
      [...children, ...links.from, ...links.to],
      `${formatId('task', id)} has subtasks or dependencies`,
      'merge it',
    )
    await guardMeaning(tx, kept)
    await copyComments(tx, kept, duplicate)
    await copyArtifacts(tx, kept, duplicate)
    await copyLinks(tx, kept, duplicate)
    for (const child of children) moved.push(await editTask(tx, child, { parent: kept.id }))
    await leadOver(tx, kept, duplicate, links)
    const changed = await meaningChanged(tx, await taskById(tx, kept.id))
    const gone = await trashTask(tx, await taskById(tx, duplicate.id))
    stale.push(...changed.stale, ...gone.stale)
    merged.push({ task: id, entry: gone.entry, already: false })
    await emit(tx, {
      kind: 'merged',
      task: kept.id,
      project: kept.project,
      object: formatId('task', id),
      data: { trash: formatId('trash', gone.entry) },
    })
  }
  stale.push(...moved.flatMap((each) => each.stale))
  return { task: await taskById(tx, kept.id), merged, moved, stale }
}

/** A repeat finds the duplicate in the Trash, put there by its merge into this very task. */
async function mergedBefore(tx: DestroyTx, kept: Row<'tasks'>, id: number): Promise<Merged | undefined> {
  const gone = await taskInTrash(tx, id)
  if (!gone) return undefined
  const event = await sqlOf(tx)
    .selectFrom('events')
    .select('id')
    .where('account', '=', tx.account)
    .where('task', '=', kept.id)
    .where('kind', '=', 'merged')
    .where('object', '=', formatId('task', id))
    .executeTakeFirst()
  if (!event) throw trashed(formatId('task', id), await shownEntry(tx, gone.trash!))
  return { task: id, entry: gone.trash!, already: true }
}

function refuseMerge(kept: Row<'tasks'>, duplicate: Row<'tasks'>): void {
  const [id, twin] = [formatId('task', kept.id), formatId('task', duplicate.id)]
  if (kept.id === duplicate.id) throw invalid(`${id} can’t be merged into itself.`)
  if (isClosed(kept.status)) {
    throw conflict(`${id} is ${kept.status}.`, { next: 'Call reopen_task first, or keep an open one.' })
  }
  if (kept.auto_ok === 1 && duplicate.auto_ok === 0) {
    throw new AppError('needs_approval', `${twin} needs a person’s sign-off and ${id} does not.`, {
      gate: true,
      written: false,
      next: `Merge the other way: merge_tasks {"id":"${twin}","duplicates":["${id}"]}.`,
    })
  }
}

async function copyComments(tx: DestroyTx, kept: Row<'tasks'>, duplicate: Row<'tasks'>): Promise<void> {
  const comments = await sqlOf(tx)
    .selectFrom('comments')
    .selectAll()
    .where('account', '=', tx.account)
    .where('task', '=', duplicate.id)
    .where('trash', 'is', null)
    .orderBy('id')
    .execute()
  const copies = new Map<number, number>()
  for (const comment of comments) {
    const id = await nextNumber(tx, 'comment')
    copies.set(comment.id, id)
    const origin = comment.origin ?? formatId('task', duplicate.id)
    const reply = comment.reply_to === null ? null : (copies.get(comment.reply_to) ?? null)
    await sqlOf(tx)
      .insertInto('comments')
      .values({ ...comment, id, task: kept.id, reply_to: reply, origin })
      .execute()
    await indexText(tx, 'comment', id, { task: kept.id, project: kept.project }, [comment.text])
  }
}

async function copyArtifacts(tx: DestroyTx, kept: Row<'tasks'>, duplicate: Row<'tasks'>): Promise<void> {
  for (const artifact of await artifactsOf(tx, duplicate.id)) {
    const id = await nextNumber(tx, 'artifact')
    const origin = artifact.origin ?? formatId('task', duplicate.id)
    await sqlOf(tx)
      .insertInto('artifacts')
      .values({ ...artifact, id, task: kept.id, origin })
      .execute()
    const stored = await sqlOf(tx)
      .selectFrom('artifact_bytes')
      .select('bytes')
      .where('account', '=', tx.account)
      .where('artifact', '=', artifact.id)
      .executeTakeFirst()
    if (stored)
      await sqlOf(tx)
        .insertInto('artifact_bytes')
        .values({ account: tx.account, artifact: id, ...stored })
        .execute()
    await indexText(tx, 'artifact', id, { task: kept.id, project: kept.project }, [
      artifact.title,
      artifact.text,
    ])
  }
}

/** Labels and calendar links; those that the kept task has already stay as they are. */
async function copyLinks(tx: DestroyTx, kept: Row<'tasks'>, duplicate: Row<'tasks'>): Promise<void> {
  const names = (await labelsOf(tx, [duplicate.id])).get(duplicate.id) ?? []
  if (names.length > 0) await addLabels(tx, [kept], names)
  const links = await sqlOf(tx)
    .selectFrom('calendar_links')
    .selectAll()
    .where('account', '=', tx.account)
    .where('task', '=', duplicate.id)
    .where('removed_at', 'is', null)
    .execute()
  for (const link of links) {
    await sqlOf(tx)
      .insertInto('calendar_links')
      .values({ ...link, task: kept.id })
      .onConflict((oc) => oc.columns(['account', 'task', 'uid']).doUpdateSet({ removed_at: null }))
      .execute()
  }
}

/** Whoever waited for the duplicate waits for the kept task, and the kept task for what the duplicate waited for. */
async function leadOver(
  tx: DestroyTx,
  kept: Row<'tasks'>,
  duplicate: Row<'tasks'>,
  links: Record<'from' | 'to', readonly { id: number }[]>,
): Promise<void> {
  for (const { id } of links.from) {
    const dependent = await taskById(tx, id)
    await removeDependencies(tx, dependent, [duplicate.id])
    if (id !== kept.id && !(await pathBetween(tx, kept.id, id)))
      await addDependencies(tx, dependent, [kept.id])
  }
  for (const { id } of links.to) {
    if (id === kept.id || (await taskInTrash(tx, id)) || (await pathBetween(tx, id, kept.id))) continue
    await addDependencies(tx, kept, [id])
  }
}

/** What a task waits for, finished or not. */
function targetsOf(tx: ReadTx, task: number): Promise<{ id: number; project: number | null }[]> {
  return sqlOf(tx)
    .selectFrom('dependencies as d')
    .innerJoin('tasks as t', (join) =>
      join.onRef('t.account', '=', 'd.account').onRef('t.id', '=', 'd.depends_on'),
    )
    .select(['t.id', 't.project'])
    .where('d.account', '=', tx.account)
    .where('d.task', '=', task)
    .where('d.removed_at', 'is', null)
    .orderBy('t.id')
    .execute()
}
