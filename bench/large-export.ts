/**
 * Writes a large managed export of Firestore: players, and three participations of each. It writes file by file in constant memory, some
 * hundred MB a second, which the writer of the tests cannot.
 */
import { type FileHandle, mkdir, open } from 'node:fs/promises'
import { join } from 'node:path'
import { crc32c } from '../server/src/move-in/crc32c.ts'
import { writeMetadata } from '../server/test/firestore-export.ts'

const KINDS = 'all_namespaces/all_kinds'
const BLOCK_BYTES = 32 * 1024
const HEADER_BYTES = 7
const FILE_DOCUMENTS = 500_000
const WRITE_BYTES = 8 * 1024 * 1024
const RECORD_BYTES = 64 * 1024
const TIME = 7
const TEXT = 15
const INDEXED_CHARACTERS = 500
const FIRST_MS = 1_767_225_600_000
export const PARTICIPATIONS = 3

export interface LargeExport {
  players: number
  /** Characters of a text in each document that leads nowhere. */
  fillerCharacters?: number
  /** Whether a hundredth of the players has another balance and another last name. */
  isLater?: boolean
}

/** A value of a document. A time is a number of microseconds. */
type Value = string | number | { micros: bigint }

export type Fields = Record<string, Value>

/** Yields the path and the fields of each document. */
export function* documentsOf({ players, fillerCharacters = 0, isLater = false }: LargeExport): Generator<[string[], Fields]> {
  const filler = 'The state of the game, level by level. '.repeat(Math.ceil(fillerCharacters / 39)).slice(0, fillerCharacters)
  const state = fillerCharacters > 0 ? { gameState: filler } : {}
  const at = (n: number): Value => ({ micros: BigInt(FIRST_MS + n * 100) * 1000n })
  for (let n = 0; n < players; n += 1)
    yield [['telegramUsers', String(idOf(n))], { ...player(n, isLater && n % 100 === 0), createdAt: at(n), ...state }]
  for (let n = 0; n < players; n += 1)
    for (let task = 0; task < PARTICIPATIONS; task += 1)
      yield [
        ['socialTasksHistory', `task-${(n + task * 7) % 20}`, 'users', String(idOf(n))],
        { id: idOf(n), username: `moon_${n}`, first_name: firstName(n), timestamp: at(n), ...state },
      ]
}

function idOf(n: number): number {
  return 100_000_000 + ((n * 7919) % 100_000_007)
}

function firstName(n: number): string {
  return ['Åse', 'Sky', 'Daria', 'Chidi', 'Виктор', 'Ivan', 'محمد', 'Wei', 'Lucía'][n % 9]!
}

function player(n: number, isChanged: boolean): Fields {
  const userId = idOf(n)
  return {
    firstName: firstName(n),
    lastName: isChanged ? 'Changed' : `Last${n % 5000}`,
    username: `moon_${n}`,
    ...(n % 2 === 0 && { twitterUsername: `@moon_${n}`, email: `player${userId}@example.org` }),
    ...(n % 4 === 0 && { phoneNumber: `+62${userId}`, tonWalletAddress: `UQ${String(userId).repeat(5)}` }),
    balance: (n % 4 === 0 ? (n % 60_000) + 0.25 : (n % 60_000) * 71) + (isChanged ? 5 : 0),
  }
}

/** Writes the export into a folder, which is made. Returns the number of its bytes. */
export async function writeLargeExport(directory: string, what: LargeExport): Promise<number> {
  await mkdir(join(directory, KINDS), { recursive: true })
  const record = new Message()
  let [count, bytes] = [0, 0]
  const names: string[] = []
  let file: LogFile | undefined
  for (const [path, fields] of documentsOf(what)) {
    if (count % FILE_DOCUMENTS === 0) {
      bytes += (await file?.close()) ?? 0
      const name = `output-${names.length}`
      names.push(name)
      file = new LogFile(await open(join(directory, KINDS, name), 'w'))
    }
    file!.add(record.ofDocument(path, fields))
    if (file!.isFull) await file!.flush()
    count += 1
  }
  bytes += (await file?.close()) ?? 0
  await writeMetadata(directory, { outputs: names, documents: count })
  return bytes
}

/** A file in LevelDB's log format. */
class LogFile {
  readonly #file: FileHandle
  readonly #buffer = Buffer.alloc(WRITE_BYTES + 2 * RECORD_BYTES)
  #filled = 0
  #written = 0

