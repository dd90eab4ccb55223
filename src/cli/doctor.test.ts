import { createHash } from 'node:crypto'
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import {
  asAdmin,
  copyDatabase,
  type DatabaseOptions,
  environmentOf,
  newDatabase,
  onPostgres,
} from '../../test/database.ts'
import { forge } from '../../test/past.ts'
import { donectl } from '../../test/process.ts'
import { startServer } from '../../test/running.ts'
import { openSqlite } from '../store/sqlite.ts'
import type { Finding } from './doctor.ts'
import { diskFinding } from './doctor-folder.ts'

/** Where data are: a folder, or a database with a folder beside it. */
interface Place {
  dir: string
  database: DatabaseOptions
}

const dirs: string[] = []
afterAll(() => {
  for (const dir of dirs) rmSync(dir, { recursive: true, force: true })
})

function newFolder(): string {
  const dir = mkdtempSync(join(tmpdir(), 'done-doctor-'))
  dirs.push(dir)
  return dir
}

async function doctor({ dir, database }: Place, env: Record<string, string> = {}) {
  const { code, stdout, stderr } = await donectl(['doctor', '--json', '--data', dir], {
    ...environmentOf(database),
    ...env,
  })
  expect(stderr).toBe('')
  return { code, checks: (JSON.parse(stdout) as { checks: Finding[] }).checks }
}

/** All but who runs it: the tests may be run by root, which the doctor does not like. */
const faultsIn = (checks: readonly Finding[]) =>
  checks.filter(({ check, status }) => status !== 'ok' && check !== 'user')

describe('a healthy installation', () => {
  it('is found to be so, while its server runs', async () => {
    const server = await startServer()
    await server.session()
    const { code, stdout, stderr } = await donectl(['doctor', '--data', server.dir], server.env)
    await server.stop()
    expect([code, stderr]).toEqual([0, ''])
    const lines = stdout.split('\n').filter((line) => !/^(ok|warning +user) /.test(line))
    expect(lines).toEqual(['', expect.stringMatching(/^\d+ ok, [01] to look at, 0 wrong\.$/), ''])
    expect(stdout).toMatch(/^ok +server +Process \d+, which serves http:\/\/127\.0\.0\.1:\d+, is ready\.$/m)
    for (const check of [
      'versions',
      'key',
      'database',
      'schema',
      'clock',
      'accounts',
      'credentials',
      'backup',
      'site',
    ])
      expect(stdout).toMatch(new RegExp(`^ok +${check} `, 'm'))
  })
})

