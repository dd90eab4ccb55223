import { randomUUID } from 'node:crypto'
import { hashMeaning } from '../../src/model/meaning.ts'
import { piecesOf } from '../../src/model/search.ts'
import { type Recorded, statementsOf } from './record.ts'

/** The texts of a task to create. Lower-case ASCII, so that every index keeps them as they are. */
export interface Texts {
  title: string
  description: string
}

/** A create_task as it was recorded: its texts, the clock it saw, its statements. */
export interface Recording extends Texts {
  now: number
  statements: readonly Recorded[]
}

/** One create_task to be, with what its earlier statements answered. */
interface Making extends Texts {
  now: number
  hash: string
  uuid: string
  rows: (Record<string, unknown> | undefined)[]
}

interface Step {
  sql: string
  parameters: ((making: Making) => unknown)[]
}

/** The statements of a call, to be run again for other texts without the program that first ran them. */
export interface Recipe {
  /** Runs the statements one by one. `run` gives the rows of a statement. */
  make(texts: Texts, run: (sql: string, parameters: unknown[]) => Rows): void
  makeAsync(texts: Texts, run: (sql: string, parameters: unknown[]) => Promise<Rows>): Promise<void>
}

type Rows = readonly Record<string, unknown>[]

/**
 * Learns from two recordings of create_task what is the same each time, what comes from the texts, the clock or chance, and
 * what an earlier statement answered. Throws where a parameter is none of these, or `only` leaves out what another needs.
 */
export function recipeOf(
  first: Recording,
  second: Recording,
  only: (statement: Recorded) => boolean = () => true,
): Recipe {
  const pair = [statementsOf(first.statements), statementsOf(second.statements)] as const
  if (pair[0].length === 0) throw new Error('No statement was recorded.')
  if (pair[0].map(({ sql }) => sql).join() !== pair[1].map(({ sql }) => sql).join())
    throw new Error('Two create_task ran different statements.')
  const steps: Step[] = []
  const kept = pair[0].flatMap((statement, i) => (only(statement) ? [i] : []))
  for (const i of kept) {
    const [a, b] = [pair[0][i]!, pair[1][i]!]
    const sources = kept.filter((each) => each < i)
    const parameters = a.parameters.map((value, k) => {
      const derived = derive([value, b.parameters[k]], [first, second], pair, sources, kept)
      if (derived) return derived
      throw new Error(`Parameter ${k + 1} can’t be derived: ${String(value)} in ${a.sql}`)
    })
    steps.push({ sql: a.sql, parameters })
  }
  const begin = (texts: Texts): Making => ({
    ...texts,
    now: Date.now(),
    hash: hashOf(texts),
    uuid: randomUUID(),
    rows: [],
  })
  const bind = (step: Step, making: Making) => step.parameters.map((parameter) => parameter(making))
  return {
    make(texts, run) {
      const making = begin(texts)
      for (const step of steps) making.rows.push(run(step.sql, bind(step, making))[0])
    },
    async makeAsync(texts, run) {
      const making = begin(texts)
      for (const step of steps) making.rows.push((await run(step.sql, bind(step, making)))[0])
    },
  }
}

/** The seal of a new task's content, which no statement answers. */
function hashOf({ title, description }: Texts): string {
  return hashMeaning({
    title,
    description,
    project: null,
    parent: null,
    assignee: null,
    due: null,
    recurrence: null,
    auto_ok: 0,
    steps: [],
    artifacts: [],
    children: [],
  })
}

/** What PostgreSQL's index keeps of a text: its pieces, each behind the number of the first account. */
const piecesFor = ({ title, description }: Texts): string =>
  JSON.stringify([...piecesOf(`${title}\n${description}`)].map((piece) => `1 ${piece}`))

type Two<T> = readonly [T, T]

function derive(
  values: Two<unknown>,
  calls: Two<Recording>,
  statements: Two<readonly Recorded[]>,
  sources: readonly number[],
  kept: readonly number[],
): Step['parameters'][number] | undefined {
  const [a, b] = values
  if (Array.isArray(a) && Array.isArray(b)) {
    const items = a.map((item, i) => derive([item, b[i]], calls, statements, sources, kept))
    if (a.length !== b.length || items.includes(undefined)) return undefined
    return (making) => items.map((item) => item!(making))
  }
  const answered = referTo(values, statements, sources, kept)
  if (answered) return answered
  if (a === b || (a instanceof Uint8Array && Buffer.compare(a, b as Uint8Array) === 0)) return () => a
  if (isTime(a) && isTime(b) && Number(a) - calls[0].now === Number(b) - calls[1].now) {
    const after = Number(a) - calls[0].now
    return typeof a === 'string' ? (making) => String(making.now + after) : (making) => making.now + after
  }
  if (typeof a !== 'string' || typeof b !== 'string') return undefined
  if (a === piecesFor(calls[0]) && b === piecesFor(calls[1])) return piecesFor
  return template([a, b], calls, statements, sources, kept)
}

/** Whether a value is an answer, or the number behind it: counters are read, and counted on by the program. */
const isMore = (answer: unknown, value: unknown, more: number): boolean =>
  more === 0 ? String(answer) === String(value) : Number(answer) + more === Number(value)

/** A value that differs and that an earlier statement answered in both. */
function referTo(
  [a, b]: Two<unknown>,
  statements: Two<readonly Recorded[]>,
  sources: readonly number[],
  kept: readonly number[],
): Step['parameters'][number] | undefined {
  if (String(a) === String(b) || a === null || b === null) return undefined
  for (const source of sources) {
    const [x, y] = [statements[0][source]!.rows[0], statements[1][source]!.rows[0]]
    for (const [column, value] of Object.entries(x ?? {})) {
      const more = [0, 1].find((each) => isMore(value, a, each) && isMore(y?.[column], b, each))
      if (more === undefined) continue
      const step = kept.indexOf(source)
      return (making) => {
        const answer = making.rows[step]![column]
        const found = more === 0 ? answer : Number(answer) + more
        return typeof a === 'string' ? String(found) : found
      }
    }
  }
  return undefined
}

const isTime = (value: unknown): boolean =>
  (typeof value === 'number' || typeof value === 'string') && /^1\d{12}$/.test(String(value))

/** A text with parts that differ: texts, the seal, numbers that an earlier statement answered, a random name. */
function template(
  [a, b]: Two<string>,
  calls: Two<Recording>,
  statements: Two<readonly Recorded[]>,
  sources: readonly number[],
  kept: readonly number[],
): Step['parameters'][number] | undefined {
  const cut = (text: string, call: Recording) =>
    text
      .replaceAll(hashOf(call), '\u0001hash\u0001')
      .replaceAll(call.title, '\u0001title\u0001')
      .replaceAll(call.description, '\u0001description\u0001')
      .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '\u0001uuid\u0001')
      .split('\u0001')
      .flatMap((part, i) => (i % 2 === 1 ? [part] : part.split(/(\d+)/)))
  const [x, y] = [cut(a, calls[0]), cut(b, calls[1])]
  if (x.length !== y.length) return undefined
  const parts = x.map((part, i): Step['parameters'][number] | undefined => {
    if (part !== y[i]) {
      const answered = referTo([part, y[i]], statements, sources, kept)
      if (answered || !isTime(part)) return answered
      return derive([part, y[i]], calls, statements, sources, kept)
    }
    if (part === 'hash' || part === 'title' || part === 'description' || part === 'uuid')
      return (making) => making[part]
    return () => part
  })
  if (parts.includes(undefined)) return undefined
  return (making) => parts.map((part) => part!(making)).join('')
}
