import { expect, test } from 'vitest'
import { findsBeginningsOnly, foldsToNothing, searchedText } from './search.ts'

test.each([
  ['Zoë', 'Zoe'],
  ['Zoe\u0308', 'Zoe'],
  ['ＺＯＥ', 'ZOE'],
  [' @moon_1 ', 'moon_1'],
  ['＠moon', 'moon'],
  ['Łukasz Øre ıŧ', 'lukasz ore it'],
  ['İstanbul', 'Istanbul'],
  ['ﬁve', 'five'],
  ['Алёша', 'Алеша'],
  ['مُحَمَّد', 'محمد'],
  ['हिन्दी', 'हिन्दी'],
  ['\u0301', ''],
  ['CAGLA  KAYA', 'CAGLA KAYA'],
])('Lists: a search for %s looks for %s, ignoring case', (search, text) => {
  expect(searchedText(search)).toBe(text)
})

test.each([
  ['o', true],
  ['@oo', true],
  [' oö ', true],
  ['ｏｏ', true],
  ['', false],
  ['@', false],
  ['oon', false],
  ['芳', false],
  ['é', true],
  ['ж', false],
])('Lists: a search for %s finds only the beginnings of words: %s', (search, expected) => {
  expect(findsBeginningsOnly(search)).toBe(expected)
})

test.each([
  ['\u0301', true],
  [' \u034f ', true],
  ['', false],
  ['@', false],
  ['e\u0301', false],
])('Lists: a search for %j contains nothing to look for: %s', (search, expected) => {
  expect(foldsToNothing(search)).toBe(expected)
})
