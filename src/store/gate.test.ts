import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ATTACKS, attackedWorld, newTask, signOff } from '../../test/attacks.ts'
import { onPostgres } from '../../test/database.ts'
import { newWorld, type World } from '../../test/world.ts'
import { openDone } from '../done.ts'
import { sqlOf } from './handle.ts'
import { openSqlite } from './sqlite.ts'

/**
 * The gate in the database itself (spec: gate, "In the database too"): statements run with our own handle, as a fault in
 * the code would run them.
 */
let world: World

beforeAll(async () => {
  world = await attackedWorld()
})
afterAll(() => world.close())

describe('with an agent’s hand, even in a destructive call', () => {
  it.each(ATTACKS)('%s: refused, and nothing is closed', async (_way, statement) => {
    const before = await standing()
    await expect(run('agent', statement)).rejects.toThrow()
    await expect(run('system', statement)).rejects.toThrow()
    expect(await standing()).toEqual(before)
  })
})

describe('with a person’s hand', () => {
  it.each([
    ['close without a sign-off', `UPDATE tasks SET status = 'done' WHERE id = 1`],
    ['close by an older sign-off', `UPDATE tasks SET status = 'done' WHERE id = 3`],
    ['sign off in another transaction’s name', signOff(90, 1, `'other'`)],
    ['change a sign-off', `UPDATE sign_offs SET task = 1`],
    [
      'decide a request twice',
      `UPDATE requests SET state = 'approved' WHERE state = 'stale'; UPDATE requests SET state = 'rejected' WHERE state = 'approved'`,
    ],
  ])('%s: refused, or nothing changes', async (_way, statement) => {
    const before = await standing()
    await run('person', statement).catch(() => {})
    expect(await standing()).toEqual(before)
  })

  it('a sign-off of exactly this content closes', async () => {
    const closed = await world.done.store
      .destroy(world.ana.actor, 'test', async (tx) => {
        await sql.raw(signOff(91, 1)).execute(sqlOf(tx))
        await sql.raw(`UPDATE tasks SET status = 'done' WHERE id = 1`).execute(sqlOf(tx))
        const task = await sqlOf(tx)
          .selectFrom('tasks')
          .select('status')
          .where('id', '=', 1)
          .executeTakeFirstOrThrow()
        // Seen to pass; not kept, so that the other tests find their world.
        throw new Error(task.status)
      })
      .catch((error: Error) => error.message)
    expect(closed).toBe('done')
  })
})

describe.skipIf(onPostgres())('past the program', () => {
  it('a plain shell on the file can write no task and no sign-off', () => {
    const shell = openSqlite(join(world.dir, 'done.db'), 'write')
    shell.exec('PRAGMA busy_timeout = 5000')
    for (const statement of [
      `UPDATE tasks SET status = 'done' WHERE id = 1`,
      signOff(90, 1, `'x'`),
      newTask('', `90, 't', '', 2, 1, 'open', 1, 1, 'h', 0, 'G1', 0`),
    ]) {
      expect(() => shell.exec(statement)).toThrow(/no such function/)
    }
    shell.close()
  })

  it.each([
    ['a trigger is missing', 'DROP TRIGGER gate_close'],
    [
      'a trigger says something else',
      `DROP TRIGGER gate_close; CREATE TRIGGER gate_close BEFORE UPDATE ON tasks WHEN 0 BEGIN SELECT 1; END`,
    ],
    [
      'a trigger was added',
      `CREATE TRIGGER helpful AFTER INSERT ON tasks BEGIN UPDATE tasks SET status = 'done'; END`,
    ],
    ['a table was added', 'CREATE TABLE extra (id INTEGER)'],
  ])('it does not start where %s', async (_fault, statement) => {
    const dir = await closedWorld()
    const db = openSqlite(join(dir, 'done.db'), 'write')
    db.exec(statement)
    db.close()
    await expect(openDone({ dataDir: dir, site: () => '' })).rejects.toThrow(/schema was altered/)
  })

  it('it does not start where a CHECK was taken out of the file', async () => {
    const dir = await closedWorld()
    const path = join(dir, 'done.db')
    // Every copy of the text, since pages that were given up keep theirs.
    const bytes = readFileSync(path, 'latin1')
    const altered = bytes.replaceAll('CHECK (auto_ok IN (0, 1))', 'CHECK (auto_ok IN (0, 7))')
    expect(altered).not.toBe(bytes)
    writeFileSync(path, altered, 'latin1')
    await expect(openDone({ dataDir: dir, site: () => '' })).rejects.toThrow(/schema was altered/)
  })
})

/** A data folder that no process has open. */
async function closedWorld(): Promise<string> {
  const closed = await newWorld()
  await closed.done.close()
  return closed.dir
}

async function run(kind: 'agent' | 'system' | 'person', statements: string): Promise<void> {
  const actor =
    kind === 'person' ? world.ana.actor : ({ ...world.scout.actor, kind } as typeof world.scout.actor)
  await world.done.store.destroy(actor, 'test', async (tx) => {
    for (const statement of statements.split('; ')) await sql.raw(statement).execute(sqlOf(tx))
  })
}

/** What must not move: statuses, permissions, versions, requests, sign-offs. */
function standing() {
  return world.done.store.read(world.ana.actor, 'test', async (tx) => ({
    tasks: await sqlOf(tx)
      .selectFrom('tasks')
      .select(['id', 'status', 'auto_ok', 'content_version', 'content_hash'])
      .orderBy('id')
      .execute(),
    requests: await sqlOf(tx).selectFrom('requests').selectAll().orderBy('id').execute(),
    signOffs: await sqlOf(tx).selectFrom('sign_offs').selectAll().orderBy('id').execute(),
  }))
}
