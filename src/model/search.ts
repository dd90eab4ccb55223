import { fold } from './suggest.ts'

const CJK_RUN = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}ー]+/gu
const IS_CJK = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}ー]/u

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
  return fold(query)
    .split(/[^\p{L}\p{N}]+/u)
    .filter(Boolean)
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

function pairs(run: string): string[] {
  const characters = [...run]
  if (characters.length < 2) return characters
  return characters.slice(1).map((character, i) => characters[i]! + character)
}
