/**
 * The process that writes spreadsheets. sheet-writer.ts sends it the rows of each sheet and receives the file in pieces, both only as fast
 * as the other side takes them. The process ends with the server.
 */
import { lowerProcessPriority } from '#src/postgres/priority.ts'
import type { SheetFormat } from '@arcade/contract/downloads/calls'
import type { Column } from './cells.ts'
import { csv } from './csv.ts'
import { spreadsheet } from './spreadsheet.ts'

export interface SheetTask {
  format: SheetFormat
  sheetName: string
  columns: readonly Column[]
}

/** A message about the sheet with the number `sheet`. */
export interface Envelope<Message> {
  sheet: number
  message: Message
}

/**
 * `begin`: write a sheet. `take`: send up to this many more pieces. `rows`: the rows that `more` asked for, or null at the end.
 * `left`: stop, because the reader has left.
 */
export type ToSheet = { begin: SheetTask } | { take: number } | { rows: Uint8Array | null } | { left: true }
/**
 * `more`: send the next rows. `piece`: bytes of the file, or null at its end. `written`: the number of rows in the file so far.
 * `failed`: the error that ended the sheet.
 */
export type FromSheet = ({ written: number } & ({ more: true } | { piece: Uint8Array | null })) | { failed: unknown }

type Handle = (message: ToSheet) => void
const sheets = new Map<number, Handle>()

// These signals are for the server: it answers the requests under way, then kills this process.
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => {})
process.on('disconnect', () => process.exit())
process.on('message', ({ sheet, message }: Envelope<ToSheet>) => {
  if ('begin' in message) {
    const { handle, ended } = write(sheet, message.begin)
    sheets.set(sheet, handle)
    void ended.finally(() => sheets.delete(sheet))
  } else sheets.get(sheet)?.(message)
})
// This process leads a session of its own (`detached`), so its low priority counts even where Linux groups processes by session.
await lowerProcessPriority(process.pid)

function write(sheet: number, { format, sheetName, columns }: SheetTask): { handle: Handle; ended: Promise<void> } {
  // A message that cannot be sent needs no error: the server has just ended.
  const send = (message: FromSheet): void => void process.send?.({ sheet, message } satisfies Envelope<FromSheet>, () => {})
  let hasReaderLeft = false
  let written = 0
  let takes = 0
  let nextRows = Promise.withResolvers<Uint8Array | null>()
  let change = Promise.withResolvers<void>()

  function handle(message: ToSheet): void {
    if ('rows' in message) return nextRows.resolve(message.rows)
    if ('take' in message) takes += message.take
    if ('left' in message) {
      hasReaderLeft = true
      nextRows.resolve(null)
    }
    change.resolve()
  }

  async function* chunks(): AsyncGenerator<Buffer> {
    while (!hasReaderLeft) {
      nextRows = Promise.withResolvers()
      send({ more: true, written })
      const rows = await nextRows.promise
      if (rows === null) return
      yield Buffer.from(rows.buffer, rows.byteOffset, rows.byteLength)
    }
  }

  async function writeAll(): Promise<void> {
    const table = { columns, rows: chunks(), onRows: (count: number) => void (written = count) }
    try {
      for await (const piece of format === 'csv' ? csv(table) : spreadsheet({ ...table, sheetName })) {
        while (takes === 0 && !hasReaderLeft) {
          change = Promise.withResolvers()
          await change.promise
        }
        if (hasReaderLeft) return
        takes -= 1
        send({ piece, written })
      }
      send({ piece: null, written })
    } catch (error) {
      send({ failed: error })
    }
  }

  return { handle, ended: writeAll() }
}
