/**
 * Buffers a spreadsheet for a slow reader, so that the sheet is written at its own pace and the snapshot of the database can end with it
 * (design §4, ADR 10). Hides the memory and the file in which unread bytes wait, and the time after which a silent reader is cut off.
 * A million players are 116 MB, which take a reader of 1 kB/s 32 hours: too much for memory and too long for a snapshot, hence the file.
 * Streams of Node cannot read a file that is still being written, hence the queue.
 */
import { SpillFile, SpillFolder, type SpillOptions } from './spill-file.ts'

export interface Spool {
  /** The number of transfers that have not ended. */
  readonly transfers: number
  /** Reads `source` ahead of its reader. An error of the source breaks the stream at once, even if bytes are still buffered. */
  through(source: ReadableStream<Uint8Array>): Transfer
}

export interface Transfer {
  body: ReadableStream<Uint8Array>
  /** Returns the share of the bytes written so far that the reader has taken, from 0 to 1. */
  takenShare(): number
  /** Resolves when the reader has everything or has left, or, with the reason, when it was cut off. */
  ended: Promise<unknown>
  /** Cuts the reader off. Bytes not taken yet are lost. */
  breakOff(reason: unknown): void
}

export interface SpoolOptions extends SpillOptions {
  /** Milliseconds after which a reader that takes nothing is cut off. */
  stallMs?: number
}

/**
 * More than the 23 minutes in which a reader of 1 kB/s takes a third of the 4 MB in the kernel's buffer of a socket: the kernel asks for more
 * only then. It notices earlier that a reader's machine is gone.
 */
const STALL_MS = 30 * 60_000
/** Bytes kept in memory for each transfer, so that a fast reader needs no file. */
const MEMORY_BYTES = 256 * 1024

/** Opens the spool, and removes the files that a killed process left behind. */
export async function openSpool({ stallMs = STALL_MS, ...options }: SpoolOptions): Promise<Spool> {
  const folder = new SpillFolder(options)
  await folder.clear()
  const running = new Set<SpooledTransfer>()
  return {
    get transfers() {
      return running.size
    },
    through(source) {
      const transfer = new SpooledTransfer(source, new SpillFile(folder), stallMs)
      running.add(transfer)
      void transfer.ended.then(() => running.delete(transfer))
      return transfer
    },
  }
}

/** A transfer. The bytes that its reader takes next are in memory, then in the file, then in the source. */
class SpooledTransfer implements Transfer {
  readonly body: ReadableStream<Uint8Array>
  readonly ended: Promise<unknown>
  readonly #end = Promise.withResolvers<unknown>()
  readonly #source: ReadableStreamDefaultReader<Uint8Array>
  readonly #stallMs: number
  readonly #memory: Uint8Array[] = []
  #memoryBytes = 0
  readonly #file: SpillFile
  #isWritten = false
  #isOver = false
  #writtenBytes = 0
  #takenBytes = 0
  #change = Promise.withResolvers<void>()
  #stall: NodeJS.Timeout | undefined
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined
  readonly #pumped: Promise<void>

  constructor(source: ReadableStream<Uint8Array>, file: SpillFile, stallMs: number) {
    this.#source = source.getReader()
    this.#file = file
    this.#stallMs = stallMs
    this.ended = this.#end.promise
    this.body = new ReadableStream<Uint8Array>(
      {
        start: (controller) => void (this.#controller = controller),
        pull: (controller) => this.#handOver(controller).catch((error: unknown) => this.breakOff(error)),
        cancel: async (reason) => {
          this.#finish()
          await this.#source.cancel(reason)
        },
      },
      { highWaterMark: 0 },
    )
    this.#source.closed.catch((error: unknown) => this.breakOff(error))
    this.#pumped = this.#pump().catch((error: unknown) => this.breakOff(error))
    this.#watchReader()
  }

  takenShare(): number {
    return this.#writtenBytes === 0 ? 0 : this.#takenBytes / this.#writtenBytes
  }

  breakOff(reason: unknown): void {
    if (this.#isOver) return
    this.#finish(reason)
    this.#controller?.error(reason)
    this.#source.cancel(reason).catch(() => {}) // the reader gets the reason
  }

  /** Reads the source to its end. */
  async #pump(): Promise<void> {
    for (;;) {
      const { done, value } = await this.#source.read()
      if (done) break
      this.#writtenBytes += value.length
      await this.#keep(value)
      this.#notify()
    }
    this.#isWritten = true
    this.#notify()
  }

  /** Keeps bytes until the reader takes them. Waits for the reader while there is no room. */
  async #keep(piece: Uint8Array): Promise<void> {
    while (!this.#isOver) {
      const { promise: change } = this.#change // the reader may take bytes during the attempt
      if (this.#file.isEmpty && this.#memoryBytes < MEMORY_BYTES) {
        this.#memory.push(piece)
        this.#memoryBytes += piece.length
        return
      }
      if (await this.#file.append(piece)) return
      await change
    }
  }

  /** Gives the reader its next bytes, or ends the stream. */
  async #handOver(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    clearTimeout(this.#stall)
    const bytes = await this.#next()
    if (this.#isOver) return
    if (!bytes) {
      this.#finish()
      return controller.close()
    }
    this.#takenBytes += bytes.length
    controller.enqueue(bytes)
    this.#watchReader()
    this.#notify()
  }

  /** Returns the reader's next bytes; undefined at the end. */
  async #next(): Promise<Uint8Array | undefined> {
    while (!this.#isOver) {
      const piece = this.#memory.shift()
      if (piece) {
        this.#memoryBytes -= piece.length
        return piece
      }
      if (!this.#file.isEmpty) return this.#file.read()
      if (this.#isWritten) return undefined
      await this.#change.promise
    }
    return undefined
  }

  #notify(): void {
    const { resolve } = this.#change
    this.#change = Promise.withResolvers()
    resolve()
  }

  #watchReader(): void {
    this.#stall = setTimeout(() => this.breakOff(new Error('The reader stalled')), this.#stallMs).unref()
  }

  #finish(error?: unknown): void {
    if (this.#isOver) return
    this.#isOver = true
    clearTimeout(this.#stall)
    this.#memory.length = 0
    this.#notify()
    void this.#pumped.then(() => this.#file.close())
    this.#end.resolve(error)
  }
}
