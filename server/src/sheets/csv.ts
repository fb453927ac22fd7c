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
  yield Buffer.from(BYTE_ORDER_MARK + csvLine(columns.map(({ header }) => header)))
  for await (const chunk of rows) {
    const read = readRows(chunk)
    yield Buffer.from(read.map((row) => csvLine(columns.map((column) => cellText(column, row)))).join(''))
    onRows?.((written += read.length))
  }
}

/** Returns the text of a cell. Dates are in UTC and look as in the XLSX file. */
function cellText({ kind, field: source, words }: Column, row: readonly (string | null)[]): string {
  const stored = (typeof source === 'number' ? row[source] : source.always) ?? ''
  const text = words?.[stored] ?? stored
  if (text === '' || kind === 'text') return text
  if (kind === 'number' || kind === 'integer') {
    const decimal = numberOf(text, kind) ?? text
    return Number.isNaN(decimal) ? '' : String(decimal)
  }
  const date = new Date(Number(text))
  return Number.isNaN(date.getTime()) ? '' : date.toISOString().replace('T', ' ').replace(/Z$/, '')
}

function csvLine(texts: string[]): string {
  return texts.map(field).join(',') + END_OF_LINE
}

function field(text: string): string {
  const safe = guardText(text)
  return /[",;\t\n]|^\s|\s$/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
