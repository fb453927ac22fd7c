/** Texts of cells (security.md, Exports): hides what XML and Excel refuse, and the guard against formulas (docs/decisions/0003-spreadsheet-writer.md). */

export const CELL_CHARACTERS = 32_767
export const EXACT_DIGITS = 15 // of a double, all of so many digits come back the same

/**
 * What a text is as a number: undefined where it is none, or an integer that a spreadsheet would round. PostgreSQL writes decimals of any
 * length, infinities and NaN.
 */
export function numberOf(text: string): number | undefined {
  if (/^(?:NaN|-?Infinity)$/.test(text)) return NaN
  if (!/^-?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/.test(text)) return undefined
  const decimal = Number(text)
  const isRounded = /^-?\d+$/.test(text) && text.length > EXACT_DIGITS && !Number.isSafeInteger(decimal)
  return isRounded ? undefined : decimal
}

// oxlint-disable-next-line no-control-regex -- finding them is the purpose
const NEEDS_CARE = /[\x00-\x1f&<>\ufffe\uffff]|^\s|\s$|_x[\da-fA-F]{4}_|[,;|](?:"|\s)*[=+\-@＝＋－＠]/
// oxlint-disable-next-line no-control-regex
const ILLEGAL_IN_XML = /[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g

/** The cell whose tag begins with `start`, with the text as it is or guarded, cut and escaped. */
export function textCell(start: string, text: string): string {
  if (text.length <= CELL_CHARACTERS && !NEEDS_CARE.test(text) && !isFormula(text))
    return `${start} t="inlineStr"><is><t>${text}</t></is></c>`
  const safe = cut(guardText(text.replace(ILLEGAL_IN_XML, '')))
  return `${start} t="inlineStr"><is><t xml:space="preserve">${escape(safe)}</t></is></c>`
}

/** What no program shows before a formula, some may skip: control characters and the marks without width, too. */
// oxlint-disable-next-line no-control-regex -- finding them is the purpose
const FORMULA_START = /^(?:[\t\n]|["\s\x00-\x1f\x7f-\x9f\xad\u200b-\u200f\u202a-\u202e\u2060-\u2069]*[=+\-@＝＋－＠])/
/** A lone hyphen, a plain number or phone number and a handle hold nothing that a spreadsheet could compute or call. */
const HARMLESS = /^(?:-|[+-]\d+(?:\.\d+)?|@[A-Za-z0-9_.]+)$/
/**
 * Where a new cell with a formula would start for a program that takes the character before it for a separator. What is harmless up
 * to the same separator or the end of the text is left out; another separator after it may be a part of the cell. After a tab nothing is
 * left out: to a program that splits elsewhere it is white space, so that in `;⇥-5⇥-5` the two numbers are one cell.
 */
const FORMULA_AFTER_SEPARATOR =
  /(?<=([,;\t\n|]))(?=(?:"|[^\S\t\n])*[=+\-@＝＋－＠])(?!(?<!\t)(?:-|[+-]\d+(?:\.\d+)?|@[A-Za-z0-9_.]+)(?:\1|$))/g

/**
 * Text that a spreadsheet would compute after a save as CSV gets an apostrophe, as OWASP (ASVS 1.2.10) asks; also where a separator
 * or a line's end inside the text would start a new cell. Line ends become `\n`.
 */
export function guardText(text: string): string {
  const inner = text.replace(/\r\n?/g, '\n').replace(FORMULA_AFTER_SEPARATOR, "'")
  return isFormula(inner) ? `'${inner}` : inner
}

function isFormula(text: string): boolean {
  return FORMULA_START.test(text) && !HARMLESS.test(text)
}

/** Excel's limit of a cell; a surrogate pair is not cut in two. */
export function cut(text: string, length = CELL_CHARACTERS): string {
  if (text.length <= length) return text
  const isPairCut = /[\ud800-\udbff]/.test(text[length - 1]!)
  return text.slice(0, isPairCut ? length - 1 : length)
}

/** Excel reads `_x0041_` as `A`, so the underscore of such a text is escaped. A lone surrogate needs nothing: UTF-8 turns it into U+FFFD. */
export function escape(text: string): string {
  return text
    .replace(/_(?=x[\da-f]{4}_)/gi, '_x005F_')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
}
