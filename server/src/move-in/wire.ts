/** Reads protocol buffers from bytes: tags, numbers, lengths, groups (protobuf.dev, Encoding). Knows no message. */

/** Thrown for bytes that are no message; the caller says where they are. */
export class BadMessage extends Error {}

export const WIRE = { varint: 0, fixed64: 1, bytes: 2, groupStart: 3, groupEnd: 4, fixed32: 5 } as const

const MAX_DEPTH = 64

export class WireReader {
  readonly #bytes: Buffer
  #at: number
  readonly #end: number
  /** The number and the kind of the field that `next` has found. */
  field = 0
  wire = 0

  constructor(bytes: Buffer, from = 0, end = bytes.length) {
    this.#bytes = bytes
    this.#at = from
    this.#end = end
  }

  /** Reads the next tag. Returns false at the end of the message or of the group. */
  next(): boolean {
    if (this.#at >= this.#end) return false
    const tag = this.number()
    if (typeof tag !== 'number' || tag < 8) throw new BadMessage('a field without a number')
    this.field = Math.floor(tag / 8)
    this.wire = tag & 7
    return this.wire !== WIRE.groupEnd
  }

  /** Reads an integer of 64 bits with a sign. One that a double cannot represent exactly is a bigint. */
  number(): number | bigint {
    const start = this.#at
    let value = 0
    let factor = 1
    for (let length = 1; length <= 10; length += 1) {
      if (this.#at >= this.#end) break
      const byte = this.#bytes[this.#at]!
      this.#at += 1
      value += (byte & 0x7f) * factor
      factor *= 128
      if (byte < 0x80) return length <= 8 && Number.isSafeInteger(value) ? value : this.#large(start)
    }
    throw new BadMessage('a number without an end')
  }

  double(): number {
    const at = this.#skipBytes(8)
    return this.#bytes.readDoubleLE(at)
  }

  text(): string {
    const length = this.#length()
    const at = this.#skipBytes(length)
    return this.#bytes.toString('utf8', at, at + length)
  }

  /** Returns a view of the bytes. */
  bytes(): Buffer {
    const length = this.#length()
    const at = this.#skipBytes(length)
    return this.#bytes.subarray(at, at + length)
  }

  /** Returns a reader of the message in the present field. */
  message(): WireReader {
    const length = this.#length()
    const at = this.#skipBytes(length)
    return new WireReader(this.#bytes, at, at + length)
  }

  skip(depth = 0): void {
    if (depth > MAX_DEPTH) throw new BadMessage('groups within too many groups')
    if (this.wire === WIRE.varint) this.number()
    else if (this.wire === WIRE.fixed64) this.#skipBytes(8)
    else if (this.wire === WIRE.bytes) this.#skipBytes(this.#length())
    else if (this.wire === WIRE.fixed32) this.#skipBytes(4)
    else if (this.wire === WIRE.groupStart) while (this.next()) this.skip(depth + 1)
    else throw new BadMessage(`a field of the unknown kind ${this.wire}`)
  }

  /** Checks the kind of the present field. */
  expect(wire: number): void {
    if (this.wire !== wire) throw new BadMessage(`field ${this.field} has the kind ${this.wire} instead of ${wire}`)
  }

  #length(): number {
    const length = this.number()
    if (typeof length !== 'number' || length < 0) throw new BadMessage('a length that is none')
    return length
  }

  #skipBytes(length: number): number {
    const at = this.#at
    if (at + length > this.#end) throw new BadMessage('a value that ends beyond its message')
    this.#at = at + length
    return at
  }

  #large(start: number): number | bigint {
    let value = 0n
    for (let at = start; at < this.#at; at += 1) value |= BigInt(this.#bytes[at]! & 0x7f) << BigInt(7 * (at - start))
    const signed = BigInt.asIntN(64, value)
    const number = Number(signed)
    return Number.isSafeInteger(number) ? number : signed
  }
}
