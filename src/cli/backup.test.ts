import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type DatabaseOptions, environmentOf, newDatabase, onPostgres } from '../../test/database.ts'
import { newHttpWorld } from '../../test/http.ts'
import { forge } from '../../test/past.ts'
import { donectl } from '../../test/process.ts'
import { type RunningServer, serverOn, startServer } from '../../test/running.ts'
import { newWorld } from '../../test/world.ts'
import { issueSignInLink } from '../auth/console.ts'
import { openSqlite } from '../store/sqlite.ts'
import { triggers } from '../store/triggers.ts'

const WRITERS = 4

const dirs: string[] = []
afterAll(() => {
  for (const dir of dirs) rmSync(dir, { recursive: true, force: true })
})

function newFolder(): string {
  const dir = mkdtempSync(join(tmpdir(), 'done-backup-'))
  dirs.push(dir)
  return dir
}

/** A folder to restore into, from which the database was taken away: it has the key, and knows how far the log went. */
function folderWithKeyOf(dir: string): string {
  const into = newFolder()
  if (existsSync(join(dir, 'log.head'))) cpSync(join(dir, 'log.head'), join(into, 'log.head'))
  if (existsSync(join(dir, 'seal.key'))) cpSync(join(dir, 'seal.key'), join(into, 'seal.key'))
  return into
}

/** The environment of a command that works on a folder with the same key. */
function keyAlone({ DONE_SEAL_KEY: key }: Record<string, string>): Record<string, string> {
  return key === undefined ? {} : { DONE_SEAL_KEY: key }
}

