/** What a searched text means, alike on both sides: letters are the same whatever their case, width and diacritics. */

/** In lists of people shorter texts are found at the beginnings of words alone: no index has a part of a word that is so short. */
const PART_MIN_LENGTH = 3

/**
 * Diacritics as they stand after their letters in NFKD, and the points of Hebrew and Arabic, as ranges in a regular expression of
 * JavaScript or PostgreSQL. Without vowel signs, which are letters.
 */
export const MARK_RANGES = String.raw`\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f`
const marks = new RegExp(`[${MARK_RANGES}]`, 'g')

/** Letters with a stroke, which NFKD leaves as they are, and at the same places the letters that are looked for instead. */
export const STROKES = { letters: 'øđħıłŧ', plain: 'odhilt' } as const
const strokes = new RegExp(`[${STROKES.letters}]`, 'gi')

/** The text that a list of people is searched for, without widths and diacritics, and without a leading `@`, which people write before a handle. */
export function searchedText(search: string): string {
  return withoutMarks(search)
    .replaceAll(strokes, (letter) => STROKES.plain.charAt(STROKES.letters.indexOf(letter.toLowerCase())))
    .replaceAll(/\s+/g, ' ')
    .trim()
    .replace(/^@+/, '')
}

/** Whether a text that is not empty holds nothing to look for, such as a mark without its letter: it is found nowhere. */
export function foldsToNothing(search: string): boolean {
  return search.trim() !== '' && withoutMarks(search).trim() === ''
}

function withoutMarks(text: string): string {
  return text.normalize('NFKD').replaceAll(marks, '')
}

/** Whether a list of people is searched for the beginnings of words alone. Characters beyond ASCII have an index of their own. */
export function findsBeginningsOnly(search: string): boolean {
  const text = searchedText(search)
  return text !== '' && text.length < PART_MIN_LENGTH && /^[a-zA-Z0-9_.#@ -]+$/.test(text)
}
