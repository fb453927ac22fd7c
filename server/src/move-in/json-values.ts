/** Reads chosen values out of a large JSON file, one after the other, in memory that does not grow with the file. */
import { StartError } from '#src/postgres/errors.ts'
import { chunksOf } from './file-errors.ts'

export interface JsonValue {
  /** The names of the members, or the numbers of the elements, that lead to the value. */
  keys: string[]
  text: string
}

const CHUNK_BYTES = 256 * 1024
const MAX_VALUE_BYTES = 16 * 1024 * 1024
/** Firestore allows maps within 20 maps; exporters add a few levels for subcollections. */
const MAX_DEPTH = 200
const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a]
const OPENING = new Set([0x7b, 0x5b])
const CLOSING = new Set([0x7d, 0x5d])
const ARRAY = 0x5b
const BYTE_ORDER_MARK = 0xef

/**
 * Yields the values whose keys `isWanted` accepts; it is asked for each value outside of those.
 * @throws StartError for a file that cannot be read or ends too early, and for a wanted value that is too long
 */
export async function* readJsonValues(path: string, isWanted: (keys: readonly string[]) => boolean): AsyncGenerator<JsonValue> {
  const scan = new Scan(path, isWanted)
  for await (const chunk of chunksOf(path, CHUNK_BYTES)) yield* scan.add(chunk)
  scan.end()
}

class Scan {
  readonly #path: string
  readonly #isWanted: (keys: readonly string[]) => boolean
  /** The containers around the present place: whether each is an array, and its present key. */
  readonly #isArray: boolean[] = []
  readonly #keys: string[] = []
  #isInString = false
  #isEscaped = false
  #isBegun = false
  /** The last string, which is a key if a colon follows. */
  #string: Buffer[] = []
  /** Set while a wanted value is collected: the number of containers around it. */
  #wantedAt: number | undefined
  #pieces: Buffer[] = []
  #bytes = 0

  constructor(path: string, isWanted: (keys: readonly string[]) => boolean) {
    this.#path = path
    this.#isWanted = isWanted
  }

  *add(chunk: Buffer): Generator<JsonValue> {
    let from = 0
    let stringFrom = 0
    for (let at = 0; at < chunk.length; at += 1) {
      const byte = chunk[at]!
      if (this.#isInString) {
        if (this.#isEscaped) this.#isEscaped = false
        else if (byte === BACKSLASH) this.#isEscaped = true
        else if (byte === QUOTE) {
          this.#isInString = false
          if (this.#wantedAt === undefined) this.#string.push(chunk.subarray(stringFrom, at))
        }
        continue
      }
      if (byte <= 0x20 || (byte >= BYTE_ORDER_MARK && !this.#isBegun)) continue
      const isEnd = byte === COMMA || CLOSING.has(byte)
      if (this.#wantedAt === this.#isArray.length && isEnd) {
        this.#collect(chunk.subarray(from, at))
        yield this.#take()
      } else if (this.#wantedAt === undefined && !isEnd && byte !== COLON && this.#isValueNext()) {
        this.#isBegun = true
        if (this.#isWanted(this.#keys)) {
          this.#wantedAt = this.#isArray.length
          from = at
        }
      }
      if (byte === QUOTE) {
        this.#isInString = true
        stringFrom = at + 1
        this.#string = []
      } else if (byte === COLON && this.#wantedAt === undefined) this.#keys[this.#keys.length - 1] = this.#readKey()
      else if (OPENING.has(byte)) {
        if (this.#isArray.length >= MAX_DEPTH)
          throw new StartError(`${this.#path}: ${this.#keys.slice(0, 3).join('/')}… has more than ${MAX_DEPTH} levels.`)
        this.#isArray.push(byte === ARRAY)
        this.#keys.push(byte === ARRAY ? '0' : '')
      } else if (CLOSING.has(byte)) {
        this.#isArray.pop()
        this.#keys.pop()
      } else if (byte === COMMA && this.#wantedAt === undefined) this.#next()
    }
    if (this.#isInString && this.#wantedAt === undefined) this.#string.push(Buffer.from(chunk.subarray(stringFrom)))
    if (this.#wantedAt !== undefined) this.#collect(chunk.subarray(from))
  }

  end(): void {
    if (this.#isArray.length > 0 || this.#isInString) throw new StartError(`${this.#path} ends in the middle of its JSON.`)
    if (!this.#isBegun) throw new StartError(`${this.#path} is empty.`)
  }

  /** Whether a value may begin here, rather than the name of a member. */
  #isValueNext(): boolean {
    const depth = this.#isArray.length
    return depth === 0 ? !this.#isBegun : this.#isArray[depth - 1]! || this.#keys[depth - 1] !== ''
  }

  #next(): void {
    const last = this.#keys.length - 1
    if (last >= 0) this.#keys[last] = this.#isArray[last] ? String(Number(this.#keys[last]) + 1) : ''
  }

  #readKey(): string {
    const key = Buffer.concat(this.#string).toString('utf8')
    try {
      return JSON.parse(`"${key}"`) as string
    } catch (cause) {
      throw new StartError(`${this.#path} is not valid JSON: a name in it has characters that JSON does not allow.`, { cause })
    }
  }

  #collect(piece: Buffer): void {
    this.#bytes += piece.length
    if (this.#bytes > MAX_VALUE_BYTES)
      throw new StartError(`${this.#path}: ${this.#keys.join('/')} is longer than ${MAX_VALUE_BYTES} bytes.`)
    this.#pieces.push(Buffer.from(piece))
  }

  #take(): JsonValue {
    const text = Buffer.concat(this.#pieces).toString('utf8').trim()
    const keys = this.#keys.slice(0, this.#wantedAt)
    this.#pieces = []
    this.#bytes = 0
    this.#wantedAt = undefined
    return { keys, text }
  }
}
