/** What a spreadsheet of ours holds, for tests: every sheet's rows, numbers as numbers, dates as dates, the rest as text. */
import { inflateRawSync } from 'node:zlib'

export type Cell = string | number | Date | undefined

/** @throws Error for a file that ends early */
export function readSheets(file: ArrayBuffer | Uint8Array): Record<string, Cell[][]> {
  const entries = unzip(Buffer.from(file as ArrayBuffer))
  const names = [...(entries.get('xl/workbook.xml') ?? '').matchAll(/<sheet name="([^"]*)"/g)].map((match) => unescape(match[1]!))
  return Object.fromEntries(names.map((name, index) => [name, rowsOf(entries.get(`xl/worksheets/sheet${index + 1}.xml`) ?? '')]))
}

/** By the directory at the end, as spreadsheet programs read it. */
function unzip(file: Buffer): Map<string, string> {
  const end = file.lastIndexOf('PK\x05\x06', undefined, 'latin1')
  if (end < 0) throw new Error('The file has no end of central directory')
  const entries = new Map<string, string>()
  let at = file.readUInt32LE(end + 16)
  for (let left = file.readUInt16LE(end + 10); left > 0; left -= 1) {
    const [compressed, nameLength, extraLength] = [file.readUInt32LE(at + 20), file.readUInt16LE(at + 28), file.readUInt16LE(at + 30)]
    const [offset, name] = [file.readUInt32LE(at + 42), file.toString('utf8', at + 46, at + 46 + nameLength)]
    const start = offset + 30 + file.readUInt16LE(offset + 26) + file.readUInt16LE(offset + 28)
    entries.set(name, inflateRawSync(file.subarray(start, start + compressed)).toString('utf8'))
    at += 46 + nameLength + extraLength
  }
  return entries
}

function rowsOf(xml: string): Cell[][] {
  return [...xml.matchAll(/<row [^>]*>(.*?)<\/row>/gs)].map(([, row]) => {
    const cells: Cell[] = []
    for (const [, letters, attributes, content] of row!.matchAll(/<c r="([A-Z]+)\d+"([^>]*)>(.*?)<\/c>/gs)) {
      const column = [...letters!].reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0) - 1
      cells[column] = cellOf(attributes!, content!)
    }
    return cells
  })
}

function cellOf(attributes: string, content: string): Cell {
  if (content.includes('<f')) throw new Error(`A formula: ${content}`)
  if (attributes.includes('t="inlineStr"')) return unescape(/<t[^>]*>(.*)<\/t>/s.exec(content)![1]!)
  const value = Number(/<v>(.*)<\/v>/.exec(content)![1])
  return attributes.includes('s="2"') ? new Date(Math.round((value - 25_569) * 86_400_000)) : value
}

function unescape(text: string): string {
  return text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&quot;', '"').replaceAll('&amp;', '&')
}
