import { mkdir, mkdtemp, readdir, readFile, rm, stat, truncate, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { SEARCH_TABLE } from '../../test/search-table.ts'
import { AppError } from '../model/error.ts'
import { folderConnector } from './folder.ts'

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

describe('searching the folder', () => {
  it.each(SEARCH_TABLE)('finds what a search over tasks finds: $says', async ({ text, query, found }) => {
    await given({ '….md': text })
    const hits = await notes().search(query, page)
    expect(hits.total).toBe(found ? 1 : 0)
  })

  it('finds the files that hold all words, wherever case and accents differ', async () => {
    await given({
      'Réunion.md': 'Le BUDGET de l’été est prêt.',
      'other.md': 'A budget without the season.',
      'plans/trip.txt': 'nothing of the kind',
    })
    expect(await uris('ete budget')).toEqual(['folder:notes/R%C3%A9union.md'])
    expect(await uris('reunion')).toEqual(['folder:notes/R%C3%A9union.md'])
  })

  it('puts a hit in the name before a hit in the text, and counts all of them', async () => {
    await given({ 'a.md': 'about invoices', 'invoices.md': 'empty', 'z/b.markdown': 'invoices again' })
    const { items, total, incomplete } = await notes().search('invoices', { ...page, limit: 2 })
    expect(items).toHaveLength(2)
    expect(items[0]?.title).toBe('invoices')
    expect(total).toBe(3)
    expect(incomplete).toBeUndefined()
    const rest = await notes().search('invoices', { ...page, offset: 2 })
    expect(rest.items).toHaveLength(1)
  })

  it('shows the text around the hit on one line, also far down and behind letters that fold longer', async () => {
    const before = 'ﬃ́ 𝔘😀\n'.repeat(3_000)
    await given({ 'long.md': `${before}Here the Ärzte meet on Monday.\n${'and so on '.repeat(100)}` })
    const [item] = (await notes().search('arzte', page)).items
    expect(item?.snippet).toContain('Here the Ärzte meet on Monday. and so on')
    expect(item?.snippet).toMatch(/^….*…$/)
    expect(item?.snippet).not.toMatch(/\p{Cs}/u)
  })

  it('finds parts of words from three letters, beginnings below that, and two Chinese letters anywhere', async () => {
    await given({ 'a.md': 'Photograph', 'b.md': '我们明天开会讨论' })
    expect(await uris('tog')).toEqual(['folder:notes/a.md'])
    expect(await uris('gr')).toEqual([])
    expect(await uris('ph')).toEqual(['folder:notes/a.md'])
    expect(await uris('开会')).toEqual(['folder:notes/b.md'])
  })

  it('breaks a tie by what was changed last', async () => {
    await given({ 'old.md': 'lease', 'new.md': 'lease' })
    await utimes(join(root, 'old.md'), 1_000_000, 1_000_000)
    const { items } = await notes().search('lease', page)
    expect(items.map((item) => item.title)).toEqual(['new', 'old'])
    expect(items[1]?.modified).toBe('1970-01-12T13:46:40.000Z')
  })

  it('refuses a query without a word', async () => {
    expect((await refusal(notes().search(' ?! ', page))).code).toBe('invalid_value')
  })

  it('sees text and Markdown only, and nothing hidden', async () => {
    await given({
      'keep.TXT': 'token',
      '.env.md': 'token',
      '.git/config.md': 'token',
      'photo.png': 'token',
      '.md': 'token',
      'back\\slash.md': 'token',
    })
    expect(await uris('token')).toEqual(['folder:notes/keep.TXT'])
  })

  it('says what it left out: too many files, too deep, too large, not text', async () => {
    await given({
      'a.md': 'word',
      'b.md': new Uint8Array([0x77, 0, 0x6f]),
      'c.md': `word ${'x'.repeat(200)}`,
      '1/2/3/deep.md': 'word',
    })
    const bounds = { bytes: 100, files: 50, depth: 2 }
    const { items, incomplete } = await notes({ bounds }).search('word', page)
    expect(items.map((item) => item.title)).toEqual(['a'])
    expect(incomplete).toContain('more than 2 levels down')
    expect(incomplete).toContain('1 file is too large, searched by name only')
    expect(incomplete).toContain('1 file is not text')
    const few = await notes({ bounds: { ...bounds, files: 2 } }).search('word', page)
    expect(few.incomplete).toContain('Only the first 2 files')
  })

  it('finds a file that is too large by its name', async () => {
    await given({ 'manual.md': '' })
    await truncate(join(root, 'manual.md'), 3 * 1024 * 1024)
    expect(await uris('manual')).toEqual(['folder:notes/manual.md'])
    expect((await refusal(notes().read('folder:notes/manual.md', whole))).code).toBe('too_large')
  })

  it('stops when the caller gives up', async () => {
    await given({ 'a.md': 'word' })
    const stopped = AbortSignal.abort(new Error('given up'))
    await expect(notes().search('word', { ...page, signal: stopped })).rejects.toThrow('given up')
  })
})

describe('reading a file', () => {
  it('gives the text, its length, and when it was changed', async () => {
    await given({ 'plans/über uns.md': '# Wer wir sind' })
    const [item] = (await notes().search('wer', page)).items
    expect(item?.uri).toBe('folder:notes/plans/%C3%BCber%20uns.md')
    const text = await notes().read(item?.uri ?? '', whole)
    expect(text).toMatchObject({ title: 'über uns', text: '# Wer wir sind', offset: 0, total: 14 })
    expect(text.next_offset).toBeUndefined()
    expect(Date.parse(text.modified ?? '')).toBeGreaterThan(0)
  })

  it('pages through it without losing or splitting a character', async () => {
    const written = 'a😀b😀😀c'
    await given({ 'a.md': written })
    for (const limit of [1, 2, 3, 100]) {
      let [read, offset] = ['', 0 as number | undefined]
      while (offset !== undefined) {
        const part = await notes().read('folder:notes/a.md', { offset, limit, signal })
        expect(part.text).not.toMatch(/\p{Cs}/u)
        read += part.text
        offset = part.next_offset
      }
      expect(read).toBe(written)
    }
    expect(await notes().read('folder:notes/a.md', { ...whole, offset: 2 })).toMatchObject({ offset: 1 })
    expect(await notes().read('folder:notes/a.md', { ...whole, offset: 99 })).toMatchObject({
      text: '',
      offset: 9,
    })
  })

  it('changes the revision with the text and with nothing else', async () => {
    await given({ 'a.md': 'one' })
    const first = await notes().read('folder:notes/a.md', whole)
    await utimes(join(root, 'a.md'), 5, 5)
    expect((await notes().read('folder:notes/a.md', whole)).revision).toBe(first.revision)
    await given({ 'a.md': 'two' })
    expect((await notes().read('folder:notes/a.md', whole)).revision).not.toBe(first.revision)
  })

  it('reads broken UTF-8 with replacements, and refuses what is no text', async () => {
    await given({ 'latin.txt': Buffer.from('caf\xe9', 'latin1'), 'binary.txt': Buffer.from([1, 0, 2]) })
    expect((await notes().read('folder:notes/latin.txt', whole)).text).toBe('caf\uFFFD')
    expect((await refusal(notes().read('folder:notes/binary.txt', whole))).code).toBe('invalid_value')
  })

  it('reads names with the characters of URLs in them', async () => {
    const name = '100% #1? a+b & "c": d.md'
    await given({ [name]: 'fine' })
    const [uri] = await uris('fine')
    expect((await notes().read(uri ?? '', whole)).text).toBe('fine')
  })
})

describe('saving a text', () => {
  const item = { title: 'Minutes', text: 'We agreed.', mark: 'intent-1' }

  it('writes a new file that can be found and read at once', async () => {
    const saved = await notes().save(item, { signal })
    expect(saved).toEqual({ uri: 'folder:notes/Minutes.md', title: 'Minutes' })
    expect((await notes().read(saved.uri, whole)).text).toBe('We agreed.')
    expect(await names()).toEqual(['Minutes.md'])
    expect((await stat(join(root, 'Minutes.md'))).nlink).toBe(1)
  })

  it('never writes over a file: the next gets a number', async () => {
    await given({ 'Minutes.md': 'older' })
    expect((await notes().save(item, { signal })).uri).toBe('folder:notes/Minutes-2.md')
    expect((await notes().save({ ...item, mark: '2' }, { signal })).title).toBe('Minutes-3')
    expect(await readFile(join(root, 'Minutes.md'), 'utf8')).toBe('older')
  })

  it('gives ten saves at once ten files', async () => {
    const all = Array.from({ length: 10 }, (_, n) => ({ ...item, text: `text ${n}`, mark: `m${n}` }))
    const saved = await Promise.all(all.map((one) => notes().save(one, { signal })))
    expect(new Set(saved.map(({ uri }) => uri)).size).toBe(10)
    for (const [n, { uri }] of saved.entries()) {
      expect((await notes().read(uri, whole)).text).toBe(`text ${n}`)
    }
    expect(await names()).toHaveLength(10)
  })

  const titles: [title: string, file: string][] = [
    ['../../etc/passwd', 'etc passwd.md'],
    ['C:\\Windows\\system.ini', 'C Windows system.ini.md'],
    ['.bashrc', 'bashrc.md'],
    ['CON', '_CON.md'],
    ['nul.tar', '_nul.tar.md'],
    ['LPT¹', '_LPT¹.md'],
    ['Console', 'Console.md'],
    ['notes.txt', 'notes.txt'],
    ['a\u0000b\nc', 'a b c.md'],
    ['trailing dots...', 'trailing dots.md'],
    ['evil\u202Efdp.md', 'evil fdp.md'],
    ['Besprechung: Größe/Maße?', 'Besprechung Größe Maße.md'],
    ['会議メモ', '会議メモ.md'],
    ['Заметки о встрече', 'Заметки о встрече.md'],
    ['cafe\u0301', 'café.md'],
    ['half \uD83D', 'half.md'],
    ['???', 'untitled.md'],
    ['.md', 'untitled.md'],
  ]
  for (const [title, file] of titles) {
    it(`calls the file of ${JSON.stringify(title)} ${file}`, async () => {
      const saved = await notes().save({ ...item, title }, { signal })
      expect(await names()).toEqual([file])
      expect((await notes().read(saved.uri, whole)).text).toBe('We agreed.')
    })
  }

  it('cuts a long title between characters, so that every system can store it', async () => {
    await notes().save({ ...item, title: '👩‍👩‍👧'.repeat(100) }, { signal })
    const [file = ''] = await names()
    expect(Buffer.byteLength(file)).toBeLessThan(210)
    expect(file).toMatch(/^(👩‍👩‍👧)+\.md$/u)
  })

  it('refuses a text it could not read back, and everything where the folder only reads', async () => {
    const bounds = { bytes: 10, files: 10, depth: 2 }
    const error = await refusal(notes({ bounds }).save({ ...item, text: 'ä'.repeat(6) }, { signal }))
    expect(error.code).toBe('too_large')
    const reading = notes({ save: false })
    expect(reading.can).toEqual(['search', 'read'])
    expect((await refusal(reading.save(item, { signal }))).code).toBe('invalid_value')
    expect(await names()).toEqual([])
  })
})

describe('health', () => {
  it('is ok for a folder, and says without a path what is wrong with anything else', async () => {
    expect(await notes().health()).toEqual({ state: 'ok' })
    const gone = notes({ root: join(home, 'gone') })
    expect(await gone.health()).toEqual({ state: 'unavailable', detail: 'The folder is not there.' })
    const file = notes({ root: join(outside, 'salaries.md') })
    expect(await file.health()).toEqual({ state: 'unavailable', detail: 'It is not a folder.' })
  })

  it('a folder that has gone is unavailable for every call, not empty', async () => {
    const gone = notes({ root: join(home, 'gone') })
    expect((await refusal(gone.search('word', page))).code).toBe('unavailable')
    expect((await refusal(gone.read('folder:notes/a.md', whole))).code).toBe('unavailable')
    expect((await refusal(gone.save({ title: 'a', text: 'a', mark: 'm' }, { signal }))).code).toBe(
      'unavailable',
    )
  })
})
