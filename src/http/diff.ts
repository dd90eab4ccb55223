/** A piece of a text that stayed, went or came. */
export interface Piece {
  kind: 'same' | 'gone' | 'new'
  text: string
}

/** Above this many comparisons the two texts are shown one after the other; nobody reads so patchy a diff anyway. */
const MOST = 4_000_000

/** What became of a text, word by word: the fewest words gone and new (longest common subsequence). */
export function wordDiff(was: string, now: string): Piece[] {
  const before = wordsOf(was)
  const after = wordsOf(now)
  let head = 0
  while (head < before.length && head < after.length && before[head] === after[head]) head++
  let tail = 0
  while (
    tail < before.length - head &&
    tail < after.length - head &&
    before[before.length - 1 - tail] === after[after.length - 1 - tail]
  )
    tail++
  const middle = between(before.slice(head, before.length - tail), after.slice(head, after.length - tail))
  return joined([
    { kind: 'same', text: before.slice(0, head).join('') },
    ...middle,
    { kind: 'same', text: before.slice(before.length - tail).join('') },
  ])
}

/** Words with the space behind them. */
function wordsOf(text: string): string[] {
  return text.match(/\s+|[^\s]+\s?/g) ?? []
}

function between(before: readonly string[], after: readonly string[]): Piece[] {
  if (before.length * after.length > MOST) {
    return [
      { kind: 'gone', text: before.join('') },
      { kind: 'new', text: after.join('') },
    ]
  }
  const width = after.length + 1
  // lengths[i * width + j]: the longest common part of before[i..] and after[j..].
  const lengths = new Uint16Array((before.length + 1) * width)
  for (let i = before.length - 1; i >= 0; i--) {
    for (let j = after.length - 1; j >= 0; j--) {
      lengths[i * width + j] =
        before[i] === after[j]
          ? lengths[(i + 1) * width + j + 1]! + 1
          : Math.max(lengths[(i + 1) * width + j]!, lengths[i * width + j + 1]!)
    }
  }
  const pieces: Piece[] = []
  let i = 0
  let j = 0
  while (i < before.length || j < after.length) {
    if (i < before.length && j < after.length && before[i] === after[j]) {
      pieces.push({ kind: 'same', text: before[i++]! })
      j++
    } else if (
      j >= after.length ||
      (i < before.length && lengths[(i + 1) * width + j]! >= lengths[i * width + j + 1]!)
    )
      pieces.push({ kind: 'gone', text: before[i++]! })
    else pieces.push({ kind: 'new', text: after[j++]! })
  }
  return pieces
}

/** Neighbours of one kind become one piece; within a run of changes what went stands before what came. */
function joined(pieces: readonly Piece[]): Piece[] {
  const all: Piece[] = []
  let gone = ''
  let came = ''
  const settle = () => {
    if (gone) all.push({ kind: 'gone', text: gone })
    if (came) all.push({ kind: 'new', text: came })
    gone = ''
    came = ''
  }
  for (const { kind, text } of pieces) {
    if (text === '') continue
    if (kind === 'gone') gone += text
    else if (kind === 'new') came += text
    else {
      settle()
      const last = all.at(-1)
      if (last?.kind === 'same') last.text += text
      else all.push({ kind, text })
    }
  }
  settle()
  return all
}

/** A long stretch that stayed keeps its beginning and end; what lies between is counted. */
export function folded(
  text: string,
  around = 160,
): { start: string; lines: number; end: string } | undefined {
  if (text.length < around * 4) return undefined
  const start = text.slice(0, text.lastIndexOf(' ', around) + 1 || around)
  const end = text.slice(text.indexOf(' ', text.length - around))
  return { start, lines: text.slice(start.length, text.length - end.length).split('\n').length, end }
}
