/** Writes a managed export of Firestore, for tests of its reader: LevelDB's log records of Datastore's entities. Shares no code with it. */
import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'

/** A value of Firestore that JavaScript has no type for. */
class Special {
  readonly meaning: number | undefined
  readonly value: Buffer

  constructor(value: Buffer, meaning?: number) {
    this.value = value
    this.meaning = meaning
  }
}

export const time = (micros: bigint): Special => new Special(tagged(1, 0, varint(micros)), 7)
export const bytes = (content: Buffer): Special => new Special(delimited(3, content), 16)
export const double = (value: number): Special => new Special(fixed64(4, value))
export const point = (latitude: number, longitude: number): Special =>
  new Special(group(5, fixed64(6, latitude), fixed64(7, longitude)), 9)
export const reference = (project: string, target: string): Special =>
  new Special(group(12, delimited(13, project), ...elements(target, 14, 15, 17)))
export const strange = (): Special => new Special(tagged(9, 0, varint(1n)))
export const meant = (meaning: number, value: string): Special => new Special(delimited(3, value), meaning)

/** Documents by path, such as `users/7`. */
export type Documents = Readonly<Record<string, Readonly<Record<string, unknown>>>>

interface ExportOptions {
  project?: string
  /** The documents of each file `output-N`. Those of one file at a time are in memory. */
  files: Iterable<Documents>
  /** The number of documents in the metadata. */
  stated?: number
}

const KINDS = 'all_namespaces/all_kinds'
const METADATA = `${KINDS}/all_namespaces_all_kinds.export_metadata`

/** Writes an export into a folder, which is made. */
export async function writeExport(directory: string, { project = 'dev~game', files, stated }: ExportOptions): Promise<void> {
  await mkdir(path.join(directory, KINDS), { recursive: true })
  const names: string[] = []
  let count = 0
  for (const documents of files) {
    const entities = Object.entries(documents).map(([target, fields]) => entity(project, target, fields))
    const output = `output-${names.length}`
    await writeFile(path.join(directory, KINDS, output), logOf(entities))
    names.push(output)
    count += entities.length
  }
  await writeMetadata(directory, { outputs: names, documents: stated ?? count })
}

/** Writes the files that name the parts of an export, which are in its folder already. */
export async function writeMetadata(
  directory: string,
  { outputs, documents }: { outputs: readonly string[]; documents: number },
): Promise<void> {
  const name = path.basename(directory)
  await writeOverall(path.join(directory, `${name}.overall_export_metadata`), [{ place: METADATA, documents }])
  const kinds = outputs.map((output) => delimited(2, Buffer.concat([delimited(1, ''), delimited(2, output)])))
  await writeFile(path.join(directory, METADATA), Buffer.concat([delimited(1, delimited(1, name)), ...kinds]))
}

/** Writes the file that names the parts of an export and says how many documents each has. */
export async function writeOverall(file: string, parts: readonly { place: string; documents: number }[]): Promise<void> {
  const entries = parts.map(({ place, documents }) =>
    delimited(1, Buffer.concat([delimited(2, place), tagged(3, 0, varint(BigInt(documents)))])),
  )
  await writeFile(file, logOf([Buffer.concat(entries)]))
}

/** Returns the bytes of a file in LevelDB's log format. */
export function logOf(records: readonly Buffer[]): Buffer {
  const out: Buffer[] = []
  let at = 0
  const write = (piece: Buffer): void => {
    out.push(piece)
    at += piece.length
  }
  for (const record of records) {
    let from = 0
    for (let [isFirst, isLast] = [true, false]; !isLast;) {
      const room = BLOCK_BYTES - (at % BLOCK_BYTES)
      if (room < 7) {
        write(Buffer.alloc(room))
        continue
      }
      const end = Math.min(record.length, from + room - 7)
      isLast = end === record.length
      const whole = isFirst ? 1 : 4
      const type = isLast ? whole : isFirst ? 2 : 3
      const content = Buffer.concat([Buffer.from([type]), record.subarray(from, end)])
      const head = Buffer.alloc(6)
      head.writeUInt32LE(masked(checksum(content)))
      head.writeUInt16LE(end - from, 4)
      write(head)
      write(content)
      from = end
      isFirst = false
    }
  }
  return Buffer.concat(out)
}

