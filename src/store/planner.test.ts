import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { newWorld, type World } from '../../test/world.ts'
import { openSqlite } from './sqlite.ts'

let world: World
beforeEach(async () => {
  world = await newWorld()
})
afterEach(() => world.close())

const IDS = `(SELECT value FROM json_each('[1]'))`

it.each([
  `SELECT task FROM dependencies WHERE account = 1 AND depends_on IN ${IDS} AND removed_at IS NULL`,
  `SELECT task FROM task_labels WHERE account = 1 AND label = 'ops' AND trash = 4`,
  `SELECT id FROM tasks WHERE account = 1 AND parent IN ${IDS} AND trash IS NULL`,
  `SELECT id FROM tasks WHERE account = 1 AND trash = 4`,
  `SELECT id FROM events WHERE account = 1 AND task = 1 AND kind = 'loop_damped' AND at > 5`,
  `SELECT tl.task, l.name FROM task_labels tl JOIN labels l ON l.account = tl.account AND l.name_key = tl.label
   WHERE tl.account = 1 AND tl.task IN ${IDS} AND tl.removed_at IS NULL ORDER BY tl.label`,
])('a query that names a row does not read the whole account: %s', (query) => {
  const db = openSqlite(join(world.dir, 'done.db'), 'read')
  const plan = db.prepare(`EXPLAIN QUERY PLAN ${query}`).all([]) as { detail: string }[]
  db.close()
  const searches = plan.map(({ detail }) => detail).filter((detail) => detail.startsWith('SEARCH'))
  expect(searches.length).toBeGreaterThan(0)
  for (const search of searches) expect(search).not.toMatch(/\(account=\?\)/)
})

it.each([
  `DELETE FROM access WHERE (account, actor, bucket, tool, credential) IN
    (SELECT account, actor, bucket, tool, credential FROM access WHERE bucket < 5 LIMIT 10)`,
  `DELETE FROM refusals WHERE seq IN (SELECT seq FROM refusals
    WHERE (gate = 0 AND at < 5) OR (gate = 1 AND at < 3) LIMIT 10)`,
  `DELETE FROM replies WHERE (account, actor, key) IN
    (SELECT account, actor, key FROM replies WHERE at <= 5 ORDER BY at LIMIT 10)`,
])('what has had its time is found by its age: %s', (query) => {
  const db = openSqlite(join(world.dir, 'done.db'), 'read')
  const plan = db.prepare(`EXPLAIN QUERY PLAN ${query}`).all([]) as { detail: string }[]
  db.close()
  for (const { detail } of plan) expect(detail).not.toMatch(/^SCAN/)
})
