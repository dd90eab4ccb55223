/**
 * The wall around a connected folder: the only code that opens, lists and writes what is in it. An agent chooses the
 * paths, and whoever shares the folder chooses the names and links in it, so neither is believed.
 *
 * Three rules hold the wall. A path is built from checked names, never parsed by the file system. A file counts only
 * once it is open and the open handle itself proves to stand where the path says (so a link that is swapped in after
 * the check leads nowhere). What fails either rule looks like what never was.
 */
import { createHash, randomBytes } from 'node:crypto'
import { constants, type Dirent } from 'node:fs'
import { type FileHandle, link, lstat, open, readdir, readlink, realpath, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { AppError, conflict, notFound } from '../model/error.ts'
import type { OutsideSave } from '../model/outside.ts'

/** A file or folder in the connected folder: its names from the top down. */
export type Place = readonly string[]

/** What counts as text, by its name. */
export const TEXT_FILE = /\.(md|markdown|txt)$/i

/** The bounds of one search and one file. Tests set smaller ones. */
export interface FolderBounds {
  /** Bytes of a file that is read or searched by its contents. */
  readonly bytes: number
  /** Files looked at in one search. */
  readonly files: number
  /** Levels of folders a search goes down. */
  readonly depth: number
}

/** What a folder is held to unless it is told otherwise. */
export const BOUNDS: FolderBounds = { bytes: 2 * 1024 * 1024, files: 5_000, depth: 12 }

/**
 * Whether a name may be seen: not hidden (so neither `.git`, `.` nor `..`), and no character that some system reads as
 * a path. Decoding happens once, before this, so an encoded slash is a slash here.
 */
export function shown(name: string): boolean {
  if (name === '' || name.startsWith('.') || /[/\\\p{Cc}\p{Cs}]/u.test(name)) return false
  return process.platform !== 'win32' || !(name.includes(':') || RESERVED.test(name))
}

/** The device names of Windows, which it also sees before a dot (Microsoft: "Naming Files, Paths, and Namespaces"). */
const RESERVED = /^(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$)\s*(\.|$)/i

/** Error codes that mean "no such file here", links included, since those are refused by O_NOFOLLOW. */
export const MISSING = new Set([
  'ENOENT',
  'ENOTDIR',
  'ELOOP',
  'EMLINK',
  'EISDIR',
  'ENXIO',
  'EINVAL',
  'ENAMETOOLONG',
])

/** The system's code of an error (`ENOENT`), or an empty string. */
export function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? ''
}

/** Where the folder really is. Refuses with `unavailable` while it is gone, as a disk that is not mounted is. */
export async function realRoot(root: string, name: string): Promise<string> {
  try {
    return await realpath(root)
  } catch {
    throw new AppError('unavailable', `The folder "${name}" is not there now.`, { retry: true })
  }
}

/**
 * Whether an open handle stands at exactly this path, with no link on the way. Linux names the file that a handle has
 * open. Elsewhere the path is resolved and must then hold the very file that is open.
 */
async function standsAt(handle: FileHandle, path: string): Promise<boolean> {
  const own = await readlink(`/proc/self/fd/${handle.fd}`).catch(() => undefined)
  if (own !== undefined) return own === path
  if ((await realpath(path)) !== path) return false
  const [opened, there] = [await handle.stat({ bigint: true }), await lstat(path, { bigint: true })]
  return opened.ino === there.ino && opened.dev === there.dev
}

/** What was found in a file. */
type Read = { text?: string; modified: string; revision: string }

/** A file's text and state; without `text` where it is over the bound. Never rejects for what stands in the folder. */
export async function readFile(
  top: string,
  place: Place,
  bounds: FolderBounds,
): Promise<Read | 'outside' | 'binary' | 'unreadable'> {
  const path = join(top, ...place)
  let handle: FileHandle | undefined
  try {
    // Asked before opening, because opening a device can already do something, and because a file outside that Done
    // may not read must not show by another answer.
    if (!(await lstat(path)).isFile() || (await realpath(path)) !== path) return 'outside'
    // Without O_NONBLOCK a FIFO swapped in here would hold the call for ever. Windows has neither flag.
    const flags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0)
    handle = await open(path, flags)
    const state = await handle.stat()
    // A second name of a file may belong to a file outside, and nothing in it tells which name came first.
    if (!state.isFile() || state.nlink > 1 || !(await standsAt(handle, path))) return 'outside'
    const modified = state.mtime.toISOString()
    if (state.size > bounds.bytes) return { modified, revision: '' }

    const bytes = Buffer.alloc(state.size)
    let length = 0
    while (length < bytes.length) {
      const { bytesRead } = await handle.read(bytes, length, bytes.length - length, length)
      if (bytesRead === 0) break
      length += bytesRead
    }
    const content = bytes.subarray(0, length)
    if (content.includes(0)) return 'binary'
    return { text: new TextDecoder().decode(content), modified, revision: revisionOf(content) }
  } catch (error) {
    return MISSING.has(codeOf(error)) ? 'outside' : 'unreadable'
  } finally {
    await handle?.close()
  }
}

