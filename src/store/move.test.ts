import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { asAdmin, environmentOf, newDatabase, onPostgres } from '../../test/database.ts'
import { lookOnce } from '../../test/look.ts'
import { difference, isEmpty, snapshot } from '../../test/observer.ts'
import { donectl } from '../../test/process.ts'
import { sampleWorld } from '../../test/sample.ts'
import type { World } from '../../test/world.ts'
import { actorOfSession } from '../auth/actor.ts'
import { issueSignInLink, signIn } from '../auth/console.ts'
import { type Done, openDone, sealBy } from '../done.ts'
import { systemActor } from '../tools/access.ts'
import { type MoveStep, moveEngine } from './move.ts'
import { openSqlite } from './sqlite.ts'
import { TABLES } from './tables.ts'
import { triggers } from './triggers.ts'
import { unsignedClosings } from './verify.ts'

/** Where data are: a folder with the embedded database, or with a PostgreSQL database beside it. */
interface Place {
  dir: string
  database: Awaited<ReturnType<typeof newDatabase>>
}

describe.skipIf(!onPostgres())('a move between the engines', () => {
  let world: World
  /** Where the sample account is, and two places for it to go to. */
  let postgres: Place
  let folder: Place
  let further: Place
  const dirs: string[] = []

  function newFolder(): string {
    const dir = mkdtempSync(join(tmpdir(), 'done-move-'))
    dirs.push(dir)
    return dir
  }

  beforeEach(async () => {
    world = await sampleWorld()
    await world.scout.call('attach_artifact', {
      task_id: 'T2',
      title: 'A picture',
      file: {
        name: 'a.png',
        media_type: 'image/png',
        base64: Buffer.from([137, 80, 0, 255]).toString('base64'),
      },
    })
    await world.scout.call('create_task', { title: '証明書を更新する', description: 'Über alles.' })
    await world.scout.refused('complete_task', { id: 'T99' })
    await world.done.access.flush()
    postgres = { dir: world.dir, database: world.database }
    folder = { dir: newFolder(), database: {} }
    further = { dir: newFolder(), database: await newDatabase('template0') }
  })
  afterEach(async () => {
    await world.close()
    for (const dir of dirs.splice(0)) rmSync(dir, { recursive: true, force: true })
  })

  /** Moves between a folder and a database; `at` may stop it, or do something meanwhile. */
  function move(from: Place, to: Place, at: (step: MoveStep) => unknown = () => {}, sealKey?: string) {
    const [embedded, other] = from.database.database === undefined ? [from, to] : [to, from]
    const { database, rolePrefix, sealKey: own } = other.database
    return moveEngine({
      to: to === other ? 'postgres' : 'embedded',
      dir: embedded.dir,
      database: database!,
      rolePrefix,
      seal: sealBy(Buffer.from(sealKey ?? own!, 'hex')),
      actorOf: systemActor,
      chunk: 3,
      tell: at,
    })
  }

  const open = ({ dir, database }: Place): Promise<Done> =>
    openDone({
      dataDir: dir,
      ...world.database,
      ...database,
      ...(database.database ? {} : { database: undefined }),
      site: () => 'http://127.0.0.1:4747',
      clock: () => world.done.store.now(),
    })

  const rowsIn = ({ dir, database }: Place) =>
    snapshot({ looked: (queries) => lookOnce(dir, database, queries) })

  async function differ(from: Place, to: Place): Promise<boolean> {
    const pages = await Promise.all([rowsIn(from), rowsIn(to)])
    // The second is compared by its columns, and PostgreSQL has two more for the search.
    const [a, b] = from.database.database === undefined ? pages.reverse() : pages
    return !isEmpty(difference(a!, b!))
  }

  async function found(place: Place): Promise<unknown[]> {
    const done = await open(place)
    const queries = [
      'certificate',
      'ad',
      'mov list',
      'thank',
      'subscribers',
      'address',
      'site',
      '証明書',
      'uber',
      'a.png',
    ]
    const answers = []
    for (const query of queries)
      answers.push(await done.call(world.scout.actor, 'search', { query, include_closed: true }))
    await done.close()
    return answers
  }

  async function schemaIn({ database }: Place): Promise<unknown> {
    const [rows] = await asAdmin(database.database!, `SELECT to_regnamespace('done') AS schema`)
    return rows![0]!.schema
  }

  /** Stops a move when a table's row was written, as a killed process does. */
  const stopIn = (table: string, rows: number) => (step: MoveStep) => {
    if (step.of === 'chunk' && step.table === table && step.rows >= rows) throw new Error('stopped')
  }

  it('keeps every row, what is found, and every sign-off, there and back', async () => {
    expect(await move(postgres, folder)).toMatchObject({ tables: Object.keys(TABLES).length })
    expect(await differ(postgres, folder)).toBe(false)
    await move(folder, further)
    expect(await differ(folder, further)).toBe(false)

    const answers = await found(postgres)
    expect(answers.map((answer) => (answer as { showing: number }).showing)).toEqual([
      1, 2, 1, 1, 1, 2, 2, 1, 1, 1,
    ])
    expect(await found(folder)).toEqual(answers)
    expect(await found(further)).toEqual(answers)
  })

  it.each([
    ['the folder', () => folder],
    ['the other database', () => further],
  ])('leaves a Done to work on in %s', async (_name, place) => {
    await move(postgres, folder)
    if (place() === further) await move(folder, further)
    const done = await open(place())
    const made = await done.call(world.scout.actor, 'create_task', { title: 'After the move' })
    expect(made).toMatchObject({ id: 'T12' })
    await done.call(world.scout.actor, 'complete_task', { id: 'T12' })
    const link = await issueSignInLink(done.store, world.account)
    const { secret } = (await signIn(done, link.slice('/sign-in/'.length)))!
    const ana = (await actorOfSession(done.store, secret))!
    await done.call(ana, 'complete_task', { id: 'T12' })
    expect(await done.call(ana, 'get_task', { id: 'T12' })).toMatchObject({ status: 'done' })
    expect(await done.store.read(systemActor(1), 'verify', unsignedClosings)).toEqual([])
    // What numbers its rows by itself goes on behind the last.
    const { hits } = await done.call(ana, 'search', { query: 'after the move', include_closed: true })
    expect(hits).toMatchObject([{ id: 'T12' }])
    await expect(done.call(world.scout.actor, 'complete_task', { id: 'T99' })).rejects.toThrow()
    await done.access.flush()
    const [refusals] = await lookOnce(place().dir, place().database, [
      'SELECT seq FROM refusals ORDER BY seq',
    ])
    expect(refusals!.map(({ seq }) => seq)).toEqual([1, 2])
    await done.close()
  })

  it.each([
    ['the folder', () => [postgres, folder] as const],
    ['a database', () => [folder, further] as const],
  ])('goes on in %s where it was stopped, and until then nothing starts there', async (_name, places) => {
    const [from, to] = places()
    if (from === folder) await move(postgres, folder)
    await expect(move(from, to, stopIn('tasks', 6))).rejects.toThrow('stopped')
    await expect(open(to)).rejects.toThrow(/not moved to the end.*donectl migrate-engine --to \w+.*again/)
    await expect(move(from, to, stopIn('comments', 1))).rejects.toThrow('stopped')

    const steps: MoveStep[] = []
    await move(from, to, (step) => steps.push(step))
    expect(steps).toContainEqual({ of: 'table', table: 'tasks', rows: 11, copied: 0 })
    expect(steps).toContainEqual({ of: 'table', table: 'comments', rows: 2, copied: 0 })
    expect(steps).toContainEqual({ of: 'table', table: 'runs', rows: 1, copied: 1 })
    expect(await differ(from, to)).toBe(false)
    await (await open(to)).close()
  })

  it('goes on after the source changed in between, and brings what was copied up to date', async () => {
    await expect(move(postgres, folder, stopIn('search_docs', 5))).rejects.toThrow('stopped')
    world.pass(1000)
    await world.scout.call('update_task', { id: 'T1', title: 'Renew the wildcard' })
    await world.scout.call('create_task', { title: 'Added in between' })
    expect(await differ(postgres, folder)).toBe(true)
    await move(postgres, folder)
    expect(await differ(postgres, folder)).toBe(false)
    expect(await found(folder)).toEqual(await found(postgres))
  })

  it.each([
    ['tasks, which are compared later', 'tasks'],
    ['the last table', 'search_docs'],
  ])('notices that the source changes after it copied %s', async (_name, table) => {
    const meanwhile = async (step: MoveStep) => {
      if (step.of === 'check' && step.table === table) {
        await world.scout.call('list_tasks')
        await world.scout.call('create_task', { title: 'Meanwhile' })
      }
    }
    await expect(move(postgres, folder, meanwhile)).rejects.toThrow(/changed while they were moved.*again/)
    await expect(open(folder)).rejects.toThrow(/not moved to the end/)
    await move(postgres, folder)
    expect(await differ(postgres, folder)).toBe(false)
  })

  it('notices that an embedded source changes', async () => {
    await move(postgres, folder)
    const done = await open(folder)
    const meanwhile = async (step: MoveStep) => {
      if (step.of === 'table' && step.table === 'tasks')
        await done.call(world.scout.actor, 'create_task', { title: 'Meanwhile' })
    }
    await expect(move(folder, further, meanwhile)).rejects.toThrow(/changed while they were moved/)
    await done.close()
    await move(folder, further)
    expect(await differ(folder, further)).toBe(false)
  })

  it('finds a row that was altered in the new database, and removes all of it', async () => {
    const inTheEnd = (alter: () => unknown) => (step: MoveStep) =>
      step.of === 'table' && step.table === 'search_docs' ? alter() : undefined
    const forge = (db: Place, statement: string) => () => {
      if (db.database.database) return asAdmin(db.database.database, statement)
      const shell = openSqlite(join(db.dir, 'done.db'), 'write')
      shell.exec(statement)
      return shell.close()
    }
    await expect(
      move(postgres, folder, inTheEnd(forge(folder, `UPDATE tasks SET title = 'Another' WHERE id = 8`))),
    ).rejects.toThrow(/tasks \(account 1, id 8\) has another title.*removed again/)
    expect(readdirSync(folder.dir).filter((name) => name.startsWith('done.db'))).toEqual([])

    await move(postgres, folder)
    for (const [statement, said] of [
      [`UPDATE done.artifact_bytes SET bytes = '\\x00'`, /artifact_bytes .* has another bytes/],
      ['DELETE FROM done.notes WHERE id = 1', /notes \(account 1, id 1\) is missing/],
      [
        `INSERT INTO done.task_labels VALUES (1, 9, 'web', NULL, NULL)`,
        /task_labels .* is in the new database only/,
      ],
    ] as const) {
      const moving = move(folder, further, inTheEnd(forge(further, statement)))
      await expect(moving, statement).rejects.toThrow(said)
      expect(await schemaIn(further)).toBeNull()
    }
  })

  it('does not take over a closing without a sign-off', async () => {
    await move(postgres, folder)
    forgeFile(folder.dir, `UPDATE tasks SET status = 'done', closed_at = 1, closed_by = 'U1' WHERE id = 3`)
    await expect(move(folder, further)).rejects.toThrow(/T3 .* is done without a sign-off that holds/)
    expect(await schemaIn(further)).toBeNull()
  })

  it('writes over nothing, and takes no other data and no other key', async () => {
    await move(postgres, folder)
    await expect(move(postgres, folder)).rejects.toThrow(/never overwritten/)
    await expect(move(folder, postgres)).rejects.toThrow(/nothing in it is ever overwritten/)
    await expect(
      move(postgres, { dir: newFolder(), database: {} }, undefined, 'cd'.repeat(32)),
    ).rejects.toThrow(/not the one that this database was begun with/)
    await expect(move(folder, further, undefined, 'cd'.repeat(32))).rejects.toThrow(
      /key that seals sign-offs/,
    )
    const begun = { dir: newFolder(), database: {} }
    await expect(move(postgres, begun, stopIn('agents', 1))).rejects.toThrow('stopped')
    const other = await sampleWorld()
    await asAdmin(other.database.database!, 'SET search_path = done; UPDATE accounts SET created_at = 1')
    await expect(move({ dir: other.dir, database: other.database }, begun)).rejects.toThrow(/of other data/)
    await other.close()
  })

  it('names a text that PostgreSQL can’t keep', async () => {
    await move(postgres, folder)
    // By other hands: no tool takes one.
    forgeFile(folder.dir, `UPDATE tasks SET description = 'a' || char(0) || 'b' WHERE id = 1`)
    await expect(move(folder, further)).rejects.toThrow(
      /tasks \(account 1, id 1\) has the character NUL in description/,
    )
  })

  it('is a command, which says what it did and what comes next', async () => {
    const env = environmentOf(postgres.database)
    const args = ['migrate-engine', '--to', 'embedded', '--data', folder.dir]
    const { DONE_SEAL_KEY, ...keyless } = env
    expect(await donectl(args, keyless)).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/Copy seal.key/),
    })
    writeFileSync(join(folder.dir, 'seal.key'), DONE_SEAL_KEY!, { mode: 0o600 })
    const moved = await donectl(args, keyless)
    expect(moved.stderr).toBe('')
    expect(moved.stdout).toMatch(
      /tasks +11 rows\n(.*\n)*Moved\. All [\d,]+ rows of \d+ tables .*\n\nNext: take DATABASE_URL out/,
    )
    expect(moved.code).toBe(0)
    expect(await donectl(args, env)).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/never overwritten/),
    })
    const verified = await donectl(['verify', '--data', folder.dir])
    expect(verified.stdout).toMatch(/needed a person: \d+; everything holds\./)
  })
})

/** Writes into a folder's file past the program. */
function forgeFile(dir: string, statement: string): void {
  const shell = openSqlite(join(dir, 'done.db'), 'write')
  for (const text of triggers()) shell.exec(`DROP TRIGGER ${/CREATE TRIGGER (\w+)/.exec(text)![1]}`)
  shell.exec(statement)
  for (const text of triggers()) shell.exec(text)
  shell.close()
}
