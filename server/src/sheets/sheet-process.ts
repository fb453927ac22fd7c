/**
 * The process that writes spreadsheets: sheet-writer.ts sends it the rows of each and gets the file's pieces, both only as fast as they are
 * taken. It ends with the server.
 */
import { letGiveWay } from '#src/postgres/priority.ts'
import type { SheetFormat } from '@arcade/contract/downloads/calls'
import type { Column } from './cells.ts'
import { csv } from './csv.ts'
import { spreadsheet } from './spreadsheet.ts'

export interface SheetTask {
  format: SheetFormat
  sheetName: string
  columns: readonly Column[]
}

/** What is said of a sheet, which has the number `sheet`. */
export interface Envelope<Message> {
  sheet: number
  message: Message
}

/** `take`: so many more pieces may be sent. `rows` answers `more`; null is their end. `left`: nobody wants the file any more. */
export type ToSheet = { begin: SheetTask } | { take: number } | { rows: Uint8Array | null } | { left: true }
/** `more`: the next rows are wanted. `written`: so many rows are in the file. It ends with null, or with what went wrong. */
export type FromSheet = ({ written: number } & ({ more: true } | { piece: Uint8Array | null })) | { failed: unknown }

type Handle = (message: ToSheet) => void
const sheets = new Map<number, Handle>()

// Ctrl-C in a terminal is the server's, which still answers the requests under way.
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => {})
process.on('disconnect', () => process.exit())
process.on('message', ({ sheet, message }: Envelope<ToSheet>) => {
  if ('begin' in message) {
    const { handle, ended } = write(sheet, message.begin)
    sheets.set(sheet, handle)
    void ended.finally(() => sheets.delete(sheet))
  } else sheets.get(sheet)?.(message)
})
// Linux shares the processors out among sessions first, and this process has one of its own.
await letGiveWay(process.pid)

function write(sheet: number, { format, sheetName, columns }: SheetTask): { handle: Handle; ended: Promise<void> } {
  // What cannot be sent because the server has just ended is wanted by nobody.
  const send = (message: FromSheet): void => void process.send?.({ sheet, message } satisfies Envelope<FromSheet>, () => {})
  let isLeft = false
  let written = 0
  let takes = 0
  let rowsCame = Promise.withResolvers<Uint8Array | null>()
  let mayTake = Promise.withResolvers<void>()

  function handle(message: ToSheet): void {
    if ('rows' in message) return rowsCame.resolve(message.rows)
    if ('take' in message) takes += message.take
    if ('left' in message) {
      isLeft = true
      rowsCame.resolve(null)
    }
    mayTake.resolve()
  }

  async function* chunks(): AsyncGenerator<Buffer> {
    while (!isLeft) {
      rowsCame = Promise.withResolvers()
      send({ more: true, written })
      const rows = await rowsCame.promise
      if (rows === null) return
      yield Buffer.from(rows.buffer, rows.byteOffset, rows.byteLength)
    }
  }

  async function writeAll(): Promise<void> {
    const table = { columns, rows: chunks(), onRows: (count: number) => void (written = count) }
    try {
      for await (const piece of format === 'csv' ? csv(table) : spreadsheet({ ...table, sheetName })) {
        while (takes === 0 && !isLeft) {
          mayTake = Promise.withResolvers()
          await mayTake.promise
        }
        if (isLeft) return
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
