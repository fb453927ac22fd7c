/** How long a backup took, in words. */
import { expect, test } from 'vitest'
import { elapsedText } from './words.ts'

test.each([
  [-2, '0 s'],
  [41.4, '41 s'],
  [180, '3 min'],
  [185, '3 min 5 s'],
  [7200, '2 h'],
  [7829, '2 h 10 min'],
])('%s seconds are %s', (seconds, text) => {
  const from = Date.UTC(2026, 0, 1)
  expect(elapsedText(new Date(from).toISOString(), new Date(from + seconds * 1000).toISOString())).toBe(text)
})
