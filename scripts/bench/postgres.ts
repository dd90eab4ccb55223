import { randomBytes } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import type { Bench } from './bench.ts'
import type { CreatesSetup, Ran } from './creates-role.ts'
import { count, figure, median, quantile, times } from './figures.ts'
import { type HttpClient, httpClient } from './http-client.ts'
import { PLAIN_POOL } from './plain-role.ts'
import { type PostgresServer, startPostgres } from './postgres-server.ts'
import { role, serve } from './process.ts'
import { anyOf, open, textsOf, tokenOf, type Where } from './store.ts'

/** Many processes on one PostgreSQL, and one account's writes against plain transactions. */
export async function postgres(bench: Bench): Promise<void> {
  const server = await startPostgres()
  try {
    await oneAccount(bench, server)
    await scale(bench, server)
  } finally {
    await server.remove()
  }
}

async function oneAccount(bench: Bench, server: PostgresServer): Promise<void> {
  const [rounds, calls] = bench.quick ? [2, 100] : [3, 500]
  const on = async (name: string): Promise<Where> => ({
    dir: bench.folder(name),
    database: await server.database(name),
  })
  const done = await role('creates', { way: 'queue', ...(await on('queue')) } satisfies CreatesSetup)
  const plain = await role('plain', await on('plain'))
  const rates: Record<string, number[]> = {}
  for (let round = -1; round < rounds; round++) {
    for (const atOnce of [1, 32]) {
      for (const [name, each] of [
        ['done', done],
        ['plain', plain],
      ] as const) {
        const { ms } = await each.ask<Pick<Ran, 'ms'>>('run', { atOnce, calls })
        if (round < 0) continue
        rates[`${name} ${atOnce}`] ??= []
        rates[`${name} ${atOnce}`]!.push((calls * 1000) / ms)
      }
    }
  }
  const statements = await plain.ask<number>('statements')
  await done.end()
  await plain.end()
  const rate = (name: string, atOnce: number) => median(rates[`${name} ${atOnce}`]!)
  const ratio = (atOnce: number) => rate('done', atOnce) / rate('plain', atOnce)
  bench.table(
    `Durable create_task on PostgreSQL ${server.version}, one account, one process: a second`,
    ['', '1 caller', '32 at once'],
    [
      ['Done: create_task', ...[1, 32].map((atOnce) => figure(rate('done', atOnce)))],
      ['its bare statements in a plain transaction each', ...[1, 32].map((n) => figure(rate('plain', n)))],
      ['Done to plain', ...[1, 32].map((atOnce) => times(ratio(atOnce)))],
    ],
    `Median of ${rounds} rounds of ${count(calls)} calls, by turns. Plain: the ${statements} statements of one create_task as the driver heard them, bound anew without any of the program, each in BEGIN and COMMIT on a pool of ${PLAIN_POOL}, no savepoint and no lock but the rows’.`,
  )
  bench.goal(
    'Durable create_task on PostgreSQL, one account, 32 at once, to a plain transaction each',
    'at least 2.5x',
    times(ratio(32)),
    ratio(32) >= 2.5,
  )
}

const CALLERS = 64
const FILLED = 1000

async function scale(bench: Bench, server: PostgresServer): Promise<void> {
  const ms = bench.quick ? 1500 : 10_000
  const where: Where = {
    dir: bench.folder('scale'),
    database: await server.database('scale'),
    sealKey: randomBytes(32).toString('hex'),
  }
  const store = await open(where)
  for (let i = 0; i < FILLED; i += 100)
    await store.call('create_tasks', {
      tasks: Array.from({ length: 100 }, (_, k) => ({ ...textsOf(i + k) })),
    })
  const token = await tokenOf(store, 'bench')
  await store.done.close()

  const rows: string[][] = []
  const first: number[] = []
  for (const processes of [1, 2, 4]) {
    const servers = []
    for (let i = 0; i < processes; i++) {
      const dir = bench.folder(`scale-${processes}-${i}`)
      mkdirSync(dir)
      servers.push(await serve(dir, { DATABASE_URL: where.database!, DONE_SEAL_KEY: where.sealKey! }))
    }
    const clients = servers.map(({ url }) => httpClient(url, token, Math.ceil(CALLERS / processes)))
    const cells: string[] = []
    for (const [k, call] of [
      (client: HttpClient) => client.call('create_task', { ...textsOf(FILLED) }),
      (client: HttpClient) => client.call('get_task', { id: anyOf(FILLED) }),
    ].entries()) {
      const took: number[] = []
      const errors: unknown[] = []
      const run = async (until: number, keep: boolean) => {
        await Promise.all(
          Array.from({ length: CALLERS }, async (_, i) => {
            const client = clients[i % processes]!
            while (performance.now() < until) {
              const began = performance.now()
              await call(client).catch((error: unknown) => errors.push(error))
              if (keep) took.push(performance.now() - began)
            }
          }),
        )
      }
      await run(performance.now() + 1000, false)
      await run(performance.now() + ms, true)
      if (errors.length > 0) throw errors[0]
      const rate = (took.length * 1000) / ms
      first[k] ??= rate
      cells.push(
        `${figure(rate)} (${times(rate / first[k])})`,
        `${figure(median(took))} / ${figure(quantile(took, 0.99))}`,
      )
    }
    rows.push([String(processes), ...cells])
    for (const client of clients) client.close()
    for (const each of servers) await each.end()
  }
  bench.table(
    `Processes on one PostgreSQL ${server.version}, one account, ${CALLERS} callers over MCP HTTP`,
    ['processes', 'create_task/s (times one)', 'p50 / p99, ms', 'get_task/s (times one)', 'p50 / p99, ms'],
    rows,
    `${ms / 1000} s each after one. The server, the processes and the callers share this machine’s cores, so more processes than cores can’t show more.`,
  )
}
