import { sql } from 'kysely'
import type { ActorId } from '../model/actor.ts'
import { AppError, invalid } from '../model/error.ts'
import { NAME_LIMIT } from '../model/label.ts'
import { type DestroyTx, emit, type ReadTx, sqlOf, type WriteTx } from './handle.ts'
import { keyOf, noLabel, storedLabel } from './label.ts'
import type { Row } from './tables.ts'
import { checkLength } from './task.ts'
import { newTrashEntry } from './trash.ts'

type Label = Row<'labels'>

type Live = Label & { trash: null; renamed_to: null }

const isLive = (label: Label | undefined): label is Live =>
  label !== undefined && label.trash === null && label.renamed_to === null

/**
 * Makes sure that a label exists. One that exists stays as it is. One that was deleted or renamed is there again, empty:
 * what its Trash entry took off tasks comes back only by restoring that.
 */
export async function createLabel(
  tx: WriteTx,
  said: { name: string; color?: string | undefined },
): Promise<{ label: Label; already: boolean }> {
  const name = readName(said.name)
  const stored = await storedLabel(tx, name)
  if (isLive(stored)) return { label: stored, already: true }
  const color = said.color ?? null
  if (stored) {
    await updateLabel(tx, stored.name_key, {
      trash: null,
      renamed_to: null,
      color: stored.color ?? color,
    })
  } else await insertLabel(tx, name, color)
  await emit(tx, { kind: 'label_changed', object: name, data: { created: true } })
  return { label: (await storedLabel(tx, name))!, already: false }
}

/** What a change of a label did. */
export interface LabelChange {
  label: Label
  changed: boolean
  /** True where the new name existed, so that the two are one now. */
  merged?: boolean
  /** How many tasks carry the new name in place of the old. */
  tasks?: number
}

/**
 * Renames or recolours a label everywhere. A new name that exists merges the two. The old name stays as a sign to the new
 * one, so that a repeat finds it done.
 */
export async function changeLabel(
  tx: DestroyTx,
  name: string,
  patch: { newName?: string | undefined; color?: string | null | undefined },
): Promise<LabelChange> {
  const stored = await storedLabel(tx, name)
  const newName = patch.newName === undefined ? undefined : readName(patch.newName)
  const newKey = newName === undefined ? undefined : keyOf(newName)
  if (stored?.renamed_to != null && stored.renamed_to === newKey) {
    const renamed = await storedLabel(tx, newKey)
    if (isLive(renamed)) return edit(tx, renamed, { color: patch.color })
  }
  if (!isLive(stored)) throw await noLabel(tx, name)
  if (newName === undefined || newKey === stored.name_key) {
    return edit(tx, stored, { name: newName, color: patch.color })
  }
  await refuseOutOfSight(tx, stored)
  return rename(tx, stored, newName, patch.color)
}

/** Takes a label off everything, to the Trash. Returns the Trash entry. */
export async function trashLabel(
  tx: DestroyTx,
  name: string,
): Promise<{ label: Label; entry: number; tasks: number; already: boolean }> {
  const label = await storedLabel(tx, name)
  if (label && label.renamed_to === null && label.trash !== null) {
    return { label, entry: label.trash, tasks: 0, already: true }
  }
  if (!isLive(label)) throw await noLabel(tx, name)
  await refuseOutOfSight(tx, label)
  const entry = await newTrashEntry(tx, { kind: 'label', object: label.name, title: label.name })
  await updateLabel(tx, label.name_key, { trash: entry })
  const { numUpdatedRows } = await sqlOf(tx)
    .updateTable('task_labels')
    .set({ trash: entry })
    .where('account', '=', tx.account)
    .where('label', '=', label.name_key)
    .where('removed_at', 'is', null)
    .where('trash', 'is', null)
    .executeTakeFirstOrThrow()
  return { label, entry, tasks: Number(numUpdatedRows), already: false }
}

/** Changes spelling and color of a label, whose key stays. */
async function edit(
  tx: DestroyTx,
  label: Label,
  patch: { name?: string | undefined; color: string | null | undefined },
): Promise<LabelChange> {
  const name = patch.name ?? label.name
  const color = patch.color === undefined ? label.color : patch.color
  if (name === label.name && color === label.color) return { label, changed: false }
  await refuseOutOfSight(tx, label)
  await updateLabel(tx, label.name_key, { name, color })
  await emit(tx, {
    kind: 'label_changed',
    object: label.name,
    changes: {
      ...(name === label.name ? {} : { name: [label.name, name] }),
      ...(color === label.color ? {} : { color: [label.color, color] }),
    },
  })
  return { label: { ...label, name, color }, changed: true }
}

