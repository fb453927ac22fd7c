/**
 * Text of spreadsheet cells (security.md, Exports): escapes or drops what XML and Excel refuse, and guards against formulas
 * (docs/decisions/0003-spreadsheet-writer.md).
 */

export const CELL_CHARACTERS = 32_767
export const EXACT_DIGITS = 15 // a double keeps every decimal number of up to 15 digits exactly

const SHORT_INTEGER = new RegExp(String.raw`^(?:0|-?[1-9]\d{0,${EXACT_DIGITS - 1}})$`)

/**
 * Returns the number that PostgreSQL wrote as this text: NaN for NaN and infinities, undefined for other text, such as `007`, and for an
 * integer that a spreadsheet would round. An integer identifies something: it stays text if Excel, which shows 15 digits, would show another.
 */
export function numberOf(text: string, kind: 'number' | 'integer'): number | undefined {
  const decimal = Number(text)
  if (kind === 'integer') return SHORT_INTEGER.test(text) ? decimal : undefined
  if (/^(?:NaN|-?Infinity)$/.test(text)) return NaN
  if (!/^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:e[+-]?\d+)?$/.test(text)) return undefined
  const isRounded = /^-?\d+$/.test(text) && !Number.isSafeInteger(decimal)
  return isRounded ? undefined : decimal
}

// oxlint-disable-next-line no-control-regex -- finding them is the purpose
const NEEDS_CARE = /[\x00-\x1f&<>\ufffe\uffff]|^\s|\s$|_x[\da-fA-F]{4}_|[,;|](?:"|\s)*[=+\-@＝＋－＠]/
// oxlint-disable-next-line no-control-regex
const ILLEGAL_IN_XML = /[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g

/** Returns the XML of a text cell; the text is guarded, cut and escaped if it needs to be. @param start the cell's tag up to its style */
export function textCell(start: string, text: string): string {
  if (text.length <= CELL_CHARACTERS && !NEEDS_CARE.test(text) && !isFormula(text))
    return `${start} t="inlineStr"><is><t>${text}</t></is></c>`
  const safe = cut(guardText(text.replace(ILLEGAL_IN_XML, '')))
  return `${start} t="inlineStr"><is><t xml:space="preserve">${escape(safe)}</t></is></c>`
}

/** Text that a program may take for a formula. Some skip quotes, white space, control characters and zero-width marks before it. */
// oxlint-disable-next-line no-control-regex -- finding them is the purpose
const FORMULA_START = /^(?:[\t\n]|["\s\x00-\x1f\x7f-\x9f\xad\u200b-\u200f\u202a-\u202e\u2060-\u2069]*[=+\-@＝＋－＠])/
/** A lone hyphen, a plain number or a handle: a spreadsheet can neither compute nor call anything in it. */
const HARMLESS_PIECE = String.raw`-|[+-]\d+(?:\.\d+)?|@[A-Za-z0-9_.]+`
/**
 * A harmless piece, or a phone number with spaces, which may be those without a break. A phone number with hyphens, such as `+1-555-0100`,
 * would be computed.
 */
const HARMLESS = new RegExp(String.raw`^(?:${HARMLESS_PIECE}|\+\d+(?:[ \u00a0\u202f]\d+)+)$`)
/**
 * Finds where a cell with a formula would start if a program splits the text at the character before it. Harmless text is skipped if it
 * ends at the same separator or at the end of the text; any other separator after it may belong to the cell. Nothing is skipped after a
 * tab, because a program that splits elsewhere takes the tab for white space: the two numbers in `;⇥-5⇥-5` are then one cell.
 */
const FORMULA_AFTER_SEPARATOR = new RegExp(
  String.raw`(?<=([,;\t\n|]))(?=(?:"|[^\S\t\n])*[=+\-@＝＋－＠])(?!(?<!\t)(?:${HARMLESS_PIECE})(?:\1|$))`,
  'g',
)

/**
 * Puts an apostrophe before text that a spreadsheet would compute once it is saved as CSV (OWASP ASVS 1.2.10), also after a separator or
 * line break inside the text, which may start a new cell. Line breaks become `\n`.
 */
export function guardText(text: string): string {
  const inner = text.replace(/\r\n?/g, '\n').replace(FORMULA_AFTER_SEPARATOR, "'")
  return isFormula(inner) ? `'${inner}` : inner
}

function isFormula(text: string): boolean {
  return FORMULA_START.test(text) && !HARMLESS.test(text)
}

/** Cuts a text to a length, by default Excel's limit for a cell. It does not split a surrogate pair. */
export function cut(text: string, length = CELL_CHARACTERS): string {
  if (text.length <= length) return text
  const isPairCut = /[\ud800-\udbff]/.test(text[length - 1]!)
  return text.slice(0, isPairCut ? length - 1 : length)
}

/** Escapes text for XML, and `_x0041_`, which Excel would read as `A`. A lone surrogate needs no escape: UTF-8 turns it into U+FFFD. */
export function escape(text: string): string {
  return text
    .replace(/_(?=x[\da-f]{4}_)/gi, '_x005F_')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
}
