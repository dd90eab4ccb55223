import type { BareSetup } from './bare-role.ts'
import { type Bench, tokenFor } from './bench.ts'
import { callers, figure, median, times } from './figures.ts'
import { type HttpClient, httpClient } from './http-client.ts'
import { type Measured, role, serve } from './process.ts'
import type { StockSetup } from './stock-role.ts'
import { anyOf } from './store.ts'

/** Connections that are kept open, each with a call under way. */
const AT_ONCE = 8

interface Subject extends Measured {
  client: HttpClient
}

/** Processor time of the server for each call over HTTP: against the bare minimum, and against the SDK's stock server. */
export async function http(bench: Bench): Promise<void> {
  const size = bench.quick ? 1000 : 100_000
  const [rounds, calls] = bench.quick ? [3, 300] : [7, 2000]
  const dir = await bench.ownCopy(size)
  const token = await tokenFor(dir)
  const ids = [...new Set(Array.from({ length: calls }, () => anyOf(size)))]

  const bareRole = await role('bare', { dir, token, ids } satisfies BareSetup)
  const stockRole = await role('stock', { dir, token } satisfies StockSetup)
  const donectl = await serve(dir)
  const subject = (each: Measured, url: string): Subject => ({
    usage: each.usage,
    end: each.end,
    client: httpClient(url, token, AT_ONCE),
  })
  const bare = subject(bareRole, await bareRole.ask<string>('url'))
  const stock = subject(stockRole, await stockRole.ask<string>('url'))
  const done = subject(donectl, donectl.url)
  await sameAnswers([bare, stock, done], ids.slice(0, 20))

  const get = (id: string) => ({ name: 'get_task', arguments: { id } })
  const gets = (of: Subject, share: number) =>
    cpuOf(of, Math.round(calls * share), (i) => of.client.press('tools/call', get(ids[i % ids.length]!)))
  const lists = (of: Subject, share: number) =>
    cpuOf(of, Math.round(calls * share), () => of.client.press('tools/list', {}))

  const cost = { bare: [], done: [], stock: [], doneList: [], stockList: [] } as Record<string, number[]>
  for (let round = -1; round < rounds; round++) {
    const found = {
      bare: await gets(bare, 1),
      done: await gets(done, 1),
      stock: await gets(stock, 0.15),
      doneList: await lists(done, 0.5),
      stockList: await lists(stock, 0.05),
    }
    // The first round warms up.
    if (round >= 0) for (const [name, cpu] of Object.entries(found)) cost[name]!.push(cpu)
  }
  const us = Object.fromEntries(Object.entries(cost).map(([name, each]) => [name, median(each)])) as Record<
    keyof typeof cost,
    number
  >
  const statements = await bareRole.ask<number>('statements')
  for (const each of [bare, stock, done]) {
    each.client.close()
    await each.end()
  }

  const row = (name: string, of: number, than: number | undefined) => [
    name,
    figure(of),
    than === undefined ? '1' : times(of / than),
  ]
  bench.table(
    `MCP over HTTP: processor time of the server for a call, ${size.toLocaleString('en')} tasks`,
    ['', 'µs a call', 'times the first'],
    [
      row('get_task: bare node:http and the same statements', us.bare!, undefined),
      row('get_task: Done', us.done!, us.bare),
      row('get_task: stock McpServer over the same store', us.stock!, us.bare),
      row('tools/list: Done', us.doneList!, undefined),
      row('tools/list: stock McpServer', us.stockList!, us.doneList),
    ],
    `Random tasks, ${AT_ONCE} connections, median of ${rounds} rounds by turns. The bare handler hashes the bearer, finds it in a Map, reads the JSON, runs the ${statements} statements of get_task in one snapshot and writes the same JSON. The stock server registers the same tools and is served by the SDK's own handler.`,
  )
  bench.goal(
    'HTTP get_task, CPU, to a bare handler with the same statements',
    'at most 1.6x',
    times(us.done! / us.bare!),
    us.done! / us.bare! <= 1.6,
  )
  bench.goal(
    'HTTP get_task, CPU: stock McpServer to Done',
    'at least 10x',
    times(us.stock! / us.done!),
    us.stock! / us.done! >= 10,
  )
  bench.goal(
    'HTTP tools/list, CPU: stock McpServer to Done',
    'at least 100x',
    times(us.stockList! / us.doneList!),
    us.stockList! / us.doneList! >= 100,
  )
}

/** Microseconds of the server's processor time for one of so many calls. */
async function cpuOf(of: Subject, calls: number, call: (i: number) => Promise<unknown>): Promise<number> {
  const before = await of.usage()
  await callers(AT_ONCE, calls, call)
  return ((await of.usage()).cpu - before.cpu) / calls
}

/** Who answers something else did other work. */
async function sameAnswers(subjects: readonly Subject[], ids: readonly string[]): Promise<void> {
  for (const id of ids) {
    const answers = await Promise.all(
      subjects.map(async ({ client }) => JSON.stringify((await client.call('get_task', { id })).structured)),
    )
    if (new Set(answers).size > 1) throw new Error(`The servers answer get_task ${id} differently.`)
  }
}
