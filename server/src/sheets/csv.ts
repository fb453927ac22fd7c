/**
 * A table as a CSV file, streamed: RFC 4180 with commas and CRLF, in UTF-8 with a byte order mark, without which Excel takes it for
 * another encoding. Texts are guarded against formulas as in a spreadsheet.
 */
import { readRows } from '#src/postgres/copy-text.ts'
import { guardText, numberOf } from './cell-text.ts'
import type { Column } from './cells.ts'
import type { SpreadsheetOptions } from './spreadsheet.ts'

const BYTE_ORDER_MARK = '\uFEFF'
const END_OF_LINE = '\r\n'

/** The file as a stream of bytes, made only as fast as it is read. A failure of `rows` errors the stream. */
export function csv(options: Omit<SpreadsheetOptions, 'sheetName'>): ReadableStream<Uint8Array> {
  const { columns, rows, onRows, signal } = options
  const chunks = rows[Symbol.asyncIterator]()
  const encoder = new TextEncoder()
  const closed = new AbortController()
  let written = 0
  let text = BYTE_ORDER_MARK + csvLine(columns.map(({ header }) => header))
  const release = async (): Promise<void> => {
    closed.abort()
    await chunks.return?.()
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
          const chunk = await chunks.next()
          if (closed.signal.aborted) return
          isEnded = chunk.done ?? false
          const rowsOfChunk = chunk.done ? [] : readRows(chunk.value)
          for (const row of rowsOfChunk) text += csvLine(columns.map((column) => cellText(column, row)))
          onRows?.((written += rowsOfChunk.length))
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
function cellText({ kind, field: source, words }: Column, row: readonly (string | null)[]): string {
  const stored = (typeof source === 'number' ? row[source] : source.always) ?? ''
  const text = words?.[stored] ?? stored
  if (text === '' || kind === 'text') return text
  if (kind === 'number') {
    const decimal = numberOf(text) ?? text
    return Number.isNaN(decimal) ? '' : String(decimal)
  }
  const date = new Date(Number(text))
  return Number.isNaN(date.getTime())
    ? ''
    : date
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