const BLOCK_BYTES = 32_768

/** CRC-32C bit by bit. */
function checksum(content: Buffer): number {
  let crc = 0xffffffff
  for (const byte of content) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit += 1) crc = crc & 1 ? (crc >>> 1) ^ 0x82f63b78 : crc >>> 1
  }
  return (crc ^ 0xffffffff) >>> 0
}

function masked(crc: number): number {
  return (((crc >>> 15) | (crc << 17)) + 0xa282ead8) >>> 0
}

function entity(project: string, target: string, fields: Readonly<Record<string, unknown>>): Buffer {
  const key = Buffer.concat([delimited(13, project), delimited(14, Buffer.concat(elements(target, 1, 2, 4)))])
  return Buffer.concat([delimited(13, key), ...properties(fields)])
}

function elements(target: string, list: number, kind: number, name: number): Buffer[] {
  const parts = target.split('/')
  return Array.from({ length: parts.length / 2 }, (_, index) => {
    const id = parts[2 * index + 1]!
    const numbered = /^__id(\d+)__$/.exec(id)?.[1]
    const shown = numbered === undefined ? delimited(name, id) : tagged(name - 1, 0, varint(BigInt(numbered)))
    return group(list, delimited(kind, parts[2 * index]!), shown)
  })
}

function properties(fields: Readonly<Record<string, unknown>>): Buffer[] {
  return Object.entries(fields).flatMap(([name, value]) => {
    if (!Array.isArray(value)) return [property(name, value, false)]
    return value.length === 0
      ? [delimited(14, Buffer.concat([tagged(1, 0, varint(24n)), delimited(3, name), delimited(5, '')]))]
      : value.map((part) => property(name, part, true))
  })
}

function property(name: string, value: unknown, isMultiple: boolean): Buffer {
  const { meaning, value: encoded } = valueOf(value)
  const parts = [delimited(3, name), tagged(4, 0, varint(isMultiple ? 1n : 0n)), delimited(5, encoded)]
  const isRaw = meaning === 15 || meaning === 19
  return delimited(
    isRaw ? 15 : 14,
    Buffer.concat(meaning === undefined ? parts : [tagged(1, 0, varint(BigInt(meaning))), ...parts]),
  )
}

function valueOf(value: unknown): Special {
  if (value instanceof Special) return value
  if (value === null) return new Special(Buffer.alloc(0))
  if (typeof value === 'boolean') return new Special(tagged(2, 0, varint(value ? 1n : 0n)))
  if (typeof value === 'bigint') return new Special(tagged(1, 0, varint(value)))
  if (typeof value === 'number')
    return Number.isSafeInteger(value) ? new Special(tagged(1, 0, varint(BigInt(value)))) : double(value)
  if (typeof value === 'string') return new Special(delimited(3, value), value.length > 500 ? 15 : undefined)
  return new Special(delimited(3, Buffer.concat(properties(value as Readonly<Record<string, unknown>>))), 19)
}

function varint(value: bigint): Buffer {
  const out: number[] = []
  let rest = BigInt.asUintN(64, value)
  do {
    out.push(Number(rest & 0x7fn) | (rest > 0x7fn ? 0x80 : 0))
    rest >>= 7n
  } while (rest > 0n)
  return Buffer.from(out)
}

function tagged(field: number, wire: number, content: Buffer): Buffer {
  return Buffer.concat([varint(BigInt(field * 8 + wire)), content])
}

function delimited(field: number, content: Buffer | string): Buffer {
  const raw = Buffer.from(content)
  return tagged(field, 2, Buffer.concat([varint(BigInt(raw.length)), raw]))
}

function fixed64(field: number, value: number): Buffer {
  const raw = Buffer.alloc(8)
  raw.writeDoubleLE(value)
  return tagged(field, 1, raw)
}

function group(field: number, ...content: Buffer[]): Buffer {
  return Buffer.concat([tagged(field, 3, Buffer.alloc(0)), ...content, tagged(field, 4, Buffer.alloc(0))])
}
