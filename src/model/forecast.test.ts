import { expect, it } from 'vitest'
import { forecast } from './forecast.ts'

it('takes the mean pace, with a range that narrows as more is known', () => {
  expect(forecast(10, 20, 10, '2026-11-30')).toEqual({
    finish: '2026-12-05',
    earliest: '2026-12-05',
    latest: '2026-12-07',
    closed_per_day: 2,
  })
  expect(forecast(10, 1, 10, '2026-11-30')).not.toHaveProperty('latest')
})

it('says none where there is no pace, nothing left, or no end in sight', () => {
  for (const [open, closed] of [
    [5, 0],
    [0, 5],
    [100_000, 1],
  ] as const)
    expect(forecast(open, closed, 30, '2026-11-30')).toHaveProperty('none')
})
