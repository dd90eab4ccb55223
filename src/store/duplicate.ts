import { fold } from '../model/suggest.ts'
import type { ReadTx } from './handle.ts'
import { visibleTasksQuery } from './sight.ts'
import type { Row } from './tables.ts'
import type { NewTask } from './task.ts'

/** How far back a task of the same title and parent counts as a likely duplicate, in milliseconds. */
export const DUPLICATE_MS = 48 * 3_600_000

interface Twin {
  title: string
  after: number
}

const newestUnderNone = visibleTasksQuery((tasks, p: Twin) =>
  tasks
    .selectAll('tasks')
    .where('tasks.title', '=', p.title)
    .where('tasks.created_at', '>', p.after)
    .where('tasks.parent', 'is', null)
    .orderBy('tasks.id', 'desc')
    .limit(1),
)

const newestUnder = visibleTasksQuery((tasks, p: Twin & { parent: number }) =>
  tasks
    .selectAll('tasks')
    .where('tasks.title', '=', p.title)
    .where('tasks.created_at', '>', p.after)
    .where('tasks.parent', '=', p.parent)
    .orderBy('tasks.id', 'desc')
    .limit(1),
)

/** A task that was probably meant: the same title under the same parent, made within 48 hours. */
export async function likelyDuplicate(tx: ReadTx, fields: NewTask): Promise<Row<'tasks'> | undefined> {
  const { title, parent } = fields
  const after = tx.now - DUPLICATE_MS
  const [recent] =
    parent == null
      ? await newestUnderNone(tx, { title, after })
      : await newestUnder(tx, { title, after, parent })
  return recent && fold(recent.title) === fold(fields.title) ? recent : undefined
}
