/**
 * Speed, as ratios in one run. `npm run bench` runs every part and writes docs/bench.md; `npm run bench -- http growth` runs
 * those parts, and `--quick` everything smaller, both to the terminal alone.
 */
import { join } from 'node:path'
import { type Bench, openBench } from './bench/bench.ts'
import { endAll, type Handlers, playRole } from './bench/process.ts'
import { openReport } from './bench/report.ts'
import { root } from './ensure.mjs'

interface Part {
  /** What it measures, for the help. */
  about: string
  load: () => Promise<(bench: Bench) => Promise<void>>
}

/** In this order: what is short comes first. */
const PARTS: Record<string, Part> = {
  starts: {
    about: 'first list and first call over stdio, to an empty Node',
    load: async () => (await import('./bench/starts.ts')).starts,
  },
  doors: {
    about: 'common calls in process, over stdio and over HTTP',
    load: async () => (await import('./bench/doors.ts')).doors,
  },
  writes: {
    about: 'durable creates on SQLite, to a transaction each',
    load: async () => (await import('./bench/writes.ts')).writes,
  },
  processes: {
    about: '1, 2 and 4 processes that write to one SQLite file',
    load: async () => (await import('./bench/processes.ts')).processes,
  },
  agents: {
    about: '64 agents at once for a minute',
    load: async () => (await import('./bench/agents.ts')).agents,
  },
  http: {
    about: 'MCP over HTTP, to a bare handler and to the SDK’s stock server',
    load: async () => (await import('./bench/http.ts')).http,
  },
  peers: {
    about: 'four other task servers over stdio, side by side (fetched at the first run)',
    load: async () => (await import('./bench/peers.ts')).peers,
  },
  postgres: {
    about: 'one account to plain transactions; 1, 2 and 4 processes',
    load: async () => (await import('./bench/postgres.ts')).postgres,
  },
  growth: {
    about: '100 to 1,000,000 tasks in one account',
    load: async () => (await import('./bench/growth.ts')).growth,
  },
}

const HELP = `npm run bench [-- PART …] [--quick]

All parts take about 25 minutes and write docs/bench.md; parts that are named, and --quick, only print. Leave the machine
alone meanwhile.

${Object.entries(PARTS)
  .map(([name, { about }]) => `  ${name.padEnd(10)} ${about}`)
  .join('\n')}`

/** What runs in a process of its own. */
const ROLES: Record<string, () => Promise<{ handlers(setup: never): Handlers | Promise<Handlers> }>> = {
  fill: () => import('./bench/fill-role.ts'),
  bare: () => import('./bench/bare-role.ts'),
  creates: () => import('./bench/creates-role.ts'),
  writer: () => import('./bench/writer-role.ts'),
  plain: () => import('./bench/plain-role.ts'),
  stock: () => import('./bench/stock-role.ts'),
}

const [first, ...rest] = process.argv.slice(2)
if (first === '--role') {
  const { handlers } = await ROLES[rest[0]!]!()
  await playRole(await handlers(JSON.parse(rest[1]!) as never))
} else await main(process.argv.slice(2))

async function main(args: readonly string[]): Promise<void> {
  if (args.includes('--help')) return console.log(HELP)
  const quick = args.includes('--quick')
  const asked = args.filter((each) => each !== '--quick')
  const unknown = asked.filter((each) => !Object.hasOwn(PARTS, each))
  if (unknown.length > 0) {
    console.error(`There is no part ${unknown.map((each) => `"${each}"`).join(', ')}.\n\n${HELP}`)
    process.exitCode = 2
    return
  }
  const report = openReport()
  const bench = openBench(report, quick)
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      bench.end()
      process.exit(130)
    })
  }
  try {
    for (const [name, { load }] of Object.entries(PARTS)) {
      if (asked.length > 0 && !asked.includes(name)) continue
      const began = performance.now()
      try {
        await (await load())(bench)
      } catch (error) {
        process.exitCode = 1
        console.error(error)
        report.missing(`Part ${name}`, error)
        endAll()
      }
      console.log(`(${name}: ${((performance.now() - began) / 1000).toFixed(0)} s)\n`)
    }
    report.close()
    if (!quick && asked.length === 0) report.write(join(root, 'docs', 'bench.md'))
  } finally {
    bench.end()
  }
}
