/**
 * Writes spreadsheets in a process of their own, which gives way to requests: this one only hands rows and bytes over. Hides the process, which
 * all sheets share, and that another is started when it ended.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { SheetFormat } from '@arcade/contract/downloads/calls'
import type { Envelope, FromSheet, ToSheet } from './sheet-process.ts'
import type { SpreadsheetContent } from './spreadsheet.ts'

export interface SheetOptions extends SpreadsheetContent {
  format: SheetFormat
  /** Firing breaks the stream with the signal's reason, also while nobody reads. */
  signal?: AbortSignal | undefined
}

/** So many pieces may wait for their reader, so that the process writes on while this one answers requests. */
const PIECES_AHEAD = 4
const PROGRAM = fileURLToPath(new URL('sheet-process.ts', import.meta.url))
/** What it makes is garbage at once, and files of a million rows need hardly any memory. */
const FLAGS = ['--max-semi-space-size=1', '--max-old-space-size=128']

/**
 * The file as a stream of bytes, made hardly faster than it is read: see `spreadsheet` and `csv`. A failure of `rows` or of the process errors
 * the stream, so a transfer breaks instead of ending well.
 */
export function writeSheet({ format, sheetName, columns, rows, onRows, signal }: SheetOptions): ReadableStream<Uint8Array> {
  const chunks = rows[Symbol.asyncIterator]()
  const pieces: (Uint8Array | null)[] = []
  const over = new AbortController()
  let sheet: SentSheet | undefined
  let news = Promise.withResolvers<void>()
  const end = async (): Promise<void> => {
    over.abort()
    sheet?.leave()
    news.resolve()
    await chunks.return?.()
  }

  function begin(controller: ReadableStreamDefaultController<Uint8Array>): SentSheet {
    const fail = (error: unknown): void => breakOff(controller, error)
    const begun = sendSheet((message) => {
      if ('failed' in message) return fail(message.failed)
      onRows?.(message.written)
      if ('piece' in message) {
        pieces.push(message.piece)
        news.resolve()
      } else handOver().catch(fail)
    })
    const handOver = async (): Promise<void> => {
      const { done, value } = await chunks.next()
      begun.send({ rows: done ? null : value })
    }
    begun.send({ begin: { format, sheetName, columns } })
    begun.send({ take: PIECES_AHEAD })
    return begun
  }

  function breakOff(controller: ReadableStreamDefaultController<Uint8Array>, error: unknown): void {
    if (over.signal.aborted) return
    controller.error(error)
    end().catch(() => {}) // the reader gets the error
  }

  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        const handleAbort = (): void => breakOff(controller, signal?.reason)
        if (signal?.aborted) handleAbort()
        else signal?.addEventListener('abort', handleAbort, { once: true, signal: over.signal })
      },
      async pull(controller) {
        sheet ??= begin(controller)
        while (pieces.length === 0 && !over.signal.aborted) {
          news = Promise.withResolvers()
          await news.promise
        }
        if (over.signal.aborted) return
        const piece = pieces.shift()
        if (piece) {
          sheet.send({ take: 1 })
          return controller.enqueue(piece)
        }
        await end()
        controller.close()
      },
      cancel: end,
    },
    { highWaterMark: 0 },
  )
}

interface SheetProcess {
  child: ChildProcess
  /** Who hears of each sheet under way. */
  sheets: Map<number, (message: FromSheet) => void>
}

interface SentSheet {
  send(message: ToSheet): void
  /** Nothing is heard of it any more. */
  leave(): void
}

let current: SheetProcess | undefined
let sheetsSent = 0

/** Ends the process, which breaks the sheets under way off. */
export async function stopSheetProcess(): Promise<void> {
  const child = current?.child
  if (!child || child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.ref()
  child.kill('SIGKILL')
  await ended
}

function sendSheet(hear: (message: FromSheet) => void): SentSheet {
  const { child, sheets } = (current ??= startProcess())
  sheetsSent += 1
  const sheet = sheetsSent
  const send: SentSheet['send'] = (message) => {
    // What cannot be sent any more is no failure of its own: the end of the process is told to all.
    if (sheets.has(sheet) && child.connected) child.send({ sheet, message } satisfies Envelope<ToSheet>, () => {})
  }
  sheets.set(sheet, hear)
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

/** It keeps this process alive only while there are sheets. */
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
  const handleEnd = (): void => {
    if (current === started) current = undefined
    const failed = new Error('The process that writes spreadsheets ended')
    for (const hear of sheets.values()) hear({ failed })
  }
  child.on('message', ({ sheet, message }: Envelope<FromSheet>) => sheets.get(sheet)?.(message))
  child.once('exit', handleEnd)
  child.on('error', handleEnd)
  child.unref()
  child.channel?.unref()
  return started
}
