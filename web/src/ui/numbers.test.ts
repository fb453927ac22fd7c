import { expect, test } from 'vitest'
import { countText, exactSum } from './numbers.ts'

test.each([
  [0.1, 0.2, 0.3],
  [57_334, -57_334.1, -0.1],
  [0.00000001, 0.00000002, 0.00000003],
  [-0.5, 0.25, -0.25],
  [1_234_567.12345678, 0.00000001, 1_234_567.12345679],
  [9_007_199_254_740_991, 1, 9_007_199_254_740_992],
  [5, -5, 0],
])('exactly %d and %d are %d', (one, other, sum) => {
  expect(exactSum(one, other)).toBe(sum)
})

test.each([
  [{ total: 1, isMore: false }, '1 player'],
  [{ total: 1203, isMore: false }, '1,203 players'],
  [{ total: 10_000, isMore: true }, 'more than 10,000 players'],
  [{ total: 10_000, isMore: true, about: 120_000 }, 'about 120,000 players'],
  [{ total: 16, isMore: true, about: 760 }, 'about 760 players'],
  [{ total: 2, isMore: true, under: 2900 }, 'probably under 2,900 players'],
])('the count %j is written as %s', (count, text) => {
  expect(countText(count, 'player')).toBe(text)
})
