/**
 * Reads the lines of an NDJSON file in constant memory. Hides chunks, the byte order mark, CRLF, a missing last line break, bytes that are
 * not UTF-8, and endless lines.
 */
import { isUtf8 } from 'node:buffer'
import { createReadStream } from 'node:fs'
import { open, stat } from 'node:fs/promises'
import { StartError } from '#src/postgres/errors.ts'

export interface Line {
  /** The line's number from 1, counting blank lines. */
  number: number
  text: string
  /** The offset of the line in the file and its length without the line break, in bytes. */
  start: number
  length: number
  /** The reason why the line cannot be read. `text` is then empty. */
  problem?: string
}

export const MAX_LINE_BYTES = 1024 * 1024
const CHUNK_BYTES = 256 * 1024
const NEWLINE = 0x0a
const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf])

/**
 * Looks at the first bytes of a file. A file in another encoding is refused as a whole, because every line of it would be invalid.
 * A pipe is not looked at, because bytes that are read from it are gone.
 * @throws StartError that says what the file is
 */
export async function refuseOtherEncoding(path: string): Promise<void> {
  if (!(await stat(path)).isFile()) return
  const file = await open(path)
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(4), 0, 4)
    const encoding = otherEncoding(buffer.subarray(0, bytesRead).toString('latin1'))
    if (encoding !== undefined) throw new StartError(`${path} ${encoding}, so nothing was loaded.`)
  } finally {
    await file.close()
  }
}

function otherEncoding(start: string): string | undefined {
  if (/^(?:\xff\xfe|\xfe\xff|[^\0]\0|\0[^\0])/s.test(start)) return 'is in UTF-16: save it as UTF-8'
  if (start.startsWith('\x1f\x8b')) return 'is compressed with gzip: unpack it first'
  return start.startsWith('PK\x03\x04') ? 'is a zip archive or a spreadsheet: import its rows as NDJSON' : undefined
}

/** Yields the lines that are not blank. @throws the file system's error if the file cannot be read */
export async function* readLines(path: string): AsyncGenerator<Line> {
  let number = 0
  let start = 0
  let pending: Buffer[] = []
  let pendingBytes = 0

  const take = (chunk: Buffer): void => {
    pendingBytes += chunk.length
    // The rest of a line that is too long is discarded, so that memory stays bounded.
    if (pendingBytes <= MAX_LINE_BYTES) pending.push(chunk)
  }
  const finish = (): Line | undefined => {
    number += 1
    const extent = { number, start, length: pendingBytes }
    const line = toLine(pending.length === 1 ? pending[0]! : Buffer.concat(pending), extent)
    start += pendingBytes + 1
    pending = []
    pendingBytes = 0
    return line
  }

  for await (const chunk of createReadStream(path, { highWaterMark: CHUNK_BYTES }) as AsyncIterable<Buffer>) {
    let from = 0
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, from)) {
      take(chunk.subarray(from, end))
      from = end + 1
      const line = finish()
      if (line) yield line
    }
    if (from < chunk.length) take(chunk.subarray(from))
  }
  const last = pendingBytes > 0 ? finish() : undefined
  if (last) yield last
}

function toLine(raw: Buffer, extent: Pick<Line, 'number' | 'start' | 'length'>): Line | undefined {
  if (extent.length > MAX_LINE_BYTES) return { ...extent, text: '', problem: `The line is longer than ${MAX_LINE_BYTES} bytes` }
  if (!isUtf8(raw)) return { ...extent, text: '', problem: 'The line is not valid UTF-8' }
  const hasMark = extent.number === 1 && raw.subarray(0, 3).equals(BYTE_ORDER_MARK)
  const text = (hasMark ? raw.subarray(3) : raw).toString('utf8').trim()
  return text === '' ? undefined : { ...extent, text }
}