describe('a backup', () => {
  let server: RunningServer
  let token: string
  beforeAll(async () => {
    server = await startServer()
    token = await server.token('scout', 'write')
  })
  afterAll(() => server.stop())

  const at = (site: string, path: string, body?: object): Promise<Response> =>
    fetch(`${site}/api${path}`, {
      ...(body ? { method: 'POST', body: JSON.stringify(body) } : {}),
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    })

  const backUp = (to: string, dir = server.dir, env = server.env) =>
    donectl(['backup', '--data', dir, '--to', to], env)

  it('has every write that was acknowledged before it, while others go on', async () => {
    const acknowledged: string[] = []
    let over = false
    const writers = Array.from({ length: WRITERS }, async (_, writer) => {
      for (let i = 0; !over; i++) {
        const title = `Task ${writer}.${i}`
        const { status } = await at(server.site, '/tasks', { title })
        if (status === 200) acknowledged.push(title)
      }
    })
    while (acknowledged.length < 40) await new Promise((resolve) => setTimeout(resolve, 5))
    const before = [...acknowledged]
    const file = join(newFolder(), 'copy.db')
    const made = await backUp(file)
    over = true
    await Promise.all(writers)
    expect([made.code, made.stderr]).toEqual([0, ''])
    expect(made.stdout).toMatch(/rows of \d+ tables[\s\S]*SHA-256 +[0-9a-f]{64}\n[\s\S]*Keep a copy of it/)
    expect(statSync(file).mode & 0o777).toBe(0o600)

    const db = openSqlite(file, 'read')
    const kept = new Set(
      (db.prepare('SELECT title FROM tasks').all([]) as { title: string }[]).map((row) => row.title),
    )
    db.close()
    console.log(
      `${before.length} acknowledged before, ${kept.size} in the backup, ${acknowledged.length} in the end`,
    )
    expect(before.filter((title) => !kept.has(title))).toEqual([])
    expect(acknowledged.length).toBeGreaterThan(before.length)
  })

  const places: [string, () => Promise<DatabaseOptions>][] = [
    ['a folder', async () => ({})],
    ...(onPostgres() ? [['a database', () => newDatabase('template0')] as [string, typeof newDatabase]] : []),
  ]
  it.each(places)(
    'restored into %s verifies, answers, and lets nobody in by what was signed in',
    async (_where, newPlace) => {
      const cookie = await server.session()
      await server.people(cookie, 'POST', '/invitations', { name: 'Bea', role: 'member' })
      const { stdout: link } = await donectl(['signin-link', '--data', server.dir], server.env)
      await at(server.site, '/tasks', { title: 'Before the backup' })
      const file = join(newFolder(), 'copy.db')
      expect((await backUp(file)).code).toBe(0)

      const dir = folderWithKeyOf(server.dir)
      const place = await newPlace()
      const env = { ...keyAlone(server.env), ...environmentOf(place) }
      const restored = await donectl(['restore', '--from', file, '--data', dir], env)
      expect([restored.code, restored.stderr]).toEqual([0, ''])
      expect(restored.stdout).toMatch(/sessions: [1-9]\d*, sign-in links: [1-9]\d*, invitations: [1-9]/)
      expect(restored.stdout).toMatch(/Tokens that hold +K1 of scout/)
      expect(restored.stdout).toContain('everything holds')
      expect(readdirSync(dir).filter((name) => name.startsWith('restore-'))).toEqual([])

      const again = await serverOn(dir, { sealKey: env.DONE_SEAL_KEY, ...place }, async () => {})
      try {
        const found = (await (await at(again.site, '/tasks')).json()) as { total: number }
        expect(found.total).toBeGreaterThan(0)
        expect((await again.people(cookie, 'GET', '/sessions')).status).toBe(401)
        const path = new URL(link.trim()).pathname
        const used = await fetch(again.site + path, {
          method: 'POST',
          headers: { origin: again.site },
          redirect: 'manual',
        })
        expect(used.status).toBe(410)
        const { body } = await again.people(await again.session(), 'GET', '/invitations')
        expect(body.invitations).toEqual([])
      } finally {
        await again.stop()
      }
      const twice = await donectl(['restore', '--from', file, '--data', dir], env)
      expect([twice.code, twice.stderr]).toEqual([
        1,
        expect.stringMatching(/holds data|nothing in it is ever overwritten/),
      ])
    },
  )

  it('writes over nothing, and says where it can’t write', async () => {
    const dir = newFolder()
    writeFileSync(join(dir, 'mine.db'), 'mine')
    const over = await backUp(join(dir, 'mine.db'))
    expect([over.code, over.stderr]).toEqual([1, expect.stringContaining('never overwritten')])
    expect(readFileSync(join(dir, 'mine.db'), 'utf8')).toBe('mine')
    writeFileSync(join(dir, 'other.db.part'), '')
    expect((await backUp(join(dir, 'other.db'))).stderr).toContain('another backup to this file')
    expect((await backUp(join(dir, 'none', 'copy.db'))).stderr).toContain('There is no folder')
    expect(readdirSync(dir).sort()).toEqual(['mine.db', 'other.db.part'])
    expect((await backUp(dir)).code).toBe(0)
    expect(readdirSync(dir).filter((name) => /^done-[\dT-]+Z\.db$/.test(name))).toHaveLength(1)
  })

  it('is not made of data with a closing that has no sign-off', async () => {
    const world = await newWorld()
    await world.scout.call('create_task', { title: 'Forged' })
    await forge(world, `UPDATE tasks SET status = 'done', closed_at = 1, closed_by = 'U1' WHERE id = 1`)
    const file = join(newFolder(), 'copy.db')
    const { code, stderr } = await donectl(
      ['backup', '--data', world.dir, '--to', file],
      environmentOf(world.database),
    )
    expect([code, stderr]).toEqual([1, expect.stringMatching(/T1 .* is done without a sign-off that holds/)])
    expect(existsSync(file)).toBe(false)
    await world.close()
  })

  it('is not put where a server runs', async () => {
    const file = join(newFolder(), 'copy.db')
    await backUp(file)
    const { code, stderr } = await donectl(
      ['restore', '--from', file, '--data', server.dir],
      keyAlone(server.env),
    )
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/A server runs on|are in the PostgreSQL database/),
    ])
  })
})

