/**
 * Writes rows of PostgreSQL's COPY text as cells of a spreadsheet (§7 downloads). Nearly all bytes are copied into the XML unchanged,
 * because decoding a million rows into strings and objects takes three times as long. Only a field with a byte that needs care is decoded.
 */
import { copyText, readField } from '#src/postgres/copy-text.ts'
import { CELL_CHARACTERS, EXACT_DIGITS, numberOf, textCell } from './cell-text.ts'
import type { PieceBuffer } from './zip-stream.ts'

/** `width` is in characters. A value that does not fit the column's kind becomes text; null, '' and a number's NaN make an empty cell. */
export interface Column {
  header: string
  width: number
  /** Dates are milliseconds since 1970. An integer becomes text unless it has its usual form and up to 15 digits. */
  kind: 'text' | 'number' | 'integer' | 'date'
  /** The index of the column's field in each row, from 0, or the value that is the same in every row. */
  field: number | { always: string | null }
  /** The text to show for each stored value that is not shown as it is. */
  words?: Readonly<Record<string, string>>
}

/** Positions of the cell formats in the `cellXfs` of the style sheet. */
export const STYLE = { header: 1, date: 2, text: 3, integer: 4 } as const

/** Flags: what a byte of a field means for its cell. */
const FLAG_SEPARATOR = 1
const FLAG_DIGIT = 2
const FLAG_POINT = 4
const FLAG_MINUS = 8
const FLAG_SPACE = 16
const FLAG_UNDERSCORE = 32
const FLAG_X = 64
/** A byte with which a text that needs the guard may start. */
const FLAG_OPENER = 128
/** A byte that a handle may contain, besides digits and the bytes above. */
const FLAG_LETTER = 256
/** A byte special to COPY, XML or CSV, or the first of a character that may be white space, a wide operator or illegal in XML. */
const FLAG_CARE = 512

const MEANINGS = new Uint16Array(256)
for (let byte = 0; byte < 0x20; byte += 1) MEANINGS[byte] = FLAG_CARE
for (const byte of Buffer.from('&<>,;|\\')) MEANINGS[byte] = FLAG_CARE
for (const byte of [0xc2, 0xe1, 0xe2, 0xe3, 0xef]) MEANINGS[byte] = FLAG_CARE
for (const byte of Buffer.from('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwyz')) MEANINGS[byte] = FLAG_LETTER
for (const byte of Buffer.from('0123456789')) MEANINGS[byte] = FLAG_DIGIT
for (const byte of Buffer.from('=+@"')) MEANINGS[byte] = FLAG_OPENER
for (const byte of Buffer.from('\t\n')) MEANINGS[byte] = FLAG_SEPARATOR
MEANINGS[0x2d] = FLAG_OPENER | FLAG_MINUS
MEANINGS[0x2e] = FLAG_POINT
MEANINGS[0x20] = FLAG_SPACE
MEANINGS[0x5f] = FLAG_UNDERSCORE
MEANINGS[0x78] = FLAG_X
const IN_HANDLES = FLAG_LETTER | FLAG_X | FLAG_DIGIT | FLAG_POINT | FLAG_UNDERSCORE
const IN_INTEGERS = FLAG_DIGIT | FLAG_MINUS
const IN_NUMBERS = IN_INTEGERS | FLAG_POINT

const BYTE_NEWLINE = 0x0a
const BYTE_BACKSLASH = 0x5c
const BYTE_N = 0x4e
const BYTE_AT = 0x40
const BYTE_PLUS = 0x2b
const BYTE_HYPHEN = 0x2d
const BYTE_POINT = 0x2e
const BYTE_X = 0x78
const BYTE_ZERO = 0x30
/** Bytes to reserve for a cell's tags, its position and a number. */
const TAGS_BYTES = 128
const GENERAL_FORMAT_DIGITS = 12 // Excel's General format shows integers of 12 or more digits with an exponent

const DAY_MS = 86_400_000
const UNIX_EPOCH_DAY = 25_569 // 1970-01-01 as Excel counts days
const FIRST_DATE_MS = Date.UTC(1900, 2, 1) // before this day Excel's numbers are one off: it counts a 29 February 1900
const LAST_DATE_MS = Date.UTC(10_000, 0, 1) - 1
const GENERAL_FORMAT_END = 10 ** (GENERAL_FORMAT_DIGITS - 1)

/** Where each field of one row starts and ends, and the flags of all its bytes together. */
class Fields {
  readonly starts: Int32Array
  readonly ends: Int32Array
  readonly meanings: Uint16Array
  count = 0

  constructor(limit: number) {
    this.starts = new Int32Array(limit)
    this.ends = new Int32Array(limit)
    this.meanings = new Uint16Array(limit)
  }

