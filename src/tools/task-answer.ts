import { formatId } from '../model/id.ts'
import type { Finished } from '../store/approval.ts'
import type { Stale } from '../store/content.ts'
import type { ReadTx } from '../store/handle.ts'
import type { Successor } from '../store/recurrence.ts'
import { taskRows } from './task-row.ts'
import { signOffPage } from './view.ts'

/** What finishing work answers: closed, or waiting for a person, which is a success too. */
export async function finishedAnswer(tx: ReadTx, done: Finished): Promise<Record<string, unknown>> {
  const [record] = await taskRows(tx, [done.task], 'detailed')
  const waits = done.request?.state === 'pending' && done.task.status === 'awaiting_approval'
  return {
    ...record,
    ...(done.already ? { already: true } : {}),
    ...(waits
      ? {
          request: formatId('request', done.request!.id),
          page: signOffPage(tx, done.request!.id),
          next: 'A person decides on that page. You are done here: take another task (get_next_task).',
        }
      : {}),
    ...(done.next ? nextOccurrence(done.next) : {}),
  }
}

function nextOccurrence(next: Successor): Record<string, unknown> {
  if ('withheld' in next) return { no_next_occurrence: next.withheld }
  return { next_occurrence: formatId('task', next.task.id), next_due: next.task.due }
}

/** Tells that a change of meaning voided a pending request, and how to ask again. */
export function staleNotes(stale: readonly Stale[]): Record<string, unknown> {
  if (stale.length === 0) return {}
  return {
    request_stale: stale.map((each) => formatId('request', each.request)).join(', '),
    ask_again: stale.map((each) => `complete_task {"id":"${formatId('task', each.task)}"}`).join(', '),
  }
}
