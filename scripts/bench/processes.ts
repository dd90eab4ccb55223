import { join } from 'node:path'
import { openSqlite } from '../../src/store/sqlite.ts'
import type { Bench } from './bench.ts'
import { count, figure } from './figures.ts'
import { role } from './process.ts'
import type { Wrote } from './writer-role.ts'

const CALLERS = 8

/** Several processes that write to one file: shares, frozen loops, and whether every acknowledged task is there. */
export async function processes(bench: Bench): Promise<void> {
  const ms = bench.quick ? 2000 : 15_000
  const rows: string[][] = []
  for (const writers of [1, 2, 4]) {
    const dir = bench.folder(`writers-${writers}`)
    const roles = []
    for (let i = 0; i < writers; i++) roles.push(await role('writer', { dir }))
    // Once without being counted: code is compiled, and the shares of a first second say little.
    await Promise.all(roles.map((each) => each.ask<Wrote>('write', { callers: CALLERS, ms: 1000 })))
    const before = tasksIn(dir)
    const wrote = await Promise.all(roles.map((each) => each.ask<Wrote>('write', { callers: CALLERS, ms })))
    for (const each of roles) {
      await each.ask('close')
      await each.end()
    }
    const shares = wrote.map(({ created }) => created.length)
    const acknowledged = new Set(wrote.flatMap(({ created }) => created))
    const lost = shares.reduce((a, b) => a + b) - Math.min(acknowledged.size, tasksIn(dir) - before)
    const share = Math.min(...shares) / Math.max(...shares)
    const p99 = Math.max(...wrote.map((each) => each.p99))
    rows.push([
      String(writers),
      figure((acknowledged.size * 1000) / ms),
      share.toFixed(2),
      p99.toFixed(1),
      Math.max(...wrote.map(({ max }) => max)).toFixed(0),
      Math.max(...wrote.map(({ longest }) => longest)).toFixed(0),
      count(lost),
    ])
    if (writers < 4) continue
    bench.goal(
      'Four processes write to one SQLite file: loop delay p99',
      'at most 20 ms',
      `${p99.toFixed(1)} ms`,
      p99 <= 20,
    )
    bench.goal(
      'Four processes write to one SQLite file: smallest to largest share',
      'at least 0.3',
      share.toFixed(2),
      share >= 0.3,
    )
    bench.goal(
      'Four processes write to one SQLite file: acknowledged and lost',
      'none',
      count(lost),
      lost === 0,
    )
  }
  bench.table(
    `Processes that write to one SQLite file, ${CALLERS} callers each, ${ms / 1000} s`,
    [
      'processes',
      'create_task/s in all',
      'smallest to largest share',
      'loop delay p99, ms',
      'loop delay max, ms',
      'longest call, ms',
      'lost',
    ],
    rows,
    'Delays are the worst of the processes.',
  )
}

function tasksIn(dir: string): number {
  const db = openSqlite(join(dir, 'done.db'), 'read')
  const tasks = Number(db.value('SELECT COUNT(*) FROM tasks'))
  db.close()
  return tasks
}
