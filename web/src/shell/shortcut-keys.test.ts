import { expect, test } from 'vitest'
import { shortcutKey } from './shortcut-keys.ts'

test.each([
  ['a Latin letter', { key: 'j', code: 'KeyJ' }, 'j'],
  ['a letter with Caps Lock', { key: 'J', code: 'KeyJ' }, 'j'],
  ['a letter with Shift', { key: 'J', code: 'KeyJ', shiftKey: true }, 'J'],
  ['a Cyrillic layout', { key: 'л', code: 'KeyK' }, 'k'],
  ['a Cyrillic layout with Caps Lock', { key: 'Л', code: 'KeyK' }, 'k'],
  ['a Greek layout', { key: 'γ', code: 'KeyG' }, 'g'],
  ['a Thai layout, where J gives a mark', { key: '\u0e48', code: 'KeyJ' }, 'j'],
  ['a Khmer layout, where J gives a mark', { key: '\u17d2', code: 'KeyJ' }, 'j'],
  ['a Burmese layout, where K gives a mark', { key: '\u102f', code: 'KeyK' }, 'k'],
  ['a Hindi layout, where G gives a mark', { key: '\u0941', code: 'KeyG' }, 'g'],
  ['an Arabic layout, where B gives two letters', { key: '\u0644\u0627', code: 'KeyB' }, 'b'],
  ['a Hebrew layout, where W gives a sign', { key: "'", code: 'KeyW' }, 'w'],
  ['a Hebrew layout, where Q gives the sign that begins a search', { key: '/', code: 'KeyQ' }, '/'],
  ['AZERTY, where A is at the place of Q', { key: 'a', code: 'KeyQ' }, 'a'],
  ['Dvorak, where J is at the place of C', { key: 'j', code: 'KeyC' }, 'j'],
  ['a letter of a Latin layout that English lacks', { key: 'ö', code: 'Semicolon' }, 'ö'],
  ['a sign', { key: '?', code: 'Slash', shiftKey: true }, '?'],
  ['a key with a name', { key: 'Enter', code: 'Enter' }, 'enter'],
] as const)('the key of a shortcut with %s', (_, event, expected) => {
  expect(shortcutKey({ shiftKey: false, ...event })).toBe(expected)
})
