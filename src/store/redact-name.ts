import { sql } from 'kysely'
import { formsOf, replacedIn } from '../model/redaction.ts'
import { fold } from '../model/suggest.ts'
import { type DestroyTx, dialectOf, sqlOf } from './handle.ts'
import { updateById } from './row.ts'
import type { Row } from './tables.ts'

type Named = 'projects' | 'labels' | 'views' | 'connectors'

/**
 * Takes a text out of what is known by a name: the name's folded form is a key, so what is left of two names may not be the same.
 * Returns how many rows of each table said it, and the projects among them.
 */
export async function redactNames(
  tx: DestroyTx,
  text: string,
): Promise<{ places: Record<string, number>; projects: number[] }> {
  const places: Record<string, number> = {}
  const projects: number[] = []
  const counted = (table: Named) => {
    places[table] = (places[table] ?? 0) + 1
  }
  for (const row of await saying(tx, 'projects', ['name', 'description'], text)) {
    const name = await freeName(tx, 'projects', row.name, text)
    await updateById(tx, 'projects', row.id, {
      ...name,
      description: replacedIn(row.description, text),
      version: row.version + 1,
      updated_at: tx.now,
    })
    projects.push(row.id)
    counted('projects')
  }
  for (const row of await saying(tx, 'labels', ['name'], text)) {
    await renameLabel(tx, row, await freeName(tx, 'labels', row.name, text))
    counted('labels')
  }
  for (const row of await saying(tx, 'views', ['name', 'filter'], text)) {
    const columns = {
      ...(await freeName(tx, 'views', row.name, text)),
      filter: replacedIn(row.filter, text, true),
    }
    if (columns.name === row.name && columns.filter === row.filter) continue
    await sqlOf(tx)
      .updateTable('views')
      .set(columns)
      .where('account', '=', tx.account)
      .where('name_key', '=', row.name_key)
      .execute()
    counted('views')
  }
  for (const row of await saying(tx, 'connectors', ['name', 'config'], text)) {
    const columns = {
      ...(await freeName(tx, 'connectors', row.name, text)),
      config: replacedIn(row.config, text, true),
    }
    if (columns.name === row.name && columns.config === row.config) continue
    await sqlOf(tx)
      .updateTable('connectors')
      .set(columns)
      .where('account', '=', tx.account)
      .where('name_key', '=', row.name_key)
      .execute()
    counted('connectors')
  }
  return { places, projects }
}

/** There are few of these, so they are read at once. */
async function saying<T extends Named>(
  tx: DestroyTx,
  table: T,
  columns: readonly (keyof Row<T> & string)[],
  text: string,
): Promise<Row<T>[]> {
  const says = columns.flatMap((column) =>
    formsOf(text).map((form) => dialectOf(tx).holds(sql.ref(column), form)),
  )
  const { rows } = await sql<Row<T>>`SELECT * FROM ${sql.table(table)} WHERE account = ${tx.account}
    AND (${sql.join(says, sql` OR `)})`.execute(sqlOf(tx))
  return rows
}

/** What is left of a name, made different from all others, and its key. */
async function freeName(
  tx: DestroyTx,
  table: Named,
  name: string,
  text: string,
): Promise<{ name: string; name_key: string }> {
  const left = replacedIn(name, text)
  if (left === name) return { name, name_key: fold(name.trim()) }
  for (let n = 1; ; n++) {
    const free = n === 1 ? left : `${left} ${n}`
    const name_key = fold(free.trim())
    const { rows } = await sql`SELECT 1 FROM ${sql.table(table)} WHERE account = ${tx.account}
      AND name_key = ${name_key} LIMIT 1`.execute(sqlOf(tx))
    if (rows.length === 0) return { name: free, name_key }
  }
}

/** Rows of tasks name a label by its key, so it gets a row under the new one before the old one goes. */
async function renameLabel(
  tx: DestroyTx,
  label: Row<'labels'>,
  to: { name: string; name_key: string },
): Promise<void> {
  const db = sqlOf(tx)
  if (label.name_key === to.name_key) return
  await db
    .insertInto('labels')
    .values({ ...label, ...to })
    .execute()
  await db
    .updateTable('task_labels')
    .set({ label: to.name_key })
    .where('account', '=', tx.account)
    .where('label', '=', label.name_key)
    .execute()
  await db
    .updateTable('labels')
    .set({ renamed_to: to.name_key })
    .where('account', '=', tx.account)
    .where('renamed_to', '=', label.name_key)
    .execute()
  await db
    .deleteFrom('labels')
    .where('account', '=', tx.account)
    .where('name_key', '=', label.name_key)
    .execute()
}
