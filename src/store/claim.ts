import type { ActorId } from '../model/actor.ts'
import { AppError } from '../model/error.ts'
import { formatId } from '../model/id.ts'
import { accountOf } from './account.ts'
import { partyNames } from './actor.ts'
import { type ReadTx, sqlOf, type WriteTx } from './handle.ts'
import type { Row } from './tables.ts'

/** Whoever works on a task now. A lapsed lease counts as free at once, before the sweep has written it down. */
export function holderOf(task: Row<'tasks'>, now: number): ActorId | undefined {
  return task.claimed_by !== null && task.claim_until! > now ? task.claimed_by : undefined
}

/** A task's status as readers see it: one whose lease has lapsed is open again. */
export function statusOf(task: Row<'tasks'>, now: number): Row<'tasks'>['status'] {
  return task.status === 'in_progress' && holderOf(task, now) === undefined ? 'open' : task.status
}

/** Refuses where another agent holds a live claim, naming who, since when and until when. */
export async function refuseIfHeld(tx: ReadTx, task: Row<'tasks'>): Promise<void> {
  const holder = holderOf(task, tx.now)
  if (!holder || holder === tx.actor.id || tx.actor.kind === 'person') return
  const name = (await partyNames(tx))(holder)
  const since = new Date(task.claimed_at!).toISOString()
  const until = new Date(task.claim_until!).toISOString()
  throw new AppError(
    'already_claimed',
    `${formatId('task', task.id)} is held by ${name} since ${since}, until ${until}.`,
    {
      written: false,
      retry: false,
      next: 'Take another task: get_next_task. After the lease has lapsed the task is free.',
    },
  )
}

/**
 * Takes the claim by one conditional update, so that of any number of callers exactly one wins. Throws
 * `already_claimed` for the others.
 */
export async function takeClaim(tx: WriteTx, task: Row<'tasks'>): Promise<void> {
  const { lease_ms } = await accountOf(tx)
  const { numUpdatedRows } = await sqlOf(tx)
    .updateTable('tasks')
    .set({
      status: 'in_progress',
      claimed_by: tx.actor.id as ActorId,
      claimed_at: tx.now,
      claim_until: tx.now + lease_ms,
    })
    .where('account', '=', tx.account)
    .where('id', '=', task.id)
    .where('status', 'in', ['open', 'in_progress'])
    .where((eb) => eb.or([eb('claimed_by', 'is', null), eb('claim_until', '<=', tx.now)]))
    .executeTakeFirstOrThrow()
  if (numUpdatedRows === 0n) await refuseIfHeld(tx, task)
}

/** The columns of a task that nobody works on. */
export const FREE = { claimed_by: null, claimed_at: null, claim_until: null } as const

/**
 * A sign of life: the caller's leases on these tasks, and its open runs there, last a full lease from now. Called after
 * every write that changed something on them.
 */
export async function extendLeases(tx: WriteTx, tasks: readonly number[]): Promise<void> {
  if (tx.actor.kind !== 'agent' || tasks.length === 0) return
  const { lease_ms } = await accountOf(tx)
  const until = tx.now + lease_ms
  await sqlOf(tx)
    .updateTable('tasks')
    .set({ claim_until: until })
    .where('account', '=', tx.account)
    .where('id', 'in', [...tasks])
    .where('claimed_by', '=', tx.actor.id)
    .where('claim_until', '>', tx.now)
    .execute()
  await sqlOf(tx)
    .updateTable('runs')
    .set({ lease_until: until, last_sign_at: tx.now, signs: 1 })
    .where('account', '=', tx.account)
    .where('task', 'in', [...tasks])
    .where('agent', '=', tx.actor.id)
    .where('ended_at', 'is', null)
    .where('started_at', '<', tx.now)
    .execute()
}
