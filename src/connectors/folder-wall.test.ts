import { execFileSync } from 'node:child_process'
import { link, mkdir, mkdtemp, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { AppError } from '../model/error.ts'
import { folderConnector } from './folder.ts'

/** What happens on the disk just before a call of ours reaches it: how the tests swap things at the worst moment. */
const disk = vi.hoisted(() => ({
  beforeOpen: undefined as ((path: string) => Promise<void>) | undefined,
  beforeLink: undefined as ((from: string, to: string) => Promise<void>) | undefined,
  beforeUnlink: undefined as ((path: string) => Promise<void>) | undefined,
}))
vi.mock('node:fs/promises', async (original) => {
  const real = await original<typeof import('node:fs/promises')>()
  return {
    ...real,
    open: async (...args: Parameters<typeof real.open>) => {
      await disk.beforeOpen?.(String(args[0]))
      return real.open(...args)
    },
    link: async (...args: Parameters<typeof real.link>) => {
      await disk.beforeLink?.(String(args[0]), String(args[1]))
      return real.link(...args)
    },
    unlink: async (...args: Parameters<typeof real.unlink>) => {
      await disk.beforeUnlink?.(String(args[0]))
      return real.unlink(...args)
    },
  }
})

const signal = new AbortController().signal
const page = { limit: 25, offset: 0, signal }
const whole = { offset: 0, limit: 40_000, signal }

let home: string
let root: string
let outside: string

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'folder-'))
  root = join(home, 'notes')
  outside = join(home, 'private')
  await mkdir(root)
  await mkdir(outside)
  await writeFile(join(outside, 'salaries.md'), 'Ana earns a secret sum')
})

afterEach(async () => {
  disk.beforeOpen = disk.beforeLink = disk.beforeUnlink = undefined
  disk.beforeOpen = disk.beforeLink = disk.beforeUnlink = undefined
  await rm(home, { recursive: true, force: true })
})

const notes = (more = {}) => folderConnector({ name: 'notes', root, save: true, ...more })
const uris = async (query: string) => (await notes().search(query, page)).items.map((item) => item.uri)
const names = () => readdir(root).then((all) => all.sort())

async function given(files: Record<string, string | Uint8Array>) {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true })
    await writeFile(join(root, path), text)
  }
}

async function refusal(promise: Promise<unknown>): Promise<AppError> {
  const error = await promise.then(
    (value) => expect.fail(`should be refused, but answered ${JSON.stringify(value)}`),
    (reason: unknown) => reason,
  )
  expect(error).toBeInstanceOf(AppError)
  expect((error as AppError).message).not.toContain(home)
  return error as AppError
}

