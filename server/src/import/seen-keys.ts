/**
 * Remembers the keys of a file's lines, to find the second line with a key. A slot takes 12 bytes and at most three quarters of the slots are
 * used, so ten million keys take 200 MB, where a set of texts would take more than 1 GB. Two keys are mistaken for each other if they have the
 * same hash of 64 bits: among ten million keys with a probability of 3 in a million.
 */
export class SeenKeys {
  #hashes = new Uint32Array(2 * FIRST_SLOTS)
  /** The number of the line in each slot; 0 marks a free slot. */
  #lines = new Uint32Array(FIRST_SLOTS)
  #size = 0

  /** Remembers the key of a line, unless an earlier line has it. Returns the number of that line, or undefined. */
  add(key: string, line: number): number | undefined {
    if (this.#size * 4 >= this.#lines.length * 3) this.#grow(2 * this.#lines.length)
    const [low, high] = hash(key)
    const slot = this.#slotOf(low, high)
    const earlier = this.#lines[slot]!
    if (earlier > 0) return earlier
    this.#put(slot, { low, high, line })
    this.#size += 1
    return undefined
  }

  /** Makes room for a number of keys at once: growing by doubling would hold the old slots beside the new ones. */
  reserve(keys: number): void {
    let slots = this.#lines.length
    while (keys * 4 >= slots * 3) slots *= 2
    if (slots > this.#lines.length) this.#grow(slots)
  }

  /** The number of different keys. */
  get size(): number {
    return this.#size
  }

  /** Returns the line with a key, or undefined. */
  lineOf(key: string): number | undefined {
    return this.#lines[this.#slotOf(...hash(key))] || undefined
  }

  /** Returns the slot with this hash, or the free slot for it. */
  #slotOf(low: number, high: number): number {
    const mask = this.#lines.length - 1
    let slot = low & mask
    while (this.#lines[slot]! > 0 && !(this.#hashes[2 * slot] === low && this.#hashes[2 * slot + 1] === high))
      slot = (slot + 1) & mask
    return slot
  }

  #put(slot: number, { low, high, line }: { low: number; high: number; line: number }): void {
    this.#hashes[2 * slot] = low
    this.#hashes[2 * slot + 1] = high
    this.#lines[slot] = line
  }

  #grow(slots: number): void {
    const [hashes, lines] = [this.#hashes, this.#lines]
    this.#hashes = new Uint32Array(2 * slots)
    this.#lines = new Uint32Array(slots)
    for (const [slot, line] of lines.entries()) {
      if (line === 0) continue
      const [low, high] = [hashes[2 * slot]!, hashes[2 * slot + 1]!]
      this.#put(this.#slotOf(low, high), { low, high, line })
    }
  }
}

const FIRST_SLOTS = 1 << 12 // a power of two, which makes a hash a slot by a mask

/** Returns two independent 32-bit hashes: MurmurHash3's mixing of 16-bit units, with two seeds (https://github.com/aappleby/smhasher). */
function hash(text: string): [number, number] {
  let low = 0x9747b28c
  let high = 0x5bd1e995
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at)
    low = Math.imul(rotate(low ^ Math.imul(unit, 0xcc9e2d51), 13), 5) + 0xe6546b64
    high = Math.imul(rotate(high ^ Math.imul(unit, 0x1b873593), 15), 9) + 0x38b34ae5
  }
  return [finish(low ^ text.length), finish(high ^ text.length)]
}

function rotate(value: number, bits: number): number {
  return (value << bits) | (value >>> (32 - bits))
}

function finish(value: number): number {
  let mixed = value ^ (value >>> 16)
  mixed = Math.imul(mixed, 0x85ebca6b)
  mixed ^= mixed >>> 13
  mixed = Math.imul(mixed, 0xc2b2ae35)
  return (mixed ^ (mixed >>> 16)) >>> 0
}
