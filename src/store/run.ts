import type { ActorId } from '../model/actor.ts'
import { formatId } from '../model/id.ts'
import { emit, type ReadTx, sqlOf, type WriteTx } from './handle.ts'
import type { Row } from './tables.ts'

/** An agent's open run on a task, if it has one. */
export function openRunOf(tx: ReadTx, task: number, agent: ActorId): Promise<Row<'runs'> | undefined> {
  return sqlOf(tx)
    .selectFrom('runs')
    .selectAll()
    .where('account', '=', tx.account)
    .where('task', '=', task)
    .where('agent', '=', agent)
    .where('ended_at', 'is', null)
    .executeTakeFirst()
}

/** The newest run on a task, open ones first. */
export function newestRunOf(tx: ReadTx, task: number): Promise<Row<'runs'> | undefined> {
  return sqlOf(tx)
    .selectFrom('runs')
    .selectAll()
    .where('account', '=', tx.account)
    .where('task', '=', task)
    .orderBy((eb) => eb('ended_at', 'is not', null))
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
}

/** The last lines of a run's log, oldest of them first. */
export async function lastRunEvents(tx: ReadTx, run: number, limit: number): Promise<Row<'run_events'>[]> {
  const newest = await sqlOf(tx)
    .selectFrom('run_events')
    .selectAll()
    .where('account', '=', tx.account)
    .where('run', '=', run)
    .orderBy('seq', 'desc')
    .limit(limit)
    .execute()
  return newest.reverse()
}

/** How a run stands, derived from what is stored (spec: product, "Agents at work"). */
export type RunState = 'starting' | 'working' | 'waiting' | 'stalled' | 'succeeded' | 'failed' | 'cancelled'

/** An open run waits where its agent asked a person; past its lease it has stalled. */
export function runState(run: Row<'runs'>, now: number, waits: boolean): RunState {
  if (run.outcome !== null) return run.outcome
  if (waits) return 'waiting'
  if (run.lease_until <= now) return 'stalled'
  return run.signs ? 'working' : 'starting'
}

/** Ends the caller's open run on a task, where it has one. */
export async function endOwnRun(
  tx: WriteTx,
  task: Row<'tasks'>,
  outcome: NonNullable<Row<'runs'>['outcome']>,
): Promise<Row<'runs'> | undefined> {
  const run = await openRunOf(tx, task.id, tx.actor.id as ActorId)
  if (run) await endRun(tx, run, task, outcome)
  return run
}

/** Writes down how a run ended. */
export async function endRun(
  tx: WriteTx,
  run: Row<'runs'>,
  task: Row<'tasks'>,
  outcome: NonNullable<Row<'runs'>['outcome']>,
  figures: { tokens?: number; cost?: number } = {},
): Promise<void> {
  await sqlOf(tx)
    .updateTable('runs')
    .set({ outcome, ended_at: tx.now, last_sign_at: tx.now, ...figures })
    .where('account', '=', tx.account)
    .where('id', '=', run.id)
    .execute()
  await emit(tx, {
    kind: 'run_ended',
    task: task.id,
    project: task.project,
    object: formatId('run', run.id),
    data: { outcome },
  })
}
