import { expect, it } from 'vitest'
import { ringsIn } from './ring.ts'

const edges = (text: string) =>
  text.split(' ').map((edge) => {
    const [from, to] = edge.split('>').map(Number)
    return { from: from!, to: to! }
  })

it('finds a ring and shows its path', () => {
  expect(ringsIn(edges('1>2 2>3 3>1 3>4'))).toEqual([[1, 2, 3, 1]])
  expect(ringsIn(edges('1>1'))).toEqual([[1, 1]])
})

it('finds none in a chain, in a diamond, or in a chain of ten thousand', () => {
  expect(ringsIn(edges('1>2 1>3 2>4 3>4'))).toEqual([])
  expect(ringsIn(Array.from({ length: 10_000 }, (_, i) => ({ from: i, to: i + 1 })))).toEqual([])
})

it('finds one in each of two tangles', () => {
  expect(ringsIn(edges('1>2 2>1 5>6 6>7 7>5'))).toHaveLength(2)
})
