/** Texts for tests of the rules in text.ts. */

/** Characters that cannot be seen, one of each kind, with their names. */
export const invisible: readonly (readonly [name: string, character: string])[] = Object.entries({
  'zero-width space': '\u200b',
  'zero-width joiner': '\u200d',
  'zero-width non-joiner': '\u200c',
  'word joiner': '\u2060',
  'byte order mark': '\ufeff',
  'soft hyphen': '\xad',
  'Arabic letter mark': '\u061c',
  'Hangul filler': '\u3164',
  'halfwidth Hangul filler': '\uffa0',
  'variation selector': '\ufe0f',
  'left-to-right mark': '\u200e',
  'right-to-left mark': '\u200f',
  'right-to-left override': '\u202e',
  'first strong isolate': '\u2068',
  'pop directional isolate': '\u2069',
  'line separator': '\u2028',
  'paragraph separator': '\u2029',
  'tag letter': '\u{e0041}',
})

/** Texts that need invisible characters: a Persian word, a family and a red heart. */
export const PERSIAN = 'می\u200cخواهم'
export const FAMILY = '👩\u200d👩\u200d👧'
export const HEART = '❤\ufe0f'