  /** Reads the fields of the row that starts at `at`. @returns where the next row starts */
  read(bytes: Uint8Array, at: number): number {
    const { starts, ends, meanings } = this
    let count = 0
    let start = at
    let meaning = 0
    for (let next = at; ; next += 1) {
      const byte = bytes[next]!
      const flags = MEANINGS[byte]!
      if (flags !== FLAG_SEPARATOR) {
        meaning |= flags
        continue
      }
      if (count < starts.length) {
        starts[count] = start
        ends[count] = next
        meanings[count] = meaning
        count += 1
      }
      if (byte === BYTE_NEWLINE) {
        this.count = count
        return next + 1
      }
      start = next + 1
      meaning = 0
    }
  }
}

/** Writes rows of COPY text as rows of a worksheet. */
export class RowWriter {
  readonly #cells: Cell[]
  readonly #fields: Fields

  constructor(columns: readonly Column[]) {
    this.#cells = columns.map((column, index) => new Cell(column, index))
    this.#fields = new Fields(Math.max(0, ...columns.map(({ field }) => (typeof field === 'number' ? field + 1 : 0))))
  }

  /** Writes the row of COPY text that starts at `at`. @returns where the next row starts */
  write(bytes: Buffer, at: number, row: number, piece: PieceBuffer): number {
    const next = this.#fields.read(bytes, at)
    const number = row.toFixed(0) // `String(row)` would fill V8's number cache: 100 MB more for a million rows
    piece.reserve(TAGS_BYTES)
    piece.addBytes(ROW_START, 0, ROW_START.length)
    piece.addDigits(number)
    piece.addBytes(TAG_END, 0, TAG_END.length)
    for (const cell of this.#cells) cell.write(bytes, this.#fields, number, piece)
    piece.reserve(TAGS_BYTES)
    piece.addBytes(ROW_END, 0, ROW_END.length)
    return next
  }
}

const ROW_START = Buffer.from('<row r="')
const ROW_END = Buffer.from('</row>')
const TAG_END = Buffer.from('">')
const TEXT_START = Buffer.from(`" s="${STYLE.text}" t="inlineStr"><is><t>`)
const TEXT_END = Buffer.from('</t></is></c>')
const GUARDED_START = `" s="${STYLE.text}"`
const NUMBER_START = Buffer.from('"><v>')
const INTEGER_START = Buffer.from(`" s="${STYLE.integer}"><v>`)
const DATE_START = Buffer.from(`" s="${STYLE.date}"><v>`)
const NUMBER_END = Buffer.from('</v></c>')

/** Writes the cells of one column. */
class Cell {
  readonly #start: Buffer
  readonly #kind: Column['kind']
  readonly #words: Column['words']
  readonly #field: number
  readonly #always: { bytes: Buffer; fields: Fields } | undefined

  constructor({ kind, field, words }: Column, index: number) {
    this.#start = Buffer.from(`<c r="${columnName(index)}`)
    this.#kind = kind
    this.#words = words
    this.#field = typeof field === 'number' ? field : 0
    if (typeof field === 'number') return
    const bytes = copyText([[field.always]])
    const fields = new Fields(1)
    fields.read(bytes, 0)
    this.#always = { bytes, fields }
  }

  write(row: Buffer, fieldsOfRow: Fields, number: string, piece: PieceBuffer): void {
    const bytes = this.#always?.bytes ?? row
    const { starts, ends, meanings, count } = this.#always?.fields ?? fieldsOfRow
    const field = this.#field
    if (field >= count) return
    const start = starts[field]!
    const end = ends[field]!
    const meaning = meanings[field]!
    if (start === end || (end - start === 2 && bytes[start] === BYTE_BACKSLASH && bytes[start + 1] === BYTE_N)) return
    if (this.#words === undefined && this.#kind === 'text' && isPlain(bytes, start, end, meaning))
      return this.#add(bytes, start, end, number, TEXT_START, TEXT_END, piece)
    if (this.#words === undefined && (this.#kind === 'number' || this.#kind === 'integer')) {
      const allowed = this.#kind === 'integer' ? IN_INTEGERS : IN_NUMBERS
      const last = (meaning & ~allowed) === 0 ? numberEnd(bytes, start, end) : -1
      if (last >= 0)
        return this.#add(bytes, start, last, number, isWide(bytes, start, last) ? INTEGER_START : NUMBER_START, NUMBER_END, piece)
    }
    const stored = readField(bytes.toString('utf8', start, end))
    this.#writeText(this.#words?.[stored] ?? stored, number, piece)
  }

  #writeText(text: string, number: string, piece: PieceBuffer): void {
    if (this.#kind === 'date') {
      const time = Math.trunc(Number(text))
      if (Number.isNaN(new Date(time).getTime())) return
      if (time >= FIRST_DATE_MS && time <= LAST_DATE_MS)
        return this.#addText((time / DAY_MS + UNIX_EPOCH_DAY).toFixed(9), number, DATE_START, NUMBER_END, piece)
      return this.#addGuarded(new Date(time).toISOString(), number, piece)
    }
    const decimal = this.#kind === 'text' ? undefined : numberOf(text, this.#kind)
    if (decimal === undefined) return this.#addGuarded(text, number, piece)
    if (!Number.isFinite(decimal)) return
    const isInteger = Number.isInteger(decimal)
    const style = isInteger && Math.abs(decimal) >= GENERAL_FORMAT_END ? INTEGER_START : NUMBER_START
    const digits = isInteger && Math.abs(decimal) < 1e21 ? decimal.toFixed(0) : `${decimal}`
    this.#addText(digits, number, style, NUMBER_END, piece)
  }

