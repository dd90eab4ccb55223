import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { AppError } from '../model/error.ts'
import { PEOPLE_CATALOG } from '../people/catalog.ts'
import type { Call } from '../tools/call.ts'
import { TOOL_NAMES } from '../tools/effects.ts'
import { VERSION } from '../version.ts'

/** What a process can be asked for when it is measured, in numbers that are there anyway. */
interface Measured {
  /** Writes that wait for a transaction. */
  writesWaiting(): number
  /** Open streams of events, and of MCP. */
  streams(): { events: number; mcp: number }
}

/** Counts and times of one process. They name tools and codes, and nothing of anybody's account. */
export interface Metrics {
  /** The same call, counted and timed. */
  timed(call: Call): Call
  /** Notes a transaction of `writes` jobs that took so many milliseconds. */
  committed(writes: number, ms: number): void
  /** Says where the numbers come from that are read when somebody asks. */
  watch(process: Measured): void
  /** All of it, in the text format of Prometheus (https://prometheus.io/docs/instrumenting/exposition_formats/). */
  page(): Promise<{ type: string; text: string }>
}

/** In seconds. A write shares a commit of some milliseconds; a read may wait for news for 50 seconds. */
const CALL_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 60]
const COMMIT_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5]

/** Anybody can send any name, so that only ours become labels. */
const NAMES: ReadonlySet<string> = new Set([...TOOL_NAMES, ...Object.keys(PEOPLE_CATALOG)])

/** Begins to measure this process. `engine`: on which its data are. */
export function openMetrics(engine: 'sqlite' | 'postgres'): Metrics {
  const registry = new Registry()
  const registers = [registry]
  collectDefaultMetrics({ register: registry })
  let process: Measured | undefined
  new Gauge({
    name: 'done_info',
    help: 'This program and the engine under it; always 1.',
    labelNames: ['version', 'engine'],
    registers,
  }).set({ version: VERSION, engine }, 1)
  const calls = new Counter({
    name: 'done_calls_total',
    help: 'Calls of tools and of operations for people, by what came of them: ok, or the code of the error.',
    labelNames: ['tool', 'outcome'],
    registers,
  })
  const seconds = new Histogram({
    name: 'done_call_duration_seconds',
    help: 'How long calls took, without the door; reads that wait for news included.',
    labelNames: ['tool'],
    buckets: CALL_SECONDS,
    registers,
  })
  const commits = new Histogram({
    name: 'done_commit_duration_seconds',
    help: 'How long transactions of writes took, to the end of their commit.',
    buckets: COMMIT_SECONDS,
    registers,
  })
  const written = new Counter({
    name: 'done_commit_writes_total',
    help: 'Writes that those transactions carried.',
    registers,
  })
  new Gauge({
    name: 'done_writes_waiting',
    help: 'Writes that wait for their transaction.',
    registers,
    collect() {
      this.set(process?.writesWaiting() ?? 0)
    },
  })
  new Gauge({
    name: 'done_streams_open',
    help: 'Open streams, of events and of MCP.',
    labelNames: ['kind'],
    registers,
    collect() {
      for (const [kind, open] of Object.entries(process?.streams() ?? {})) this.set({ kind }, open)
    },
  })

  return {
    timed: (call) => async (actor, name, input, connection) => {
      const begun = performance.now()
      let outcome = 'ok'
      try {
        return await call(actor, name, input, connection)
      } catch (error) {
        outcome = error instanceof AppError ? error.code : 'internal'
        throw error
      } finally {
        const tool = NAMES.has(name) ? name : 'unknown'
        calls.inc({ tool, outcome })
        seconds.observe({ tool }, (performance.now() - begun) / 1000)
      }
    },
    committed(writes, ms) {
      commits.observe(ms / 1000)
      written.inc(writes)
    },
    watch(measured) {
      process = measured
    },
    page: async () => ({ type: registry.contentType, text: await registry.metrics() }),
  }
}
