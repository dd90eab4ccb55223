import { randomInt } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { join } from 'node:path'
import type { Bench } from './bench.ts'
import { count, figure, median, quantile, timed, times, words } from './figures.ts'
import { anyOf, type Opened, open, textsOf } from './store.ts'

/** The same call in stores of several sizes, by turns, at truly random ids. */
const OPERATIONS: Record<string, (store: Opened, size: number) => Promise<unknown>> = {
  create: ({ call }) => call('create_task', { ...textsOf(randomInt(1e9)) }),
  get: ({ call }, size) => call('get_task', { id: anyOf(size) }),
  update: ({ call }, size) => call('update_task', { id: anyOf(size), description: words(12) }),
  'list, first page': ({ call }) => call('list_tasks', {}),
  'next task': ({ call }) => call('get_next_task', {}),
  'search, one word': ({ call }) => call('search', { query: words(1) }),
  'search, two words': ({ call }) => call('search', { query: words(2) }),
  digest: ({ call }) => call('get_digest', {}),
}

/** As on a server that has run for a while, the system has the file at hand. */
async function readThrough(path: string): Promise<void> {
  for await (const _ of createReadStream(path, { highWaterMark: 1 << 20 })) {
    // Only that it was read matters.
  }
}

/** What the issue sets a limit for. */
const GOALS = ['create', 'get', 'update', 'list, first page']

/** Whether a call costs more in a large account, up to a million tasks. */
export async function growth(bench: Bench): Promise<void> {
  const sizes = bench.quick ? [100, 1000, 10_000] : [100, 100_000, 1_000_000]
  const [warm, calls] = bench.quick ? [10, 40] : [50, 300]
  const stores: { size: number; store: Opened }[] = []
  for (const size of sizes) {
    const dir = await bench.ownCopy(size)
    await readThrough(join(dir, 'done.db'))
    stores.push({ size, store: await open({ dir }) })
  }

  const found: { operation: string; times: number[][] }[] = []
  for (const [operation, run] of Object.entries(OPERATIONS)) {
    const each = sizes.map((): number[] => [])
    for (let i = -warm; i < calls; i++) {
      for (const [k, { store, size }] of stores.entries()) {
        const ms = await timed(() => run(store, size))
        if (i >= 0) each[k]!.push(ms * 1000)
      }
    }
    found.push({ operation, times: each })
  }
  for (const { store } of stores) await store.done.close()

  bench.table(
    'Growth: one call in the process, µs',
    ['', ...sizes.map(count), ...sizes.slice(1).map((size) => `${count(size)} to ${sizes[0]}`)],
    found.map(({ operation, times: each }) => [
      operation,
      ...each.map((one) => figure(median(one))),
      ...each.slice(1).map((one) => times(median(one) / median(each[0]!))),
    ]),
    `Medians of ${calls} calls after ${warm}, by turns between the stores; one account each.`,
  )
  const last = sizes.length - 1
  bench.table(
    `${count(sizes[last]!)} tasks in one account: one call in the process`,
    ['', 'p50, µs', 'p99, µs', 'a second, one caller'],
    found.map(({ operation, times: each }) => [
      operation,
      figure(median(each[last]!)),
      figure(quantile(each[last]!, 0.99)),
      figure(1e6 / median(each[last]!)),
    ]),
  )
  for (const [k, limit] of [
    [1, 2],
    [2, 3],
  ] as const) {
    const ratios = found
      .filter(({ operation }) => GOALS.includes(operation))
      .map(({ operation, times: each }) => ({ operation, ratio: median(each[k]!) / median(each[0]!) }))
    bench.goal(
      `Growth: ${GOALS.join('; ')} at ${count(sizes[k]!)} to ${sizes[0]} tasks`,
      `at most ${limit}x each`,
      ratios.map(({ operation, ratio }) => `${operation} ${times(ratio)}`).join('; '),
      ratios.every(({ ratio }) => ratio <= limit),
    )
  }
}
