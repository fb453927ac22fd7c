/**
 * The files that keep what slow readers of spreadsheets have not taken yet (ADR 10). Hides where they are, the space that they may take
 * together, and that the system removes each of them with its transfer or with the process.
 */
import { randomUUID } from 'node:crypto'
import { type FileHandle, mkdir, open, rm, statfs, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import type { Logger } from 'pino'
import { reserveBytes } from '#src/postgres/free-space.ts'

export interface SpillOptions {
  /** A folder that only these files use; its content is removed at the start. */
  directory: string
  log: Logger
  /** The most bytes in all files together; 0 allows no file. */
  limitBytes?: number
  /** Files grow only while the disk has this many times the free space below which the server refuses changes. */
  spareReserves?: number
}

const LIMIT_BYTES = 2 * 2 ** 30
const SPARE_RESERVES = 4
const READ_BYTES = 64 * 1024

export class SpillFolder {
  readonly #directory: string
  readonly #log: Logger
  readonly #limitBytes: number
  readonly #spareReserves: number
  #reservedBytes = 0

  constructor({ directory, log, limitBytes = LIMIT_BYTES, spareReserves = SPARE_RESERVES }: SpillOptions) {
    this.#directory = directory
    this.#log = log
    this.#limitBytes = limitBytes
    this.#spareReserves = spareReserves
  }

  /** Removes the files that a killed process left behind. */
  async clear(): Promise<void> {
    await rm(this.#directory, { recursive: true, force: true })
  }

  /** Reserves room for a file until `giveBack`. Returns false if the folder or the disk has no room left. */
  async reserve(bytes: number): Promise<boolean> {
    await mkdir(this.#directory, { recursive: true, mode: 0o700 })
    const { bavail, blocks, bsize } = await statfs(this.#directory)
    if (bavail * bsize - bytes < this.#spareReserves * reserveBytes(blocks * bsize)) return false
    if (this.#reservedBytes + bytes > this.#limitBytes) return false
    this.#reservedBytes += bytes
    return true
  }

  giveBack(bytes: number): void {
    this.#reservedBytes -= bytes
  }

  async openFile(): Promise<FileHandle> {
    const path = join(this.#directory, randomUUID())
    const file = await open(path, 'wx+', 0o600)
    await unlink(path) // the system frees the space when the handle is closed, even by a kill
    return file
  }

  warn(error: unknown): void {
    this.#log.warn({ event: 'spool', err: error }, 'The rest of a download could not be kept in a file')
  }
}

/** A queue of bytes in a file, which is written from its beginning again whenever the queue is empty. Reading and appending may overlap. */
export class SpillFile {
  readonly #folder: SpillFolder
  #file: FileHandle | undefined
  #reservedBytes = 0
  /** The range of the file that was not read yet. */
  #kept = { from: 0, to: 0 }
  #isBroken = false

  constructor(folder: SpillFolder) {
    this.#folder = folder
  }

  get isEmpty(): boolean {
    return this.#kept.from === this.#kept.to
  }

  /** @returns false if there is no room, or if writing fails; after a failure nothing more is appended */
  async append(bytes: Uint8Array): Promise<boolean> {
    if (this.#isBroken) return false
    if (this.isEmpty) this.#kept = { from: 0, to: 0 }
    const end = this.#kept.to + bytes.length
    try {
      const growth = Math.max(0, end - this.#reservedBytes)
      if (growth > 0 && !(await this.#folder.reserve(growth))) return false
      this.#reservedBytes += growth
      this.#file ??= await this.#folder.openFile()
      await writeAll(this.#file, bytes, this.#kept.to)
      this.#kept.to = end
      return true
    } catch (error) {
      this.#isBroken = true
      this.#folder.warn(error)
      return false
    }
  }

  /** Returns the next bytes. The file must not be empty. */
  async read(): Promise<Uint8Array> {
    const { from, to } = this.#kept
    const { buffer, bytesRead } = await this.#file!.read(Buffer.allocUnsafe(Math.min(READ_BYTES, to - from)), { position: from })
    if (bytesRead === 0) throw new Error('the file of a download is shorter than what was written to it')
    this.#kept.from += bytesRead
    return buffer.subarray(0, bytesRead)
  }

  /** Removes the file once a running read has ended, and gives its room back. Nothing may be appended any more. */
  close(): void {
    this.#file?.close().catch((error: unknown) => this.#folder.warn(error))
    this.#folder.giveBack(this.#reservedBytes)
  }
}

async function writeAll(file: FileHandle, bytes: Uint8Array, position: number): Promise<void> {
  for (let done = 0; done < bytes.length;) {
    const { bytesWritten } = await file.write(bytes, done, bytes.length - done, position + done)
    done += bytesWritten
  }
}
