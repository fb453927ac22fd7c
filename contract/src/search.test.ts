import { expect, test } from 'vitest'
import { findsBeginningsOnly, foldsToNothing, searchedText } from './search.ts'

test.each([
  ['Zoë', 'zoe'],
  ['Zoe\u0308', 'zoe'],
  ['ＺＯＥ', 'zoe'],
  [' @moon_1 ', 'moon_1'],
  ['＠moon', 'moon'],
  ['Łukasz Øre ıŧ', 'lukasz ore it'],
  ['İstanbul', 'istanbul'],
  ['ﬁve', 'five'],
  ['Алёша', 'алеша'],
  ['مُحَمَّد', 'محمد'],
  ['हिन्दी', 'हिन्दी'],
  ['\u0301', ''],
  ['CAGLA  KAYA', 'cagla kaya'],
  ['STRAẞE Straße', 'strasse strasse'],
  ['Æsir Œuvre Þór Ðóra', 'aesir oeuvre thor dora'],
  ['ΟΔΥΣΣΕΥΣ', 'οδυσσευσ'],
  ['O’Brien O´Brien', 'obrien obrien'],
  ["O'Brien", 'obrien'],
  ['one\ntwo\u2028three\u00a0four', 'one two three four'],
  ['Jean‐Luc Jean–Luc', 'jean-luc jean-luc'],
  ['علی\u200cرضا', 'علیرضا'],
  ['m\u200bo\u00ado\ufeffn\u2060', 'moon'],
  ['\u202emoon\u202c', 'moon'],
  ['葛\u{e0100}飾 m\u{1bca0}oo\u{e007f}n', '葛飾 moon'],
  ['Jean\u05beLuc Jean\u{10ead}Luc 〜゠⁃', 'jean-luc jean-luc ---'],
])('Lists: a search for %s looks for %s', (search, text) => {
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
  ['\u200b', true],
  ['', false],
  ['@', false],
  ['e\u0301', false],
])('Lists: a search for %j contains nothing to look for: %s', (search, expected) => {
  expect(foldsToNothing(search)).toBe(expected)
})
