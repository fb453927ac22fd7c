/** The rules for typed texts and foreign names. */
import { describe, expect, test } from 'vitest'
import { playerName } from '#src/players/fields.ts'
import {
  bareUsername,
  characterCount,
  firstCharacters,
  isBlank,
  isolated,
  shownFileName,
  textParts,
  typedName,
  typedText,
  withoutInvisible,
} from './text.ts'
import { FAMILY, HEART, invisible, PERSIAN } from '#src/testing/invisible.ts'

describe('§5 a text of which nothing can be seen is empty', () => {
  test.each<readonly [string, string]>([
    ...invisible,
    ['control character', '\x07'],
    ['Braille blank', '\u2800'],
    ['mark of an annotation', '\ufff9'],
    ['note without head', '\u{1d159}'],
    ['Khitan filler', '\u{16fe4}'],
    ['blank of hieroglyphs', '\u{13441}'],
    ['place of an object', '\ufffc'],
    ['noncharacter', '\ufffe'],
    ['mark without a base', '\u0301'],
    ['white space', ' \t\n\u3000'],
  ])('%s', (_, character) => {
    expect(isBlank(` ${character} ${character}`)).toBe(true)
    expect(isBlank(`${character}x`)).toBe(false)
    expect(typedText(character)).toBe('')
  })

  test('a missing text is blank, and a visible one is not', () => {
    expect([null, undefined, ''].map(isBlank)).toEqual([true, true, true])
    expect(['0', '👍', '=', 'ـ'].map(isBlank)).toEqual([false, false, false, false])
  })
})

test.each([PERSIAN, FAMILY, HEART, `Win ${HEART} now`, 'שלום \u200f(1)', '🏴\u{e0067}\u{e0062}\u{e0065}\u{e007f}'])(
  'the characters inside a typed text stay: %s',
  (text) => expect(typedText(`  ${text} `)).toBe(text),
)

test('typed texts that look equal are equal', () => {
  expect(typedText('Cafe\u0301')).toBe('Caf\xe9')
})

describe('a link or the name of a file has no invisible characters', () => {
  test.each(invisible)('%s', (_, character) => {
    expect(withoutInvisible(`${character} https://t.me/arc${character}ade${character}${character} `)).toBe('https://t.me/arcade')
    expect(shownFileName(`C:\\images/ban${character}ner.png${character}`)).toBe('banner.png')
    expect(shownFileName(`a/${character}`)).toBe('')
  })

  test('but the joiners that an address of another script or an emoji needs', () => {
    for (const link of [`https://fa.wikipedia.org/wiki/${PERSIAN}`, `https://x.org/${FAMILY}/a`, `https://x.org/${HEART}`])
      expect(withoutInvisible(`${link}\u200b`)).toBe(link)
    expect(withoutInvisible(`https://x.org/${PERSIAN}\u200c`)).toBe(`https://x.org/${PERSIAN}`)
  })

  test.each(['\u2800', '\ufffc', '\u{1d159}', '\u{16fe4}', '\u{13441}', '\ufffe', '\u{1ffff}', '\x07', '\u3000'])(
    'nor %j or marks without a base at its ends',
    (empty) => {
      const around = `${empty}\u0301\u200b${empty}\ufe0f`
      expect(withoutInvisible(`${around}https://x.org/a${empty}b${around}`)).toBe(`https://x.org/a${empty}b`)
      expect(withoutInvisible(`https://x.org/${HEART}${empty}\u0301`)).toBe(`https://x.org/${HEART}`)
      expect(withoutInvisible(`https://x.org/cafe\u0301${empty}`)).toBe('https://x.org/cafe\u0301')
      expect(shownFileName(`${empty}.png`)).toBe('.png')
      expect(shownFileName(around)).toBe('')
    },
  )

  test('and a long run of them takes no long time', () => {
    const run = '\u2800\u0301'.repeat(100_000) + '\u0301'.repeat(100_000)
    expect(withoutInvisible(`x${run}x`)).toBe(`x${run}x`)
    expect(withoutInvisible(`x${' '.repeat(100_000)}`)).toBe('x')
  })

  test('and the name of a file has no control characters', () => {
    expect(shownFileName(' banner\x07\n.png')).toBe('banner.png')
  })
})

