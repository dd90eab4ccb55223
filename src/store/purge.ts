import { type RawBuilder, sql } from 'kysely'
import { conflict, invalid, notFound } from '../model/error.ts'
import { formatId } from '../model/id.ts'
import { amendEvent, requestRemoved } from './amendment.ts'
import { meaningChanged } from './content.ts'
import { type DestroyTx, emit, inNumbers, sqlOf } from './handle.ts'
import { dropFromIndex } from './search-index.ts'
import type { Row } from './tables.ts'

/** What a purge removed for good. */
export interface Purged {
  already: boolean
  tasks: number
  /** Tasks that stay as empty shells, since sign-offs refer to them and those are never removed. */
  kept: string[]
}

/** The title of a task of which only the record of its sign-offs is left. */
const SHELL = '(purged)'

/**
 * Removes what lies under an entry of the Trash, for good: rows, texts, files, search index, and the texts in the events
 * about it. What was trashed before under an entry of its own stays there, on its own. `title` repeats the entry's, so that
 * no slip of a number destroys work.
 */
export async function purge(tx: DestroyTx, id: number, title: string): Promise<Purged> {
  const object = formatId('trash', id)
  const entry = await sqlOf(tx)
    .selectFrom('trash')
    .selectAll()
    .where('account', '=', tx.account)
    .where('id', '=', id)
    .executeTakeFirst()
  if (!entry) return purgedBefore(tx, object)
  if (entry.restored_at !== null) {
    throw conflict(`${object} was restored.`, { next: 'Only what lies in the Trash can be purged.' })
  }
  if (title.trim() !== entry.title.trim()) {
    throw invalid(`The title is not that of ${object}.`, {
      allowed: [entry.title],
      next: 'Repeat the title of the entry.',
    })
  }
  const number = Number(entry.object.replace(/^\D+/, ''))
  let tasks: Row<'tasks'>[] = []
  let kept: number[] = []
  if (entry.kind === 'task' || entry.kind === 'project') {
    tasks = await sqlOf(tx)
      .selectFrom('tasks')
      .selectAll()
      .where('account', '=', tx.account)
      .where('trash', '=', id)
      .orderBy('id')
      .execute()
    kept = await purgeTasks(tx, tasks)
    if (entry.kind === 'project') await purgeProject(tx, number)
  } else if (entry.kind === 'label') await purgeLabel(tx, entry)
  else if (entry.kind === 'view')
    await sqlOf(tx).deleteFrom('views').where('account', '=', tx.account).where('trash', '=', id).execute()
  else await purgePart(tx, entry.kind, number)
  await forgetTexts(tx, sql`object = ${entry.object}`)
  await sqlOf(tx).deleteFrom('trash').where('account', '=', tx.account).where('id', '=', id).execute()
  await emit(tx, {
    kind: 'purged',
    object,
    data: { kind: entry.kind, what: entry.object, tasks: tasks.length },
  })
  return { already: false, tasks: tasks.length, kept: kept.map((each) => formatId('task', each)) }
}

/** A repeat finds nothing to do; an entry that never was is not found. */
async function purgedBefore(tx: DestroyTx, object: string): Promise<Purged> {
  const event = await sqlOf(tx)
    .selectFrom('events')
    .select('id')
    .where('account', '=', tx.account)
    .where('kind', '=', 'purged')
    .where('object', '=', object)
    .limit(1)
    .executeTakeFirst()
  if (event) return { already: true, tasks: 0, kept: [] }
  throw notFound(`There is no entry ${object} in the Trash.`, { next: 'list_trash shows what lies there.' })
}

/** Returns the tasks that stay as shells. */
async function purgeTasks(tx: DestroyTx, tasks: readonly Row<'tasks'>[]): Promise<number[]> {
  const db = sqlOf(tx)
  const ids = tasks.map((task) => task.id)
  await detach(tx, 'parent', ids)
  await db
    .deleteFrom('run_events')
    .where('account', '=', tx.account)
    .where(
      'run',
      'in',
      db
        .selectFrom('runs')
        .select('id')
        .where('account', '=', tx.account)
        .where('task', 'in', inNumbers(tx, ids)),
    )
    .execute()
  await db
    .deleteFrom('artifact_bytes')
    .where('account', '=', tx.account)
    .where(
      'artifact',
      'in',
      db
        .selectFrom('artifacts')
        .select('id')
        .where('account', '=', tx.account)
        .where('task', 'in', inNumbers(tx, ids)),
    )
    .execute()
  await dropFromIndex(tx, sql`task IN ${inNumbers(tx, ids)}`)
  for (const table of PARTS) {
    await db
      .deleteFrom(table)
      .where('account', '=', tx.account)
      .where('task', 'in', inNumbers(tx, ids))
      .execute()
  }
  await db
    .deleteFrom('dependencies')
    .where('account', '=', tx.account)
    .where('depends_on', 'in', inNumbers(tx, ids))
    .execute()
  await db
    .updateTable('tasks')
    .set({ blocked_by: null })
    .where('account', '=', tx.account)
    .where('blocked_by', 'in', inNumbers(tx, ids))
    .execute()
  await forgetTexts(tx, sql`task IN ${inNumbers(tx, ids)}`)
  await db
    .deleteFrom('trash')
    .where('account', '=', tx.account)
    .where('task', 'in', inNumbers(tx, ids))
    .execute()

  const signed = await db
    .selectFrom('sign_offs')
    .select('task')
    .distinct()
    .where('account', '=', tx.account)
    .where('task', 'in', inNumbers(tx, ids))
    .execute()
  const kept = signed.map((each) => each.task)
  const gone = ids.filter((id) => !kept.includes(id))
  for (const id of kept) await emptyShell(tx, id)
  const requests = await db
    .deleteFrom('requests')
    .where('account', '=', tx.account)
    .where('task', 'in', inNumbers(tx, gone))
    .returningAll()
    .execute()
  for (const request of requests) await requestRemoved(tx, request)
  await db
    .deleteFrom('tasks')
    .where('account', '=', tx.account)
    .where('id', 'in', inNumbers(tx, gone))
    .execute()
  return kept
}

