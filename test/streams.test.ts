import { afterAll, beforeAll, expect, it } from 'vitest'
import { type RunningServer, startServer } from './running.ts'
import { createParser } from './sse.ts'
import { times } from './times.ts'

const PROCESSES = 4
const STREAMS = times(40, 200)
const WRITES = times(100, 500)

/** A person's or an agent's stream holds so many of them at most (http/events.ts). */
const OF_ONE_TOKEN = 10

let servers: RunningServer[]

beforeAll(async () => {
  const first = await startServer()
  servers = [first, ...(await Promise.all(Array.from({ length: PROCESSES - 1 }, () => first.another())))]
})
afterAll(async () => {
  for (const server of (servers ?? []).toReversed()) await server.stop()
})

it(`${STREAMS} streams at ${PROCESSES} processes: every event reaches whoever may see it, once and in order`, {
  timeout: 300_000,
}, async () => {
  const [first] = servers as [RunningServer]
  const writer = await first.token('writer', 'write')
  const call = (i: number, path: string, body: object) =>
    fetch(`${servers[i % PROCESSES]!.site}/api${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${writer}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    }).then(async (response) => {
      if (!response.ok) throw new Error(await response.text())
    })
  for (const name of ['Shown', 'Hidden']) await call(0, '/projects', { name })

  const abort = new AbortController()
  const streams: { narrowed: boolean; ids: number[] }[] = []
  for (let i = 0; i < STREAMS; i += OF_ONE_TOKEN) {
    const narrowed = (i / OF_ONE_TOKEN) % 4 === 3
    const token = await first.token(`listener ${i}`, 'read', ...(narrowed ? ['--projects', 'P1'] : []))
    for (let j = 0; j < OF_ONE_TOKEN; j++) {
      const stream = { narrowed, ids: [] as number[] }
      await listen(servers[(i + j) % PROCESSES]!, token, abort.signal, stream.ids)
      streams.push(stream)
    }
  }
  const from = await newest()

  await Promise.all(
    Array.from({ length: WRITES }, (_, i) =>
      call(i, '/tasks', { title: `Number ${i}`, project_id: i % 2 ? 'P1' : 'P2' }),
    ),
  )
  const written = await eventsAfter(from)
  const inProject = written.filter(({ project }) => project === 1).map(({ id }) => id)
  const all = written.map(({ id }) => id)
  expect(all.length).toBeGreaterThanOrEqual(WRITES)
  expect(inProject.length).toBeLessThan(all.length)
  for (let waited = 0; waited < 20_000 && !streams.every(isComplete); waited += 50)
    await new Promise((resolve) => setTimeout(resolve, 50))
  for (const { narrowed, ids } of streams)
    expect(ids.filter((id) => id > from)).toEqual(narrowed ? inProject : all)
  abort.abort()
  console.log(
    `${STREAMS} streams at ${PROCESSES} processes: ${all.length} events, each once and in order to all who may see it`,
  )

  function isComplete({ narrowed, ids }: (typeof streams)[number]): boolean {
    return ids.at(-1) === (narrowed ? inProject : all).at(-1)
  }
})

/** Opens a stream and notes the ids of what comes. Resolves once it is open. */
async function listen(
  { site }: RunningServer,
  token: string,
  signal: AbortSignal,
  ids: number[],
): Promise<void> {
  const response = await fetch(`${site}/api/events`, {
    headers: { authorization: `Bearer ${token}` },
    signal,
  })
  expect(response.status).toBe(200)
  const read = createParser((event) => ids.push(Number(String(event.id).slice(1))))
  const run = async () => {
    const decoder = new TextDecoder()
    for await (const chunk of response.body!) read(decoder.decode(chunk, { stream: true }))
  }
  run().catch((error) => {
    if (!signal.aborted) throw error
  })
}

async function newest(): Promise<number> {
  const [row] = await servers[0]!.look('SELECT MAX(id) AS id FROM events')
  return Number(row!.id)
}

async function eventsAfter(id: number): Promise<{ id: number; project: number | null }[]> {
  const rows = await servers[0]!.look(`SELECT id, project FROM events WHERE id > ${id} ORDER BY id`)
  return rows as { id: number; project: number | null }[]
}
