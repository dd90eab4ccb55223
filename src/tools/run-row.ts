import { formatId } from '../model/id.ts'
import { partyNames } from '../store/actor.ts'
import { artifactsOfRun } from '../store/artifact.ts'
import { holderOf } from '../store/claim.ts'
import type { ReadTx } from '../store/handle.ts'
import { type RunOnTask, runById, summaryOfRun } from '../store/run.ts'
import { lastSeq, runEvents } from '../store/run-log.ts'
import type { Row } from '../store/tables.ts'
import { clockOf, MOST_CHARACTERS, moment, sparse, start } from './view.ts'

/** How much of each text is shown. */
const SHOWN = { goal: 120, summary: 4000, line: 1000, title: 60 }

/** Rows of a list of runs. */
export async function runRows(tx: ReadTx, runs: readonly RunOnTask[]): Promise<Record<string, unknown>[]> {
  const name = await partyNames(tx)
  return runs.map((run) =>
    sparse({
      id: formatId('run', run.id),
      task: formatId('task', run.task),
      title: start(run.title, SHOWN.title).text,
      agent: name(run.agent),
      state: run.state,
      goal: run.goal && start(run.goal, SHOWN.goal).text,
      progress: run.progress,
      started: moment(run.started_at),
      last_sign: run.ended_at === null ? moment(run.last_sign_at) : undefined,
      ended: run.ended_at && moment(run.ended_at),
      tokens: run.tokens,
      cost: run.cost,
    }),
  )
}

/** The stored record of a run, which its writes answer with. */
export async function runEcho(tx: ReadTx, id: number): Promise<Record<string, unknown>> {
  const { run, task } = await runById(tx, id)
  const [row] = await runRows(tx, [run])
  const held = run.ended_at === null && holderOf(task, tx.now) === run.agent
  return { ...row, ...(held ? { lease_until: moment(task.claim_until!) } : {}) }
}

/** One run whole: state, outcome, the agent's own account of it, evidence, the end of the log. */
export async function wholeRun(tx: ReadTx, id: number): Promise<Record<string, unknown>> {
  const { run } = await runById(tx, id)
  const name = await partyNames(tx)
  const summary = await summaryOfRun(tx, run)
  const lines = await lastSeq(tx, id)
  const last = await runEvents(tx, id, { after: Math.max(lines - 5, 0), limit: 5 })
  return {
    ...clockOf(tx),
    ...(await runEcho(tx, id)),
    ...sparse({
      goal: run.goal,
      outcome: run.outcome,
      summary:
        summary &&
        sparse({
          material: start(summary.text, SHOWN.summary).text,
          length: start(summary.text, SHOWN.summary).total,
          author: name(summary.by),
          at: moment(summary.at),
        }),
      artifacts: (await artifactsOfRun(tx, run)).map((each) => ({
        id: formatId('artifact', each.id),
        title: each.title,
        kind: each.kind,
      })),
      log_lines: lines,
      last_events: last.map((line) => eventRow(line, SHOWN.line)),
      more: [
        ...(summary && summary.text.length > SHOWN.summary
          ? [`get_full_text {"id":"${formatId('run', id)}"}`]
          : []),
        ...(lines > 5 ? [`list_run_events {"run_id":"${formatId('run', id)}"}`] : []),
      ],
    }),
  }
}

/** Lines of a run's log, as many as fit one answer, and where to go on. */
export function logAnswer(
  tx: ReadTx,
  run: RunOnTask,
  lines: readonly Row<'run_events'>[],
  { total, limit }: { total: number; limit: number },
): Record<string, unknown> {
  // Alone, a line may fill the answer; among others each is short enough that all of them can be seen.
  const characters = lines.length === 1 ? MOST_CHARACTERS - 6000 : SHOWN.line
  const rows: Record<string, unknown>[] = []
  let size = 0
  for (const line of lines) {
    const row = eventRow(line, characters)
    size += JSON.stringify(row).length
    if (rows.length > 0 && size > MOST_CHARACTERS - 4000) break
    rows.push(row)
  }
  const id = formatId('run', run.id)
  const more = rows.length < lines.length || lines.length === limit
  const cut = lines.find((line) => line.text.length > characters)
  return {
    ...clockOf(tx),
    run: id,
    task: formatId('task', run.task),
    showing: rows.length,
    total,
    ...(more ? { next_after: lines[rows.length - 1]!.seq } : {}),
    events: rows,
    ...(cut && lines.length > 1
      ? {
          more: `list_run_events {"run_id":"${id}","after":${cut.seq - 1},"limit":1} shows line ${cut.seq} longer.`,
        }
      : {}),
  }
}

function eventRow(line: Row<'run_events'>, characters: number): Record<string, unknown> {
  const shown = start(line.text, characters)
  return sparse({
    seq: line.seq,
    kind: line.kind,
    at: moment(line.at),
    progress: line.progress,
    late: line.late === 1,
    material: shown.text,
    length: shown.total,
  })
}
