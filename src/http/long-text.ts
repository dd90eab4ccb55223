import { start } from '../tools/view.ts'
import { folded, type Piece } from './diff.ts'
import { type Html, html } from './html.ts'
import { count } from './page.ts'

/** Up to this much of a text stands whole. */
const WHOLE = { characters: 1200, lines: 24 }

/** This much of a longer one is seen before it is unfolded. */
const HEAD = { characters: 600, lines: 8 }

/** A stretch of a text, or the mark of an unchanged one that was left out. */
type Part = { kind: Piece['kind'] | 'left'; text: string }

/** A text by somebody, as {@link inFull}. */
export function longText(text: string): Html {
  return inFull([{ kind: 'same', text }])
}

/** A diff, in which long unchanged stretches are only counted, as {@link inFull}. */
export function longDiff(pieces: readonly Piece[]): Html {
  return inFull(
    pieces.flatMap((piece): Part[] => {
      const fold = piece.kind === 'same' ? folded(piece.text) : undefined
      if (!fold) return [piece]
      return [
        { kind: 'same', text: fold.start },
        { kind: 'left', text: ` ⋯ ${count(fold.lines, 'unchanged line')} ⋯ ` },
        { kind: 'same', text: fold.end },
      ]
    }),
  )
}

/** Of a long text the beginning stands and says how long the whole is, which unfolds without script. */
function inFull(parts: readonly Part[]): Html {
  const whole = html`<bdi>${parts.map(markup)}</bdi>`
  const characters = parts.reduce((sum, { text }) => sum + text.length, 0)
  const lines = parts.reduce((sum, { text }) => sum + linesOf(text), 1)
  if (characters <= WHOLE.characters && lines <= WHOLE.lines) return whole
  const size = characters.toLocaleString('en')
  return html`<details class="long"><summary><bdi class="head">${beginning(parts).map(markup)} ⋯</bdi><span class="more">Show all ${size} characters</span><span class="less">Show less</span></summary>${whole}</details>`
}

function beginning(parts: readonly Part[]): Part[] {
  const head: Part[] = []
  let { characters, lines } = HEAD
  for (const part of parts) {
    const text = cut(part.text, characters, lines)
    head.push({ ...part, text })
    characters -= text.length
    lines -= linesOf(text)
    if (text.length < part.text.length || characters <= 0 || lines <= 0) break
  }
  return head
}

/** Between two words where there are any. */
function cut(text: string, characters: number, lines: number): string {
  const few = text.split('\n').slice(0, lines).join('\n')
  if (few.length <= characters) return few
  const short = start(few, characters).text
  return /^(.*\S)\s+\S*$/s.exec(short)?.[1] ?? short
}

const linesOf = (text: string): number => text.split('\n').length - 1

function markup({ kind, text }: Part): Html {
  if (kind === 'gone') return html`<del>${text}</del>`
  if (kind === 'new') return html`<ins>${text}</ins>`
  return kind === 'left' ? html`<span class="t3">${text}</span>` : html`${text}`
}