/** A fingerprint of a text's bytes. */
export function revisionOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex').slice(0, 32)
}

/** The text files of the folder, upper levels first, and what the bounds left out. */
export async function listFiles(top: string, bounds: FolderBounds, signal: AbortSignal) {
  const files: string[][] = []
  const left: string[] = []
  let level: string[][] = [[]]
  let closed = 0
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > bounds.depth) {
      left.push(`Folders more than ${bounds.depth} levels down were left out.`)
      break
    }
    const below: string[][] = []
    for (const place of level) {
      signal.throwIfAborted()
      const entries = await readdir(join(top, ...place), { withFileTypes: true }).catch((): Dirent[] => {
        if (depth === 0)
          throw new AppError('unavailable', 'Done may not read the folder now.', { retry: true })
        closed++
        return []
      })
      for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
        if (!shown(entry.name)) continue
        if (entry.isDirectory()) below.push([...place, entry.name])
        if (!entry.isFile() || !TEXT_FILE.test(entry.name)) continue
        if (files.length === bounds.files) {
          left.push(`Only the first ${bounds.files} files were searched.`)
          return { files, left }
        }
        files.push([...place, entry.name])
      }
    }
    level = below
  }
  if (closed > 0) left.push(`There are folders (${closed}) that Done may not read; they were left out.`)
  return { files, left }
}

/** The refusal for a place to save in that is not there, or that leads out. */
export function noPlace(place: Place, name: string): AppError {
  return notFound(`There is no folder "${place.join('/')}" in "${name}".`, {
    next: 'Name a folder that is there, with / between its levels, or leave `place` out.',
  })
}

/** An open folder to write in. Its entries are reached through the handle where the system allows that. */
interface Directory {
  readonly path: string
  readonly at: (name: string) => string
  readonly sync: () => Promise<void>
  readonly close: () => Promise<void>
}

/** Opens a folder to write in. Refuses with `not_found` where the place is no folder inside. */
export async function openDirectory(top: string, place: Place, name: string): Promise<Directory> {
  const path = join(top, ...place)
  let handle: FileHandle | undefined
  try {
    const real = await realpath(path).catch(() => undefined)
    if (real !== path || !(await lstat(path)).isDirectory()) throw noPlace(place, name)
    // Windows opens no folders: there the check of each new file, in `create`, has to do.
    if (process.platform !== 'win32') {
      handle = await open(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW)
      if (!(await standsAt(handle, path))) throw noPlace(place, name)
    }
    // On Linux this path leads to the open folder itself, whatever is put in its place meanwhile.
    const own = `/proc/self/fd/${handle?.fd}`
    const base = (await realpath(own).catch(() => '')) === path ? own : path
    return {
      path,
      at: (entry) => `${base}/${entry}`,
      sync: async () => {
        await handle?.sync().catch((error: unknown) => {
          if (codeOf(error) !== 'EINVAL') throw error // some network drives can't, and say so by this
        })
      },
      close: async () => handle?.close(),
    }
  } catch (error) {
    await handle?.close()
    if (error instanceof AppError) throw error
    if (MISSING.has(codeOf(error))) throw noPlace(place, name)
    throw new AppError('unavailable', `Done may not open that place in the folder "${name}".`)
  }
}

/**
 * A file name from a title, valid on Linux, macOS and Windows alike, since such folders are synchronised between them.
 * Letters of every script stay; what a path, a shell or a reader's eye could mistake goes.
 */
