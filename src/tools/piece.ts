import { whole } from '../model/search.ts'
import { sizeOf } from './text.ts'
import { MOST_CHARACTERS } from './view.ts'

/** How much of a text one answer carries where the caller says nothing, and at most. Offsets count UTF-16 units. */
const PIECE = { usual: 10_000, most: 30_000 }

interface Piece {
  text: string
  offset: number
  total: number
  /** Where to go on; absent at the end. */
  next_offset?: number
}

/** A piece of a text that fits into one answer and splits no character. */
export function pieceOf(text: string, offset = 0, limit = PIECE.usual): Piece {
  const from = whole(text, Math.min(offset, text.length))
  let to = whole(text, Math.min(text.length, from + Math.min(Math.max(limit, 2), PIECE.most)))
  // What JSON writes as two or six characters counts as that many, and so does the mark before each line.
  while (sizeOf(text.slice(from, to)) > MOST_CHARACTERS - 2000) {
    to = whole(text, from + Math.floor((to - from) * 0.8))
  }
  return {
    text: text.slice(from, to),
    offset: from,
    total: text.length,
    ...(to < text.length ? { next_offset: to } : {}),
  }
}

/** Takes rows off the end of the longest of an answer's lists until it fits into one answer. Tells whether it had to. */
export function fitted(answer: Record<string, unknown>, lists: readonly unknown[][]): boolean {
  let cut = false
  while (sizeOf(answer) > MOST_CHARACTERS - 2000) {
    const longest = lists.reduce((a, b) => (sizeOf({ b }) > sizeOf({ a }) ? b : a))
    longest.pop()
    cut = true
  }
  return cut
}