describe('a file that is no whole backup of these data', () => {
  let good: string
  let dir: string
  let env: Record<string, string>
  beforeAll(async () => {
    const world = await newWorld()
    dir = folderWithKeyOf(world.dir)
    env = keyAlone(environmentOf(world.database))
    for (let i = 0; i < 20; i++) await world.scout.call('create_task', { title: `Task ${i}` })
    good = join(newFolder(), 'good.db')
    const made = await donectl(['backup', '--data', world.dir, '--to', good], environmentOf(world.database))
    if (made.code !== 0) throw new Error(made.stderr)
    await world.close()
  })

  /** A copy of the backup, changed. */
  function altered(change: (path: string) => void): string {
    const path = join(newFolder(), 'altered.db')
    cpSync(good, path)
    change(path)
    return path
  }

  const script = (text: string) => (path: string) => {
    const db = openSqlite(path, 'write')
    db.exec(text)
    db.close()
  }

  const bytes = (change: (whole: Buffer) => Buffer) => (path: string) =>
    writeFileSync(path, change(readFileSync(path)))

  const noise = (from: (size: number) => number, length: number) =>
    bytes((whole) => whole.fill(0xa5, from(whole.length), from(whole.length) + length))

  it.each<[string, (path: string) => void, RegExp]>([
    ['a text', (path) => writeFileSync(path, 'no database at all '.repeat(500)), /is no database/],
    ['nothing', (path) => writeFileSync(path, ''), /not one of Done/],
    [
      'another program’s database',
      (path) => {
        rmSync(path)
        script('CREATE TABLE other (x); PRAGMA user_version = 1')(path)
      },
      /not one of Done/,
    ],
    ['half of ours', bytes((whole) => whole.subarray(0, whole.length / 2)), /damaged or not whole/],
    ['the beginning of ours', bytes((whole) => whole.subarray(0, 5000)), /damaged or not whole/],
    ['ours with noise at its beginning', noise(() => 40_960, 81_920), /damaged or not whole/],
    // A page of some index, which nothing reads but who looks for damage.
    ['ours with a page of noise near its end', noise((size) => size - 40_960, 4096), /damaged or not whole/],
    ['a newer program’s', script('PRAGMA user_version = 99'), /newer Done \(schema 99/],
    [
      'ours without a wall',
      script('DROP TRIGGER gate_close'),
      /schema was altered: trigger gate_close is missing/,
    ],
    [
      'ours with a row that names nobody',
      script(
        `PRAGMA foreign_keys = OFF; ${triggers()
          .map((text) => `DROP TRIGGER ${/CREATE TRIGGER (\w+)/.exec(text)![1]}`)
          .join(';')};
        DELETE FROM agents WHERE id = 1; ${triggers().join(';')}`,
      ),
      /A row of \w+ .* names one of agents/,
    ],
    ['half of a move', script('CREATE TABLE move (source, version)'), /not moved to the end/],
  ])('is refused where it is %s, and leaves nothing', async (_what, change, said) => {
    const from = altered(change)
    const before = readdirSync(dir)
    const { code, stdout, stderr } = await donectl(['restore', '--from', from, '--data', dir], env)
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).toMatch(said)
    expect(stderr).toContain(from)
    expect(readdirSync(dir)).toEqual(before)
  })

  it('is refused where the key is another’s, or missing', async () => {
    const other = await donectl(['restore', '--from', good, '--data', dir], {
      DONE_SEAL_KEY: 'cd'.repeat(32),
    })
    expect([other.code, other.stderr]).toEqual([1, expect.stringMatching(/The key .* is not the one/)])
    const nowhere = join(newFolder(), 'made')
    const missing = await donectl(['restore', '--from', good, '--data', nowhere])
    expect([missing.code, missing.stderr]).toEqual([
      1,
      expect.stringMatching(/has no seal.key.*Copy the one/),
    ])
    expect(existsSync(nowhere)).toBe(false)
    const wrong = await donectl(['restore', '--from', good, '--data', nowhere], {
      DONE_SEAL_KEY: 'cd'.repeat(32),
    })
    expect(wrong.code).toBe(1)
    expect(existsSync(nowhere)).toBe(false)
  })

  it('is the only thing that is refused: the same file as it was goes in', async () => {
    const { code, stderr } = await donectl(['restore', '--from', good, '--data', dir], env)
    expect([code, stderr]).toEqual([0, ''])
  })
})

describe('secrets', () => {
  it('are in no byte of a backup, and in nothing that the doctor says', async () => {
    const door = await newHttpWorld()
    const { world } = door
    const ana = await door.browser()
    const password = 'gravel lantern otter dune'
    await ana.form('/account/password', { login: 'ana@example.org', password })
    const { text } = await ana.form('/account/codes', {})
    const seed = /<code>([A-Z2-7 ]{39})<\/code>/.exec(text)![1]!.replaceAll(' ', '')
    const link = (await issueSignInLink(world.done.store, world.account)).slice('/sign-in/'.length)
    await world.scout.call('create_task', { title: 'A canary that sings' })
    const env = environmentOf(world.database)
    const key = env.DONE_SEAL_KEY ?? readFileSync(join(world.dir, 'seal.key'), 'utf8')
    const file = join(newFolder(), 'copy.db')
    const made = await donectl(['backup', '--data', world.dir, '--to', file], env)
    expect([made.code, made.stderr]).toEqual([0, ''])
    const said = await donectl(['doctor', '--data', world.dir, '--json'], env)
    await door.close()

    const secrets: Record<string, string> = {
      password,
      seed,
      link,
      key,
      cookie: ana.headers.cookie!.split('=')[1]!,
      token: world.scout.token!,
    }
    const whole = readFileSync(file)
    expect(whole.includes('A canary that sings')).toBe(true)
    for (const [name, secret] of Object.entries(secrets)) {
      expect(secret.length, name).toBeGreaterThan(15)
      expect(whole.includes(secret), name).toBe(false)
      expect(made.stdout + said.stdout + said.stderr, name).not.toContain(secret)
    }
    expect(whole.includes(Buffer.from(key, 'hex'))).toBe(false)
  })
})
