/**
 * A folder of text and Markdown files as a connected source, for those who have no cloud account. What may be opened
 * in it is decided in `folder-wall.ts`; this file turns it into searches, pages and saves.
 */
import { constants } from 'node:fs'
import { access, stat } from 'node:fs/promises'
import { AppError, invalid, notFound } from '../model/error.ts'
import type { Connector, OutsideItem, OutsideSave, OutsideText } from '../model/outside.ts'
import { findTerm, snippetOf, type Term, termsOf, whole } from '../model/search.ts'
import { fold } from '../model/suggest.ts'
import {
  BOUNDS,
  codeOf,
  type FolderBounds,
  listFiles,
  MISSING,
  noPlace,
  notSaved,
  openDirectory,
  type Place,
  readFile,
  realRoot,
  revisionOf,
  settle,
  shown,
  TEXT_FILE,
  takenNames,
  writeNew,
} from './folder-wall.ts'

const READ_LIMIT = 100_000

/**
 * The connector for one folder.
 *
 * @param name how its URIs begin: `folder:<name>/<path>`, each part percent-encoded
 * @param root the folder; it may itself be reached through a link, since a person has chosen it
 * @param save whether new files may be written
 */
export function folderConnector(folder: {
  name: string
  root: string
  save: boolean
  bounds?: FolderBounds
}): Connector {
  const { name, root } = folder
  const bounds = folder.bounds ?? BOUNDS
  const uriOf = (place: Place) => `folder:${[name, ...place].map(encodeURIComponent).join('/')}`

  return {
    kind: 'folder',
    can: folder.save ? ['search', 'read', 'save'] : ['search', 'read'],

    async health() {
      try {
        if (!(await stat(root)).isDirectory()) return { state: 'unavailable', detail: 'It is not a folder.' }
        await access(root, constants.R_OK | (folder.save ? constants.W_OK : 0))
        return { state: 'ok' }
      } catch (error) {
        const gone = MISSING.has(codeOf(error))
        const detail = gone ? 'The folder is not there.' : 'Done may not read it, or may not write to it.'
        return { state: 'unavailable', detail }
      }
    },

    async search(query, { limit, offset, signal }) {
      const terms = termsOf(query)
      if (terms.length === 0) throw invalid('The query has no word to search for.')
      const top = await realRoot(root, name)
      const { files, left } = await listFiles(top, bounds, signal)

      const hits: OutsideItem[] = []
      const skipped = { large: 0, binary: 0, unreadable: 0 }
      for (let at = 0; at < files.length; at += 16) {
        signal.throwIfAborted()
        const batch = files.slice(at, at + 16).map(async (place) => {
          const file = await readFile(top, place, bounds)
          if (file === 'outside') return
          if (file === 'unreadable' || file === 'binary') {
            skipped[file]++
            return
          }
          if (file.text === undefined) skipped.large++
          const hit = match(terms, place, file.text ?? '')
          if (hit) hits.push({ uri: uriOf(place), title: titleOf(place), ...hit, modified: file.modified })
        })
        await Promise.all(batch)
      }

      hits.sort(
        (a, b) => b.rank - a.rank || compare(b.modified ?? '', a.modified ?? '') || compare(a.uri, b.uri),
      )
      if (skipped.large > 0) left.push(`${count(skipped.large)} too large, searched by name only.`)
      if (skipped.binary > 0) left.push(`${count(skipped.binary)} not text, left out.`)
      if (skipped.unreadable > 0) left.push(`${count(skipped.unreadable)} not readable for Done, left out.`)
      const from = Math.max(0, offset)
      const items = hits.slice(from, from + Math.max(1, limit))
      return { items, total: hits.length, ...(left.length > 0 && { incomplete: left.join(' ') }) }
    },

    async read(uri, { offset, limit, signal }): Promise<OutsideText> {
      const missing = () =>
        notFound(`There is no ${uri}.`, { next: 'Take a URI from an answer of search_context.' })
      const place = placeOf(uri, name)
      if (!place || !TEXT_FILE.test(place.at(-1) ?? '')) throw missing()
      signal.throwIfAborted()
      const file = await readFile(await realRoot(root, name), place, bounds)
      signal.throwIfAborted()
      if (file === 'outside') throw missing()
      if (file === 'binary') throw invalid(`${uri} is not text.`, { next: 'Open it in the folder itself.' })
      if (file === 'unreadable') throw new AppError('unavailable', `Done may not read ${uri}.`)
      const { text } = file
      if (text === undefined) {
        const next = 'Open it in the folder itself, or split it into smaller files.'
        throw new AppError('too_large', `${uri} is over ${bounds.bytes} bytes.`, { next })
      }

      const start = whole(text, Math.min(Math.max(0, offset), text.length))
      let end = whole(text, Math.min(start + Math.min(Math.max(1, limit), READ_LIMIT), text.length))
      if (end <= start && start < text.length) end = start + 2
      return {
        uri: uriOf(place),
        title: titleOf(place),
        text: text.slice(start, end),
        offset: start,
        total: text.length,
        ...(end < text.length && { next_offset: end }),
        modified: file.modified,
        revision: file.revision,
      }
    },

    async save(item, { signal }) {
      if (!folder.save) {
        const next = 'Choose a connector that list_connectors shows as able to save.'
        throw invalid(`The folder "${name}" is connected for reading only.`, { next })
      }
      const text = Buffer.from(item.text)
      if (text.length > bounds.bytes) {
        throw new AppError('too_large', `The text is over ${bounds.bytes} bytes.`, {
          next: 'Save it in parts.',
        })
      }
      const place = savePlace(item, name)
      const directory = await openDirectory(await realRoot(root, name), place, name)
      try {
        const stored = await writeNew(directory, item, text, signal).catch((error: unknown) => {
          throw error instanceof AppError || signal.aborted ? error : notSaved(error, name)
        })
        // The file is there from here on: what fails now is an unknown outcome and no AppError.
        await directory.sync()
        return { uri: uriOf([...place, stored]), title: titleOf([stored]) }
      } finally {
        await directory.close()
      }
    },

    async saved(item, { signal }) {
      const top = await realRoot(root, name)
      const place = savePlace(item, name)
      const directory = await openDirectory(top, place, name)
      const answer = (stored: string) => ({ uri: uriOf([...place, stored]), title: titleOf([stored]) })
      try {
        const left = await settle(directory, item.mark)
        if (left) return answer(left)
        const revision = revisionOf(Buffer.from(item.text))
        for (const stored of await takenNames(directory, item.title)) {
          signal.throwIfAborted()
          const file = await readFile(top, [...place, stored], bounds)
          if (typeof file === 'object' && file.revision === revision) return answer(stored)
        }
        return undefined
      } catch (error) {
        if (error instanceof AppError || signal.aborted) throw error
        throw new AppError('unavailable', `The folder "${name}" can't be looked at now.`, { retry: true })
      } finally {
        await directory.close()
      }
    },
  }
}