/** Labels are the whole account's: a credential narrowed to projects can't take one off what it does not see. */
async function refuseOutOfSight(tx: ReadTx, label: Label): Promise<void> {
  const { projects } = tx.actor
  if (projects === undefined) return
  const unseen = await sqlOf(tx)
    .selectFrom('task_labels as tl')
    .innerJoin('tasks as t', (join) =>
      join.onRef('t.account', '=', 'tl.account').onRef('t.id', '=', 'tl.task'),
    )
    .select('t.id')
    .where('tl.account', '=', tx.account)
    .where('tl.label', '=', label.name_key)
    .where('tl.removed_at', 'is', null)
    .where('tl.trash', 'is', null)
    .where((eb) => eb.or([eb('t.project', 'is', null), eb('t.project', 'not in', [...projects])]))
    .limit(1)
    .executeTakeFirst()
  if (!unseen) return
  throw new AppError('scope', `The label "${label.name}" is in use in projects that you can’t see.`, {
    next: 'Ask a person to do it, or use unlabel_task on the tasks that you see.',
  })
}

async function rename(
  tx: DestroyTx,
  label: Label,
  newName: string,
  newColor: string | null | undefined,
): Promise<LabelChange> {
  const key = keyOf(newName)
  const there = await storedLabel(tx, newName)
  const merged = isLive(there)
  const color = newColor === undefined ? (merged ? there.color : label.color) : newColor
  if (merged && color !== there.color) await refuseOutOfSight(tx, there)
  if (!there) await insertLabel(tx, newName, color)
  else if (merged) await updateLabel(tx, key, { color })
  else await updateLabel(tx, key, { name: newName, color, trash: null, renamed_to: null })
  const tasks = await moveTasks(tx, label.name_key, key)
  await updateLabel(tx, label.name_key, { renamed_to: key, color: null })
  const now = (await storedLabel(tx, newName))!
  await emit(tx, {
    kind: 'label_changed',
    object: label.name,
    changes: { name: [label.name, now.name], color: [label.color, now.color] },
    data: { merged, tasks },
  })
  return { label: now, changed: true, merged, tasks }
}

/** Every task that carries the one label carries the other in its place. */
async function moveTasks(tx: DestroyTx, from: string, to: string): Promise<number> {
  const carrying = sqlOf(tx)
    .selectFrom('task_labels')
    .where('account', '=', tx.account)
    .where('label', '=', from)
    .where('removed_at', 'is', null)
    .where('trash', 'is', null)
  await sqlOf(tx)
    .insertInto('task_labels')
    .columns(['account', 'task', 'label', 'removed_at', 'trash'])
    .expression(
      carrying.select([
        'account',
        'task',
        sql<string>`${to}`.as('label'),
        sql<null>`NULL`.as('removed_at'),
        sql<null>`NULL`.as('trash'),
      ]),
    )
    .onConflict((oc) =>
      oc.columns(['account', 'task', 'label']).doUpdateSet({ removed_at: null, trash: null }),
    )
    .execute()
  const { numUpdatedRows } = await sqlOf(tx)
    .updateTable('task_labels')
    .set({ removed_at: tx.now })
    .where('account', '=', tx.account)
    .where('label', '=', from)
    .where('removed_at', 'is', null)
    .where('trash', 'is', null)
    .executeTakeFirstOrThrow()
  return Number(numUpdatedRows)
}

function readName(said: string): string {
  const name = said.trim()
  if (name === '') throw invalid('The name of the label is empty.')
  checkLength('name', name, NAME_LIMIT)
  return name
}

async function insertLabel(tx: WriteTx, name: string, color: string | null): Promise<void> {
  await sqlOf(tx)
    .insertInto('labels')
    .values({
      account: tx.account,
      name_key: keyOf(name),
      name,
      color,
      renamed_to: null,
      trash: null,
      created_at: tx.now,
      created_by: tx.actor.id as ActorId,
    })
    .execute()
}

async function updateLabel(tx: WriteTx, key: string, columns: Partial<Label>): Promise<void> {
  await sqlOf(tx)
    .updateTable('labels')
    .set(columns)
    .where('account', '=', tx.account)
    .where('name_key', '=', key)
    .execute()
}
