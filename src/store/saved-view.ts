import { sql } from 'kysely'
import type { ActorId } from '../model/actor.ts'
import { AppError, conflict, invalid, notFound } from '../model/error.ts'
import { parseId } from '../model/id.ts'
import { NAME_LIMIT } from '../model/label.ts'
import { fold, nearest } from '../model/suggest.ts'
import { type DestroyTx, emit, inTexts, type ReadTx, sqlOf } from './handle.ts'
import { type Page, type PageInput, pageOf } from './page.ts'
import { sees } from './sight.ts'
import type { Row } from './tables.ts'
import { checkLength } from './task.ts'
import { newTrashEntry, trashed } from './trash.ts'

/** Longest filter of a view, as JSON. */
const FILTER_LIMIT = 4000

/** Saved views that are not in the Trash, by name: those that the caller sees, or those that it does not. */
async function savedViews(tx: ReadTx, seen: boolean): Promise<Row<'views'>[]> {
  if (!seen && tx.actor.projects === undefined) return []
  const views = await sqlOf(tx)
    .selectFrom('views')
    .selectAll()
    .where('account', '=', tx.account)
    .where('trash', 'is', null)
    .orderBy('name_key')
    .execute()
  const inSight = await Promise.all(views.map((view) => seesView(tx, view)))
  return views.filter((_, i) => inSight[i] === seen)
}

/** Whether the caller sees a view: one that narrows to a project, or to the subtasks of a task, belongs there. */
export async function seesView(tx: ReadTx, view: Row<'views'>): Promise<boolean> {
  if (tx.actor.projects === undefined) return true
  const place = await placeOf(tx, view)
  return place === undefined || sees(tx, place)
}

/** The project to which a view narrows; undefined where it does not. */
async function placeOf(tx: ReadTx, view: Row<'views'>): Promise<number | null | undefined> {
  const { project_id, parent_id } = JSON.parse(view.filter) as Record<string, unknown>
  if (project_id !== undefined) return parseId(String(project_id), 'project').number
  if (parent_id === undefined) return undefined
  const parent = await sqlOf(tx)
    .selectFrom('tasks')
    .select('project')
    .where('account', '=', tx.account)
    .where('id', '=', parseId(String(parent_id), 'task').number)
    .executeTakeFirst()
  return parent?.project
}

/** A page of saved views, by name. */
export async function viewPage(tx: ReadTx, page: PageInput): Promise<Page<Row<'views'>>> {
  const unseen = (await savedViews(tx, false)).map((view) => view.name_key)
  const query = sqlOf(tx)
    .selectFrom('views')
    .selectAll()
    .where('account', '=', tx.account)
    .where('trash', 'is', null)
    .where('name_key', 'not in', inTexts(tx, unseen))
  return pageOf(tx, query, { by: [sql`views.name_key`], direction: 'asc' }, page)
}

/** A saved view by its name; an unknown one is `not_found` with the nearest three. */
export async function viewNamed(tx: ReadTx, name: string): Promise<Row<'views'>> {
  const view = await storedView(tx, name)
  const known = view !== undefined && (await seesView(tx, view))
  if (known && view.trash === null) return view
  if (known) throw trashed(`The view "${view.name}"`, view.trash!)
  const names = (await savedViews(tx, true)).map((each) => each.name)
  throw notFound(`There is no saved view "${name.slice(0, 80)}".`, {
    allowed: nearest(name, names),
    next: 'list_views shows them all; save_view makes one.',
  })
}

/** A view by its name, be it in the Trash or not. */
export function storedView(tx: ReadTx, name: string): Promise<Row<'views'> | undefined> {
  return sqlOf(tx)
    .selectFrom('views')
    .selectAll()
    .where('account', '=', tx.account)
    .where('name_key', '=', fold(name.trim()))
    .executeTakeFirst()
}

/**
 * Saves a filter under a name, in place of the one of that name, whose filter stays in the history. One that lies in the
 * Trash leaves it by this.
 */
export async function saveView(
  tx: DestroyTx,
  said: { name: string; filter: Record<string, unknown> },
): Promise<{ view: Row<'views'>; changed: boolean; replaced: boolean }> {
  const name = said.name.trim()
  if (name === '') throw invalid('The name of the view is empty.')
  checkLength('name', name, NAME_LIMIT)
  const filter = JSON.stringify(sorted(said.filter))
  if (filter.length > FILTER_LIMIT) {
    throw new AppError(
      'too_large',
      `The filter has ${filter.length} characters; ${FILTER_LIMIT} are allowed.`,
    )
  }
  const stored = await storedView(tx, name)
  if (stored?.trash === null && stored.name === name && stored.filter === filter) {
    return { view: stored, changed: false, replaced: false }
  }
  if (stored && !(await seesView(tx, stored))) {
    throw conflict(`The name "${name}" is taken.`, { next: 'Choose another name.' })
  }
  if (stored) {
    await updateView(tx, stored.name_key, { name, filter, trash: null })
    if (stored.trash !== null) await leaveTrash(tx, stored.trash)
  } else {
    await sqlOf(tx)
      .insertInto('views')
      .values({
        account: tx.account,
        name_key: fold(name),
        name,
        filter,
        trash: null,
        created_at: tx.now,
        created_by: tx.actor.id as ActorId,
      })
      .execute()
  }
  await emit(tx, {
    kind: 'view_saved',
    object: name,
    changes: { filter: [stored ? JSON.parse(stored.filter) : null, said.filter] },
  })
  return { view: (await storedView(tx, name))!, changed: true, replaced: stored !== undefined }
}

/** Moves a saved view to the Trash. */
export async function trashView(
  tx: DestroyTx,
  name: string,
): Promise<{ view: Row<'views'>; entry: number; already: boolean }> {
  const stored = await storedView(tx, name)
  if (stored && stored.trash !== null && (await seesView(tx, stored))) {
    return { view: stored, entry: stored.trash, already: true }
  }
  const view = await viewNamed(tx, name)
  const project = (await placeOf(tx, view)) ?? null
  const entry = await newTrashEntry(tx, { kind: 'view', object: view.name, title: view.name, project })
  await updateView(tx, view.name_key, { trash: entry })
  return { view, entry, already: false }
}

/** Keys in one order, so that the same filter is the same text. */
function sorted(filter: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(filter).sort(([a], [b]) => (a < b ? -1 : 1)))
}

async function updateView(tx: DestroyTx, key: string, columns: Partial<Row<'views'>>): Promise<void> {
  await sqlOf(tx)
    .updateTable('views')
    .set(columns)
    .where('account', '=', tx.account)
    .where('name_key', '=', key)
    .execute()
}

async function leaveTrash(tx: DestroyTx, entry: number): Promise<void> {
  await sqlOf(tx)
    .updateTable('trash')
    .set({ restored_at: tx.now })
    .where('account', '=', tx.account)
    .where('id', '=', entry)
    .execute()
}
