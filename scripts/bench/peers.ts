import { randomInt } from 'node:crypto'
import type { Bench } from './bench.ts'
import type { Contender, Playing, ToolCall } from './contender.ts'
import { CONTENDERS } from './contenders.ts'
import { count, figure, median as middle, timed, times, words } from './figures.ts'
import { output, type ToolAnswer } from './process.ts'
import type { Texts } from './recipe.ts'
import { textsOf } from './store.ts'

const OPERATIONS = ['create', 'update', 'get', 'list'] as const

/** Whoever answers so fast, in milliseconds, goes several times in each turn: a median of few calls would be luck. */
const QUICK_MS = 200
const QUICK_GOES = 5

/** The same work over stdio in Done and in others of its kind, by turns, answers checked. */
export async function peers(bench: Bench): Promise<void> {
  const sizes = bench.quick ? [100, 1000] : [100, 1000, 10_000]
  for (const size of sizes) {
    const tasks = Array.from({ length: size }, (_, i) => textsOf(i + 1))
    const turns = size >= 10_000 ? 7 : 10
    const players: Player[] = []
    const out = async ({ contender, playing }: Omit<Player, 'times'>, error: unknown) => {
      bench.missing(`${contender.name} at ${count(size)} tasks`, error)
      await playing?.server.end()
    }
    for (const contender of CONTENDERS) {
      const player: Player = { contender, characters: 0, times: new Map() }
      try {
        const dir = bench.folder(`${contender.name.replace(/\W+/g, '-')}-${size}`)
        player.playing = await contender.start(dir, tasks)
        const listed = await whole(player.playing)
        if (listed !== size) throw new Error(`It lists ${listed} of ${size} filled tasks.`)
        players.push(player)
      } catch (error) {
        await out(player, error)
      }
    }
    for (const [operation, run] of Object.entries(RUNS)) {
      for (let turn = -2; turn < turns; turn++) {
        for (const player of [...players]) {
          try {
            const found: number[] = []
            do found.push(await run(player, tasks, turn))
            while (found.length < QUICK_GOES && middle(found) < QUICK_MS)
            if (turn < 0) continue
            player.times.set(operation, [...(player.times.get(operation) ?? []), ...found])
          } catch (error) {
            players.splice(players.indexOf(player), 1)
            await out(player, error)
          }
        }
      }
    }
    for (const { playing } of players) await playing!.server.end()
    show(bench, size, turns, players)
    if (size === sizes.at(-1)) judge(bench, size, players)
  }
}

/** A contender in its game. */
interface Player {
  contender: Contender
  playing?: Playing
  /** How long the answer of a list is. */
  characters: number
  /** Milliseconds of each call, by operation. */
  times: Map<string, number[]>
}

/** The milliseconds of one call, whose answer is checked when the clock has stopped. Throws where it is wrong. */
type Run = (player: Player, tasks: readonly Texts[], turn: number) => Promise<number>

const RUNS: Record<(typeof OPERATIONS)[number] | 'whole', Run> = {
  async list(player) {
    const { ms, answer } = await clocked(player, player.playing!.list())
    player.characters = answer.characters
    return ms
  },
  whole: ({ playing }) => timed(() => whole(playing!)),
  async get(player, tasks) {
    const n = randomInt(tasks.length)
    const { ms, answer } = await clocked(player, player.playing!.get(player.playing!.nameOf(n)))
    mustShow(answer, tasks[n]!.title, 'get')
    return ms
  },
  async update(player, tasks, turn) {
    const playing = player.playing!
    const name = playing.nameOf(randomInt(tasks.length))
    const call = playing.update(name, words(12), turn)
    const { ms } = await clocked(player, call)
    mustShow(await ask(playing, playing.get(name)), call.shows, 'get after an update')
    return ms
  },
  async create(player, tasks) {
    const playing = player.playing!
    const texts = textsOf(tasks.length + randomInt(1e9))
    const { ms, answer } = await clocked(player, playing.create(texts))
    const made = playing.get(await playing.made(answer, texts))
    mustShow(await ask(playing, made), texts.title, 'get after a create')
    return ms
  },
}

const ask = ({ server }: Playing, { tool, args }: ToolCall): Promise<ToolAnswer> => server.call(tool, args)

/** Before each call the disk is quiet: what others have left to write would be waited for by whoever makes sure of its own. */
async function clocked({ playing }: Player, call: ToolCall): Promise<{ ms: number; answer: ToolAnswer }> {
  if (process.platform !== 'win32') await output('sync', [])
  const began = performance.now()
  const answer = await ask(playing!, call)
  return { ms: performance.now() - began, answer }
}

function mustShow(answer: ToolAnswer, text: string, of: string): void {
  if (!answer.text.includes(text)) throw new Error(`${of} does not show "${text.slice(0, 80)}".`)
}

/** How many tasks there are, listed over as many pages as it takes. */
async function whole(playing: Playing): Promise<number> {
  let total = 0
  let call: ToolCall | undefined = playing.all?.() ?? playing.list()
  while (call) {
    const answer: ToolAnswer = await ask(playing, call)
    total += playing.count(answer)
    call = playing.next?.(answer)
  }
  return total
}

const median = ({ times: each }: Player, operation: string): number => middle(each.get(operation)!)

function show(bench: Bench, size: number, turns: number, players: readonly Player[]): void {
  const done = players.find(({ contender }) => contender === CONTENDERS[0])
  const cell = (player: Player, operation: string) => {
    const ms = figure(median(player, operation))
    if (!done || player === done) return ms
    return `${ms} (${times(median(player, operation) / median(done, operation))})`
  }
  bench.table(
    `Side by side over MCP stdio, ${count(size)} tasks: ms (times Done)`,
    ['', ...OPERATIONS, 'answer of list', 'the whole list'],
    players.map((player) => [
      player.contender.name,
      ...OPERATIONS.map((operation) => cell(player, operation)),
      `${count(Math.ceil(player.characters / 1000))} kB`,
      cell(player, 'whole'),
    ]),
    `Medians of ${turns} turns after 2, of ${QUICK_GOES} calls each below ${QUICK_MS} ms and else of one, the same client, each on a quiet disk; every created, changed and fetched task is checked, and that all ${count(size)} are listed. Done answers a list by the page, the others by all of it: "the whole list" is all pages. ${updatesOf()}`,
  )
}

const updatesOf = (): string =>
  CONTENDERS.flatMap(({ name, updates }) => (updates ? [`Update in ${name} ${updates}.`] : [])).join(' ')

function judge(bench: Bench, size: number, players: readonly Player[]): void {
  const [done, ...others] = CONTENDERS.map((each) => players.find(({ contender }) => contender === each))
  for (const operation of OPERATIONS) {
    const needs = operation === 'create' || operation === 'update' ? 10 : 1
    const ratios = others.flatMap((each) =>
      done && each ? [median(each, operation) / median(done, operation)] : [],
    )
    const least = Math.min(...ratios)
    bench.goal(
      `Over stdio at ${count(size)} tasks, ${operation}: the quickest peer to Done`,
      needs === 1 ? 'above 1x' : `at least ${needs}x`,
      ratios.length > 0
        ? `${times(least)}${ratios.length < others.length ? ' (not all peers ran)' : ''}`
        : '',
      ratios.length === 0 ? undefined : needs === 1 ? least > 1 : least >= needs,
    )
  }
}
