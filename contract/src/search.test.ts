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
])('Lists: %s is looked for as %s, whatever the case', (search, text) => {
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
])('Lists: whether %s is looked for at the beginnings of words alone: %s', (search, isSo) => {
  expect(findsBeginningsOnly(search)).toBe(isSo)
})

test.each([
  ['\u0301', true],
  [' \u034f ', true],
  ['', false],
  ['@', false],
  ['e\u0301', false],
])('Lists: whether there is nothing to look for in %j: %s', (search, isSo) => {
  expect(foldsToNothing(search)).toBe(isSo)
})
