import { formatId } from '../model/id.ts'
import { guardMeaning, meaningChanged, type Stale, storedTask } from './content.ts'
import { type DestroyTx, sqlOf } from './handle.ts'
import { refuseOutOfSight } from './sight.ts'
import type { Row } from './tables.ts'
import { childrenOf } from './task.ts'
import { newTrashEntry } from './trash.ts'

/**
 * Moves a task and what hangs below it to the Trash under one entry; what lay there before stays under its own. Nothing
 * is closed and nothing freed: dependencies still wait for it, and a pending request comes back with it.
 */
export async function trashTask(
  tx: DestroyTx,
  task: Row<'tasks'>,
): Promise<{ entry: number; tasks: number; stale: Stale[] }> {
  const parent = task.parent === null ? undefined : await storedTask(tx, task.parent)
  if (parent) await guardMeaning(tx, parent)
  const subtree = await subtreeOf(tx, task)
  refuseOutOfSight(tx, subtree, `${formatId('task', task.id)} has subtasks`, 'delete it')
  const entry = await newTrashEntry(tx, {
    kind: 'task',
    object: formatId('task', task.id),
    title: task.title,
    task: task.id,
    project: task.project,
    concerns: [task.assignee, task.claimed_by],
  })
  for (const each of subtree) {
    await sqlOf(tx)
      .updateTable('tasks')
      .set({ trash: entry })
      .where('account', '=', tx.account)
      .where('id', '=', each.id)
      .execute()
  }
  const { stale } = parent ? await meaningChanged(tx, parent) : { stale: [] }
  return { entry, tasks: subtree.length, stale }
}

async function subtreeOf(tx: DestroyTx, task: Row<'tasks'>): Promise<Row<'tasks'>[]> {
  const all = [task]
  for (const each of all) all.push(...(await childrenOf(tx, each.id)))
  return all
}
