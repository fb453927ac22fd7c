/** How long a broadcast takes, in words. */
import { expect, test } from 'vitest'
import { durationText } from './words.ts'

test.each([
  [0.4, 'less than a minute'],
  [1, '1 minute'],
  [59.6, '1 h'],
  [125, '2 h 5 min'],
  [1440, '1 day'],
  [1441, '1 day'],
  [4560, '3 days 4 h'],
])('%s minutes are %s', (minutes, text) => {
  expect(durationText(minutes)).toBe(text)
})