// ---- Names: what may be asked for ----

/** The checked names of a URI, or undefined for anything that no answer of ours could have held. */
function placeOf(uri: string, name: string): string[] | undefined {
  if (!uri.startsWith('folder:')) return undefined
  try {
    const [first, ...place] = uri.slice('folder:'.length).split('/').map(decodeURIComponent)
    return first === name && place.length > 0 && place.every(shown) ? place : undefined
  } catch {
    return undefined // a broken percent-encoding
  }
}

function savePlace(item: OutsideSave, name: string): string[] {
  const place = (item.place ?? '').split('/')
  if (place.at(-1) === '') place.pop()
  if (!place.every(shown)) throw noPlace(place, name)
  return place
}

function titleOf(place: Place): string {
  return (place.at(-1) ?? '').replace(TEXT_FILE, '')
}

// ---- Words: what a search finds ----

function match(
  terms: readonly Term[],
  place: Place,
  text: string,
): { rank: number; snippet: string } | undefined {
  const name = fold(place.join('/').replace(TEXT_FILE, ''))
  const content = fold(text)
  let score = 0
  for (const term of terms) {
    const [named, within] = [findTerm(name, term) >= 0, findTerm(content, term) >= 0]
    if (!named && !within) return undefined
    score += (named ? 7 : 0) + (within ? 3 : 0)
  }
  return { rank: score / (terms.length * 10), snippet: snippetOf(text, terms) }
}

function count(files: number): string {
  return files === 1 ? '1 file is' : `${files} files are`
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
