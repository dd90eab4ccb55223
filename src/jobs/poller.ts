import { AppError } from '../model/error.ts'
import type { Store } from '../store/store.ts'
import { expire } from './expiry.ts'
import type { Heads } from './heads.ts'
import { sweep } from './lease-sweep.ts'
import { noteHeads, seal } from './seal.ts'

/** What the jobs work on: an open Done. */
export interface JobDeps {
  store: Store
  /** What is counted in memory and written now and then. */
  access: { flush(): Promise<void> }
  credentialUse: { flush(): Promise<void> }
  /** The newest part of each account's log that was sealed, kept beside the database. */
  heads: Heads
}

export interface JobOptions {
  /** How long the poller rests between two rounds, in milliseconds. */
  everyMs?: number
  /** Told of a job that failed; the others go on, and the next round tries again. */
  failed?: (job: string, error: unknown) => void
}

export interface Jobs {
  /** Ends the poller; resolves when the round that runs has ended, and what was written last is sealed. */
  stop(): Promise<void>
}

/** A lapsed lease reads as free at once, so the sweep only has to be soon enough for those who wait to hear of it. */
const EVERY_MS = 5000

/** How often what has outlived its time is dropped, by the store's clock. */
const EXPIRE_MS = 10 * 60_000

/** How often the seals of other processes are noted here as well. */
const HEADS_MS = 60_000

/** The jobs, in the order of a round, each with its least distance between two runs. */
const JOBS: readonly { name: string; everyMs: number; run: (deps: JobDeps) => Promise<unknown> }[] = [
  { name: 'access', everyMs: 0, run: ({ access }) => access.flush() },
  { name: 'credential-use', everyMs: 0, run: ({ credentialUse }) => credentialUse.flush() },
  { name: 'sweep', everyMs: 0, run: ({ store }) => sweep(store) },
  { name: 'seal', everyMs: 0, run: ({ store, heads }) => seal(store, heads) },
  { name: 'heads', everyMs: HEADS_MS, run: ({ store, heads }) => noteHeads(store, heads) },
  { name: 'expiry', everyMs: EXPIRE_MS, run: ({ store }) => expire(store) },
]

/**
 * The one poller of a process: no broker, no table of jobs. Several processes on the same data may each have one, since every
 * job does nothing where another has just done it.
 */
export function startJobs(deps: JobDeps, options: JobOptions = {}): Jobs {
  const { everyMs = EVERY_MS, failed = report } = options
  const lastRun = new Map<string, number>()
  let stopped = false
  let timer: NodeJS.Timeout | undefined
  let round: Promise<void> = Promise.resolve()

  async function runAll(): Promise<void> {
    for (const job of JOBS) {
      if (stopped) return
      const now = deps.store.now()
      if (now - (lastRun.get(job.name) ?? Number.NEGATIVE_INFINITY) < job.everyMs) continue
      try {
        await job.run(deps)
        lastRun.set(job.name, now)
      } catch (error) {
        failed(job.name, error)
      }
    }
  }

  function next(): void {
    timer = setTimeout(() => {
      round = runAll().then(() => {
        if (!stopped) next()
      })
    }, everyMs).unref()
  }

  next()
  return {
    async stop() {
      stopped = true
      clearTimeout(timer)
      await round
      await seal(deps.store, deps.heads).catch((error) => failed('seal', error))
    },
  }
}

/** On stderr, since stdout belongs to the protocol where Done runs on stdio. */
function report(job: string, error: unknown): void {
  const said = error instanceof AppError ? error.message : error
  console.error(`The job "${job}" failed and will be tried again:`, said)
}
