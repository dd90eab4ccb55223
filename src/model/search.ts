import { fold } from './suggest.ts'

const CJK = '[\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Hangul}ー]+'
const CJK_RUN = new RegExp(CJK, 'gu')
const CJK_OR_OTHER = new RegExp(`${CJK}|(?:(?!${CJK}).)+`, 'gu')
const IS_CJK = new RegExp(CJK, 'u')

/**
 * A text as the word index keeps it: folded, and runs of Chinese, Japanese and Korean, which have no spaces to tell
 * words apart, as overlapping pairs of characters.
 */
export function wordsOf(text: string): string {
  return fold(text).replace(CJK_RUN, (run) => ` ${pairs(run).join(' ')} `)
}

/** A text as the index of word parts (three characters and more) keeps it. */
export function partsOf(text: string): string {
  return fold(text)
}

/** One thing to look for, and in which index: every term of a query must be found. */
export interface Term {
  index: 'words' | 'parts'
  /** An FTS5 match expression; all of its text is quoted. */
  match: string
  folded: string
}

/**
 * The terms of a query as people type it. Three characters find parts of words; shorter ones find words that begin so;
 * two of Chinese, Japanese or Korean suffice.
 */
export function termsOf(query: string): Term[] {
  return runsOf(fold(query))
    .slice(0, 12)
    .map((folded) => {
      const length = [...folded].length
      if (IS_CJK.test(folded) && length >= 2) {
        return { index: 'words', match: `"${pairs(folded).join(' ')}"`, folded }
      }
      if (length >= 3) return { index: 'parts', match: `"${folded}"`, folded }
      return { index: 'words', match: `"${folded}"*`, folded }
    })
}

/**
 * The pieces by which an index of pieces finds a text: three characters running inside a word, pairs of Chinese, Japanese
 * and Korean, and `^` with the first one or two characters of a word. It finds what the two indexes above find.
 */
export function piecesOf(text: string): Set<string> {
  const pieces = new Set<string>()
  for (const run of runsOf(fold(text))) {
    const characters = [...run]
    if (IS_CJK.test(run)) {
      for (const pair of pairs(run)) pieces.add(pair).add(`^${[...pair][0]}`)
    } else {
      pieces.add(`^${characters[0]}`)
      if (characters.length > 1) pieces.add(`^${characters[0]}${characters[1]}`)
    }
    for (let i = 2; i < characters.length; i++)
      pieces.add(`${characters[i - 2]}${characters[i - 1]}${characters[i]}`)
  }
  return pieces
}

/** The pieces that every text with this term has. Where there are several, the text has yet to be looked at. */
export function piecesOfTerm({ index, folded }: Term): string[] {
  if (index === 'words' && !(IS_CJK.test(folded) && [...folded].length >= 2)) return [`^${folded}`]
  if (index === 'words') return pairs(folded)
  const characters = [...folded]
  return characters.slice(2).map((character, i) => `${characters[i]}${characters[i + 1]}${character}`)
}

/** Where a folded text holds a term, by the same rule as the indexes: short terms only where a word begins; -1 for nowhere. */
export function findTerm(folded: string, term: Term): number {
  const anywhere = term.index === 'parts' || IS_CJK.test(term.folded)
  let at = folded.indexOf(term.folded)
  while (!anywhere && at > 0 && !beginsWord(folded, at)) at = folded.indexOf(term.folded, at + 1)
  return at
}

/** Whether a word begins there. A run of Chinese, Japanese or Korean is a word of its own, as in the index. */
function beginsWord(folded: string, at: number): boolean {
  const before = folded[at - 1] ?? ' '
  return !/[\p{L}\p{N}]/u.test(before) || IS_CJK.test(before)
}

/** How well a title fits a query: 3 where all terms begin words of it, 2 where it holds all, 1 some, 0 none. */
export function titleScore(title: string, terms: readonly Term[]): number {
  const folded = fold(title)
  const places = terms.map((term) => findTerm(folded, term))
  if (places.every((at) => at >= 0)) {
    return places.every((at) => beginsWord(folded, at)) ? 3 : 2
  }
  return places.some((at) => at >= 0) ? 1 : 0
}

/** How much of a text a snippet shows. */
const SNIPPET = 160

/** One line of a text around the first term that it holds; its beginning where it holds none. */
export function snippetOf(text: string, terms: readonly Term[]): string {
  const folded = fold(text)
  const places = terms.map((term) => findTerm(folded, term)).filter((at) => at >= 0)
  const at = places.length > 0 ? unfolded(text, folded, Math.min(...places)) : 0
  const from = whole(text, Math.max(0, at - SNIPPET / 4))
  const to = whole(text, Math.min(text.length, from + SNIPPET))
  const line = text.slice(from, to).replace(/\s+/g, ' ').trim()
  return `${from > 0 ? '…' : ''}${line}${to < text.length ? '…' : ''}`
}

/** The place in a text of a place in its folded form. Folding changes lengths, so it is counted out, in leaps first. */
function unfolded(text: string, folded: string, place: number): number {
  if (folded.length === text.length) return place
  let at = 0
  let seen = 0
  for (const leap of [1024, 1]) {
    while (at < text.length) {
      const end = whole(text, Math.min(text.length, at + leap), 1)
      const length = fold(text.slice(at, end)).length
      if (seen + length > place) break
      seen += length
      at = end
    }
  }
  return at
}

/** The same place, or the one beside it where this would split a character that takes two units. */
export function whole(text: string, at: number, move: 1 | -1 = -1): number {
  return at > 0 && /^[\uD800-\uDBFF][\uDC00-\uDFFF]/.test(text.slice(at - 1, at + 1)) ? at + move : at
}

/** The words of a folded text; a run of Chinese, Japanese or Korean is one of its own. */
function runsOf(folded: string): string[] {
  return folded.split(/[^\p{L}\p{N}]+/u).flatMap((word) => word.match(CJK_OR_OTHER) ?? [])
}

function pairs(run: string): string[] {
  const characters = [...run]
  if (characters.length < 2) return characters
  return characters.slice(1).map((character, i) => characters[i]! + character)
}
