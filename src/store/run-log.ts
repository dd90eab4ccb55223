import { formatId } from '../model/id.ts'
import { emit, inNumbers, type ReadTx, readQuery, sqlOf, type WriteTx } from './handle.ts'
import { insertRow } from './row.ts'
import type { Row } from './tables.ts'

/** What an agent writes into the log of its run. */
export const LOG_KINDS = ['thought', 'action', 'result', 'error', 'progress'] as const

/** Every kind of line: `resumed` is written by Done itself. */
export const RUN_EVENT_KINDS = [...LOG_KINDS, 'resumed'] as const
export type RunEventKind = (typeof RUN_EVENT_KINDS)[number]

/** Adds a line behind the last one. `late` marks what came after the run had ended. */
export async function addRunEvent(
  tx: WriteTx,
  run: Row<'runs'>,
  line: { kind: RunEventKind; text: string; progress?: number | undefined; late?: boolean },
): Promise<Row<'run_events'>> {
  const row: Row<'run_events'> = {
    account: tx.account,
    run: run.id,
    seq: (await lastSeq(tx, run.id)) + 1,
    kind: line.kind,
    text: line.text,
    progress: line.progress ?? null,
    late: line.late ? 1 : 0,
    at: tx.now,
  }
  await insertRow(tx, 'run_events', row)
  return row
}

/** Makes a line of a run's log known; it is also what extends the lease. */
export async function emitRunEvent(
  tx: WriteTx,
  task: Row<'tasks'>,
  run: Row<'runs'>,
  line: Row<'run_events'>,
): Promise<void> {
  await emit(tx, {
    kind: 'run_event',
    task: task.id,
    project: task.project,
    object: formatId('run', run.id),
    data: { kind: line.kind, seq: line.seq, ...(line.late ? { late: true } : {}) },
  })
}

const newestLine = readQuery((db, p: { account: number; run: number }) =>
  db
    .selectFrom('run_events')
    .select('seq')
    .where('account', '=', p.account)
    .where('run', '=', p.run)
    .orderBy('seq', 'desc')
    .limit(1),
)

/** How many lines a run's log has: they are numbered from 1, and none is ever taken out. */
export async function lastSeq(tx: ReadTx, run: number): Promise<number> {
  const [newest] = await newestLine(tx, { account: tx.account, run })
  return newest?.seq ?? 0
}

/** Lines of a run's log behind one of them, in their order. */
export function runEvents(
  tx: ReadTx,
  run: number,
  wanted: { after: number; kinds?: readonly RunEventKind[] | undefined; limit: number },
): Promise<Row<'run_events'>[]> {
  return sqlOf(tx)
    .selectFrom('run_events')
    .selectAll()
    .where('account', '=', tx.account)
    .where('run', '=', run)
    .where('seq', '>', wanted.after)
    .$if(wanted.kinds !== undefined, (query) => query.where('kind', 'in', [...wanted.kinds!]))
    .orderBy('seq')
    .limit(wanted.limit)
    .execute()
}

/** How many lines of these kinds a run's log has. */
export async function countRunEvents(
  tx: ReadTx,
  run: number,
  kinds: readonly RunEventKind[] | undefined,
): Promise<number> {
  if (kinds === undefined) return lastSeq(tx, run)
  const { count } = await sqlOf(tx)
    .selectFrom('run_events')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('account', '=', tx.account)
    .where('run', '=', run)
    .where('kind', 'in', [...kinds])
    .executeTakeFirstOrThrow()
  return count
}

/** Whether a report that came after the run's end is in its log already. */
export async function hasLateEvent(tx: ReadTx, run: number, text: string): Promise<boolean> {
  const found = await sqlOf(tx)
    .selectFrom('run_events')
    .select('seq')
    .where('account', '=', tx.account)
    .where('run', '=', run)
    .where('late', '=', 1)
    .where('text', '=', text)
    .limit(1)
    .executeTakeFirst()
  return found !== undefined
}

/** The step that is in progress on each of these tasks: the first where there are several. */
export async function stepsInProgress(
  tx: ReadTx,
  tasks: readonly number[],
): Promise<Map<number, Row<'steps'>>> {
  const rows = await sqlOf(tx)
    .selectFrom('steps')
    .selectAll()
    .where('account', '=', tx.account)
    .where('task', 'in', inNumbers(tx, tasks))
    .where('status', '=', 'in_progress')
    .where('trash', 'is', null)
    .orderBy('position', 'desc')
    .execute()
  return new Map(rows.map((step) => [step.task, step]))
}
