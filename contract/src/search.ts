/** Folds search texts, in the same way on both sides: case, width, diacritics, apostrophes and characters without width are ignored. */

/** Shorter texts are found only at the beginnings of words in lists of people, because the trigram index cannot find them inside words. */
const MIN_PART_LENGTH = 3

/**
 * Ranges of combining diacritics after NFKD, and Hebrew and Arabic points, for regular expressions of JavaScript and PostgreSQL. Vowel
 * signs are not included, because they are letters.
 */
const MARK_RANGES = String.raw`\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f`

/** Characters without width: Unicode's Default_Ignorable_Code_Point. */
const IGNORABLE_RANGES = String.raw`\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}`

/** Apostrophes and what people type for them: `O'Brien`, `O’Brien` and `obrien` are one. */
const APOSTROPHE_RANGES = String.raw`\u0027\u0060\u02b9\u02bb\u02bc\u02bd\u2018\u2019\u201b\u2032\u2035`

/** An accent that people type for an apostrophe. It is left out before NFKD, which would make a space and a mark of it. */
export const ACUTE_ACCENT = '\u00b4'

/** All that folding leaves out after NFKD. */
export const LEFT_OUT_RANGES = `${MARK_RANGES}${IGNORABLE_RANGES}${APOSTROPHE_RANGES}`
const leftOut = new RegExp(`[${LEFT_OUT_RANGES}]`, 'gu')

/** Letters that full case folding or custom spells with several letters. */
export const LONG_LETTERS = { ß: 'ss', æ: 'ae', œ: 'oe', þ: 'th' } as const
const longLetters = new RegExp(`[${Object.keys(LONG_LETTERS).join('')}]`, 'g')

/** Letters that Unicode does not decompose. `to` has the plain letter at the same position. Both forms of sigma are one (full case folding). */
export const PLAIN_LETTERS = { from: 'øđðħıłŧς', to: 'oddhiltσ' } as const

/** Spaces that NFKD keeps. ASCII's own spaces are folded, too. */
const SPACES = '\u0085\u1680\u2028\u2029'
/** Hyphens that NFKD keeps: those of the category Pd, the hyphen bullet, the swung dash and the minus sign. */
const HYPHENS =
  '\u058a\u05be\u1400\u1806\u2010\u2012\u2013\u2014\u2015\u2043\u2053\u2212\u2e17\u2e1a\u2e3a\u2e3b\u2e40\u2e5d\u301c\u3030\u30a0\u{10d6e}\u{10ead}'
/** `to` has the replacement at the same position. */
export const SPACES_AND_HYPHENS = {
  from: SPACES + HYPHENS,
  to: ' '.repeat(SPACES.length) + '-'.repeat(Array.from(HYPHENS).length),
}
const from = Array.from(SPACES_AND_HYPHENS.from + PLAIN_LETTERS.from)
const to = Array.from(SPACES_AND_HYPHENS.to + PLAIN_LETTERS.to)
const plainLetters = new RegExp(`[${from.join('')}]`, 'gu')

const ARABIC_LETTERS = String.raw`\u0620-\u064a\u066e-\u06d3\u06d5\u06ee\u06ef\u06fa-\u06fc\u06ff\u0750-\u077f\u08a0-\u08c9`

/**
 * Spaces between Arabic letters, for regular expressions of JavaScript and PostgreSQL. A search with such a space ignores all of them, because
 * some people type a space where others type the non-joiner U+200C, which folding leaves out.
 */
export const SPACES_BETWEEN_ARABIC = `(?<=[${ARABIC_LETTERS}]) +(?=[${ARABIC_LETTERS}])`
const spacesBetweenArabic = new RegExp(SPACES_BETWEEN_ARABIC, 'g')

/** Returns a search without its spaces between Arabic letters. */
export function withoutArabicSpaces(search: string): string {
  return search.replaceAll(spacesBetweenArabic, '')
}

/** Returns the folded text. PostgreSQL folds rows in the same way. */
function folded(text: string): string {
  return text
    .replaceAll(ACUTE_ACCENT, '')
    .normalize('NFKD')
    .replaceAll(leftOut, '')
    .toLowerCase()
    .replaceAll(longLetters, (letter) => LONG_LETTERS[letter as keyof typeof LONG_LETTERS])
    .replaceAll(plainLetters, (letter) => to[from.indexOf(letter)]!)
}

/** Returns the folded text that a list is searched for, with one space between words. */
export function searchedWords(search: string): string {
  return folded(search).replaceAll(/\s+/g, ' ').trim()
}

/** Returns the folded text that a list of people is searched for, without the leading `@` of a handle. */
export function searchedText(search: string): string {
  return searchedWords(search).replace(/^@+/, '')
}

/** Whether a text that is not empty contains nothing to look for, such as a combining mark alone. Such a search finds nothing. */
export function foldsToNothing(search: string): boolean {
  return search.trim() !== '' && folded(search).trim() === ''
}

/** Whether a search in a list of people finds only the beginnings of words. Non-ASCII characters have their own index. */
export function findsBeginningsOnly(search: string): boolean {
  const text = searchedText(search)
  return text !== '' && text.length < MIN_PART_LENGTH && /^[a-zA-Z0-9_.#@ -]+$/.test(text)
}