describe('a name that has to be unique', () => {
  test.each<readonly [string, string]>([
    ...invisible.map(([name, character]) => [name, `\u202eCaf\xe9 vi${character}ew${character}`] as const),
    ['two spaces', 'Caf\xe9  view'],
    ['a space without a break', 'Caf\xe9\xa0view'],
    ['a blank sign', 'Caf\xe9\u2800view'],
    ['a mark behind what is not seen', 'Cafe\u200b\u0301 view'],
  ])('is the same with %s', (_, name) => expect(typedName(name)).toBe('Caf\xe9 view'))

  test('keeps its case, its diacritics and the characters that it needs', () => {
    for (const name of ['CAF\xc9 view', 'Cafe view', PERSIAN, FAMILY, HEART]) expect(typedName(name)).toBe(name)
  })
})

test.each(['\u200bx8102\u200b', ' x8102 ', '@x8102', '\u200b @\u200b @x8102\u2800\ufeff', '＠x8102', '﹫x8102'])(
  'a username is bare: %j',
  (username) => {
    expect(bareUsername(username)).toBe('x8102')
    expect(bareUsername(` @${username.replace('x8102', '')}`)).toBe('')
  },
)

test('lengths are counted in code points, and a text is never cut within a character', () => {
  expect(['', 'abc', '😀😀', HEART, 'x\ud800'].map(characterCount)).toEqual([0, 3, 2, 2, 2])
  expect(firstCharacters('😀😀😀', 2)).toBe('😀😀')
  expect(firstCharacters('😀😀', 3)).toBe('😀😀')
  expect(firstCharacters('abc', 3)).toBe('abc')
})

describe('a name in a sentence', () => {
  test.each(['Ada Lovelace', '42', FAMILY, 'Zoë & Søn', '日本語'])('stays as it is: %s', (name) =>
    expect(isolated(name)).toBe(name),
  )

  test('has no directional controls, so that none can end the isolation or turn around what follows', () => {
    expect(isolated('Ada\u202e gnp\u202d\u2066x\u2069\u200f')).toBe('Ada gnpx')
    expect(isolated('\u2069\u2069لاعب\u2069')).toBe('\u2068لاعب\u2069')
  })

  test('is isolated if it is written from right to left', () => {
    for (const name of ['שלום', 'لاعب 7', 'Ada (آدا)']) expect(isolated(name)).toBe(`\u2068${name}\u2069`)
  })

  test('has no separators, which would end the isolation', () => {
    expect(isolated('שלום\u2029one\ntwo')).toBe('\u2068שלום one two\u2069')
  })

  test('can be isolated twice', () => {
    expect(isolated(isolated('שלום'))).toBe('\u2068שלום\u2069')
  })
})

test('a player whose name cannot be seen is called by username, or else by id', () => {
  const player = { firstName: '\u2800', lastName: '\u200b', username: 'ada', userId: 7 }
  expect(playerName(player)).toBe('@ada')
  expect(playerName({ ...player, username: '\u3164' })).toBe('7')
  expect(playerName({ ...player, username: null })).toBe('7')
  expect(playerName({ ...player, firstName: '\u0301', username: '\ufffc' })).toBe('7')
  expect(playerName({ ...player, firstName: 'Ada' })).toBe('Ada')
  expect(playerName({ ...player, lastName: 'Lovelace' })).toBe('Lovelace')
})

test.each([
  ['moon', 'moon'],
  ['Pa\u200b\u200dyPal\u202e', 'Pa[200b 200d]yPal[202e]'],
  ['👩\u200d🚀 ❤\ufe0f', '👩\u200d🚀 ❤\ufe0f'],
  ['علی\u200cرضا', 'علی\u200cرضا'],
  ['', ''],
])('the parts of %j tell where it has invisible characters', (text, expected) => {
  const codes = (part: string) => `[${Array.from(part, (character) => character.codePointAt(0)!.toString(16)).join(' ')}]`
  const parts = textParts(text)
  expect(parts.map((part) => (part.isInvisible ? codes(part.text) : part.text)).join('')).toBe(expected)
  expect(parts.map((part) => part.text).join('')).toBe(text)
})
