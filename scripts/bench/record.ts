import { createRequire } from 'node:module'

/** A statement as a driver ran it. `rows` are empty where it returns none. */
export interface Recorded {
  sql: string
  parameters: readonly unknown[]
  rows: readonly Record<string, unknown>[]
  /** Whether it wrote a row. */
  changed: boolean
}

export interface Tape {
  /** What ran since the last time this was asked. */
  take(): Recorded[]
  /** Names of the SQL functions that were registered. */
  functions: ReadonlySet<string>
  /** The drivers are as they were, for whatever is opened from then on. */
  stop(): void
}

interface Driver {
  prepare(this: unknown, sql: string): Record<string, (...args: unknown[]) => unknown>
  exec(this: unknown, sql: string): unknown
  function(this: unknown, name: string, answer: () => unknown): unknown
}

/** Stands around each statement that is run. */
type Around = (sql: string, parameters: readonly unknown[], run: () => unknown) => unknown

const require = createRequire(import.meta.url)

/**
 * Listens at the SQLite drivers themselves, so that what is replayed is what was run, whatever the layers above are. Has to
 * begin before a database is opened: statements are prepared once and kept.
 */
export function recordSqlite(): Tape {
  let log: Recorded[] = []
  const functions = new Set<string>()
  const stop = standAround((sql, parameters, run) => {
    const answer = run()
    const rows = Array.isArray(answer) ? answer : []
    const changes = Number((answer as { changes?: number | bigint } | undefined)?.changes ?? rows.length)
    log.push({ sql, parameters, rows, changed: changes > 0 && !/^\s*(select|pragma)\b/i.test(sql) })
    return answer
  })
  for (const driver of drivers()) {
    const { function: define } = driver
    driver.function = function (name, answer) {
      functions.add(name)
      return define.call(this, name, answer)
    }
  }
  return {
    functions,
    stop,
    take() {
      const taken = log
      log = []
      return taken
    },
  }
}

/**
 * From now on a savepoint costs nothing: what asks for one gets none. Only for calls that run one at a time and succeed,
 * which is what a transaction of its own for each call means.
 */
export function withoutSavepoints(): void {
  standAround((sql, _parameters, run) => (isSavepoint(sql) ? undefined : run()))
}

/** Counts the commits of this process from now on. */
export function countCommits(): () => number {
  let commits = 0
  standAround((sql, _parameters, run) => {
    if (/^\s*COMMIT\b/i.test(sql)) commits++
    return run()
  })
  return () => commits
}

/** Without what begins and ends transactions. */
export const statementsOf = (recorded: readonly Recorded[]): Recorded[] =>
  recorded.filter(({ sql }) => !isSavepoint(sql) && !/^\s*(BEGIN|COMMIT|ROLLBACK)\b/i.test(sql))

const isSavepoint = (sql: string): boolean => /^\s*(SAVEPOINT|RELEASE)\b/i.test(sql)

/** In the whole process: a part that needs it runs in one of its own. Returns what ends it. */
function standAround(around: Around): () => void {
  const undo: (() => void)[] = []
  for (const driver of drivers()) {
    const { prepare, exec, function: define } = driver
    undo.push(() => Object.assign(driver, { prepare, exec, function: define }))
    driver.prepare = function (sql) {
      const statement = prepare.call(this, sql)
      for (const way of ['all', 'get', 'run', 'iterate']) {
        const run = statement[way]!
        statement[way] = (...args) =>
          around(sql, Array.isArray(args[0]) ? args[0] : args, () => run.apply(statement, args))
      }
      return statement
    }
    driver.exec = function (sql) {
      return around(sql, [], () => exec.call(this, sql))
    }
  }
  return () => {
    for (const each of undo) each()
  }
}

function drivers(): Driver[] {
  const found: Driver[] = []
  if (process.versions.sqlite !== undefined)
    found.push((require('node:sqlite') as typeof import('node:sqlite')).DatabaseSync.prototype as never)
  try {
    found.push((require('better-sqlite3') as { prototype: Driver }).prototype)
  } catch {
    // It is optional: where Node's own library is new enough nobody needs it.
  }
  return found
}
