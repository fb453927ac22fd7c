/**
 * Streams a table as a CSV file: RFC 4180 with commas and CRLF, in UTF-8 with a byte order mark, without which Excel assumes another
 * encoding. Texts are guarded against formulas as in an XLSX file.
 */
import { readRows } from '#src/postgres/copy-text.ts'
import { guardText, numberOf } from './cell-text.ts'
import type { Column } from './cells.ts'
import type { SheetContent } from './spreadsheet.ts'

const BYTE_ORDER_MARK = '\uFEFF'
const END_OF_LINE = '\r\n'

/** Yields the file in pieces, only as fast as they are read. Throws what `rows` throws. */
export async function* csv({ columns, rows, onRows }: SheetContent): AsyncGenerator<Uint8Array> {
  let written = 0
  yield Buffer.from(BYTE_ORDER_MARK + csvLine(columns.map(({ header }) => textField(header))))
  for await (const chunk of rows) {
    const read = readRows(chunk)
    yield Buffer.from(read.map((row) => csvLine(columns.map((column) => cellField(column, row)))).join(''))
    onRows?.((written += read.length))
  }
}

/** Returns the field of a cell. A number needs no guard, not even -1e-7. Dates are in UTC and look as in the XLSX file. */
function cellField({ kind, field: source, words }: Column, row: readonly (string | null)[]): string {
  const stored = (typeof source === 'number' ? row[source] : source.always) ?? ''
  const text = words?.[stored] ?? stored
  if (text === '' || kind === 'text') return textField(text)
  if (kind === 'number' || kind === 'integer') {
    const decimal = numberOf(text, kind)
    if (decimal === undefined) return textField(text)
    return Number.isNaN(decimal) ? '' : String(decimal)
  }
  const date = new Date(Number(text))
  return Number.isNaN(date.getTime()) ? '' : date.toISOString().replace('T', ' ').replace(/Z$/, '')
}

function csvLine(fields: string[]): string {
  return fields.join(',') + END_OF_LINE
}

/** Returns the field of a text: guarded, and in quotes if it needs them. */
function textField(text: string): string {
  const safe = guardText(text)
  return /[",;\t\n]|^\s|\s$/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
