import { sql } from 'kysely'
import { AppError, notFound } from '../model/error.ts'
import { formatId } from '../model/id.ts'
import { fold, nearest } from '../model/suggest.ts'
import { isClosed, LIMITS } from '../model/task.ts'
import { type DestroyTx, emit, type ReadTx, readQuery, sqlOf, type WriteTx, writeQuery } from './handle.ts'
import { type Page, type PageInput, pageOf } from './page.ts'
import type { Row } from './tables.ts'
import { visibleTasks } from './task.ts'
import { trashed } from './trash.ts'

const existing = readQuery((db, p: { account: number }) =>
  db
    .selectFrom('labels')
    .selectAll()
    .where('account', '=', p.account)
    .where('trash', 'is', null)
    .where('renamed_to', 'is', null)
    .orderBy('name_key'),
)

/** Labels that exist, by name. */
export function labels(tx: ReadTx): Promise<Row<'labels'>[]> {
  return existing(tx, { account: tx.account })
}

/** A page of labels that exist, by name. */
export function labelPage(tx: ReadTx, page: PageInput): Promise<Page<Row<'labels'>>> {
  const query = sqlOf(tx)
    .selectFrom('labels')
    .selectAll()
    .where('account', '=', tx.account)
    .where('trash', 'is', null)
    .where('renamed_to', 'is', null)
  return pageOf(tx, query, { by: [sql`labels.name_key`], direction: 'asc' }, page)
}

/** The keys of labels named; an unknown name is `not_found` with the nearest three. */
export async function labelsNamed(tx: ReadTx, names: readonly string[]): Promise<Row<'labels'>[]> {
  const stored = await labels(tx)
  const byKey = new Map(stored.map((label) => [label.name_key, label]))
  const found: Row<'labels'>[] = []
  for (const [key, name] of new Map(names.map((each) => [keyOf(each), each]))) {
    const label = byKey.get(key)
    if (!label) throw await noLabel(tx, name)
    found.push(label)
  }
  return found
}

/** A label's row by its name, whether it exists, lies in the Trash or was renamed. */
export function storedLabel(tx: ReadTx, name: string): Promise<Row<'labels'> | undefined> {
  return sqlOf(tx)
    .selectFrom('labels')
    .selectAll()
    .where('account', '=', tx.account)
    .where('name_key', '=', keyOf(name))
    .executeTakeFirst()
}

/** Labels are the same whose names differ in case and accents only. */
export const keyOf = (name: string): string => fold(name.trim())

const onTasks = readQuery((db, p: { account: number; tasks: string }, dialect) =>
  db
    .selectFrom('task_labels as tl')
    .innerJoin('labels as l', (join) =>
      join.onRef('l.account', '=', 'tl.account').onRef('l.name_key', '=', 'tl.label'),
    )
    .select(['tl.task', 'l.name'])
    .where('tl.account', '=', p.account)
    .where('tl.task', 'in', dialect.numbers(p.tasks))
    .where('tl.removed_at', 'is', null)
    .where('tl.trash', 'is', null)
    .orderBy('tl.label'),
)

/** Label names of each task. */
export async function labelsOf(tx: ReadTx, tasks: readonly number[]): Promise<Map<number, string[]>> {
  const rows = await onTasks(tx, { account: tx.account, tasks: JSON.stringify(tasks) })
  const names = new Map<number, string[]>()
  for (const row of rows) names.set(row.task, [...(names.get(row.task) ?? []), row.name])
  return names
}

/** Adds labels to tasks and removes none. Returns the tasks that did not have all of them. */
export async function addLabels(
  tx: WriteTx,
  tasks: readonly Row<'tasks'>[],
  names: readonly string[],
): Promise<number[]> {
  const wanted = await labelsNamed(tx, names)
  const had = await labelsOf(
    tx,
    tasks.map((task) => task.id),
  )
  const changed: number[] = []
  for (const task of tasks) {
    const stored = had.get(task.id) ?? []
    const missing = wanted.filter((label) => !stored.includes(label.name))
    if (missing.length === 0) continue
    if (stored.length + missing.length > LIMITS.labels) {
      throw new AppError(
        'too_large',
        `${formatId('task', task.id)} would have more than ${LIMITS.labels} labels.`,
      )
    }
    await put(tx, task.id, missing)
    changed.push(task.id)
    await emit(tx, {
      kind: 'labelled',
      task: task.id,
      project: task.project,
      changes: { labels: [stored, [...stored, ...missing.map((label) => label.name)]] },
    })
  }
  return changed
}

