import { readFileSync } from 'node:fs'
import type { Bench } from './bench.ts'
import type { CreatesSetup, Ran, Way } from './creates-role.ts'
import { figure, median, times } from './figures.ts'
import { output, type Role, role } from './process.ts'

const WAYS: Record<Way, string> = {
  queue: 'Done: create_task through the queue',
  each: 'create_task in a transaction of its own each',
  raw: 'its bare statements in a transaction each',
}

/** Durable creations, many at once and one alone, against a transaction for each; and how often the disk is waited for. */
export async function writes(bench: Bench): Promise<void> {
  const [rounds, calls] = bench.quick ? [3, 200] : [5, 1000]
  const roles = new Map<Way, Role>()
  for (const way of Object.keys(WAYS) as Way[])
    roles.set(way, await role('creates', { way, dir: bench.folder(`creates-${way}`) } satisfies CreatesSetup))

  const rates: Record<string, number[]> = {}
  for (let round = -1; round < rounds; round++) {
    for (const atOnce of [1, 8, 32]) {
      for (const [way, each] of roles) {
        const { ms } = await each.ask<Ran>('run', { atOnce, calls })
        // The first round warms up.
        if (round < 0) continue
        rates[`${way} ${atOnce}`] ??= []
        rates[`${way} ${atOnce}`]!.push((calls * 1000) / ms)
      }
    }
  }
  for (const each of roles.values()) await each.end()
  const rate = (way: Way, atOnce: number) => median(rates[`${way} ${atOnce}`]!)
  const syncs = await syncsPerWrite(bench, calls)

  bench.table(
    'Durable create_task on SQLite: a second',
    ['', '1 caller', '8 at once', '32 at once'],
    [
      ...(Object.keys(WAYS) as Way[]).map((way) => [
        WAYS[way],
        ...[1, 8, 32].map((atOnce) => figure(rate(way, atOnce))),
      ]),
      [
        'the queue to a transaction each',
        ...[1, 8, 32].map((atOnce) => times(rate('queue', atOnce) / rate('each', atOnce))),
      ],
      [
        'the queue to the bare statements',
        ...[1, 8, 32].map((atOnce) => times(rate('queue', atOnce) / rate('raw', atOnce))),
      ],
    ],
    `Median of ${rounds} rounds of ${calls} calls, by turns, in processes of their own on files of their own, WAL, synchronous=FULL. A transaction each: the same tool, one call after another, BEGIN IMMEDIATE and COMMIT around each and no savepoint. The bare statements: what the driver ran for one create_task, bound anew without any of the program. At 32 at once: ${figure(syncs.syncs)} ${syncs.how} a write.`,
  )
  const ratio = (atOnce: number) => rate('queue', atOnce) / rate('each', atOnce)
  bench.goal(
    'Durable create_task, 32 at once, to a transaction each',
    'at least 2.5x',
    times(ratio(32)),
    ratio(32) >= 2.5,
  )
  bench.goal(
    'Durable create_task, 1 caller, to a transaction each',
    'at least 0.8x',
    times(ratio(1)),
    ratio(1) >= 0.8,
  )
  bench.goal(`${syncs.how} a write, 32 at once`, 'at most 0.1', syncs.syncs.toFixed(3), syncs.syncs <= 0.1)
}

/** fsync and fdatasync as the system saw them, where it can be asked; else commits, each of which syncs once. */
async function syncsPerWrite(bench: Bench, calls: number): Promise<{ syncs: number; how: string }> {
  const log = bench.folder('syncs.txt')
  const traced = await output('strace', ['-o', log, '-e', 'trace=fsync', 'true']).then(
    () => true,
    () => false,
  )
  const before = traced ? ['strace', '-f', '-o', log, '-e', 'trace=fsync,fdatasync'] : []
  const setup = { way: 'queue', dir: bench.folder('creates-traced') } satisfies CreatesSetup
  const creates = await role('creates', setup, before)
  const seen = () => readFileSync(log, 'utf8').match(/\bf(data)?sync\(/g)?.length ?? 0
  await creates.ask<Ran>('run', { atOnce: 32, calls })
  const start = traced ? seen() : 0
  const { commits } = await creates.ask<Ran>('run', { atOnce: 32, calls })
  const syncs = traced ? seen() - start : commits
  await creates.end()
  return { syncs: syncs / calls, how: traced ? 'fsyncs' : 'commits' }
}