function fileName(title: string): { stem: string; ending: string } {
  const ending = TEXT_FILE.exec(title)?.[0] ?? '.md'
  const bare = TEXT_FILE.test(title) ? title.slice(0, -ending.length) : title
  const clean = bare
    .normalize('NFC')
    .replace(/[<>:"/\\|?*\p{Cc}\p{Cs}\u061C\u200B\u200E\u200F\u202A-\u202E\u2066-\u2069\uFEFF]/gu, ' ')
    .replace(/\s+/g, ' ')
    .replace(/^[. ]+/, '')
  let stem = ''
  for (const { segment } of new Intl.Segmenter().segment(clean)) {
    if (Buffer.byteLength(stem + segment) > 200) break // 255 bytes is the limit of most systems
    stem += segment
  }
  stem = stem.replace(/[. ]+$/, '')
  return { stem: RESERVED.test(stem) ? `_${stem}` : stem || 'untitled', ending }
}

/**
 * Writes a file that is whole from the moment it can be seen, under the first name that is free. A link fails where
 * the name is taken, while a rename would replace what is there. The hidden file it starts as carries the mark, so
 * that `settle` finds it when the process ends in between.
 */
export async function writeNew(
  directory: Directory,
  item: OutsideSave,
  text: Uint8Array,
  signal: AbortSignal,
) {
  const { stem, ending } = fileName(item.title)
  const hidden = hiddenName(item.mark) + randomBytes(6).toString('hex')
  signal.throwIfAborted()
  await create(directory, hidden, text)
  try {
    signal.throwIfAborted()
    for (let n = 1; n <= 1_000; n++) {
      const stored = n === 1 ? stem + ending : `${stem}-${n}${ending}`
      try {
        await link(directory.at(hidden), directory.at(stored)).catch((error: unknown) => {
          // File systems without links (FAT, some network drives): not whole at once, but still never over another.
          if (!['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'].includes(codeOf(error))) throw error
          return create(directory, stored, text)
        })
        return stored
      } catch (error) {
        if (codeOf(error) !== 'EEXIST') throw error
      }
    }
    throw conflict(`A thousand files are called "${stem}" already.`, { next: 'Choose another title.' })
  } finally {
    await unlink(directory.at(hidden)).catch(() => {})
  }
}

async function create(directory: Directory, name: string, text: Uint8Array): Promise<void> {
  const handle = await open(directory.at(name), 'wx')
  try {
    if (!(await standsAt(handle, join(directory.path, name)))) {
      throw new AppError('unavailable', 'Nothing was saved: the folder was moved meanwhile.', { retry: true })
    }
    await handle.writeFile(text)
    await handle.sync()
  } catch (error) {
    await unlink(directory.at(name)).catch(() => {})
    throw error
  } finally {
    await handle.close()
  }
}

/** The refusal for a save that the disk refused; nothing of it is left. */
export function notSaved(error: unknown, name: string): AppError {
  const code = codeOf(error)
  const full = code === 'ENOSPC' || code === 'EDQUOT'
  const why = full ? 'the disk is full' : 'Done may not write there, or the disk fails'
  return new AppError('unavailable', `Nothing was saved to the folder "${name}": ${why}.`, { written: false })
}

function hiddenName(mark: string): string {
  return `.done-save-${revisionOf(Buffer.from(mark))}-`
}

/**
 * Clears up what a save with this mark left half done, and names the file if it had got that far. Taking the hidden
 * file away also ends an attempt that is still under way: its link then finds nothing.
 */
export async function settle(directory: Directory, mark: string): Promise<string | undefined> {
  let landed: string | undefined
  for (const hidden of await readdir(directory.at('.'))) {
    if (!hidden.startsWith(hiddenName(mark))) continue
    const own = await lstat(directory.at(hidden), { bigint: true }).catch(() => undefined)
    await unlink(directory.at(hidden)).catch(() => {})
    if (!own || own.nlink <= 1n) continue
    for (const entry of (await readdir(directory.at('.'))).filter(shown)) {
      const other = await lstat(directory.at(entry), { bigint: true }).catch(() => undefined)
      if (other?.ino === own.ino && other.dev === own.dev) landed = entry
    }
  }
  return landed
}

/** The files that a save with this title may have become, in the order in which names are given out. */
export async function takenNames(directory: Directory, title: string): Promise<string[]> {
  const { stem, ending } = fileName(title)
  const taken: [number, string][] = []
  for (const entry of await readdir(directory.at('.'))) {
    if (!entry.startsWith(stem) || !entry.endsWith(ending)) continue
    const middle = /^(?:-(\d{1,4}))?$/.exec(entry.slice(stem.length, -ending.length))
    if (middle) taken.push([Number(middle[1] ?? 1), entry])
  }
  return taken.sort(([a], [b]) => a - b).map(([, entry]) => entry)
}