/** Takes labels off tasks. Returns the tasks that had any of them. */
export async function removeLabels(
  tx: DestroyTx,
  tasks: readonly Row<'tasks'>[],
  names: readonly string[],
): Promise<number[]> {
  const unwanted = await labelsNamed(tx, names)
  const had = await labelsOf(
    tx,
    tasks.map((task) => task.id),
  )
  const changed: number[] = []
  for (const task of tasks) {
    const stored = had.get(task.id) ?? []
    const present = unwanted.filter((label) => stored.includes(label.name))
    if (present.length === 0) continue
    await hide(tx, task.id, present)
    changed.push(task.id)
    const left = stored.filter((name) => !present.some((label) => label.name === name))
    await emit(tx, {
      kind: 'unlabelled',
      task: task.id,
      project: task.project,
      changes: { labels: [stored, left] },
    })
  }
  return changed
}

/** Replaces the set of a task's labels, as a part of an edit that writes the event. Returns old and new. */
export async function setLabels(
  tx: DestroyTx,
  task: Row<'tasks'>,
  names: readonly string[],
): Promise<readonly [string[], string[]]> {
  const wanted = await labelsNamed(tx, names)
  if (wanted.length > LIMITS.labels) {
    throw new AppError('too_large', `A task can have ${LIMITS.labels} labels.`)
  }
  const stored = (await labelsOf(tx, [task.id])).get(task.id) ?? []
  const all = await labels(tx)
  await hide(
    tx,
    task.id,
    all.filter((label) => stored.includes(label.name) && !wanted.includes(label)),
  )
  await put(
    tx,
    task.id,
    wanted.filter((label) => !stored.includes(label.name)),
  )
  return [stored, wanted.map((label) => label.name)]
}

const putLabel = writeQuery((db, p: { account: number; task: number; label: string }) =>
  db
    .insertInto('task_labels')
    .values({ account: p.account, task: p.task, label: p.label, removed_at: null, trash: null })
    .onConflict((oc) =>
      oc.columns(['account', 'task', 'label']).doUpdateSet({ removed_at: null, trash: null }),
    ),
)

/** Puts labels on a task, also such as were taken off it before. */
async function put(tx: WriteTx, task: number, missing: readonly Row<'labels'>[]): Promise<void> {
  for (const label of missing) await putLabel(tx, { account: tx.account, task, label: label.name_key })
}

async function hide(tx: DestroyTx, task: number, gone: readonly Row<'labels'>[]): Promise<void> {
  for (const label of gone) {
    await sqlOf(tx)
      .updateTable('task_labels')
      .set({ removed_at: tx.now })
      .where('account', '=', tx.account)
      .where('task', '=', task)
      .where('label', '=', label.name_key)
      .execute()
  }
}

/** Why no label of that name can be used: it was renamed, lies in the Trash, or never was. */
export async function noLabel(tx: ReadTx, name: string): Promise<AppError> {
  const shown = `"${name.trim().slice(0, 80)}"`
  let stored = await storedLabel(tx, name)
  const renamed = stored?.renamed_to != null
  while (stored?.renamed_to != null) stored = await storedLabel(tx, stored.renamed_to)
  if (stored && stored.trash !== null) return trashed(`The label "${stored.name}"`, stored.trash)
  if (stored && renamed) {
    return notFound(`The label ${shown} is called "${stored.name}" now.`, {
      allowed: [stored.name],
      next: `Use "${stored.name}".`,
    })
  }
  const names = (await labels(tx)).map((each) => each.name)
  const near = nearest(name, names)
  return notFound(`There is no label ${shown}.`, {
    allowed: near.length > 0 ? near : names.slice(0, 3),
    next: 'create_label makes one; list_labels shows them all.',
  })
}

/** How far the tasks of a label are counted. */
const COUNTED = 1000

/** How many tasks that the caller sees carry a label, and how many of them are open; counted to {@link COUNTED}. */
export async function labelCount(
  tx: ReadTx,
  label: string,
): Promise<{ tasks: number; open: number; atLeast: boolean }> {
  const rows = await visibleTasks(tx)
    .innerJoin('task_labels as tl', (join) =>
      join.onRef('tl.account', '=', 'tasks.account').onRef('tl.task', '=', 'tasks.id'),
    )
    .select('tasks.status')
    .where('tl.label', '=', label)
    .where('tl.removed_at', 'is', null)
    .where('tl.trash', 'is', null)
    .limit(COUNTED + 1)
    .execute()
  const counted = rows.slice(0, COUNTED)
  return {
    tasks: counted.length,
    open: counted.filter((task) => !isClosed(task.status)).length,
    atLeast: rows.length > COUNTED,
  }
}
