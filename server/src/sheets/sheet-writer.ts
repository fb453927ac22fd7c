/**
 * Writes spreadsheets in a separate process of low priority, so that requests come first; the server's process only passes rows and bytes
 * on. Hides that process, which all sheets share, and that it is started again after it ended.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import type { UnderlyingSource } from 'node:stream/web'
import { fileURLToPath } from 'node:url'
import type { SheetFormat } from '@arcade/contract/downloads/calls'
import { collectAfter } from './collect-buffers.ts'
import type { Envelope, FromSheet, ToSheet } from './sheet-process.ts'
import type { SpreadsheetContent } from './spreadsheet.ts'

export interface SheetOptions extends SpreadsheetContent {
  format: SheetFormat
  /** Aborting it breaks the stream with the signal's reason, even while nobody reads. */
  signal?: AbortSignal | undefined
}

/** The most pieces that may wait for the reader, so that the process can write on while this one answers requests. */
const PIECES_AHEAD = 4
const PROGRAM = fileURLToPath(new URL('sheet-process.ts', import.meta.url))
/** Small heaps, in MB: what the process allocates is garbage at once, and even a file of a million rows needs little memory. */
const FLAGS = ['--max-semi-space-size=1', '--max-old-space-size=128']

/**
 * Returns the file as a stream, which is written at most PIECES_AHEAD pieces ahead of its reader: see `spreadsheet` and `csv`. An error of
 * `rows` or of the process breaks the stream, so that the transfer does not end as if the file were complete.
 */
export function writeSheet(options: SheetOptions): ReadableStream<Uint8Array> {
  return new ReadableStream(new SheetSource(options), { highWaterMark: 0 })
}

/** The source of the stream: passes rows to the process and the file's pieces to the reader. */
class SheetSource implements UnderlyingSource<Uint8Array> {
  readonly #options: SheetOptions
  readonly #rows: AsyncIterator<Uint8Array>
  /** The pieces that wait for the reader; null after the last one. */
  readonly #pieces: (Uint8Array | null)[] = []
  readonly #over = new AbortController()
  #sheet: SentSheet | undefined
  #change = Promise.withResolvers<void>()

  constructor(options: SheetOptions) {
    this.#options = options
    this.#rows = options.rows[Symbol.asyncIterator]()
  }

  start(controller: ReadableStreamDefaultController<Uint8Array>): void {
    const { signal } = this.#options
    const handleAbort = (): void => this.#breakOff(controller, signal?.reason)
    if (signal?.aborted) handleAbort()
    else signal?.addEventListener('abort', handleAbort, { once: true, signal: this.#over.signal })
  }

  async pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    this.#sheet ??= this.#begin((error) => this.#breakOff(controller, error))
    while (this.#pieces.length === 0 && !this.#over.signal.aborted) {
      this.#change = Promise.withResolvers()
      await this.#change.promise
    }
    if (this.#over.signal.aborted) return
    const piece = this.#pieces.shift()
    if (piece) {
      this.#sheet.send({ take: 1 })
      return controller.enqueue(piece)
    }
    await this.#end()
    controller.close()
  }

  async cancel(): Promise<void> {
    await this.#end()
  }

  #begin(onFailure: (error: unknown) => void): SentSheet {
    const { format, sheetName, columns, onRows } = this.#options
    const sheet = sendSheet((message) => {
      if ('failed' in message) return onFailure(message.failed)
      onRows?.(message.written)
      if ('more' in message) return void this.#sendRows(sheet).catch(onFailure)
      this.#pieces.push(message.piece)
      this.#change.resolve()
    })
    sheet.send({ begin: { format, sheetName, columns } })
    sheet.send({ take: PIECES_AHEAD })
    return sheet
  }

  async #sendRows(sheet: SentSheet): Promise<void> {
    const { done, value } = await this.#rows.next()
    sheet.send({ rows: done ? null : value })
    if (!done) collectAfter(value.length)
  }

  #breakOff(controller: ReadableStreamDefaultController<Uint8Array>, error: unknown): void {
    if (this.#over.signal.aborted) return
    controller.error(error)
    this.#end().catch(() => {}) // the reader gets the error
  }

  async #end(): Promise<void> {
    this.#over.abort()
    this.#sheet?.leave()
    this.#change.resolve()
    await this.#rows.return?.()
  }
}

interface SheetProcess {
  child: ChildProcess
  /** The message handler of each sheet under way, by its number. */
  sheets: Map<number, (message: FromSheet) => void>
}

interface SentSheet {
  send(message: ToSheet): void
  /** Abandons the sheet: no more of its messages are handled. */
  leave(): void
}

let current: SheetProcess | undefined
let sheetsSent = 0

/** Ends the process. This breaks off the sheets under way. */
export async function stopSheetProcess(): Promise<void> {
  const child = current?.child
  if (!child || child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.ref()
  child.kill('SIGKILL')
  await ended
}

function sendSheet(onMessage: (message: FromSheet) => void): SentSheet {
  const { child, sheets } = (current ??= startProcess())
  sheetsSent += 1
  const sheet = sheetsSent
  const send: SentSheet['send'] = (message) => {
    // A message that cannot be sent needs no error here: when the process ends, every sheet gets one.
    if (sheets.has(sheet) && child.connected) child.send({ sheet, message } satisfies Envelope<ToSheet>, () => {})
  }
  sheets.set(sheet, onMessage)
  child.channel?.ref()
  return {
    send,
    leave() {
      send({ left: true })
      sheets.delete(sheet)
      if (sheets.size === 0) child.channel?.unref()
    },
  }
}

/** Starts the process. It keeps the server's process alive only while there are sheets. */
function startProcess(): SheetProcess {
  const child = fork(PROGRAM, [], {
    serialization: 'advanced',
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    execArgv: FLAGS,
    env: {},
    detached: true, // a session of its own
  })
  const sheets: SheetProcess['sheets'] = new Map()
  const started = { child, sheets }
  const handleEnd = (reason: string): void => {
    if (current === started) current = undefined
    const failed = new Error(`The process that writes spreadsheets ended: ${reason}`)
    for (const onMessage of sheets.values()) onMessage({ failed })
  }
  child.on('message', ({ sheet, message }: Envelope<FromSheet>) => sheets.get(sheet)?.(message))
  child.once('exit', (code, killedBy) => handleEnd(killedBy ?? `exit code ${code}`))
  child.on('error', (error) => handleEnd(error.message))
  child.unref()
  child.channel?.unref()
  return started
}
