import type { Done, Queries } from './engine.ts'
import { writeNumbers } from './numbers.ts'
import { type Job, type Outcome, settle, unavailable } from './queue.ts'
import type { SqliteConnection } from './sqlite.ts'

interface Options {
  writer: SqliteConnection
  /** On that connection. */
  queries: Queries
  /** How long a batch waits for other processes before it is refused, in milliseconds. */
  waitMs: number
  randomId: () => string
  /** Says in whose name the statements from now on are; in nobody's without a name. */
  act(as?: { actor: string; effect: string; tx: string }): void
  /** Called after each commit, before anybody is answered. */
  committed(): void
  /** Told of the events of each job after the commit. */
  tell(events: Done<unknown>['events']): void
}

/** Writes batches to one SQLite file: every job in a savepoint of its own, one commit for all, nobody told before it. */
export function groupCommit({ writer, queries, waitMs, randomId, act, committed, tell }: Options) {
  /**
   * Runs a job in its savepoint. Throws where the savepoint itself is gone: SQLite has then rolled the whole batch back, as
   * it does when the disk is full.
   */
  async function attempt({ scope, run }: Job): Promise<Outcome> {
    writer.say('SAVEPOINT job')
    let outcome: Outcome
    try {
      const tx = randomId()
      act({ actor: scope.kind, effect: scope.effect, tx })
      const { value, events } = await run(queries, tx)
      outcome = { ok: true, value: await value, events }
    } catch (error) {
      writer.say('ROLLBACK TO job')
      queries.numbers.takeBack()
      outcome = { ok: false, error }
    } finally {
      // Between jobs nobody acts: a stray statement on this connection finds no one to act for.
      act()
    }
    writer.say('RELEASE job')
    queries.numbers.keep()
    return outcome
  }

  return async (jobs: readonly Job[]): Promise<void> => {
    const outcomes: Outcome[] = []
    try {
      await begin(writer, waitMs)
      queries.numbers.begin()
      for (const job of jobs) outcomes.push(await attempt(job))
      writeNumbers(queries)
      writer.say('COMMIT')
    } catch (error) {
      rollBack(writer)
      for (const job of jobs) job.reject(unavailable(error))
      return
    }
    committed()
    settle(jobs, outcomes, tell)
  }
}

/** Tries and backs off: SQLite's own busy timeout blocks the event loop and lets one process starve another. */
async function begin(writer: SqliteConnection, waitMs: number): Promise<void> {
  const until = performance.now() + waitMs
  for (;;) {
    try {
      writer.say('BEGIN IMMEDIATE')
      return
    } catch (error) {
      if (!isBusy(error) || performance.now() > until) throw error
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 2))
    }
  }
}

function rollBack(writer: SqliteConnection): void {
  try {
    writer.say('ROLLBACK')
  } catch {
    // SQLite has already rolled back, as it does when the disk is full.
  }
}

/** Whether another connection was at work. */
export const isBusy = (error: unknown): boolean =>
  error instanceof Error && /database is locked|SQLITE_BUSY/.test(error.message)
