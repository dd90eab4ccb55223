import { randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { envelopeUnder } from './envelope.ts'

describe('a secret in an envelope', () => {
  const key = randomBytes(32)
  const { close, open } = envelopeUnder(key)
  const closed = close('xoxb-canary', 'source 1 slack')

  it('comes out as it went in, and does not show before', () => {
    expect(open(closed, 'source 1 slack')).toBe('xoxb-canary')
    expect(closed).not.toContain('canary')
    expect(Buffer.from(closed.split('.')[2]!, 'base64url').toString('latin1')).not.toContain('canary')
    expect(close('xoxb-canary', 'source 1 slack')).not.toBe(closed)
  })

  it('does not open for another place, under another key, or where a bit of it is another', () => {
    expect(() => open(closed, 'source 2 slack')).toThrow()
    expect(() => envelopeUnder(randomBytes(32)).open(closed, 'source 1 slack')).toThrow()
    const [version, ...parts] = closed.split('.')
    const letters = parts.flatMap((part, i) =>
      Array.from({ length: part.length }, (_, at) => [i, at] as const),
    )
    for (const [i, at] of letters) {
      const bytes = Buffer.from(parts[i]!, 'base64url')
      if (at >= bytes.length) continue
      bytes[at]! ^= 1
      const altered = parts.with(i, bytes.toString('base64url'))
      expect(() => open([version, ...altered].join('.'), 'source 1 slack')).toThrow()
    }
    expect(() => open('v2.a.b', 'source 1 slack')).toThrow(/does not know/)
  })
})
