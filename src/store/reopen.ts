import { conflict } from '../model/error.ts'
import { formatId } from '../model/id.ts'
import { isClosed } from '../model/task.ts'
import { FREE, statusOf } from './claim.ts'
import {
  dropRequest,
  guardMeaning,
  parentsChanged,
  pendingRequest,
  type Stale,
  storedTask,
} from './content.ts'
import { emit, type WriteTx } from './handle.ts'
import { addNote } from './note.ts'
import { notify } from './notification.ts'
import { sees, shownTask } from './sight.ts'
import type { Row } from './tables.ts'
import { updateRow } from './task.ts'

/** What reopening did; `stale` names requests on what the task is part of, which it voided. */
export interface Reopened {
  task: Row<'tasks'>
  stale: Stale[]
  already: boolean
}

/** Back to open. An agent withdraws only its own request; reopening a closed task is everybody's who may write. */
export async function reopenTask(
  tx: WriteTx,
  task: Row<'tasks'>,
  reason: string | undefined,
): Promise<Reopened> {
  const pending = await pendingRequest(tx, task.id)
  if (pending) return withdraw(tx, task, pending, reason)
  if (!isClosed(task.status)) {
    if (statusOf(task, tx.now) === 'open') return { task, stale: [], already: true }
    throw conflict(`${formatId('task', task.id)} is ${task.status}, not closed.`, {
      next: task.status === 'blocked' ? 'unblock_task lifts a block.' : 'release_task gives it back.',
    })
  }
  // Whether a part is closed is part of what a request on the whole asked for (gate G11).
  if (task.parent !== null) await guardMeaning(tx, await openParent(tx, task.parent))
  await addNote(tx, { task: task.id, kind: 'reopen' }, reason)
  const reopened = await updateRow(tx, task.id, {
    status: 'open',
    closed_at: null,
    closed_by: null,
    changed_since_sign_off: 0,
    ...FREE,
  })
  const event = await emit(tx, {
    kind: 'reopened',
    task: task.id,
    project: task.project,
    ...(reason ? { data: { reason } } : {}),
  })
  await notify(tx, [task.assignee, task.closed_by], 'reopened', event, task.id)
  return { task: reopened, stale: await parentsChanged(tx, reopened), already: false }
}

async function withdraw(
  tx: WriteTx,
  task: Row<'tasks'>,
  pending: Row<'requests'>,
  reason: string | undefined,
): Promise<Reopened> {
  if (tx.actor.kind === 'agent' && pending.asked_by !== tx.actor.id) {
    throw conflict(`${formatId('request', pending.id)} was asked by ${pending.asked_by}, not by you.`, {
      gate: true,
      next: 'Only who asked, or a person, can withdraw it. Use comment_on_task.',
    })
  }
  await dropRequest(tx, pending, 'withdrawn')
  await addNote(tx, { task: task.id, kind: 'reopen' }, reason)
  return {
    task: await updateRow(tx, task.id, { status: 'open', blocked_by: null }),
    stale: [],
    already: false,
  }
}

async function openParent(tx: WriteTx, id: number): Promise<Row<'tasks'>> {
  const parent = await storedTask(tx, id)
  if (!isClosed(parent.status)) return parent
  if (!sees(tx, parent.project)) {
    throw conflict(`It is part of ${shownTask(tx, parent)}, which is closed.`, {
      next: 'Ask a person to reopen that one first.',
    })
  }
  throw conflict(`${formatId('task', id)}, of which it is a part, is ${parent.status}.`, {
    next: `Call reopen_task with ${formatId('task', id)} first.`,
  })
}
