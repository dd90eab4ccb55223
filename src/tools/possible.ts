import { formatId } from '../model/id.ts'
import { isClosed } from '../model/task.ts'
import { holderOf, statusOf } from '../store/claim.ts'
import type { ReadTx } from '../store/handle.ts'
import type { Row } from '../store/tables.ts'

/** What stands around a task, as far as it decides what the caller can do now. */
export interface Surroundings {
  /** Public ids of open dependencies, as the caller may see them. */
  waitsFor: readonly string[]
  openSubtasks: number
  request?: Row<'requests'> | undefined
}

export interface Possible {
  /** Tools that would work now. */
  can: string[]
  /** Tools a caller would try and that would be refused, with why. */
  cannot: Record<string, string>
}

/** What the caller can do with a task now, and why not the rest. */
export function possible(tx: ReadTx, task: Row<'tasks'>, around: Surroundings): Possible {
  if (!tx.actor.scopes.includes('write')) return { can: [], cannot: {} }
  const status = statusOf(task, tx.now)
  if (isClosed(status)) {
    return { can: ['reopen_task', 'comment_on_task'], cannot: { start_run: `it is ${status}` } }
  }
  if (status === 'awaiting_approval') {
    const own = tx.actor.kind === 'person' || around.request?.asked_by === tx.actor.id
    const why = `it waits for a person’s decision on ${around.request ? formatId('request', around.request.id) : 'a request'}`
    return {
      can: own ? ['reopen_task', 'comment_on_task'] : ['comment_on_task'],
      cannot: { start_run: why, complete_task: why },
    }
  }
  if (status === 'blocked') {
    return {
      can: ['unblock_task', 'comment_on_task'],
      cannot: { start_run: 'it is blocked', claim_task: 'it is blocked' },
    }
  }
  const holder = holderOf(task, tx.now)
  if (holder && holder !== tx.actor.id && tx.actor.kind === 'agent') {
    const why = `${holder} works on it until ${new Date(task.claim_until!).toISOString()}`
    return { can: ['comment_on_task'], cannot: { start_run: why, claim_task: why, complete_task: why } }
  }
  const open = [
    ...(around.waitsFor.length > 0 ? [`it waits for ${around.waitsFor.slice(0, 5).join(', ')}`] : []),
    ...(around.openSubtasks > 0
      ? [around.openSubtasks === 1 ? 'a subtask is open' : `${around.openSubtasks} subtasks are open`]
      : []),
  ].join(' and ')
  const can =
    holder === tx.actor.id ? ['start_run', 'release_task', 'block_task'] : ['start_run', 'block_task']
  if (around.waitsFor.length > 0) {
    return {
      can: can.filter((name) => name !== 'start_run'),
      cannot: { start_run: open, complete_task: open },
    }
  }
  if (open) return { can, cannot: { complete_task: open } }
  return { can: [...can, 'complete_task'], cannot: {} }
}
