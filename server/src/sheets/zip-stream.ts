/**
 * Streams a ZIP archive in constant memory: hides headers, CRC, deflate on libuv's threads and Zip64 (APPNOTE 6.3.10). The size of an
 * entry is known only after it was written, so it follows the entry in a data descriptor.
 */
import { crc32, createDeflateRaw } from 'node:zlib'

export interface ZipEntry {
  /** ASCII, with `/` between folders. */
  name: string
  /** A piece may be overwritten when the next but one is requested, so two alternating buffers suffice: see `PieceBuffer`. */
  content: AsyncIterable<Uint8Array> | Iterable<Uint8Array>
}

/** Bytes of a piece: enough to make passing it to a thread cheap, few enough to be built in about a millisecond. */
const PIECE_BYTES = 128 * 1024
/** An entry must have fewer bytes than this: see `zip`. */
export const MAX_ENTRY_BYTES = 0xffff_ffff
const DEFLATE_LEVEL = 1 // level 6 takes twice the CPU for a file 15 % smaller (ADR 3)
const MAX_16_BIT = 0xffff
const MAX_32_BIT = 0xffff_ffff
const HAS_DESCRIPTOR = 0x0008
const DEFLATED = 8
const DOS_DATE = 0x0021 // 1980-01-01, always the same, so that the same rows give the same bytes
const VERSION = 20
const VERSION_ZIP64 = 45

/**
 * Yields an archive, reading its entries only as fast as its bytes are read. The archive may have any size, but an entry of 4 GiB throws a
 * RangeError: Excel calls a file with Zip64 in a local header invalid (zlib-ng/minizip-ng#894), so the caller must start another entry.
 * @param zip64From archive offset from which the directory is Zip64; lower only in tests
 */
export async function* zip(
  entries: AsyncIterable<ZipEntry>,
  zip64From = MAX_32_BIT,
): AsyncGenerator<Uint8Array, void, undefined> {
  const directory: Buffer[] = []
  let offset = 0
  for await (const { name, content } of entries) {
    const totals: Totals = { crc: 0, size: 0, compressed: 0 }
    const header = localHeader(name)
    yield header
    yield* deflate(content, totals)
    if (Math.max(totals.size, totals.compressed) >= MAX_ENTRY_BYTES) throw new RangeError(`${name} is larger than 4 GiB`)
    const descriptor = record([4, 0x08074b50], [4, totals.crc], [4, totals.compressed], [4, totals.size])
    yield descriptor
    directory.push(directoryHeader(name, totals, offset, offset >= zip64From))
    offset += header.length + totals.compressed + descriptor.length
  }
  const size = directory.reduce((sum, header) => sum + header.length, 0)
  yield Buffer.concat([...directory, directoryEnd(directory.length, size, offset, offset >= zip64From)])
}

interface Totals {
  crc: number
  size: number
  compressed: number
}

/** Deflates an entry on a thread of libuv while the next piece is built here, so that two cores are used. */
async function* deflate(content: ZipEntry['content'], totals: Totals): AsyncGenerator<Uint8Array, void, undefined> {
  const stream = createDeflateRaw({ level: DEFLATE_LEVEL, memLevel: 9, chunkSize: 64 * 1024 })
  const ready: Uint8Array[] = []
  stream.on('data', (bytes: Uint8Array) => {
    totals.compressed += bytes.length
    ready.push(bytes)
  })
  stream.on('error', () => {}) // the callback of the failed write gets it, too
  let deflated = Promise.resolve()
  try {
    for await (const bytes of content) {
      totals.crc = crc32(bytes, totals.crc)
      totals.size += bytes.length
      await deflated
      deflated = new Promise((resolve, reject) => stream.write(bytes, (error) => (error ? reject(error) : resolve())))
      deflated.catch(() => {}) // the await above or below throws it, if anyone still reads
      yield* ready.splice(0)
    }
    await deflated
    await new Promise((resolve, reject) => stream.once('error', reject).once('end', resolve).end())
    yield* ready.splice(0)
  } finally {
    stream.destroy()
  }
}

/**
 * Collects short texts and bytes as UTF-8 in two alternating buffers: one is filled while the other is deflated. Strings joined to a whole
 * piece, or a new buffer for each piece, would live long enough to burden the garbage collector.
 */
