/**
 * Reads the records of a file in LevelDB's log format (github.com/google/leveldb, doc/log_format.md), which exports of Firestore use: blocks
 * of 32 KiB, in which each piece of a record has a checksum, a length and a type. Memory does not grow with the file.
 */
import { type FileHandle, open } from 'node:fs/promises'
import { StartError } from '#src/postgres/errors.ts'
import { crc32c } from './crc32c.ts'
import { unreadable } from './file-errors.ts'

export interface LogRecord {
  /** Only valid until the next batch is asked for. */
  bytes: Buffer
  /** Where the record begins in its file. */
  offset: number
}

const BLOCK_BYTES = 32 * 1024
const HEADER_BYTES = 7
/** The documents of a chunk are in memory at once. With more of them, most outlive V8's young generation, and its old one grows. */
const CHUNK_BYTES = 4 * BLOCK_BYTES
/** A document of Firestore has at most 1 MiB. */
const MAX_RECORD_BYTES = 16 * 1024 * 1024

const PIECE = { unused: 0, full: 1, first: 2, middle: 3, last: 4 }

/** Yields the records in batches. @throws StartError that names the file and the place of the damage */
export async function* readRecords(path: string): AsyncGenerator<LogRecord[]> {
  const assembly = new Assembly(path)
  const file = await open(path)
  try {
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES)
    for (let start = 0; ;) {
      const filled = await fill(path, file, { chunk, start })
      const records: LogRecord[] = []
      for (let block = 0; block < filled; block += BLOCK_BYTES)
        assembly.addBlock(chunk.subarray(block, Math.min(block + BLOCK_BYTES, filled)), start + block, records)
      if (records.length > 0) yield records
      start += filled
      if (filled < CHUNK_BYTES) return assembly.end(start)
    }
  } finally {
    await file.close()
  }
}

/** Fills the chunk from a file or, as from a pipe, in several reads. Returns the number of bytes, which is smaller at the end of the file. */
async function fill(path: string, file: FileHandle, { chunk, start }: { chunk: Buffer; start: number }): Promise<number> {
  let filled = 0
  while (filled < chunk.length) {
    const { bytesRead } = await file.read(chunk, filled, chunk.length - filled, start + filled).catch((error: unknown) => {
      throw unreadable(path, error)
    })
    if (bytesRead === 0) break
    filled += bytesRead
  }
  return filled
}

/** Puts pieces together to records. */
class Assembly {
  readonly #path: string
  #pieces: Buffer[] = []
  #bytes = 0
  /** Where the record begins that is not complete yet. */
  #offset = 0

  constructor(path: string) {
    this.#path = path
  }

  addBlock(block: Buffer, start: number, records: LogRecord[]): void {
    let at = 0
    while (block.length - at >= HEADER_BYTES) {
      const length = block.readUInt16LE(at + 4)
      const type = block[at + 6]!
      const offset = start + at
      if (type === PIECE.unused && length === 0 && block.readUInt32LE(at) === 0) return this.#checkUnused(block, at, start)
      const from = at + HEADER_BYTES
      const end = from + length
      if (end > block.length) {
        if (block.length < BLOCK_BYTES) throw this.#cutOff(start + block.length, offset)
        throw this.#damaged(offset, 'a record is longer than its block')
      }
      if (unmasked(block.readUInt32LE(at)) !== crc32c(block, at + 6, end))
        throw this.#damaged(offset, 'the checksum of a record is wrong')
      this.#addPiece(type, block.subarray(from, end), offset, records)
      at = end
    }
    if (block.length === BLOCK_BYTES) this.#checkUnused(block, at, start)
    else if (at < block.length) throw this.#cutOff(start + block.length, start + at)
  }

  end(size: number): void {
    if (this.#pieces.length > 0) throw this.#cutOff(size, this.#offset)
  }

  #addPiece(type: number, bytes: Buffer, offset: number, records: LogRecord[]): void {
    const isBegin = type === PIECE.full || type === PIECE.first
    if (type < PIECE.full || type > PIECE.last) throw this.#damaged(offset, `a record has the unknown type ${type}`)
    if (isBegin === this.#pieces.length > 0)
      throw this.#damaged(offset, isBegin ? 'a record begins before the one before it has ended' : 'a record has no beginning')
    if (type === PIECE.full) return void records.push({ bytes, offset })
    if (isBegin) this.#offset = offset
    this.#bytes += bytes.length
    if (this.#bytes > MAX_RECORD_BYTES) throw this.#damaged(this.#offset, `a record is longer than ${MAX_RECORD_BYTES} bytes`)
    this.#pieces.push(Buffer.from(bytes))
    if (type !== PIECE.last) return
    records.push({ bytes: Buffer.concat(this.#pieces), offset: this.#offset })
    this.#pieces = []
    this.#bytes = 0
  }

  /** The end of a block that no header fits into, or that was reserved and not used, is filled with zeros. */
  #checkUnused(block: Buffer, from: number, start: number): void {
    for (let at = from; at < block.length; at += 1)
      if (block[at] !== 0) throw this.#damaged(start + at, 'the unused end of a block is not empty')
  }

  #damaged(offset: number, what: string): StartError {
    return new StartError(`${this.#path} is damaged at byte ${offset}: ${what}. Copy the export again.`)
  }

  #cutOff(size: number, offset: number): StartError {
    return new StartError(
      `${this.#path} ends at byte ${size} in the middle of the record that begins at byte ${offset}. Copy the export again.`,
    )
  }
}

/** Stored checksums are rotated and moved by a constant, so that a checksum of data with checksums stays a good one. */
function unmasked(stored: number): number {
  const rotated = (stored - 0xa282ead8) >>> 0
  return ((rotated >>> 17) | (rotated << 15)) >>> 0
}
