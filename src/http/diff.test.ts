import { describe, expect, it } from 'vitest'
import { folded, wordDiff } from './diff.ts'

const shown = (was: string, now: string) =>
  wordDiff(was, now)
    .map(({ kind, text }) => (kind === 'same' ? text : `${kind === 'gone' ? '-' : '+'}[${text}]`))
    .join('')

describe('a diff by words', () => {
  it('shows what went before what came', () => {
    expect(
      shown('Images weigh at most 300 kB on a first visit.', 'Images weigh at most 200 kB on a first visit.'),
    ).toBe('Images weigh at most -[300 ]+[200 ]kB on a first visit.')
    expect(shown('', 'New')).toBe('+[New]')
    expect(shown('Old', '')).toBe('-[Old]')
    expect(shown('a b c d', 'a c d e')).toBe('a -[b ]c +[d e]'.replace('+[d e]', '-[d]+[d e]'))
  })

  it('loses no character of either side, whatever the texts', () => {
    const texts = [
      'one two three two one',
      '  spaces  kept\n\nlines',
      'three two one',
      '',
      'x'.repeat(50),
      'two two two',
    ]
    for (const was of texts)
      for (const now of texts) {
        const pieces = wordDiff(was, now)
        const side = (not: string) =>
          pieces
            .filter((piece) => piece.kind !== not)
            .map((piece) => piece.text)
            .join('')
        expect([side('new'), side('gone')]).toEqual([was, now])
      }
  })

  it('stays quick for texts that share nothing', () => {
    const was = Array.from({ length: 20_000 }, (_, i) => `a${i}`).join(' ')
    const now = Array.from({ length: 20_000 }, (_, i) => `b${i}`).join(' ')
    expect(wordDiff(was, now).map((piece) => piece.kind)).toEqual(['gone', 'new'])
  })

  it('folds a long stretch that stayed and counts its lines', () => {
    const text = Array.from({ length: 60 }, (_, i) => `line ${i} of the text`).join('\n')
    const fold = folded(text)!
    expect(fold.start.length + fold.end.length).toBeLessThan(400)
    expect(fold.lines).toBeGreaterThan(40)
    expect(folded('short')).toBeUndefined()
  })
})
