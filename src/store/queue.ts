import { AppError } from '../model/error.ts'
import type { Done, Queries, Scope } from './engine.ts'

/** Most jobs that share one commit. */
const BATCH = 64

/** One caller's write, as it waits. */
export interface Job {
  scope: Scope
  run(queries: Queries, tx: string): Promise<Done<unknown>>
  resolve(value: unknown): void
  reject(error: unknown): void
}

/** What a job came to inside its transaction. Nobody is told before the commit. */
export type Outcome =
  | { ok: true; value: unknown; events: Done<unknown>['events'] }
  | { ok: false; error: unknown }

/** Told of each transaction: how many writes it carried, and how many milliseconds it took. */
export type Committed = (writes: number, ms: number) => void

/**
 * A queue of writes. It drains what waits into batches and hands them, strictly one after another, to `commitTogether`,
 * which runs each job in a savepoint of its own and commits once, so that many callers share one fsync. Jobs never run at
 * the same time: the rollback of one would take rows of others. `committed` is told of each batch.
 */
export function writeQueue(commitTogether: (jobs: readonly Job[]) => Promise<void>, committed?: Committed) {
  const waiting: Job[] = []
  let draining: Promise<void> | undefined

  async function drain(): Promise<void> {
    try {
      while (waiting.length > 0) {
        const jobs = waiting.splice(0, BATCH)
        const begun = performance.now()
        await commitTogether(jobs)
        committed?.(jobs.length, performance.now() - begun)
        // A turn of the loop between batches, so that a flood of writes can't starve the sockets.
        if (waiting.length > 0) await new Promise(setImmediate)
      }
    } finally {
      draining = undefined
    }
  }

  return {
    push<T>(scope: Scope, run: (queries: Queries, tx: string) => Promise<Done<T>>): Promise<T> {
      return new Promise<T>((resolve, reject) => {
        waiting.push({ scope, run, resolve: resolve as (value: unknown) => void, reject })
        // Whatever else this turn of the loop brings shares the commit: behind sockets, each call comes in a turn of its own.
        draining ??= new Promise(setImmediate).then(drain)
      })
    },
    waiting: () => waiting.length,
    idle: async () => {
      while (draining) await draining
    },
  }
}

export type WriteQueue = ReturnType<typeof writeQueue>

/** Answers the jobs of a batch that was committed. */
export function settle(
  jobs: readonly Job[],
  outcomes: readonly Outcome[],
  tell: (events: Done<unknown>['events']) => void,
): void {
  for (const [i, outcome] of outcomes.entries()) {
    if (outcome.ok) {
      tell(outcome.events)
      jobs[i]!.resolve(outcome.value)
    } else jobs[i]!.reject(explain(outcome.error))
  }
}

/** Nothing was written, and the same call may be sent again. */
export function unavailable(cause: unknown): AppError {
  const error = new AppError('unavailable', 'The store could not take the write; nothing was written.', {
    retry: true,
    written: false,
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
