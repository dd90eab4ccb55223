import { createHmac } from 'node:crypto'
import pg from 'pg'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { asAdmin, dropDatabase, newDatabase, onPostgres } from '../../test/database.ts'
import { newWorld, type World } from '../../test/world.ts'
import { openDone } from '../done.ts'

describe.skipIf(!onPostgres())('the walls of a PostgreSQL database', () => {
  let world: World
  beforeEach(async () => {
    world = await newWorld()
  })
  afterEach(() => world.close())

  /** What a fault of ours, or a thief of the connection, could say as one of the roles; gives the last rows. */
  async function as(role: 'app' | 'people' | 'read', script: string): Promise<Record<string, unknown>[]> {
    const { database, rolePrefix, sealKey } = world.database
    const user = `${rolePrefix}_${role}`
    const password = createHmac('sha256', Buffer.from(sealKey!, 'hex'))
      .update(`password of ${user}`)
      .digest('hex')
    const { hostname, port, pathname } = new URL(database!)
    const client = new pg.Client({
      host: hostname,
      port: Number(port),
      database: pathname.slice(1),
      user,
      password,
    })
    await client.connect()
    try {
      const answer = (await client.query(script)) as unknown as pg.QueryResult | pg.QueryResult[]
      return (Array.isArray(answer) ? answer.at(-1)! : answer).rows
    } finally {
      await client.end()
    }
  }

  it('close a gated task for nobody but a person who has signed off, whatever is put in front of them', async () => {
    const { scout, ana } = world
    for (const title of ['Never signed', 'Reopened']) await scout.call('create_task', { title })
    await ana.call('complete_task', { id: 'T2' })
    await ana.call('reopen_task', { id: 'T2', reason: 'Not yet.' })
    const shadow = `CREATE TEMP TABLE sign_offs AS SELECT 1::bigint AS account, 1::bigint AS task, 'x'::text AS tx,
      'done'::text AS target, content_version, content_hash FROM done.tasks WHERE id = 1`
    const begin = `SET done.account = '1'; SET done.effect = 'destroy'`
    for (const script of [
      `UPDATE tasks SET status = 'done' WHERE id = 1`,
      `${shadow}; SET done.tx = 'x'; UPDATE tasks SET status = 'done' WHERE id = 1`,
      `SELECT set_config('done.tx', (SELECT tx FROM sign_offs WHERE task = 2), false); UPDATE tasks SET status = 'done' WHERE id = 2`,
      `CREATE TEMP TABLE projects AS SELECT 1::bigint AS account, 1::bigint AS id, 1::bigint AS auto_ok_default;
       INSERT INTO tasks (account, id, title, description, project, priority, auto_ok, status, version, content_version,
         content_hash, created_at, created_by, updated_at) VALUES (1, 9, 't', '', 1, 2, 1, 'open', 1, 1, 'h', 0, 'G1', 0)`,
    ]) {
      await expect(as('app', `${begin}; ${script}`), script).rejects.toThrow(/^gate: /)
    }
    await expect(
      as('people', `${begin}; ${shadow}; SET done.tx = 'x'; UPDATE tasks SET status = 'done' WHERE id = 1`),
    ).rejects.toThrow(/^gate: /)
    await expect(as('app', `SET ROLE ${world.database.rolePrefix}_people`)).rejects.toThrow(
      /permission denied/,
    )
    await expect(as('app', 'INSERT INTO sign_offs SELECT * FROM sign_offs')).rejects.toThrow(
      /permission denied/,
    )
    await expect(as('app', 'TRUNCATE sign_offs')).rejects.toThrow(/permission denied/)
    await expect(as('app', 'ALTER TABLE tasks DISABLE TRIGGER ALL')).rejects.toThrow(/must be owner/)
    expect(await world.look(`SELECT id FROM tasks WHERE status <> 'open'`)).toEqual([])
  })

  it('show one account, and none to who names none', async () => {
    await world.scout.call('create_task', { title: 'Mine' })
    expect(await as('app', `SET done.account = '1'; SELECT id FROM tasks`)).toHaveLength(1)
    expect(await as('app', `SET done.account = '2'; SELECT id FROM tasks`)).toEqual([])
    expect(await as('app', 'SELECT id FROM tasks')).toEqual([])
    expect(
      await as(
        'read',
        `SET done.account = '2'; SELECT * FROM done_documents(ARRAY['1 min'], ARRAY[]::text[])`,
      ),
    ).toEqual([])
    const moved = `SET done.account = '1'; SET done.effect = 'destroy'; UPDATE comments SET account = 2`
    await world.scout.call('comment_on_task', { id: 'T1', text: 'Here.' })
    await expect(as('app', moved)).rejects.toThrow(/row-level security|foreign key/)
  })

  it('a column that a newer program adds disturbs no call of an older one', async () => {
    const { scout } = world
    const add = (title: string) => scout.call('create_task', { title })
    await add('Before')
    await scout.call('get_task', { id: 'T1' })
    await asAdmin(world.database.database!, 'ALTER TABLE done.tasks ADD COLUMN newer INTEGER')
    expect(await scout.call('get_task', { id: 'T1' })).toMatchObject({ title: 'Before' })
    expect(await scout.call('update_task', { id: 'T1', title: 'After' })).toMatchObject({ title: 'After' })
    expect(await add('Another')).toMatchObject({ id: 'T2' })
    await asAdmin(world.database.database!, 'ALTER TABLE done.tasks DROP COLUMN newer')
    expect(await scout.call('get_task', { id: 'T2' })).toMatchObject({ title: 'Another' })
  })

  it('let nobody write who reads', async () => {
    await expect(as('read', `UPDATE access SET calls = 0`)).rejects.toThrow(/read-only/)
    const unlocked = 'BEGIN READ WRITE; UPDATE access SET calls = 0'
    await expect(as('read', unlocked)).rejects.toThrow(/permission denied/)
  })
})