  #addGuarded(text: string, number: string, piece: PieceBuffer): void {
    if (text === '') return
    piece.reserve(TAGS_BYTES)
    this.#addStart(number, piece)
    piece.add(textCell(GUARDED_START, text))
  }

  #addText(text: string, number: string, before: Buffer, after: Buffer, piece: PieceBuffer): void {
    piece.reserve(TAGS_BYTES + text.length)
    this.#addStart(number, piece)
    piece.addBytes(before, 0, before.length)
    piece.addDigits(text)
    piece.addBytes(after, 0, after.length)
  }

  #add(bytes: Buffer, start: number, end: number, number: string, before: Buffer, after: Buffer, piece: PieceBuffer): void {
    piece.reserve(TAGS_BYTES + end - start)
    this.#addStart(number, piece)
    piece.addBytes(before, 0, before.length)
    piece.addBytes(bytes, start, end)
    piece.addBytes(after, 0, after.length)
  }

  #addStart(number: string, piece: PieceBuffer): void {
    piece.addBytes(this.#start, 0, this.#start.length)
    piece.addDigits(number)
  }
}

/** Whether the bytes can be copied as a cell's text: nothing to escape, guard or cut, and no white space at the ends to preserve. */
function isPlain(bytes: Uint8Array, start: number, end: number, meaning: number): boolean {
  if (meaning & FLAG_CARE || end - start > CELL_CHARACTERS) return false
  const first = MEANINGS[bytes[start]!]!
  if (meaning & FLAG_SPACE && (first === FLAG_SPACE || MEANINGS[bytes[end - 1]!] === FLAG_SPACE)) return false
  if (meaning & FLAG_UNDERSCORE && meaning & FLAG_X && hasEscape(bytes, start, end)) return false
  return (first & FLAG_OPENER) === 0 || isHarmless(bytes, start, end)
}

/** Whether the text contains `_x`, which may begin one of Excel's escapes, such as `_x0041_`. */
function hasEscape(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = start + 1; at < end; at += 1)
    if (bytes[at] === BYTE_X && MEANINGS[bytes[at - 1]!] === FLAG_UNDERSCORE) return true
  return false
}

/** Whether the text is a handle, or digits after a sign: most texts that start like a formula are one of these. */
function isHarmless(bytes: Uint8Array, start: number, end: number): boolean {
  const first = bytes[start]!
  if (first !== BYTE_AT && first !== BYTE_PLUS && first !== BYTE_HYPHEN) return false
  const allowed = first === BYTE_AT ? IN_HANDLES : FLAG_DIGIT
  for (let at = start + 1; at < end; at += 1) if ((MEANINGS[bytes[at]!]! & allowed) === 0) return false
  return end - start > 1
}

/**
 * Returns where a number of digits, points and hyphens that can be copied ends, leaving out zeros at the end of its fraction; -1 if it must be
 * parsed.
 */
function numberEnd(bytes: Uint8Array, start: number, end: number): number {
  const first = bytes[start] === BYTE_HYPHEN ? start + 1 : start
  if (end - first > EXACT_DIGITS || end === first) return -1
  if (bytes[first] === BYTE_ZERO && end - start > 1 && bytes[first + 1] !== BYTE_POINT) return -1
  let point = -1
  for (let at = first; at < end; at += 1) {
    if (MEANINGS[bytes[at]!] === FLAG_DIGIT) continue
    if (bytes[at] !== BYTE_POINT || point >= 0 || at === first) return -1
    point = at
  }
  if (point < 0) return end
  let last = end
  while (bytes[last - 1] === BYTE_ZERO) last -= 1
  return last - 1 === point ? point : last
}

/** Whether the number is an integer that Excel's General format would show with an exponent. */
function isWide(bytes: Uint8Array, start: number, end: number): boolean {
  if (end - start < GENERAL_FORMAT_DIGITS) return false
  let digits = 0
  for (let at = start; at < end; at += 1) {
    if (bytes[at] === BYTE_POINT) return false
    if (bytes[at] !== BYTE_HYPHEN) digits += 1
  }
  return digits >= GENERAL_FORMAT_DIGITS
}

/** Returns the name of a column: A, B … Z, AA … */
export function columnName(index: number): string {
  const letter = String.fromCharCode(65 + (index % 26))
  return index < 26 ? letter : columnName(Math.floor(index / 26) - 1) + letter
}
