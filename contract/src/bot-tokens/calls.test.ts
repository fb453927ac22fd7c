/** The rules for the names of bot tokens. */
import { expect, test } from 'vitest'
import { botTokenNameField } from './calls.ts'

const named = (name: string) => botTokenNameField.safeParse(name)

test.each(['game', 'Zoë’s bot'.replace('’', ' '), 'ígr-1.2_x', 'Игра', 'ゲーム', 'بازی', 'می‌خواهم', 'हिन्दी', '게임', 'क्‍ष', '٣'])(
  'design §8 a token may be named %s',
  (name) => {
    expect(named(name).data).toBe(name)
  },
)

test('design §8 a name is kept in NFC and without white space around it', () => {
  expect(named(' Zoe\u0308 ').data).toBe('Zo\u00eb')
})

test('design §8 names that look the same are the same', () => {
  expect(['Ca  x', ' Ca   x ', 'C\u200ca x'].map((name) => named(name).data)).toEqual(['Ca x', 'Ca x', 'Ca x'])
})

test.each([
  ['nothing', ''],
  ['only white space', ' \t'],
  ['only what cannot be seen', '\u200b\u200d'],
  ['a control character', 'a\u0007b'],
  ['a line break', 'a\nb'],
  ['a directional control', 'a\u202eb'],
  ['a joiner beside no letter', 'a \u200db'],
  ['a mark that nobody sees', 'ga\u034fme'],
  ['a variation selector', 'game\ufe0f'],
  ['a mark without a letter', '\u0301a'],
  ['a slash', 'a/b'],
  ['an e-mail address', 'a@b.c'],
  ['markup', '<b>'],
  ['more than 64 characters', 'ё'.repeat(65)],
])('security: a name of %s is refused', (_, name) => {
  expect(named(name).success).toBe(false)
})

test('design §8 the limit counts characters', () => {
  expect(named('𝒳'.repeat(64)).success).toBe(true)
})
