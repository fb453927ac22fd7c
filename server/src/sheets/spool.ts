/**
 * Buffers a spreadsheet for a slow reader, so that the sheet is written at its own pace and the snapshot of the database can end with it
 * (design §4, ADR 10). Hides the temporary file, the space it may take, and that it is removed however the transfer ends.
 */
import { randomUUID } from 'node:crypto'
import { type FileHandle, mkdir, open, rm, statfs, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import type { Logger } from 'pino'
import { reserveBytes } from '#src/postgres/free-space.ts'

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

export interface SpoolOptions {
  /** A folder that only the spool uses; its content is removed at the start. */
  directory: string
  log: Logger
  /** The most bytes in the files of all transfers together; 0 buffers in memory only. */
  limitBytes?: number
  /** Milliseconds after which a reader that takes nothing is cut off. */
  stallMs?: number
  /** Files grow only while the disk has this many times the free space below which the server refuses changes. */
  spareReserves?: number
}

const LIMIT_BYTES = 2 * 2 ** 30
/**
 * The kernel asks for more once a third of a socket's 4 MB has been read, which takes a reader of 1 kB/s 23 minutes. It notices earlier
 * that a reader's machine is gone.
 */
const STALL_MS = 30 * 60_000
/** Bytes kept in memory for each transfer, so that a fast reader needs no file. */
const MEMORY_BYTES = 256 * 1024
const READ_BYTES = 64 * 1024
const SPARE_RESERVES = 4

/** Opens the spool, and removes the files that a killed process left behind. */
export async function openSpool({
  directory,
  log,
  limitBytes = LIMIT_BYTES,
  stallMs = STALL_MS,
  spareReserves = SPARE_RESERVES,
}: SpoolOptions): Promise<Spool> {
  await rm(directory, { recursive: true, force: true })
  const running = new Set<SpooledTransfer>()
  let keptBytes = 0
  const room: Room = {
    async openFile() {
      const path = join(directory, randomUUID())
      const file = await open(path, 'wx+', 0o600)
      await unlink(path) // the system frees the space when the handle is closed, even by a kill
      return file
    },
    async take(bytes) {
      await mkdir(directory, { recursive: true, mode: 0o700 })
      const { bavail, blocks, bsize } = await statfs(directory)
      if (bavail * bsize - bytes < spareReserves * reserveBytes(blocks * bsize)) return false
      if (keptBytes + bytes > limitBytes) return false
      keptBytes += bytes
      return true
    },
    giveBack: (bytes) => void (keptBytes -= bytes),
    warn: (error) => log.warn({ event: 'spool', err: error }, 'the rest of a download could not be kept in a file'),
  }
  return {
    get transfers() {
      return running.size
    },
    through(source) {
      const transfer = new SpooledTransfer(source, room, stallMs)
      running.add(transfer)
      void transfer.ended.then(() => running.delete(transfer))
      return transfer
    },
  }
}

interface Room {
  /** Reserves bytes for a file until they are given back. @returns false if there is no room */
  take(bytes: number): Promise<boolean>
  openFile(): Promise<FileHandle>
  giveBack(bytes: number): void
  warn(error: unknown): void
}

/** A transfer. The bytes that its reader takes next are in the file, then in memory, then in the source. */
class SpooledTransfer implements Transfer {
  readonly body: ReadableStream<Uint8Array>
  readonly ended: Promise<unknown>
  readonly #end = Promise.withResolvers<unknown>()
  readonly #source: ReadableStreamDefaultReader<Uint8Array>
  readonly #room: Room
  readonly #stallMs: number
  #memory: Uint8Array[] = []
  #memoryBytes = 0
  #file: FileHandle | undefined
  #fileBytes = 0
  /** The range of the file that the reader has not taken yet. */
  #kept = { from: 0, to: 0 }
  #isSpilling = false
  #isFileBroken = false
  #isWritten = false
  #isOver = false
  #writtenBytes = 0
  #takenBytes = 0
  #change = Promise.withResolvers<void>()
  #stall: NodeJS.Timeout | undefined
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined

  constructor(source: ReadableStream<Uint8Array>, room: Room, stallMs: number) {
    this.#source = source.getReader()
    this.#room = room
    this.#stallMs = stallMs
    this.ended = this.#end.promise
    this.body = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller
          const handleFailure = (error: unknown): void => this.breakOff(error)
          this.#source.closed.catch(handleFailure)
          this.#pump().catch(handleFailure)
          this.#watchReader()
        },
        pull: async (controller) => {
          clearTimeout(this.#stall)
          try {
            const bytes = await this.#next()
            if (this.#isOver) return
            if (!bytes) {
              this.#finish()
              return controller.close()
            }
            this.#takenBytes += bytes.length
            controller.enqueue(bytes)
            this.#watchReader()
          } catch (error) {
            this.breakOff(error)
          }
        },
        cancel: async (reason) => {
          this.#finish()
          await this.#source.cancel(reason)
        },
      },
      { highWaterMark: 0 },
    )
  }

  takenShare(): number {
    return this.#writtenBytes === 0 ? 0 : this.#takenBytes / this.#writtenBytes
  }

  /** Reads the source to its end. Waits for the reader while neither memory nor the file has room. */
  async #pump(): Promise<void> {
    for (;;) {
      const { done, value } = await this.#source.read()
      if (this.#isOver) return
      if (done) break
      this.#memory.push(value)
      this.#memoryBytes += value.length
      this.#writtenBytes += value.length
      this.#notify()
      while (this.#memoryBytes > MEMORY_BYTES && !this.#isOver) {
        const isSpilled = await this.#spill()
        // If the reader emptied the memory during the attempt, nothing would end the wait.
        if (!isSpilled && this.#memoryBytes > MEMORY_BYTES) await this.#change.promise
      }
    }
    this.#isWritten = true
    this.#notify()
  }

  /** Moves the bytes in memory to the file; meanwhile the reader takes none of them. @returns false if there is no room or it fails */
  async #spill(): Promise<boolean> {
    if (this.#isFileBroken) return false
    this.#isSpilling = true
    try {
      if (this.#kept.from === this.#kept.to) this.#kept = { from: 0, to: 0 }
      const at = this.#kept.to
      const growth = Math.max(0, at + this.#memoryBytes - this.#fileBytes)
      if (growth > 0 && !(await this.#room.take(growth))) return false
      this.#fileBytes += growth
      this.#file ??= await this.#room.openFile()
      await writeAll(this.#file, this.#memory, at)
      this.#kept.to = at + this.#memoryBytes
      ;[this.#memory, this.#memoryBytes] = [[], 0]
      return true
    } catch (error) {
      this.#isFileBroken = true
      this.#room.warn(error)
      return false
    } finally {
      this.#isSpilling = false
      if (this.#isOver) this.#giveBack()
      this.#notify()
    }
  }

  /** Returns the reader's next bytes; undefined at the end. */
  async #next(): Promise<Uint8Array | undefined> {
    while (!this.#isOver) {
      const { from, to } = this.#kept
      if (from < to) {
        const { buffer, bytesRead } = await this.#file!.read(Buffer.allocUnsafe(Math.min(READ_BYTES, to - from)), {
          position: from,
        })
        if (bytesRead === 0) throw new Error('the file of a download is shorter than what was written to it')
        this.#kept.from += bytesRead
        this.#notify() // another transfer may have given room back meanwhile
        return buffer.subarray(0, bytesRead)
      }
      const piece = this.#isSpilling ? undefined : this.#memory.shift()
      if (piece) {
        this.#memoryBytes -= piece.length
        this.#notify()
        return piece
      }
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

  breakOff(reason: unknown): void {
    if (this.#isOver) return
    this.#finish(reason)
    this.#controller?.error(reason)
    this.#source.cancel(reason).catch(() => {}) // the reader gets the reason
  }

  #finish(error?: unknown): void {
    if (this.#isOver) return
    this.#isOver = true
    clearTimeout(this.#stall)
    this.#memory = []
    if (!this.#isSpilling) this.#giveBack()
    this.#notify()
    this.#end.resolve(error)
  }

  /** Closes the file, which removes it, and frees its room. */
  #giveBack(): void {
    this.#file?.close().catch((error: unknown) => this.#room.warn(error))
    this.#file = undefined
    this.#room.giveBack(this.#fileBytes)
    this.#fileBytes = 0
  }
}

async function writeAll(file: FileHandle, pieces: readonly Uint8Array[], position: number): Promise<void> {
  for (const piece of pieces) {
    for (let done = 0; done < piece.length;) {
      const { bytesWritten } = await file.write(piece, done, piece.length - done, position + done)
      done += bytesWritten
    }
    position += piece.length
  }
}