/** Tables whose rows belong to one task and go with it. */
const PARTS = [
  'steps',
  'comments',
  'notes',
  'runs',
  'artifacts',
  'dependencies',
  'task_labels',
  'calendar_links',
  'questions',
  'notifications',
] as const

/** What sign-offs refer to keeps its number and its place in the Trash, and says nothing any more. */
async function emptyShell(tx: DestroyTx, id: number): Promise<void> {
  const task = await sqlOf(tx)
    .selectFrom('tasks')
    .selectAll()
    .where('account', '=', tx.account)
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  await meaningChanged(tx, task, {
    title: SHELL,
    description: '',
    project: null,
    parent: null,
    assignee: null,
    due: null,
    scheduled: null,
    estimate: null,
    recurrence: null,
    recurrence_anchor: null,
    version: task.version + 1,
  })
}

async function purgeProject(tx: DestroyTx, id: number): Promise<void> {
  await detach(tx, 'project', [id])
  await dropFromIndex(tx, sql`kind = 'project' AND object = ${id}`)
  await forgetTexts(tx, sql`project = ${id}`)
  await sqlOf(tx).deleteFrom('projects').where('account', '=', tx.account).where('id', '=', id).execute()
}

/** What was trashed before under its own entry no longer hangs on what goes, so that it can still be restored. */
async function detach(tx: DestroyTx, from: 'parent' | 'project', ids: readonly number[]): Promise<void> {
  const others = await sqlOf(tx)
    .selectFrom('tasks')
    .selectAll()
    .where('account', '=', tx.account)
    .where(from, 'in', inNumbers(tx, ids))
    .where('id', 'not in', from === 'parent' ? inNumbers(tx, ids) : inNumbers(tx, []))
    .execute()
  for (const task of others) {
    await meaningChanged(tx, task, { [from]: null, version: task.version + 1 })
    await emit(tx, { kind: 'updated', task: task.id, changes: { [from]: ['(purged)', null] } })
  }
}

async function purgePart(tx: DestroyTx, kind: 'step' | 'comment' | 'artifact', id: number): Promise<void> {
  const db = sqlOf(tx)
  await dropFromIndex(tx, sql`kind = ${kind} AND object = ${id}`)
  if (kind === 'step') {
    await db.deleteFrom('notes').where('account', '=', tx.account).where('step', '=', id).execute()
    await db.deleteFrom('steps').where('account', '=', tx.account).where('id', '=', id).execute()
  } else if (kind === 'comment') {
    await db.deleteFrom('comments').where('account', '=', tx.account).where('id', '=', id).execute()
  } else {
    await db
      .deleteFrom('artifact_bytes')
      .where('account', '=', tx.account)
      .where('artifact', '=', id)
      .execute()
    await db.deleteFrom('artifacts').where('account', '=', tx.account).where('id', '=', id).execute()
  }
}

async function purgeLabel(tx: DestroyTx, entry: Row<'trash'>): Promise<void> {
  const db = sqlOf(tx)
  const gone = await db
    .selectFrom('labels')
    .select('name_key')
    .where('account', '=', tx.account)
    .where('trash', '=', entry.id)
    .execute()
  for (const { name_key } of gone) {
    await db
      .deleteFrom('task_labels')
      .where('account', '=', tx.account)
      .where('label', '=', name_key)
      .execute()
    await db.deleteFrom('labels').where('account', '=', tx.account).where('name_key', '=', name_key).execute()
  }
}

/** How many events are read at once to have their texts taken out. */
const CHUNK = 500

/** Events stay, since streams, counters and the chain rest on them; what they quoted of the thing goes. */
async function forgetTexts(tx: DestroyTx, which: RawBuilder<unknown>): Promise<void> {
  for (let after = 0; ; ) {
    const events = await sqlOf(tx)
      .selectFrom('events')
      .selectAll()
      .where('account', '=', tx.account)
      .where('id', '>', after)
      .where('data', 'is not', null)
      .where(sql<boolean>`${which}`)
      .orderBy('id')
      .limit(CHUNK)
      .execute()
    for (const event of events) await amendEvent(tx, event, { data: null })
    if (events.length < CHUNK) return
    after = events.at(-1)!.id
  }
}