describe('the doctor', () => {
  let pattern: Place
  let place: Place
  beforeAll(async () => {
    pattern = { dir: newFolder(), database: await newDatabase() }
    const env = environmentOf(pattern.database)
    await donectl(['account', 'list', '--data', pattern.dir], env)
    await donectl(['token', 'create', '--name', 'scout', '--scope', 'read', '--data', pattern.dir], env)
    await donectl(['signin-link', '--data', pattern.dir], env)
  })
  beforeEach(async () => {
    place = { dir: newFolder(), database: await copyDatabase(pattern.database) }
    cpSync(pattern.dir, place.dir, { recursive: true })
    chmodSync(place.dir, 0o700)
  })

  const file = (name: string) => join(place.dir, name)

  it('finds nothing where nothing is, and changes nothing', async () => {
    const look = () =>
      readdirSync(place.dir).map((name) => [
        name,
        createHash('sha256')
          .update(readFileSync(file(name)))
          .digest('hex'),
      ])
    const before = look()
    const { code, checks } = await doctor(place)
    expect([code, faultsIn(checks)]).toEqual([0, []])
    expect(look()).toEqual(before)
  })

  it('begins no data where there are none', async () => {
    const dir = join(newFolder(), 'typo')
    const { code, stdout } = await donectl(['doctor', '--data', dir])
    expect([code, existsSync(dir)]).toEqual([1, false])
    expect(stdout).toMatch(/^wrong +database +\S+typo holds no data of Done\./m)
  })

  it.each<[string, string, Finding['status'], (path: (name: string) => string) => unknown, RegExp]>([
    [
      'a key that others can read',
      'permissions',
      'wrong',
      (path) => {
        if (onPostgres()) writeFileSync(path('seal.key'), 'ab'.repeat(32))
        chmodSync(path('seal.key'), 0o644)
      },
      /seal\.key \(mode 0644\)/,
    ],
    [
      'a link that others can read',
      'permissions',
      'wrong',
      (path) => {
        writeFileSync(path('sign-in-link.txt'), '')
        chmodSync(path('sign-in-link.txt'), 0o640)
      },
      /sign-in-link\.txt \(mode 0640\)/,
    ],
    [
      'a folder that others can look into',
      'permissions',
      'warning',
      (path) => chmodSync(path(''), 0o755),
      /mode 0755/,
    ],
    [
      'a folder that others can write to',
      'permissions',
      'wrong',
      (path) => chmodSync(path(''), 0o777),
      /mode 0777/,
    ],
    [
      'half a restore',
      'permissions',
      'warning',
      (path) => mkdtempSync(path('restore-')),
      /left of a restore/,
    ],
    [
      'an old backup',
      'backup',
      'warning',
      (path) => writeFileSync(path('last-backup.json'), '{"at":0,"file":"/backup/1"}', { mode: 0o600 }),
      /1970-01-01.*\/backup\/1/,
    ],
    [
      'a server that does not answer',
      'server',
      'wrong',
      (path) =>
        writeFileSync(
          path(`server-${process.pid}.json`),
          '{"site":"http://127.0.0.1:1","listens":"http://127.0.0.1:1"}',
          {
            mode: 0o600,
          },
        ),
      /does not answer on http:\/\/127\.0\.0\.1:1/,
    ],
  ])('finds %s', async (_what, check, status, plant, said) => {
    plant(file)
    const { code, checks } = await doctor(place)
    expect(code).toBe(status === 'wrong' ? 1 : 0)
    expect(faultsIn(checks)).toEqual([
      { check, status, found: expect.stringMatching(said), next: expect.any(String) },
    ])
  })

  it.skipIf(process.getuid?.() !== 0)('finds a file of another user', async () => {
    writeFileSync(file('own.txt'), '', { mode: 0o600 })
    chownSync(file('own.txt'), 4747, 4747)
    const { checks } = await doctor(place)
    expect(faultsIn(checks)).toMatchObject([
      { check: 'permissions', status: 'wrong', next: expect.stringContaining('chown 0:0') },
    ])
  })

  it.each<[string, string, Finding['status'], string, RegExp]>([
    ['a clock that is behind', 'clock', 'wrong', 'UPDATE events SET at = at + 7200000', /newest event is of/],
    [
      'a zone that Node does not know',
      'clock',
      'wrong',
      `UPDATE accounts SET zone = 'Mars/Olympus'`,
      /Mars\/Olympus/,
    ],
    [
      'an account without an owner',
      'accounts',
      'wrong',
      'UPDATE people SET left_at = 1',
      /No owner is left in account 1 \(Done\)/,
    ],
    [
      'an owner who can’t sign in',
      'accounts',
      'warning',
      'UPDATE sign_in_links SET used_at = 1',
      /password or passkey in account 1/,
    ],
    [
      'a token that nobody uses',
      'credentials',
      'warning',
      'UPDATE tokens SET created_at = 1',
      /K1 of scout \(account 1\)/,
    ],
    [
      'data that were never backed up',
      'backup',
      'warning',
      'UPDATE accounts SET created_at = 1',
      /None is known/,
    ],
  ])('finds %s', async (_what, check, status, script, said) => {
    await forge(place, script)
    const { code, checks } = await doctor(place)
    expect(code).toBe(status === 'wrong' ? 1 : 0)
    expect(faultsIn(checks)).toMatchObject([
      { check, status, found: expect.stringMatching(said), next: expect.any(String) },
    ])
  })

  it('finds a trigger that is gone, and a schema of a newer program', async () => {
    const run = async (sqlite: string, postgres: string) => {
      if (place.database.database !== undefined)
        return void (await asAdmin(place.database.database, postgres))
      const db = openSqlite(file('done.db'), 'write')
      db.exec(sqlite)
      db.close()
    }
    await run('DROP TRIGGER gate_close', 'DROP TRIGGER gate_close ON done.tasks')
    const { code, checks } = await doctor(place)
    expect(code).toBe(1)
    expect(faultsIn(checks)).toMatchObject([
      { check: 'schema', found: expect.stringMatching(/altered.*gate_close/) },
    ])
    await run('PRAGMA user_version = 99', 'UPDATE done.schema_version SET version = 99')
    expect(faultsIn((await doctor(place)).checks)).toMatchObject([
      { check: 'schema', status: 'wrong', found: expect.stringContaining('newer Done (schema 99') },
    ])
  })

  it('finds a key that is missing, is none, or is another’s', async () => {
    const withKey = (key: string) => doctor(place, { DONE_SEAL_KEY: key })
    expect(faultsIn((await withKey('nonsense')).checks)).toMatchObject([{ check: 'key', status: 'wrong' }])
    const other = await withKey('cd'.repeat(32))
    expect(other.code).toBe(1)
    expect(faultsIn(other.checks)).toMatchObject([
      { check: 'key', status: 'wrong', found: expect.stringMatching(/not the one that/) },
    ])
    if (onPostgres()) return
    rmSync(file('seal.key'))
    expect(faultsIn((await doctor(place)).checks)).toMatchObject([
      { check: 'key', status: 'wrong', found: expect.stringContaining('is missing or holds no key') },
    ])
  })

  it('finds a site whose cookies can be read on their way, and proxies that are none', async () => {
    const open = await doctor(place, { DONE_SITE: 'http://done.example.org' })
    expect(faultsIn(open.checks)).toMatchObject([{ check: 'site', status: 'warning' }])
    expect(faultsIn((await doctor(place, { DONE_SITE: 'https://done.example.org' })).checks)).toEqual([])
    const proxy = await doctor(place, { DONE_TRUSTED_PROXIES: 'proxy.example.org' })
    expect(faultsIn(proxy.checks)).toMatchObject([{ check: 'site', status: 'wrong' }])
  })

  it.skipIf(onPostgres())('finds a file that is no database', async () => {
    writeFileSync(file('done.db'), 'no database '.repeat(1000))
    const { code, checks } = await doctor(place)
    expect([code, faultsIn(checks)]).toMatchObject([1, [{ check: 'database', status: 'wrong' }]])
  })

  it.each([
    ['fine', { free: 10_000, bytes: 500, logBytes: 4 }, 'ok'],
    ['full', { free: 50, bytes: 1, logBytes: 0 }, 'wrong'],
    ['too small for a copy', { free: 400, bytes: 500, logBytes: 0 }, 'warning'],
    ['taken by a log that grows', { free: 10_000, bytes: 500, logBytes: 300 }, 'warning'],
  ] as const)('calls a disk that is %s so', (_what, { free, bytes, logBytes }, status) => {
    const mb = 1024 * 1024
    const space = { free: free * mb, bytes: bytes * mb, logBytes: logBytes * mb, isHere: true }
    expect(diskFinding(space).status).toBe(status)
  })
})
