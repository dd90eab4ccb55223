import { writeFileSync } from 'node:fs'
import { cpus, type as system, totalmem } from 'node:os'
import { openSqlite } from '../../src/store/sqlite.ts'
import { count } from './figures.ts'

type Rows = readonly (readonly string[])[]

/** What a goal came to. `held` is undefined where it could not be measured. */
interface Goal {
  goal: string
  limit: string
  figure: string
  held: boolean | undefined
}

/** Prints while it is measured, and keeps everything for the page. */
export interface Report {
  /** A table with what has to be known to read it. */
  table(title: string, head: readonly string[], rows: Rows, note?: string): void
  /** A line of the table of goals. */
  goal(goal: string, limit: string, figure: string, held: boolean | undefined): void
  /** Something that could not be measured, and why. */
  missing(what: string, error: unknown): void
  /** Prints the goals. */
  close(): void
  /** Writes everything as a page. */
  write(path: string): void
}

export function openReport(): Report {
  const began = new Date()
  const sections: string[] = []
  const goals: Goal[] = []

  const say = (title: string, text: string, note: string | undefined) => {
    console.log(`${title}\n${text}${note ? `\n${note}` : ''}\n`)
  }

  return {
    table(title, head, rows, note) {
      say(title, plain(head, rows), note)
      sections.push(`## ${title}\n\n${markdown(head, rows)}${note ? `\n\n${note}` : ''}`)
    },
    goal(goal, limit, figure, held) {
      goals.push({ goal, limit, figure, held })
    },
    missing(what, error) {
      const reason = (error instanceof Error ? error.message : String(error)).split('\n')[0]!
      console.log(`${what}: not measured. ${reason}\n`)
      sections.push(`## ${what}\n\nNot measured: ${reason}`)
    },
    close() {
      if (goals.length > 0) say('Goals', plain(GOAL_HEAD, goals.map(goalRow)), undefined)
    },
    write(path) {
      const page = [
        '# Bench',
        `Written by \`npm run bench\` on ${began.toISOString().slice(0, 10)}; never edited. ${machine()}`,
        'Ratios count: both sides of each were measured in the same run, by turns where noise matters. The absolute figures are this machine’s, which measured and drove at once.',
        ...sections,
        `## Goals\n\n${markdown(GOAL_HEAD, goals.map(goalRow))}`,
      ]
      writeFileSync(path, `${page.join('\n\n')}\n`)
    },
  }
}

const GOAL_HEAD = ['goal', 'limit', 'figure', '']

const goalRow = ({ goal, limit, figure, held }: Goal): string[] => [
  goal,
  limit,
  figure,
  held === undefined ? 'not measured' : held ? 'held' : '**not held**',
]

function machine(): string {
  const memory = openSqlite(':memory:', 'write')
  const sqlite = String(memory.value('SELECT sqlite_version()'))
  memory.close()
  const cores = cpus()
  return `Machine: ${cores.length} cores (${cores[0]?.model.trim() || process.arch}), ${count(Math.round(totalmem() / 2 ** 30))} GB, ${system()}, Node ${process.versions.node}, SQLite ${sqlite}.`
}

function plain(head: readonly string[], rows: Rows): string {
  const widths = head.map((cell, i) => Math.max(cell.length, ...rows.map((row) => row[i]!.length)))
  const line = (row: readonly string[]) =>
    row
      .map((cell, i) => cell.padEnd(widths[i]!))
      .join('  ')
      .trimEnd()
  return [head, ...rows].map(line).join('\n')
}

function markdown(head: readonly string[], rows: Rows): string {
  const line = (row: readonly string[]) => `| ${row.join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')
}
