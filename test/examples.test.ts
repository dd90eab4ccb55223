import { describe, expect, it } from 'vitest'
import { TOOL_NAMES, toolNamed, WRITE_TOOLS } from '../src/tools/effects.ts'
import { textOf } from '../src/tools/text.ts'
import { MOST_CHARACTERS } from '../src/tools/view.ts'
import { sampleWorld } from './sample.ts'

describe('on the sample account', () => {
  it.each(TOOL_NAMES)('the example of %s works, and its text says what its structure says', async (name) => {
    const world = await sampleWorld()
    try {
      const answer = await (WRITE_TOOLS.has(name) ? world.scout : world.reader).call(
        name,
        toolNamed(name)!.example,
      )
      const text = textOf(answer)
      expect(JSON.stringify(answer).length).toBeLessThanOrEqual(MOST_CHARACTERS)
      for (const said of idsAndFigures(answer)) expect(text).toContain(said)
    } finally {
      await world.close()
    }
  })
})

/** Every id, number and line of an answer, as a reader would look for it. */
function idsAndFigures(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(idsAndFigures)
  if (typeof value === 'object' && value !== null) return Object.values(value).flatMap(idsAndFigures)
  if (typeof value === 'number') return [String(value)]
  return typeof value === 'string' ? value.split('\n') : []
}