describe('no way out of the folder', () => {
  const escapes = {
    'two dots': 'folder:notes/../private/salaries.md',
    'two dots in the middle': 'folder:notes/plans/../../private/salaries.md',
    'encoded dots': 'folder:notes/%2e%2e/private/salaries.md',
    'an encoded slash': 'folder:notes/..%2Fprivate%2Fsalaries.md',
    'dots encoded twice': 'folder:notes/%252e%252e/private/salaries.md',
    'an overlong encoding': 'folder:notes/%c0%ae%c0%ae/private/salaries.md',
    'a backslash': 'folder:notes/..\\private\\salaries.md',
    'an encoded backslash': 'folder:notes/..%5Cprivate%5Csalaries.md',
    'an empty part': 'folder:notes//private/salaries.md',
    'a NUL that cuts the name': 'folder:notes/a.txt%00.md',
    'a line break': 'folder:notes/a%0A.md',
    'one dot': 'folder:notes/./a.md',
    'a broken encoding': 'folder:notes/%zz.md',
    'half a surrogate': 'folder:notes/%ED%A0%80.md',
    'a hidden file': 'folder:notes/.secret.md',
    'the inside of .git': 'folder:notes/.git/description.md',
    'another kind of file': 'folder:notes/key.pem',
    'another folder': 'folder:private/salaries.md',
    'another scheme': 'file:///etc/hostname.md',
    'no path': 'folder:notes',
    'the folder itself': 'folder:notes/',
    'a folder with the name of a file': 'folder:notes/archive.md',
    'a name longer than names can be': `folder:notes/${'x'.repeat(300)}.md`,
    'nothing there': 'folder:notes/nothing.md',
  }
  for (const [how, uri] of Object.entries(escapes)) {
    it(`${how} looks like what never was`, async () => {
      await given({
        'a.md': 'a',
        'a.txt': 'a',
        '.secret.md': 's',
        '.git/description.md': 's',
        'key.pem': 's',
        'archive.md/x.md': 'x',
      })
      const error = await refusal(notes().read(uri, whole))
      expect(error).toMatchObject({ code: 'not_found', message: `There is no ${uri}.` })
    })
  }

  it('an absolute path is no path in it', async () => {
    const uri = `folder:notes/${encodeURIComponent(join(outside, 'salaries.md'))}`
    expect(
      (
        await refusal(
          notes()
            .read(uri, whole)
            .catch((e) => Promise.reject(plain(e))),
        )
      ).code,
    ).toBe('not_found')
  })

  it('a link to a file, to a folder, to itself or to nothing is not followed', async () => {
    await symlink(join(outside, 'salaries.md'), join(root, 'link.md'))
    await symlink(outside, join(root, 'linked'))
    await symlink('loop.md', join(root, 'loop.md'))
    await symlink(join(home, 'nowhere'), join(root, 'dangling.md'))
    expect(await uris('secret')).toEqual([])
    expect(await uris('salaries')).toEqual([])
    for (const name of ['link.md', 'linked/salaries.md', 'loop.md', 'dangling.md']) {
      expect((await refusal(notes().read(`folder:notes/${name}`, whole))).code).toBe('not_found')
    }
  })

  it('a link in the middle of the path is not followed, even to a folder inside', async () => {
    await given({ 'real/deep/a.md': 'a' })
    await symlink(join(root, 'real'), join(root, 'alias'))
    expect((await refusal(notes().read('folder:notes/alias/deep/a.md', whole))).code).toBe('not_found')
    expect((await notes().read('folder:notes/real/deep/a.md', whole)).text).toBe('a')
  })

  it('a second name of a file outside is not read', async () => {
    await link(join(outside, 'salaries.md'), join(root, 'copy.md'))
    expect((await refusal(notes().read('folder:notes/copy.md', whole))).code).toBe('not_found')
    expect(await uris('secret')).toEqual([])
  })

  it.skipIf(process.platform === 'win32')('a FIFO is neither read nor waited for', async () => {
    execFileSync('mkfifo', [join(root, 'pipe.md')])
    expect((await refusal(notes().read('folder:notes/pipe.md', whole))).code).toBe('not_found')
    expect(await uris('pipe')).toEqual([])
  })

  it.skipIf(process.platform === 'win32')('a FIFO swapped in after the check is not waited for', async () => {
    await given({ 'a.md': 'a' })
    disk.beforeOpen = async () => {
      await rm(join(root, 'a.md'), { force: true })
      execFileSync('mkfifo', [join(root, 'a.md')])
      disk.beforeOpen = undefined
    }
    expect((await refusal(notes().read('folder:notes/a.md', whole))).code).toBe('not_found')
  })

  it('a file that is swapped for a link after the check is not read', async () => {
    await given({ 'salaries.md': 'harmless' })
    disk.beforeOpen = async (path) => {
      await rm(path)
      await symlink(join(outside, 'salaries.md'), path)
    }
    expect((await refusal(notes().read('folder:notes/salaries.md', whole))).code).toBe('not_found')
  })

  it('a folder that is swapped for a link after the check leads nowhere', async () => {
    await given({ 'team/salaries.md': 'harmless' })
    disk.beforeOpen = async () => {
      disk.beforeOpen = undefined
      await rename(join(root, 'team'), join(root, 'team-away'))
      await symlink(outside, join(root, 'team'))
    }
    expect((await refusal(notes().read('folder:notes/team/salaries.md', whole))).code).toBe('not_found')
  })

  it('a folder that is swapped during a search shows nothing of where it leads', async () => {
    await given({ 'team/salaries.md': 'harmless' })
    disk.beforeOpen = async () => {
      disk.beforeOpen = undefined
      await rename(join(root, 'team'), join(root, 'team-away'))
      await symlink(outside, join(root, 'team'))
    }
    expect(await notes().search('salaries', page)).toEqual({ items: [], total: 0 })
  })

  it('the folder itself may be reached through a link, since a person chose it', async () => {
    await given({ 'a.md': 'a' })
    await symlink(root, join(home, 'shortcut'))
    const connector = notes({ root: join(home, 'shortcut') })
    expect((await connector.read('folder:notes/a.md', whole)).text).toBe('a')
  })
})

