import { fold } from '../model/suggest.ts'
import type { ReadTx } from './handle.ts'
import type { Row } from './tables.ts'
import { type NewTask, visibleTasks } from './task.ts'

/** How far back a task of the same title and parent counts as a likely duplicate, in milliseconds. */
export const DUPLICATE_MS = 48 * 3_600_000

/** A task that was probably meant: the same title under the same parent, made within 48 hours. */
export async function likelyDuplicate(tx: ReadTx, fields: NewTask): Promise<Row<'tasks'> | undefined> {
  const recent = await visibleTasks(tx)
    .selectAll('tasks')
    .where('tasks.title', '=', fields.title)
    .where('tasks.created_at', '>', tx.now - DUPLICATE_MS)
    .where('tasks.parent', fields.parent == null ? 'is' : '=', fields.parent ?? null)
    .orderBy('tasks.id', 'desc')
    .limit(1)
    .executeTakeFirst()
  return recent && fold(recent.title) === fold(fields.title) ? recent : undefined
}
