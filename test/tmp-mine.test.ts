import { describe, expect, it } from 'vitest'
import { CONVERGENT_TOOLS, DESTRUCTIVE_TOOLS, WRITE_TOOLS } from '../src/tools/effects.ts'
import type { Case, Cases } from './cases.ts'
import { stepCases } from './cases/step.ts'
import { commentCases } from './cases/comment.ts'
import { projectCases } from './cases/project.ts'
import { labelCases } from './cases/label.ts'
import { dependencyCases } from './cases/dependency.ts'
import { savedViewCases } from './cases/saved-view.ts'
import { trashCases } from './cases/trash.ts'
import { difference, isEmpty, snapshot } from './observer.ts'
import { newWorld } from './world.ts'
const CASES: Cases = { ...stepCases, ...commentCases, ...projectCases, ...labelCases, ...dependencyCases, ...savedViewCases, ...trashCases }
describe.each(Object.keys(CASES))('%s', (name) => {
  const harms: string[] = []
  let twice = false
  it('>=5', () => expect(CASES[name]!.length).toBeGreaterThanOrEqual(5))
  it.each(CASES[name]! as Case[])('$says', async (each) => {
    const w = await newWorld()
    try {
      const input = await each.given(w)
      const by = each.by?.(w) ?? w.scout
      const before = snapshot(w.dir)
      const call = () => by.call(name, input)
      await call()
      const once = snapshot(w.dir)
      const d = difference(before, once)
      if (!WRITE_TOOLS.has(name)) expect(d).toSatisfy(isEmpty)
      expect(d.gone).toEqual([])
      if (!DESTRUCTIVE_TOOLS.has(name)) { expect(d.replaced).toEqual([]); expect(d.hidden).toEqual([]) }
      harms.push(...d.replaced, ...d.hidden)
      w.pass(60000)
      if (CONVERGENT_TOOLS.has(name)) {
        const again = await call()
        expect(difference(once, snapshot(w.dir))).toSatisfy(isEmpty)
        expect(again).toHaveProperty('already', true)
      } else if (WRITE_TOOLS.has(name)) {
        await call()
        if (!isEmpty(difference(once, snapshot(w.dir)))) twice = true
      }
    } finally { await w.close() }
  })
  it('overall', () => {
    if (DESTRUCTIVE_TOOLS.has(name)) expect(harms.length).toBeGreaterThan(0)
    if (WRITE_TOOLS.has(name) && !CONVERGENT_TOOLS.has(name)) expect(twice).toBe(true)
  })
})
