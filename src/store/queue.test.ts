import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { Done } from './engine.ts'
import { groupCommit } from './group-commit.ts'
import { writeQueue } from './queue.ts'
import { openSqlite, type SqliteConnection } from './sqlite.ts'
import { queriesOn } from './sqlite-engine.ts'

let dir: string
let db: SqliteConnection
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'done-queue-'))
  db = openSqlite(join(dir, 'test.db'), 'write')
  db.exec('PRAGMA journal_mode = WAL')
  db.exec('CREATE TABLE notes (text TEXT) STRICT')
})
afterEach(() => {
  db.close()
  rmSync(dir, { recursive: true })
})

const SCOPE = { account: 1, kind: 'agent', effect: 'write' } as const

/** The queue of a store, on the bare connection. */
function queueOf(waitMs: number) {
  const options = {
    writer: db,
    queries: queriesOn(db),
    waitMs,
    randomId: randomUUID,
    act: () => {},
    committed: () => {},
    tell: () => {},
  }
  const { push } = writeQueue(groupCommit(options))
  return { push: (run: () => Promise<Done<string>>) => push(SCOPE, run) }
}

const insert = (text: string) => async () => {
  db.prepare('INSERT INTO notes VALUES (?)').run([text])
  return { value: Promise.resolve(text), events: [] }
}
const count = () => db.value('SELECT COUNT(*) FROM notes')

it('answers its whole batch as unavailable where SQLite gave the transaction up, and goes on', async () => {
  const queue = queueOf(100)
  const giveUp = async () => {
    // What SQLite does by itself when the disk is full.
    db.exec('ROLLBACK')
    throw new Error('database or disk is full')
  }
  const outcomes = await Promise.allSettled([
    queue.push(insert('one')),
    queue.push(giveUp),
    queue.push(insert('two')),
  ])
  expect(outcomes.map((each) => each.status)).toEqual(['rejected', 'rejected', 'rejected'])
  expect((outcomes[0] as PromiseRejectedResult).reason).toMatchObject({
    code: 'unavailable',
    details: { retry: true },
  })
  expect(count()).toBe(0)

  await expect(queue.push(insert('three'))).resolves.toBe('three')
  expect(count()).toBe(1)
})

it('takes nothing that is too large for the disk, and goes on with what fits', async () => {
  db.exec('PRAGMA max_page_count = 200')
  const queue = queueOf(100)
  const large = 'x'.repeat(300_000)
  const outcomes = await Promise.allSettled(Array.from({ length: 6 }, () => queue.push(insert(large))))
  const taken = outcomes.filter((each) => each.status === 'fulfilled').length
  expect(taken).toBeLessThan(6)
  expect(count()).toBe(taken)
  await expect(queue.push(insert('small'))).resolves.toBe('small')
})

it('gives up after its time while another process holds the file, and says that a retry is safe', async () => {
  const other = openSqlite(join(dir, 'test.db'), 'write')
  other.exec('BEGIN IMMEDIATE')
  const queue = queueOf(50)
  await expect(queue.push(insert('late'))).rejects.toMatchObject({
    code: 'unavailable',
    details: { retry: true },
  })
  other.exec('ROLLBACK')
  other.close()
  await expect(queue.push(insert('now'))).resolves.toBe('now')
})
