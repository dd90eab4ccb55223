import type { Bench } from './bench.ts'
import { figure, median, timed, times } from './figures.ts'
import { DONECTL, output, serve, stdioServer } from './process.ts'

/** From the spawn of the built program to its first answer; an empty Node process beside it. */
export async function starts(bench: Bench): Promise<void> {
  const rounds = bench.quick ? 3 : 15
  const dir = await bench.ownCopy(1000)
  const found: Record<'empty' | 'list' | 'call' | 'fresh' | 'serve', number[]> = {
    empty: [],
    list: [],
    call: [],
    fresh: [],
    serve: [],
  }
  for (let i = 0; i < rounds; i++) {
    found.empty.push(await timed(() => output(process.execPath, ['-e', '0'])))
    found.list.push(await firstAnswer(dir, 'tools/list'))
    found.call.push(await firstAnswer(dir, 'tools/call'))
    found.fresh.push(await firstAnswer(bench.folder(`fresh-${i}`), 'tools/call'))
    const began = performance.now()
    const server = await serve(dir)
    found.serve.push(performance.now() - began)
    await server.end()
  }
  const ms = Object.fromEntries(Object.entries(found).map(([name, each]) => [name, median(each)])) as Record<
    keyof typeof found,
    number
  >
  const row = (name: string, of: number) => [name, figure(of), times(of / ms.empty)]
  bench.table(
    'Starts: from the spawn to the first answer',
    ['', 'ms', 'times an empty Node'],
    [
      row('an empty Node process, to its end', ms.empty),
      row('donectl mcp: first tools/list', ms.list),
      row('donectl mcp: first tools/call', ms.call),
      row('donectl mcp: first tools/call in a new folder', ms.fresh),
      row('donectl serve: listens', ms.serve),
    ],
    `Medians of ${rounds}, by turns, in a folder with 1,000 tasks.`,
  )
  for (const [name, of, limit] of [
    ['list', ms.list, 2],
    ['call', ms.call, 4],
  ] as const) {
    bench.goal(
      `First ${name} over stdio, to an empty Node process`,
      `at most ${limit}x, and 300 ms`,
      `${times(of / ms.empty)}, ${figure(of)} ms`,
      of / ms.empty <= limit && of <= 300,
    )
  }
}

async function firstAnswer(dir: string, method: string): Promise<number> {
  const began = performance.now()
  const server = stdioServer(process.execPath, [DONECTL, 'mcp', '--data', dir])
  const params = method === 'tools/call' ? { name: 'get_me', arguments: {} } : {}
  const { error } = await server.request(method, {
    ...params,
    _meta: {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientCapabilities': {},
    },
  })
  const ms = performance.now() - began
  if (error) throw new Error(error.message)
  await server.end()
  return ms
}
