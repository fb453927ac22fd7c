import { expect, test } from 'vitest'
import { hasSameValue, hasSameValues } from './same-values.ts'

test('empty and missing fields are equal, whatever the order of the fields', () => {
  expect(hasSameValues({ title: 'A', link: '', reward: null }, { type: undefined, title: 'A' })).toBe(true)
  expect(hasSameValues({ title: 'A', reward: 5 }, { reward: 5, title: 'A' })).toBe(true)
  expect(hasSameValue({ link: null }, {}, 'link')).toBe(true)
})

test('zero, no and a number as text are values of their own', () => {
  expect(hasSameValue({ reward: 0 }, { reward: '' }, 'reward')).toBe(false)
  expect(hasSameValue({ paused: false }, {}, 'paused')).toBe(false)
  expect(hasSameValue({ reward: 5 }, { reward: '5' }, 'reward')).toBe(false)
  expect(hasSameValues({ title: 'A' }, { title: 'A', paused: false })).toBe(false)
})