describe('no way out by saving', () => {
  const item = { title: 'Minutes', text: 'We agreed.', mark: 'intent-1' }

  it('does not follow a link that bears the name', async () => {
    await symlink(join(outside, 'salaries.md'), join(root, 'Minutes.md'))
    await symlink(join(outside, 'new.md'), join(root, 'Minutes-2.md'))
    expect((await notes().save(item, { signal })).uri).toBe('folder:notes/Minutes-3.md')
    expect(await readdir(outside)).toEqual(['salaries.md'])
    expect(await readFile(join(outside, 'salaries.md'), 'utf8')).toContain('secret')
  })

  it('saves in a folder inside, and in no other', async () => {
    await given({ 'team/2026/x.md': 'x' })
    await symlink(outside, join(root, 'linked'))
    const saved = await notes().save({ ...item, place: 'team/2026/' }, { signal })
    expect(saved.uri).toBe('folder:notes/team/2026/Minutes.md')
    const places = [
      '..',
      '../private',
      'team/../..',
      outside,
      '/',
      'linked',
      'none',
      'team/2026/x.md',
      '.git',
      'a\\b',
    ]
    for (const place of places) {
      const error = await refusal(
        notes()
          .save({ ...item, place }, { signal })
          .catch((e) => Promise.reject(plain(e))),
      )
      expect(error.code).toBe('not_found')
    }
    expect(await readdir(outside)).toEqual(['salaries.md'])
  })

  it('a place that is swapped for a link while it is written to does not lead out', async () => {
    await given({ 'team/x.md': 'x' })
    disk.beforeOpen = async (path) => {
      if (!path.includes('.done-save')) return
      disk.beforeOpen = undefined
      await rename(join(root, 'team'), join(root, 'team-away'))
      await symlink(outside, join(root, 'team'))
    }
    expect((await refusal(notes().save({ ...item, place: 'team' }, { signal }))).code).toBe('unavailable')
    expect(await readdir(outside)).toEqual(['salaries.md'])
    expect(await readdir(join(root, 'team-away'))).toEqual(['x.md'])
  })

  it('a place that is swapped just before the file appears does not lead out', async () => {
    await given({ 'team/x.md': 'x' })
    disk.beforeLink = async () => {
      await rename(join(root, 'team'), join(root, 'team-away'))
      await symlink(outside, join(root, 'team'))
    }
    await notes()
      .save({ ...item, place: 'team' }, { signal })
      .catch(() => {})
    expect(await readdir(outside)).toEqual(['salaries.md'])
  })

  it('works on file systems that have no links, and still never writes over a file', async () => {
    await given({ 'Minutes.md': 'older' })
    disk.beforeLink = async () => {
      throw Object.assign(new Error('no links here'), { code: 'EPERM' })
    }
    expect((await notes().save(item, { signal })).uri).toBe('folder:notes/Minutes-2.md')
    expect(await readFile(join(root, 'Minutes.md'), 'utf8')).toBe('older')
    expect(await names()).toEqual(['Minutes-2.md', 'Minutes.md'])
  })

  it('leaves nothing behind when the disk is full or the caller gives up', async () => {
    disk.beforeLink = async () => {
      throw Object.assign(new Error('full'), { code: 'ENOSPC' })
    }
    expect((await refusal(notes().save(item, { signal }))).message).toContain('the disk is full')
    const stop = new AbortController()
    disk.beforeOpen = async (path) => {
      if (path.includes('.done-save')) stop.abort(new Error('given up'))
    }
    await expect(notes().save(item, { signal: stop.signal })).rejects.toThrow('given up')
    expect(await names()).toEqual([])
  })
})

describe('asking whether a save arrived', () => {
  const item = { title: 'Minutes', text: 'We agreed.', mark: 'intent-1' }

  it('knows what was written, also under a number, and not what another wrote', async () => {
    await given({ 'Minutes.md': 'of last week', 'Minutes of the board.md': 'We agreed.' })
    expect(await notes().saved(item, { signal })).toBeUndefined()
    const saved = await notes().save(item, { signal })
    expect(await notes().saved(item, { signal })).toEqual(saved)
    expect(await notes().saved({ ...item, text: 'We did not.' }, { signal })).toBeUndefined()
  })

  it('finds a file that appeared just before the process ended, by its mark, and clears up', async () => {
    disk.beforeUnlink = async () => {
      throw new Error('the process has ended')
    }
    const saved = await notes().save(item, { signal })
    disk.beforeUnlink = undefined
    expect(await names()).toHaveLength(2)
    await writeFile(join(root, 'Minutes.md'), 'edited by Ana in the meantime')
    expect(await notes().saved({ ...item, mark: 'other' }, { signal })).toBeUndefined()
    expect(await notes().saved(item, { signal })).toEqual(saved)
    expect(await names()).toEqual(['Minutes.md'])
  })

  it('says no to a half-written one, and that one can not arrive later', async () => {
    disk.beforeLink = async () => {
      expect(await notes().saved(item, { signal })).toBeUndefined()
    }
    expect((await refusal(notes().save(item, { signal }))).code).toBe('unavailable')
    expect(await names()).toEqual([])
  })
})

/** A refusal may repeat what the caller sent, which in two tests is a path outside: only then is it taken out. */
function plain(error: unknown): unknown {
  if (!(error instanceof AppError)) return error
  return new AppError(error.code, '', error.details)
}