describe.skipIf(!onPostgres())('a database that was altered', () => {
  it.each([
    ['a trigger was switched off', 'ALTER TABLE done.tasks DISABLE TRIGGER gate_close'],
    ['a trigger is missing', 'DROP TRIGGER gate_close ON done.tasks'],
    [
      'a function says something else',
      `CREATE OR REPLACE FUNCTION done.done_actor() RETURNS text LANGUAGE sql STABLE RETURN 'person'`,
    ],
    ['a CHECK is missing', 'ALTER TABLE done.tasks DROP CONSTRAINT tasks_status_check'],
    ['a policy is missing', 'DROP POLICY one_account ON done.tasks'],
    ['rows are open to all', 'ALTER TABLE done.tasks DISABLE ROW LEVEL SECURITY'],
    ['everybody may do more', 'GRANT TRUNCATE ON done.sign_offs TO PUBLIC'],
    ['a role may do more', 'GRANT INSERT ON done.sign_offs TO done_test_app'],
    ['a table was added', 'CREATE TABLE done.extra (id INTEGER)'],
    ['a rule was added', 'CREATE RULE lost AS ON INSERT TO done.events DO INSTEAD NOTHING'],
  ])('does not start where %s', async (_fault, statement) => {
    const database = await newDatabase()
    await asAdmin(database.database!, statement)
    const opened = openDone({ dataDir: '.', ...database, site: () => '' })
    await expect(opened).rejects.toThrow(/schema was altered/)
    await dropDatabase(database)
  })

  it('opens by the roles that its walls speak of, under whatever name it was restored, and by no other', async () => {
    const { rolePrefix, ...database } = await newDatabase()
    const done = await openDone({ dataDir: '.', ...database, site: () => '' })
    await done.close()
    const opened = openDone({ dataDir: '.', ...database, rolePrefix: 'others', site: () => '' })
    await expect(opened).rejects.toThrow(`The roles of this database begin with ${rolePrefix}`)
    await dropDatabase(database)
  })

  it('gives roles that an older database left its own passwords, also without a superuser', async () => {
    const { database } = await newDatabase()
    const name = `owner_${Date.now()}`
    await asAdmin(database!, `CREATE ROLE ${name} LOGIN CREATEROLE PASSWORD 'x'`)
    const address = new URL(database!)
    Object.assign(address, { username: name, password: 'x', pathname: `/${name}` })
    for (const key of ['ab', 'cd']) {
      await asAdmin(database!, `CREATE DATABASE ${name} OWNER ${name} TEMPLATE template0`)
      const options = { database: address.href, rolePrefix: name, sealKey: key.repeat(32) }
      const done = await openDone({ dataDir: '.', ...options, site: () => '' })
      await done.close()
      await asAdmin(database!, `DROP DATABASE ${name} WITH (FORCE)`)
    }
    await dropDatabase({ database })
  })

  it('begins nothing where data are only looked after', async () => {
    const { database } = await newDatabase()
    await asAdmin(database!, 'DROP SCHEMA done CASCADE')
    const options = { ...(await newDatabase()), database: database!, existing: true }
    const opened = openDone({ dataDir: '.', ...options, site: () => '' })
    await expect(opened).rejects.toThrow(/holds no data of Done/)
    expect(await asAdmin(database!, `SELECT to_regnamespace('done') AS there`)).toEqual([[{ there: null }]])
    await dropDatabase({ database })
  })

  it('nor by another key', async () => {
    const database = await newDatabase()
    const opened = openDone({ dataDir: '.', ...database, sealKey: 'cd'.repeat(32), site: () => '' })
    await expect(opened).rejects.toThrow(/not the one that this database was begun with/)
    await dropDatabase(database)
  })
})
