import type pg from 'pg'
import { AppError } from '../model/error.ts'
import type { Done } from './engine.ts'
import { NAME_BATCH } from './lane.ts'
import { writeNumbers } from './numbers.ts'
import { isLost, isReplica, queriesOn } from './postgres-connect.ts'
import { type Job, type Outcome, settle, unavailable } from './queue.ts'

/** Marks the locks of accounts, so that they are told from other programs' advisory locks on the database. */
const ACCOUNT_LOCK = 4_747_002

interface Options {
  pool: pg.Pool
  account: number
  /** Which of all processes' lanes this is: random. */
  lane: string
  /** How long a batch is tried while the server can't be reached, in milliseconds. */
  waitMs: number
  randomId: () => string
  /** Told of the events of each job after the commit. */
  tell(events: Done<unknown>['events']): void
}

/** A job that has been run. Its outcome is there once all that it has sent has been answered; it rejects with the first failure. */
interface Attempt {
  ok: boolean
  outcome: Promise<Outcome>
}

/** How a batch ended, where it is known. `again`: what nobody waited for has failed, and it has to be seen in which job. */
type Ended = { kept: true; outcomes: Outcome[] } | { kept: false; cause: unknown; again?: true }

/**
 * Commits batches of one account: every job in a savepoint of its own, one commit for all, nobody told before it. The
 * account's lock is held from the first statement to the commit. Where a connection breaks, a batch of which nothing was
 * kept is tried again; where it broke in the commit itself, a row that the transaction wrote says whether it was kept. The
 * transaction's number would not: a server that crashes gives it to another one (decision 0009).
 */
export function laneOf({ pool, account, lane, waitMs, randomId, tell }: Options) {
  const lock = `SET LOCAL done.account = '${account}'; SELECT pg_advisory_xact_lock(${ACCOUNT_LOCK}, ${account})`
  let batch = 0

  /**
   * Runs a job behind what ended the one before. A careful run waits for all that the job has sent, so that a failure is this
   * job's.
   */
  async function attempt(
    client: pg.PoolClient,
    before: string,
    { scope, run }: Job,
    careful: boolean,
  ): Promise<Attempt> {
    const tx = randomId()
    const queries = queriesOn(client)
    // Travels with the job's first query. All of the text is ours: two words and a random id.
    const begun = script(
      client,
      `${before}SAVEPOINT job; SET LOCAL done.effect = '${scope.effect}'; SET LOCAL done.tx = '${tx}'`,
    )
    begun.catch(() => {})
    try {
      const { value, events } = await run(queries, tx)
      const outcome = Promise.all([value, begun, queries.settled()]).then(
        ([value]): Outcome => ({ ok: true, value, events }),
      )
      outcome.catch(() => {})
      if (careful) await outcome
      queries.numbers.keep()
      return { ok: true, outcome }
    } catch (error) {
      queries.numbers.takeBack()
      // What was sent and failed belongs to this job, and not to the next one.
      await queries.settled().catch(() => {})
      if (mayRetry(error)) throw error
      return { ok: false, outcome: Promise.resolve({ ok: false, error }) }
    }
  }

  /** Runs a batch once. Throws where it can't be known what became of it, and where trying again would not help. */
  async function commitOnce(jobs: readonly Job[], careful: boolean): Promise<Ended> {
    let client: pg.PoolClient
    try {
      client = await pool.connect()
    } catch (cause) {
      if (!mayRetry(cause)) throw cause
      return { kept: false, cause }
    }
    const outcomes: Outcome[] = []
    const own = ++batch
    let committing = false
    try {
      const begun = script(client, `BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; ${lock}`)
      begun.catch(() => {})
      const queries = queriesOn(client)
      queries.numbers.begin()
      const attempts: Attempt[] = []
      let before = ''
      for (const job of jobs) {
        const attempted = await attempt(client, before, job, careful)
        attempts.push(attempted)
        before = attempted.ok ? 'RELEASE job; ' : 'ROLLBACK TO job; RELEASE job; '
      }
      // Outside of the last job, which may have to be taken back.
      const closed = script(client, before)
      writeNumbers(queries)
      queries.later(NAME_BATCH, [account, lane, own])
      const counted = Promise.all([begun, closed, queries.settled()])
      counted.catch(() => {})
      try {
        for (const { outcome } of attempts) outcomes.push(await outcome)
        await counted
      } catch (cause) {
        if (mayRetry(cause)) throw cause
        // The transaction is lost with all of its jobs, though perhaps only one of them is at fault.
        await client.query('ROLLBACK')
        client.release()
        return { kept: false, cause, again: true }
      }
      committing = true
      const { command } = await client.query('COMMIT')
      client.release()
      // A transaction that failed ends with ROLLBACK where COMMIT was said.
      const kept = command === 'COMMIT'
      return kept ? { kept, outcomes } : { kept, cause: new Error('The transaction was rolled back.') }
    } catch (cause) {
      client.release(cause as Error)
      if (!mayRetry(cause)) throw cause
      if (committing && (await wasKept(own, cause))) return { kept: true, outcomes }
      return { kept: false, cause }
    }
  }

  /**
   * Whether a batch whose commit broke was kept. Behind the account's lock its transaction is over; that the row is locked
   * too is refused by a replica, which may not have heard of it yet.
   */
  async function wasKept(own: number, cause: unknown): Promise<boolean> {
    const until = performance.now() + waitMs
    while (performance.now() < until) {
      try {
        const answers = (await pool.query(
          `BEGIN; ${lock}; SELECT batch FROM commits WHERE account = ${account} AND lane = '${lane}' FOR UPDATE; COMMIT`,
        )) as unknown as pg.QueryResult<{ batch: number }>[]
        return answers.at(-2)!.rows[0]?.batch === own
      } catch (error) {
        if (!mayRetry(error)) break
      }
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    throw undecided(cause)
  }

  return async (jobs: readonly Job[]): Promise<void> => {
    const until = performance.now() + waitMs
    let careful = false
    for (;;) {
      try {
        const ended = await commitOnce(jobs, careful)
        if (ended.kept) return settle(jobs, ended.outcomes, tell)
        if (ended.again && !careful) {
          careful = true
          continue
        }
        if (performance.now() > until) throw unavailable(ended.cause)
      } catch (error) {
        for (const job of jobs) job.reject(error)
        return
      }
      await new Promise((resolve) => setTimeout(resolve, 20 + Math.random() * 80))
    }
  }
}

const mayRetry = (error: unknown): boolean => isLost(error) || isReplica(error)

/** Several statements in one round trip. */
async function script(client: pg.PoolClient, text: string): Promise<pg.QueryResult[]> {
  const answer = (await client.query(text)) as unknown as pg.QueryResult | pg.QueryResult[]
  return Array.isArray(answer) ? answer : [answer]
}

function undecided(cause: unknown): AppError {
  const error = new AppError(
    'unavailable',
    'The connection to the database broke in the commit, and what became of it can’t be found out: the write may have been kept.',
    {
      retry: true,
      next: 'Repeat it with the same idempotency_key, or look first whether it was kept.',
    },
  )
  error.cause = cause
  return error
}
