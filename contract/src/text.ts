/**
 * The rules for texts that people type and names that others chose: which are empty, which are equal, how long they are, and how a name
 * stands in a sentence. Imports no package, because the first page of the web app loads it.
 */

/**
 * Characters that cannot be seen, for a class in a regular expression with the flag `u`: `Default_Ignorable_Code_Point` (UAX #44) includes
 * zero-width characters, directional controls, the Hangul fillers and variation selectors. U+2028 and U+2029 separate lines and paragraphs.
 */
const INVISIBLE = String.raw`\p{Default_Ignorable_Code_Point}\u2028\u2029`

/**
 * Other characters that show nothing: white space, control characters, noncharacters, a Braille pattern without dots, the marks of an
 * annotation, the place of an object, a musical note without head, the filler of the Khitan script and the blanks of hieroglyphs.
 */
const EMPTY = String.raw`\s\p{Cc}\p{Noncharacter_Code_Point}\u2800\ufff9-\ufffc\u{1d159}\u{16fe4}\u{13441}\u{13442}`

/** All that shows nothing with no visible character before it: a combining mark needs one. */
const BASELESS = String.raw`${EMPTY}${INVISIBLE}\p{M}`
const blank = new RegExp(`^[${BASELESS}]*$`, 'u')

/** Whether nothing of a text can be seen. */
export function isBlank(text: string | null | undefined): boolean {
  return text === null || text === undefined || blank.test(text)
}

/**
 * Returns a text as it is kept: in NFC, so that texts that look equal are equal, without white space around it, and empty if it is blank.
 * Invisible characters inside it are kept, because emoji and several scripts need them.
 */
export function typedText(text: string): string {
  return isBlank(text) ? '' : text.normalize('NFC').trim()
}

/** Whether PostgreSQL can keep a text: it has neither U+0000 nor halves of surrogate pairs. */
export function isStorable(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed()
}

/** The length of a text in code points, as in schemas, PostgreSQL and Telegram's limits. */
export function characterCount(text: string): number {
  let count = 0
  for (const _ of text) count++
  return count
}

/** Returns the beginning of a text of at most `maxLength` code points. */
export function firstCharacters(text: string, maxLength: number): string {
  return text.length <= maxLength ? text : Array.from(text).slice(0, maxLength).join('')
}

/** A visible non-ASCII character: a letter of another script or an emoji. */
const SHAPED = String.raw`[^\0-\x7f${EMPTY}${INVISIBLE}]`
const shapingOrInvisible = new RegExp(
  String.raw`((?<=${SHAPED})[\ufe00-\ufe0f]|(?<=${SHAPED}[\ufe00-\ufe0f]?)[\u200c\u200d](?=${SHAPED}))|[${INVISIBLE}]`,
  'gu',
)

/** What shows nothing at the ends of a text. The second part begins at an empty character, so a mark that has a base stays. */
const emptyEnds = new RegExp(String.raw`^[${BASELESS}]+|(?=[${EMPTY}])(?<![${EMPTY}]\p{M}*)[${BASELESS}]+$`, 'gu')

/**
 * Returns a link or the name of a file without invisible characters, and without what shows nothing at its ends. Keeps two kinds, because the
 * addresses of some pages contain them: variation selectors after a non-ASCII character, joiners between two.
 */
export function withoutInvisible(text: string): string {
  return text.replaceAll(shapingOrInvisible, '$1').replaceAll(emptyEnds, '')
}

const emptyRuns = new RegExp(`[${EMPTY}]+`, 'gu')

/** Returns a typed name that has to be unique, so that names which look equal are: with single spaces, and without invisible characters. */
export function typedName(text: string): string {
  return typedText(withoutInvisible(text).replaceAll(emptyRuns, ' '))
}

const aroundUsername = new RegExp(String.raw`^[${BASELESS}@＠﹫]+|(?<![${EMPTY}${INVISIBLE}])[${EMPTY}${INVISIBLE}]+$`, 'gu')

/** Returns a Telegram username without what may stand around it: what shows nothing, and before it the `@` of a handle, in any width. */
export function bareUsername(text: string): string {
  return text.replaceAll(aroundUsername, '')
}

/** Characters of a text that follow each other and are all visible, or all invisible. */
export interface TextPart {
  text: string
  isInvisible: boolean
}

/** Returns the parts of a text. The characters that `withoutInvisible` keeps count as visible. */
export function textParts(text: string): TextPart[] {
  const parts: TextPart[] = []
  const add = (part: string, isInvisible: boolean): void => {
    const last = parts.at(-1)
    if (last?.isInvisible === isInvisible) last.text += part
    else if (part !== '') parts.push({ text: part, isInvisible })
  }
  let end = 0
  for (const { 0: found, 1: kept, index } of text.matchAll(shapingOrInvisible)) {
    add(text.slice(end, index), false)
    add(found, kept === undefined)
    end = index + found.length
  }
  add(text.slice(end), false)
  return parts
}

/** Returns a file's name as people see it: without folders, control characters and invisible characters; empty if nothing is left. */
export function shownFileName(name: string): string {
  return withoutInvisible((name.split(/[/\\]/).at(-1) ?? '').replaceAll(/\p{Cc}/gu, ''))
}

/** Directional controls: they could turn around the text that follows the name. */
const directionalControls = /\p{Bidi_Control}/gu
/** Characters that end a paragraph or line, and with it an isolation. */
const separators = /[\p{Cc}\u2028\u2029]/gu
/** The blocks whose characters are written from right to left (UAX #9, table 4). */
const rightToLeft = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u
const FIRST_STRONG_ISOLATE = '\u2068'
const POP_DIRECTIONAL_ISOLATE = '\u2069'

/**
 * Returns a name that others chose as it stands in a sentence of ours: without directional controls, and isolated (UAX #9) if it is written
 * from right to left. All other names stay as they are, so that the specification's sentences do, too.
 */
export function isolated(name: string): string {
  const plain = name.replaceAll(directionalControls, '').replaceAll(separators, ' ')
  return rightToLeft.test(plain) ? FIRST_STRONG_ISOLATE + plain + POP_DIRECTIONAL_ISOLATE : plain
}
