import type { ActorId } from '../model/actor.ts'
import { type AppError, notFound } from '../model/error.ts'
import { formatId } from '../model/id.ts'
import { type DestroyTx, emit, nextNumber, sqlOf } from './handle.ts'
import type { TrashKind } from './tables.ts'

/** The refusal to work on something that lies in the Trash. */
export function trashed(what: string, entry: number): AppError {
  return notFound(`${what} is in the Trash (${formatId('trash', entry)}).`, {
    next: `restore_from_trash with ${formatId('trash', entry)} brings it back as it was.`,
  })
}

/** Opens an entry of the Trash; the caller then marks the rows that go with it. */
export async function newTrashEntry(
  tx: DestroyTx,
  entry: { kind: TrashKind; object: string; title: string; task?: number | null; project?: number | null },
): Promise<number> {
  const id = await nextNumber(tx, 'trash')
  await sqlOf(tx)
    .insertInto('trash')
    .values({
      account: tx.account,
      id,
      kind: entry.kind,
      object: entry.object,
      title: entry.title.slice(0, 200),
      task: entry.task ?? null,
      project: entry.project ?? null,
      by: tx.actor.id as ActorId,
      at: tx.now,
      restored_at: null,
    })
    .execute()
  await emit(tx, {
    kind: 'trashed',
    task: entry.task ?? null,
    project: entry.project ?? null,
    object: entry.object,
    data: { trash: formatId('trash', id), title: entry.title.slice(0, 200) },
  })
  return id
}
