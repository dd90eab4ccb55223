import { randomInt } from 'node:crypto'
import type { Bench } from './bench.ts'
import { count, figure, quantile, words } from './figures.ts'
import { type HttpClient, httpClient } from './http-client.ts'
import { serve } from './process.ts'
import { anyOf, open, textsOf, tokenOf } from './store.ts'

const AGENTS = 64

interface Agent {
  client: HttpClient
  /** Tasks that it made and so may change without another in its way. */
  own: string[]
}

type Work = (agent: Agent, size: number) => Promise<unknown>

/** What an agent does, and how often out of a hundred. */
const MIX: Record<string, [share: number, Work]> = {
  get_task: [35, ({ client }, size) => client.call('get_task', { id: anyOf(size) })],
  list_tasks: [15, ({ client }) => client.call('list_tasks', { limit: 25 })],
  search: [5, ({ client }) => client.call('search', { query: words(2) })],
  get_next_task: [5, ({ client }) => client.call('get_next_task', {})],
  create_task: [15, create],
  update_task: [15, onOwn((client, id) => client.call('update_task', { id, description: words(12) }))],
  comment_on_task: [
    10,
    onOwn((client, id) => client.call('comment_on_task', { task_id: id, text: words(8) })),
  ],
}

/** 64 agents at once, each with its own token, over MCP HTTP on one server. */
export async function agents(bench: Bench): Promise<void> {
  const size = bench.quick ? 1000 : 10_000
  const seconds = bench.quick ? 5 : 60
  const dir = await bench.ownCopy(size)
  const store = await open({ dir })
  const tokens: string[] = []
  for (let i = 0; i < AGENTS; i++) tokens.push(await tokenOf(store, `agent ${i + 1}`))
  await store.done.close()

  const server = await serve(dir)
  const all: Agent[] = tokens.map((token) => ({ client: httpClient(server.url, token, 1), own: [] }))
  for (const agent of all) await create(agent)

  const latencies = new Map<string, number[]>(Object.keys(MIX).map((name) => [name, []]))
  const errors: string[] = []
  const memory: number[] = []
  const before = await server.usage()
  const began = performance.now()
  const until = began + seconds * 1000
  const watch = setInterval(async () => memory.push((await server.usage()).rss), 1000)
  await Promise.all(
    all.map(async (agent) => {
      while (performance.now() < until) {
        const [name, work] = draw()
        const start = performance.now()
        try {
          await work(agent, size)
          latencies.get(name)!.push(performance.now() - start)
        } catch (error) {
          errors.push((error as Error).message)
        }
      }
    }),
  )
  clearInterval(watch)
  const took = (performance.now() - began) / 1000
  const after = await server.usage()
  for (const { client } of all) client.close()
  await server.end()

  const row = (name: string, each: readonly number[]) => [
    name,
    count(each.length),
    figure(each.length / took),
    figure(quantile(each, 0.5)),
    figure(quantile(each, 0.99)),
    figure(quantile(each, 1)),
  ]
  const everything = [...latencies.values()].flat()
  const mb = (bytes: number) => `${count(Math.round(bytes / 2 ** 20))} MB`
  bench.table(
    `${AGENTS} agents at once for ${seconds} s, MCP over HTTP, one process, from ${count(size)} tasks`,
    ['', 'calls', 'a second', 'p50, ms', 'p99, ms', 'max, ms'],
    [row('all', everything), ...[...latencies].map(([name, each]) => row(name, each))],
    `Errors: ${count(errors.length)}${errors.length > 0 ? ` (${[...new Set(errors)].slice(0, 3).join('; ')})` : ''}. Memory of the server: ${mb(before.rss)} before, ${mb(Math.max(before.rss, ...memory))} at most, ${mb(after.rss)} at the end. Its processor time: ${figure((after.cpu - before.cpu) / 1e6 / took)} of a core. Each agent calls again as soon as it is answered.`,
  )
}

function draw(): [string, Work] {
  let left = randomInt(100)
  for (const [name, [share, work]] of Object.entries(MIX)) {
    if (left < share) return [name, work]
    left -= share
  }
  throw new Error('The shares do not add up to a hundred.')
}

async function create(agent: Agent): Promise<void> {
  const { structured } = await agent.client.call('create_task', { ...textsOf(randomInt(1e9)) })
  agent.own.push(String(structured!.id))
}

function onOwn(work: (client: HttpClient, id: string) => Promise<unknown>): Work {
  return ({ client, own }) => work(client, own[randomInt(own.length)]!)
}
