/**
 * A table as a CSV file, streamed: RFC 4180 with commas and CRLF, in UTF-8 with a byte order mark, without which Excel takes it for
 * another encoding. Texts are guarded against formulas as in a spreadsheet.
 */
import { type Column, guardText, type SpreadsheetOptions } from './spreadsheet.ts'

const BYTE_ORDER_MARK = '\uFEFF'
const END_OF_LINE = '\r\n'

/** The file as a stream of bytes, made only as fast as it is read. A failure of `rows` errors the stream. */
export function csv<Row>(options: Omit<SpreadsheetOptions<Row>, 'sheetName'>): ReadableStream<Uint8Array> {
  const { columns, rows, onRows, signal } = options
  const batches = rows[Symbol.asyncIterator]()
  const encoder = new TextEncoder()
  const closed = new AbortController()
  let written = 0
  let text = BYTE_ORDER_MARK + csvLine(columns.map(({ header }) => header))
  const release = async (): Promise<void> => {
    closed.abort()
    await batches.return?.()
  }
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        const handleAbort = (): void => {
          controller.error(signal?.reason)
          release().catch(() => {}) // the reader gets the signal's reason
        }
        if (signal?.aborted) handleAbort()
        else signal?.addEventListener('abort', handleAbort, { once: true, signal: closed.signal })
      },
      async pull(controller) {
        let isEnded = false
        do {
          const batch = await batches.next()
          if (closed.signal.aborted) return
          isEnded = batch.done ?? false
          const rowsOfBatch = batch.done ? [] : batch.value
          for (const row of rowsOfBatch) text += csvLine(columns.map((column) => cellText(column, row)))
          onRows?.((written += rowsOfBatch.length))
        } while (text === '' && !isEnded)
        if (text !== '') controller.enqueue(encoder.encode(text))
        text = ''
        if (!isEnded) return
        closed.abort()
        controller.close()
      },
      cancel: release,
    },
    { highWaterMark: 0 },
  )
}

/** Dates stand as in the spreadsheet, in UTC. */
function cellText<Row>(column: Column<Row>, row: Row): string {
  const value = column.value(row)
  if (value === null || value === undefined || Number.isNaN(value)) return ''
  if (!(value instanceof Date)) return String(value)
  return Number.isNaN(value.getTime())
    ? ''
    : value
        .toISOString()
        .replace('T', ' ')
        .replace(/\.\d+Z$/, '')
}

function csvLine(texts: string[]): string {
  return texts.map(field).join(',') + END_OF_LINE
}

function field(text: string): string {
  const safe = guardText(text)
  return /[",;\t\n]|^\s|\s$/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