export class PieceBuffer {
  #current = Buffer.allocUnsafeSlow(PIECE_BYTES * 2)
  #other = Buffer.allocUnsafeSlow(PIECE_BYTES * 2)
  #length = 0

  /** Whether it is time to call `take`. More can still be added. */
  get isFull(): boolean {
    return this.#length >= PIECE_BYTES
  }

  add(text: string): void {
    this.reserve(text.length * 3) // the most bytes of a UTF-16 unit in UTF-8
    this.#length += this.#current.write(text, this.#length)
  }

  /** Adds ASCII text. The caller has reserved room for it. */
  addDigits(text: string): void {
    for (let at = 0; at < text.length; at += 1) this.#current[this.#length++] = text.charCodeAt(at)
  }

  /** Makes room for this many bytes, which `addBytes` or `addDigits` then adds. */
  reserve(bytes: number): void {
    const needed = this.#length + bytes
    if (needed > this.#current.length) this.#current = Buffer.concat([this.#current.subarray(0, this.#length)], needed * 2)
  }

  /** Adds bytes. The caller has reserved room for them. For so few bytes, a loop is faster than a call of `copy`. */
  addBytes(bytes: Uint8Array, start: number, end: number): void {
    const current = this.#current
    let length = this.#length
    for (let at = start; at < end; at += 1) current[length++] = bytes[at]!
    this.#length = length
  }

  /** Returns the bytes so far. They are overwritten after the next `take`. */
  take(): Uint8Array {
    const bytes = this.#current.subarray(0, this.#length)
    ;[this.#current, this.#other] = [this.#other, this.#current]
    this.#length = 0
    return bytes
  }
}

function localHeader(name: string): Buffer {
  const fields = record([4, 0x04034b50], [2, VERSION], [2, HAS_DESCRIPTOR], [2, DEFLATED], [2, 0], [2, DOS_DATE])
  return Buffer.concat([fields, record([4, 0], [4, 0], [4, 0], [2, name.length], [2, 0]), Buffer.from(name)])
}

function directoryHeader(name: string, { crc, compressed, size }: Totals, offset: number, isZip64: boolean): Buffer {
  const version = isZip64 ? VERSION_ZIP64 : VERSION
  const extra = isZip64 ? record([2, 0x0001], [2, 8], [8, offset]) : Buffer.alloc(0)
  return Buffer.concat([
    record([4, 0x02014b50], [2, version], [2, version], [2, HAS_DESCRIPTOR], [2, DEFLATED], [2, 0], [2, DOS_DATE], [4, crc]),
    record([4, compressed], [4, size], [2, name.length], [2, extra.length], [2, 0], [2, 0], [2, 0], [4, 0]),
    record([4, isZip64 ? MAX_32_BIT : offset]),
    Buffer.from(name),
    extra,
  ])
}

function directoryEnd(entries: number, size: number, offset: number, isOffsetZip64: boolean): Buffer {
  const isZip64 = isOffsetZip64 || entries >= MAX_16_BIT
  const [count, start] = isZip64 ? [MAX_16_BIT, MAX_32_BIT] : [entries, offset]
  const end = record([4, 0x06054b50], [2, 0], [2, 0], [2, count], [2, count], [4, size], [4, start], [2, 0])
  if (!isZip64) return end
  return Buffer.concat([
    record([4, 0x06064b50], [8, 44], [2, VERSION_ZIP64], [2, VERSION_ZIP64], [4, 0], [4, 0], [8, entries], [8, entries]),
    record([8, size], [8, offset]),
    record([4, 0x07064b50], [4, 0], [8, offset + size], [4, 1]),
    end,
  ])
}

/** Encodes unsigned little-endian numbers, each given with its width in bytes. */
function record(...fields: [width: 2 | 4 | 8, value: number][]): Buffer {
  const bytes = Buffer.alloc(fields.reduce((sum, [width]) => sum + width, 0))
  let at = 0
  for (const [width, value] of fields) {
    if (width === 8) bytes.writeBigUInt64LE(BigInt(value), at)
    else bytes.writeUIntLE(value, at, width)
    at += width
  }
  return bytes
}
