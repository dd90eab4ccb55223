import { sql } from 'kysely'
import type { ActorId } from '../model/actor.ts'
import { AppError, invalid, notFound } from '../model/error.ts'
import { NAME_LIMIT } from '../model/label.ts'
import { fold, nearest } from '../model/suggest.ts'
import { type DestroyTx, emit, type ReadTx, sqlOf } from './handle.ts'
import { type Page, type PageInput, pageOf } from './page.ts'
import type { Row } from './tables.ts'
import { checkLength } from './task.ts'
import { newTrashEntry, trashed } from './trash.ts'

/** Longest filter of a view, as JSON. */
const FILTER_LIMIT = 4000

/** Saved views that are not in the Trash, by name. */
function savedViews(tx: ReadTx): Promise<Row<'views'>[]> {
  return sqlOf(tx)
    .selectFrom('views')
    .selectAll()
    .where('account', '=', tx.account)
    .where('trash', 'is', null)
    .orderBy('name_key')
    .execute()
}

/** A page of saved views, by name. */
export function viewPage(tx: ReadTx, page: PageInput): Promise<Page<Row<'views'>>> {
  const query = sqlOf(tx)
    .selectFrom('views')
    .selectAll()
    .where('account', '=', tx.account)
    .where('trash', 'is', null)
  return pageOf(tx, query, { by: [sql`views.name_key`], direction: 'asc' }, page)
}

/** A saved view by its name; an unknown one is `not_found` with the nearest three. */
export async function viewNamed(tx: ReadTx, name: string): Promise<Row<'views'>> {
  const view = await storedView(tx, name)
  if (view?.trash === null) return view
  if (view) throw trashed(`The view "${view.name}"`, view.trash!)
  const names = (await savedViews(tx)).map((each) => each.name)
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
  if (stored && stored.trash !== null) return { view: stored, entry: stored.trash, already: true }
  const view = await viewNamed(tx, name)
  const entry = await newTrashEntry(tx, { kind: 'view', object: view.name, title: view.name })
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
