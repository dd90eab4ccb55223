import { expect, it } from 'vitest'
import { mentionsIn } from './mention.ts'

const TEAM = [
  { id: 'U1', name: 'Ana' },
  { id: 'U2', name: 'Ana López' },
  { id: 'G1', name: 'scout' },
  { id: 'G2', name: 'scout-2' },
]

it('finds names and ids, whatever their case and accents, and takes the longest name', () => {
  expect(mentionsIn('@ana lopez and @G1, see @SCOUT-2.', TEAM).ids).toEqual(['U2', 'G1', 'G2'])
  expect(mentionsIn('(@Ana), please', TEAM).ids).toEqual(['U1'])
})

it('takes neither mail nor code for a mention, and tells what is nobody’s name', () => {
  expect(mentionsIn('mail ana@scout.example or `@scout` it', TEAM)).toEqual({ ids: [], unknown: [] })
  expect(mentionsIn('ask @bob or @scouting', TEAM)).toEqual({ ids: [], unknown: ['bob', 'scouting'] })
})
