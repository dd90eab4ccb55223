import { sql } from 'kysely'
import type { ActorId } from '../model/actor.ts'
import { AppError } from '../model/error.ts'
import { formatId } from '../model/id.ts'
import { accountOf } from './account.ts'
import { partyNames } from './actor.ts'
import { inNumbers, type ReadTx, sqlOf, type WriteTx } from './handle.ts'
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
  throw await alreadyClaimed(tx, task)
}

/** The refusal of a task that somebody else holds. */
export async function alreadyClaimed(tx: ReadTx, task: Row<'tasks'>): Promise<AppError> {
  const holder = (await partyNames(tx))(task.claimed_by)
  const since = new Date(task.claimed_at!).toISOString()
  const until = new Date(task.claim_until!).toISOString()
  const id = formatId('task', task.id)
  return new AppError('already_claimed', `${id} is held by ${holder} since ${since}, until ${until}.`, {
    written: false,
    retry: false,
    current: { id, holder, since, until },
    next:
      tx.actor.kind === 'person'
        ? 'A person may take it away first: release_task.'
        : 'Take another task: get_next_task. After the lease has lapsed the task is free.',
  })
}

/** A claim as it was taken. */
export interface Claim {
  until: number
  /** Whose lapsed claim it replaced before the sweep wrote that down. */
  lapsed?: ActorId
}

/**
 * Takes the claim by one conditional update, so that of any number of callers exactly one wins. Throws
 * `already_claimed` for the others.
 */
export async function takeClaim(tx: WriteTx, task: Row<'tasks'>): Promise<Claim> {
  const { lease_ms } = await accountOf(tx)
  const until = tx.now + lease_ms
  const { numUpdatedRows } = await sqlOf(tx)
    .updateTable('tasks')
    .set({
      status: 'in_progress',
      claimed_by: tx.actor.id as ActorId,
      claimed_at: tx.now,
      claim_until: until,
    })
    .where('account', '=', tx.account)
    .where('id', '=', task.id)
    .where('status', 'in', ['open', 'in_progress'])
    .where((eb) => eb.or([eb('claimed_by', 'is', null), eb('claim_until', '<=', tx.now)]))
    .executeTakeFirstOrThrow()
  if (numUpdatedRows === 0n) {
    const stored = sqlOf(tx).selectFrom('tasks').selectAll().where('account', '=', tx.account)
    throw await alreadyClaimed(tx, await stored.where('id', '=', task.id).executeTakeFirstOrThrow())
  }
  const former = task.claimed_by
  return former === null || former === tx.actor.id ? { until } : { until, lapsed: former }
}

/** The columns of a task that nobody works on. */
export const FREE = { claimed_by: null, claimed_at: null, claim_until: null } as const

/**
 * A sign of life: the caller's live leases on these tasks last a full lease from now, or longer where they did already, and
 * so do its open runs there. A run whose claim is lost only notes the sign: its task is free, or somebody else's. Called
 * after every write that changed something on them.
 */
export async function extendLeases(tx: WriteTx, tasks: readonly number[]): Promise<void> {
  if (tx.actor.kind === 'system' || tasks.length === 0) return
  const { lease_ms } = await accountOf(tx)
  const until = tx.now + lease_ms
  const held = await sqlOf(tx)
    .updateTable('tasks')
    // Never shorter: a task that is held for a person's answer keeps its longer lease (question.ts).
    .set({ claim_until: later('claim_until', until) })
    .where('account', '=', tx.account)
    .where('id', 'in', inNumbers(tx, tasks))
    .where('claimed_by', '=', tx.actor.id)
    .where('claim_until', '>', tx.now)
    .returning('id')
    .execute()
  const own = sqlOf(tx)
    .updateTable('runs')
    .where('account', '=', tx.account)
    .where('agent', '=', tx.actor.id)
    .where('ended_at', 'is', null)
  await own
    .set({ last_sign_at: tx.now, signs: 1 })
    .where('task', 'in', inNumbers(tx, tasks))
    .where('started_at', '<', tx.now)
    .execute()
  if (held.length === 0) return
  await own
    .set({ lease_until: later('lease_until', until) })
    .where(
      'task',
      'in',
      inNumbers(
        tx,
        held.map((task) => task.id),
      ),
    )
    .execute()
}

/** A lease that is held for an answer lasts longer than a sign of life would make it. */
function later(column: 'claim_until' | 'lease_until', until: number) {
  return sql<number>`CASE WHEN ${sql.ref(column)} > ${until} THEN ${sql.ref(column)} ELSE ${until} END`
}
