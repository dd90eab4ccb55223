import { AppError } from '../model/error.ts'
import type { SqliteConnection } from './sqlite.ts'

/** Most jobs that share one commit. */
const BATCH = 64

interface Job {
  run(): Promise<{ value: unknown; settled(): void }>
  resolve(value: unknown): void
  reject(error: unknown): void
}

type Outcome = { ok: true; value: unknown; settled(): void } | { ok: false; error: unknown }

/**
 * One queue for all writes of the process. It drains what waits into one transaction with a savepoint each and answers
 * after the commit, so that many callers share one fsync. Jobs run strictly one after another: run at the same time,
 * the rollback of one would take rows of others.
 */
export function writeQueue(writer: SqliteConnection, waitMs: number) {
  const waiting: Job[] = []
  let draining: Promise<void> | undefined

  async function drain(): Promise<void> {
    try {
      while (waiting.length > 0) {
        await commitTogether(writer, waiting.splice(0, BATCH), waitMs)
        // A turn of the loop between batches, so that a flood of writes can't starve the sockets.
        if (waiting.length > 0) await new Promise(setImmediate)
      }
    } finally {
      draining = undefined
    }
  }

  return {
    push<T>(run: () => Promise<{ value: T; settled(): void }>): Promise<T> {
      return new Promise<T>((resolve, reject) => {
        waiting.push({ run, resolve: resolve as (value: unknown) => void, reject })
        draining ??= Promise.resolve().then(drain)
      })
    },
    idle: async () => {
      while (draining) await draining
    },
  }
}

/** One batch: every job in a savepoint of its own, one commit for all, and nobody told before it. */
async function commitTogether(writer: SqliteConnection, jobs: readonly Job[], waitMs: number): Promise<void> {
  const outcomes: Outcome[] = []
  try {
    await begin(writer, waitMs)
    for (const job of jobs) outcomes.push(await attempt(writer, job))
    writer.exec('COMMIT')
  } catch (error) {
    rollBack(writer)
    for (const job of jobs) job.reject(unavailable(error))
    return
  }
  for (const [i, outcome] of outcomes.entries()) {
    if (outcome.ok) {
      outcome.settled()
      jobs[i]!.resolve(outcome.value)
    } else jobs[i]!.reject(outcome.error)
  }
}

/**
 * Runs a job in its savepoint. Throws where the savepoint itself is gone: SQLite has then rolled the whole batch back, as it
 * does when the disk is full.
 */
async function attempt(writer: SqliteConnection, job: Job): Promise<Outcome> {
  writer.exec('SAVEPOINT job')
  let done: Awaited<ReturnType<Job['run']>>
  try {
    done = await job.run()
  } catch (error) {
    writer.exec('ROLLBACK TO job')
    writer.exec('RELEASE job')
    return { ok: false, error: explain(error) }
  }
  writer.exec('RELEASE job')
  return { ok: true, ...done }
}

/** Tries and backs off: SQLite's own busy timeout blocks the event loop and lets one process starve another. */
async function begin(writer: SqliteConnection, waitMs: number): Promise<void> {
  const until = performance.now() + waitMs
  for (;;) {
    try {
      writer.exec('BEGIN IMMEDIATE')
      return
    } catch (error) {
      if (!isBusy(error) || performance.now() > until) throw unavailable(error)
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 2))
    }
  }
}

function rollBack(writer: SqliteConnection): void {
  try {
    writer.exec('ROLLBACK')
  } catch {
    // SQLite has already rolled back, as it does when the disk is full.
  }
}

const isBusy = (error: unknown): boolean =>
  error instanceof Error && /database is locked|SQLITE_BUSY/.test(error.message)

function unavailable(cause: unknown): AppError {
  const error = new AppError('unavailable', 'The store could not take the write; nothing was written.', {
    retry: true,
    next: 'Send the same call again in a moment.',
  })
  error.cause = cause
  return error
}

/** The database's own walls speak as refusals; what else a driver throws stays a fault of ours. */
function explain(error: unknown): unknown {
  if (error instanceof Error && /^gate: /.test(error.message)) {
    const refusal = new AppError('needs_approval', `The store refused this: ${error.message.slice(6)}.`, {
      written: false,
      next: 'Only a person’s sign-off closes such a task; complete_task asks for it.',
    })
    refusal.cause = error
    return refusal
  }
  return error
}