  constructor(file: FileHandle) {
    this.#file = file
  }

  get isFull(): boolean {
    return this.#filled >= WRITE_BYTES
  }

  add(record: Buffer): void {
    const buffer = this.#buffer
    let from = 0
    for (let isFirst = true; ; isFirst = false) {
      let room = BLOCK_BYTES - ((this.#written + this.#filled) % BLOCK_BYTES)
      if (room < HEADER_BYTES) {
        buffer.fill(0, this.#filled, (this.#filled += room))
        room = BLOCK_BYTES
      }
      const length = Math.min(record.length - from, room - HEADER_BYTES)
      const isLast = from + length === record.length
      const at = this.#filled
      buffer[at + 6] = isLast ? (isFirst ? 1 : 4) : isFirst ? 2 : 3
      record.copy(buffer, at + HEADER_BYTES, from, from + length)
      const sum = crc32c(buffer, at + 6, at + HEADER_BYTES + length)
      buffer.writeUInt32LE((((sum >>> 15) | (sum << 17)) + 0xa282ead8) >>> 0, at)
      buffer.writeUInt16LE(length, at + 4)
      this.#filled += HEADER_BYTES + length
      from += length
      if (isLast) return
    }
  }

  async flush(): Promise<void> {
    await this.#file.write(this.#buffer, 0, this.#filled)
    this.#written += this.#filled
    this.#filled = 0
  }

  async close(): Promise<number> {
    await this.flush()
    await this.#file.close()
    return this.#written
  }
}

/** Encodes entities of Datastore, one after the other in the same buffer. */
class Message {
  readonly #bytes = Buffer.alloc(RECORD_BYTES)
  #at = 0

  /** Returns an entity, which is valid until the next one. */
  ofDocument(path: readonly string[], fields: Fields): Buffer {
    this.#at = 0
    this.#nested(13, () => {
      this.#text(13, 'dev~game')
      this.#nested(14, () => {
        for (let part = 0; part < path.length; part += 2) {
          this.#varint(1 * 8 + 3)
          this.#text(2, path[part]!)
          this.#text(4, path[part + 1]!)
          this.#varint(1 * 8 + 4)
        }
      })
    })
    for (const [name, value] of Object.entries(fields)) this.#property(name, value)
    return this.#bytes.subarray(0, this.#at)
  }

  #property(name: string, value: Value): void {
    const isLong = typeof value === 'string' && value.length > INDEXED_CHARACTERS
    const meaning = isLong ? TEXT : typeof value === 'object' ? TIME : 0
    this.#nested(isLong ? 15 : 14, () => {
      if (meaning > 0) this.#number(1, meaning)
      this.#text(3, name)
      this.#number(4, 0)
      this.#nested(5, () => {
        if (typeof value === 'string') this.#text(3, value)
        else if (typeof value === 'object') this.#bigNumber(1, value.micros)
        else if (Number.isInteger(value)) this.#number(1, value)
        else {
          this.#varint(4 * 8 + 1)
          this.#at = this.#bytes.writeDoubleLE(value, this.#at)
        }
      })
    })
  }

  /** Writes a message whose length is known only afterwards: it gets three bytes, which a varint may have. */
  #nested(field: number, write: () => void): void {
    this.#varint(field * 8 + 2)
    const start = this.#at
    this.#at += 3
    write()
    const length = this.#at - start - 3
    this.#bytes[start] = (length & 0x7f) | 0x80
    this.#bytes[start + 1] = ((length >> 7) & 0x7f) | 0x80
    this.#bytes[start + 2] = length >> 14
  }

  #text(field: number, text: string): void {
    this.#varint(field * 8 + 2)
    this.#varint(Buffer.byteLength(text))
    this.#at += this.#bytes.write(text, this.#at)
  }

  #number(field: number, value: number): void {
    this.#varint(field * 8)
    this.#varint(value)
  }

  #bigNumber(field: number, value: bigint): void {
    this.#varint(field * 8)
    let rest = value
    for (; rest > 0x7fn; rest >>= 7n) this.#bytes[this.#at++] = Number(rest & 0x7fn) | 0x80
    this.#bytes[this.#at++] = Number(rest)
  }

  #varint(value: number): void {
    let rest = value
    for (; rest > 0x7f; rest = Math.floor(rest / 128)) this.#bytes[this.#at++] = (rest % 128) | 0x80
    this.#bytes[this.#at++] = rest
  }
}
