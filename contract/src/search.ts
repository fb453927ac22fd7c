/** Normalises search texts, in the same way on both sides: case, width and diacritics are ignored. */

/** Shorter texts are found only at the beginnings of words in lists of people, because the trigram index cannot find them inside words. */
const PART_MIN_LENGTH = 3

/**
 * Ranges of combining diacritics after NFKD, and Hebrew and Arabic points, for regular expressions of JavaScript and PostgreSQL. Vowel
 * signs are not included, because they are letters.
 */
export const MARK_RANGES = String.raw`\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f`
const marks = new RegExp(`[${MARK_RANGES}]`, 'g')

/** Letters with a stroke, which NFKD does not decompose, and at the same positions their plain letters. */
export const STROKES = { letters: 'øđħıłŧ', plain: 'odhilt' } as const
const strokes = new RegExp(`[${STROKES.letters}]`, 'gi')

/** Returns the text that a list of people is searched for: without widths, diacritics, and the leading `@` of a handle. */
export function searchedText(search: string): string {
  return withoutMarks(search)
    .replaceAll(strokes, (letter) => STROKES.plain.charAt(STROKES.letters.indexOf(letter.toLowerCase())))
    .replaceAll(/\s+/g, ' ')
    .trim()
    .replace(/^@+/, '')
}

/** Whether a text that is not empty contains nothing to look for, such as a combining mark alone. Such a search finds nothing. */
export function foldsToNothing(search: string): boolean {
  return search.trim() !== '' && withoutMarks(search).trim() === ''
}

function withoutMarks(text: string): string {
  return text.normalize('NFKD').replaceAll(marks, '')
}

/** Whether a search in a list of people finds only the beginnings of words. Non-ASCII characters have their own index. */
export function findsBeginningsOnly(search: string): boolean {
  const text = searchedText(search)
  return text !== '' && text.length < PART_MIN_LENGTH && /^[a-zA-Z0-9_.#@ -]+$/.test(text)
}
