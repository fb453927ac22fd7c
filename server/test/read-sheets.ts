/**
 * A strict reader of the console's XLSX files, for tests. It checks sizes, checksums and every cell, and throws at anything that it
 * does not know.
 */
import { crc32, inflateRawSync } from 'node:zlib'
import { expect } from 'vitest'

export type Cell = string | number | Date | undefined
/** A row's cells by the letters of their column (`A`, `AB`). */
export type Cells = Record<string, string | number | Date>

/** Returns the workbook's files and the rows of its sheets. `isParsed: false` leaves the sheets empty, for large files. */
export function readWorkbook(bytes: Buffer, { isParsed = true } = {}) {
  const { parts, isZip64 } = unzip(bytes)
  const names = [...parts.get('xl/workbook.xml')!.matchAll(/<sheet name="([^"]*)"/g)].map(([, name]) => unescape(name!))
  const formats = cellFormats(parts)
  const read = (index: number): Cells[] =>
    isParsed ? parseSheet(parts.get(`xl/worksheets/sheet${index + 1}.xml`)!, formats) : []
  const sheets: Record<string, Cells[]> = Object.fromEntries(names.map((name, index) => [name, read(index)]))
  return { parts, sheets, isZip64 }
}

/** Returns the rows of every sheet as arrays, with `undefined` for an empty cell. */
export function readSheets(file: ArrayBuffer): Record<string, Cell[][]> {
  const { sheets } = readWorkbook(Buffer.from(file))
  return Object.fromEntries(Object.entries(sheets).map(([name, rows]) => [name, rows.map(cellsInOrder)]))
}

function cellsInOrder(row: Cells): Cell[] {
  const cells: Cell[] = []
  for (const [letters, value] of Object.entries(row)) {
    const column = Array.from(letters).reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0) - 1
    while (cells.length < column) cells.push(undefined)
    cells.push(value)
  }
  return cells
}

/** Returns the cell formats (`<xf>` elements) of the style sheet, in the order of their index. */
export function cellFormats(parts: Map<string, string>): string[] {
  return [
    ...parts
      .get('xl/styles.xml')!
      .match(/<cellXfs.*<\/cellXfs>/)![0]
      .matchAll(/<xf [^>]*>/g),
  ].map(([format]) => format)
}

/** Reads a ZIP file by its central directory, as spreadsheet programs do, and checks sizes and checksums. */
function unzip(bytes: Buffer): { parts: Map<string, string>; isZip64: boolean } {
  const end = bytes.lastIndexOf(Buffer.from('PK\x05\x06'))
  expect(end, 'an end of the directory').toBe(bytes.length - 22)
  const isZip64 = bytes.readUInt32LE(end + 16) === 0xffffffff
  let entries = bytes.readUInt16LE(end + 10)
  let at = bytes.readUInt32LE(end + 16)
  if (isZip64) {
    expect(bytes.readUInt32LE(end - 20)).toBe(0x07064b50)
    const end64 = Number(bytes.readBigUInt64LE(end - 20 + 8))
    expect(bytes.readUInt32LE(end64)).toBe(0x06064b50)
    entries = Number(bytes.readBigUInt64LE(end64 + 32))
    at = Number(bytes.readBigUInt64LE(end64 + 48))
  }
  const parts = new Map<string, string>()
  for (; entries > 0; entries--) {
    expect(bytes.readUInt32LE(at)).toBe(0x02014b50)
    const [crc, compressed, size] = [bytes.readUInt32LE(at + 16), bytes.readUInt32LE(at + 20), bytes.readUInt32LE(at + 24)]
    const [nameLength, extraLength] = [bytes.readUInt16LE(at + 28), bytes.readUInt16LE(at + 30)]
    const name = bytes.toString('latin1', at + 46, at + 46 + nameLength)
    const short = bytes.readUInt32LE(at + 42)
    const local = short === 0xffffffff ? Number(bytes.readBigUInt64LE(at + 46 + nameLength + 4)) : short
    expect(bytes.readUInt32LE(local)).toBe(0x04034b50)
    const start = local + 30 + bytes.readUInt16LE(local + 26) + bytes.readUInt16LE(local + 28)
    const content = inflateRawSync(bytes.subarray(start, start + compressed))
    expect([content.length, crc32(content)], name).toEqual([size, crc])
    const descriptor = start + compressed
    expect([0, 4, 8, 12].map((i) => bytes.readUInt32LE(descriptor + i))).toEqual([0x08074b50, crc, compressed, size])
    parts.set(name, content.toString())
    at += 46 + nameLength + extraLength
  }
  return { parts, isZip64 }
}

/** Parses the rows with regular expressions, so it expects exactly the cells that the console writes and throws at anything else. */
function parseSheet(xml: string, formats: string[]): Cells[] {
  return [...xml.matchAll(/<row r="(\d+)">(.*?)<\/row>/gs)].map(([, number, cells], index) => {
    expect(Number(number)).toBe(index + 1)
    const row: Cells = {}
    const rest = cells!.replace(/<c r="([A-Z]+)(\d+)"( s="(\d+)")?( t="inlineStr")?>(.*?)<\/c>/gs, (...match: string[]) => {
      const [, column, at, , style, type, content] = match
      expect(at).toBe(number)
      row[column!] = type ? readText(content!) : readNumber(content!, formats[Number(style ?? 0)]!)
      return ''
    })
    expect(rest, 'nothing but cells').toBe('')
    return row
  })
}

function readText(content: string): string {
  const [, preserve, text] = content.match(/^<is><t( xml:space="preserve")?>([^<]*)<\/t><\/is>$/s)!
  // oxlint-disable-next-line no-control-regex -- expects that no characters are there that XML forbids
  expect(text).not.toMatch(/[\x00-\x08\x0b-\x1f\ufffe\uffff]/)
  const value = preserve ? text! : text!.trim()
  return unescape(value).replace(/_x([\da-f]{4})_/gi, (_, code: string) => String.fromCharCode(parseInt(code, 16)))
}

function readNumber(content: string, format: string): number | Date {
  const value = Number(content.match(/^<v>([-+\de.]+)<\/v>$/)![1])
  return format.includes('numFmtId="164"') ? new Date(Math.round((value - 25_569) * 86_400_000)) : value
}

function unescape(text: string): string {
  const entities: Record<string, string> = { '&lt;': '<', '&gt;': '>', '&quot;': '"', '&amp;': '&' }
  return text.replace(/&[a-z]+;/g, (entity) => entities[entity]!)
}

/** Reads a stream to its end. */
export async function readAll(stream: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  for await (const chunk of stream) chunks.push(chunk)
  return Buffer.concat(chunks)
}
