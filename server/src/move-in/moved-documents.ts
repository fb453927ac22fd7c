/**
 * Remembers which players and participations a move-in has stored, by hashes of their bytes in the export, so that the next move-in need not
 * decode, translate and compare those that are still the same. Refused documents, and those of a move-in that was broken off, are not
 * remembered.
 */
import { hash } from 'node:crypto'
import { type Kysely, sql } from 'kysely'
import type { Database } from '#src/db/database.ts'
import type { Tables } from '#src/db/tables.ts'

/** The beginning of the hash of a document's bytes: two integers of 32 bits. The last four bits are replaced by the index of the collection. */
export interface Fingerprint {
  low: number
  high: number
}

export function fingerprintOf(bytes: Buffer): Fingerprint {
  const text = hash('sha256', bytes, 'hex')
  return { low: Number.parseInt(text.slice(0, 8), 16), high: Number.parseInt(text.slice(8, 16), 16) }
}

/** Collections with many documents, from which nothing else is derived. A stored hash has its collection's index in this list. */
const COLLECTIONS = ['telegramUsers', 'socialTasksHistory.users', 'dailyTasksHistory.users', 'announcementHistory.users']
const COLLECTION_MASK = 0x7
/** The bit of a slot that marks a document that this run has read again. It is not stored. */
const MET_AGAIN = 0x8
/** With more documents than this, the further ones are not remembered, so that memory stays bounded. */
const MOST = 6_000_000
const PART_DOCUMENTS = 128 * 1024
/** There are 1.5 slots for each stored hash, so that a search soon meets a free one. */
const SLOTS_EACH = 1.5

export class MovedDocuments {
  readonly #mapping: string
  /** The hashes of the last run, with a mark on those of documents that are the same now. A slot has two integers, both 0 if it is free. */
  #slots: Uint32Array
  /** The hashes of this run's new or changed documents, by collection, in the order of their lines. */
  readonly #added = COLLECTIONS.map(() => new Hashes())
  /** The collections of which this run remembers no document, by their index in COLLECTIONS. */
  readonly #forgotten = new Set<number>()
  #count = 0

  private constructor(mapping: string, slots: Uint32Array) {
    this.#mapping = mapping
    this.#slots = slots
  }

  /** @param mapping how documents become records. Hashes that were stored with another mapping are ignored */
  static async load({ db }: Database, mapping: string): Promise<MovedDocuments> {
    const { rows: counted } = await sql<{ bytes: string | null }>`
      select sum(length(hashes)) as bytes from moved_documents where mapping = ${mapping}`.execute(db)
    const slots = new Uint32Array(2 * Math.ceil((Number(counted[0]?.bytes ?? 0) / 8) * SLOTS_EACH + 1))
    const moved = new MovedDocuments(mapping, slots)
    for (let part = 0; ; part += 1) {
      const { rows } = await sql<{ hashes: Buffer }>`
        select hashes from moved_documents where part = ${part} and mapping = ${mapping}`.execute(db)
      const [found] = rows
      if (!found) return moved
      for (let at = 0; at < found.hashes.length; at += 8) {
        const print = { low: found.hashes.readUInt32LE(at), high: found.hashes.readUInt32LE(at + 4) }
        if (print.low !== 0 || print.high !== 0) moved.#put(print)
      }
    }
  }

  /** If the last run stored this document unchanged, marks it as read again and returns its collection. */
  markIfSame(print: Fingerprint): string | undefined {
    const slot = this.#slotOf(print)
    const high = this.#slots[slot + 1]!
    if (high === 0 && this.#slots[slot] === 0) return undefined
    if (this.#reserve()) this.#slots[slot + 1] = high | MET_AGAIN
    return COLLECTIONS[high & COLLECTION_MASK]
  }

  /** Remembers the document of the next line of a collection, if it has a fingerprint. */
  add(collection: string, print: Fingerprint | undefined): void {
    const collectionIndex = COLLECTIONS.indexOf(collection)
    if (collectionIndex === -1) return
    const [low, high] = print ? [print.low, ((print.high & ~(COLLECTION_MASK | MET_AGAIN)) | collectionIndex) >>> 0] : [0, 0]
    if (this.#reserve()) this.#added[collectionIndex]!.add(low, high)
  }

  /**
   * Forgets the document of a line. If it has the key of another document, the whole collection is forgotten: the next run has to read the
   * other document again, or it would take this one for the only one with the key.
   */
  refuse(collection: string, { line, isRepeated }: { line: number; isRepeated: boolean }): void {
    const collectionIndex = COLLECTIONS.indexOf(collection)
    this.#added[collectionIndex]?.clear(line - 1)
    if (isRepeated) this.#forgotten.add(collectionIndex)
  }

  /** Forgets the last run, before anything is written: this one may be broken off. */
  static async forget(db: Kysely<Tables>): Promise<void> {
    await sql`delete from moved_documents`.execute(db)
  }

  /** Call it when all is written. */
  async save(database: Database): Promise<void> {
    await database.transaction(async (tx) => {
      await MovedDocuments.forget(tx)
      let part = 0
      const added = this.#added.filter((_, index) => !this.#forgotten.has(index))
      for (const hashes of [this.#metAgain(), ...added.map((one) => one.parts())])
        for (const bytes of hashes) {
          await sql`insert into moved_documents (part, mapping, hashes) values (${part}, ${this.#mapping}, ${bytes})`.execute(tx)
          part += 1
        }
    })
  }

  /** Yields the bytes of the hashes of documents that are the same as in the last run, by parts. */
  *#metAgain(): Generator<Buffer> {
    const slots = this.#slots
    let found = new Hashes()
    for (let at = 0; at < slots.length; at += 2) {
      const high = slots[at + 1]!
      if ((high & MET_AGAIN) === 0 || this.#forgotten.has(high & COLLECTION_MASK)) continue
      found.add(slots[at]!, (high & ~MET_AGAIN) >>> 0)
      if (found.size < PART_DOCUMENTS) continue
      yield* found.parts()
      found = new Hashes()
    }
    yield* found.parts()
  }

  /** Reserves memory for one more document. Returns false if no memory is left. */
  #reserve(): boolean {
    if (this.#count >= MOST) return false
    this.#count += 1
    return true
  }

  #put({ low, high }: Fingerprint): void {
    const slot = this.#slotOf({ low, high })
    this.#slots[slot] = low
    this.#slots[slot + 1] = high
  }

  /** Returns the slot of a hash, or the free slot for it. */
  #slotOf({ low, high }: Fingerprint): number {
    const slots = this.#slots
    let at = 2 * (low % (slots.length / 2))
    while ((slots[at] !== 0 || slots[at + 1] !== 0) && !(slots[at] === low && slots[at + 1]! >>> 4 === high >>> 4))
      at = at + 2 === slots.length ? 0 : at + 2
    return at
  }
}

/** A list of hashes that grows by parts. */
class Hashes {
  readonly #parts: Uint32Array[] = []
  #length = 0

  add(low: number, high: number): void {
    const at = this.#length % PART_DOCUMENTS
    if (at === 0) this.#parts.push(new Uint32Array(2 * PART_DOCUMENTS))
    this.#parts.at(-1)!.set([low, high], 2 * at)
    this.#length += 1
  }

  clear(index: number): void {
    this.#parts[Math.floor(index / PART_DOCUMENTS)]?.fill(0, 2 * (index % PART_DOCUMENTS), 2 * (index % PART_DOCUMENTS) + 2)
  }

  get size(): number {
    return this.#length
  }

  /** Yields the bytes of each part. Hashes that were cleared are 0. */
  *parts(): Generator<Buffer> {
    for (const [index, part] of this.#parts.entries()) {
      const used = part.subarray(0, 2 * Math.min(PART_DOCUMENTS, this.#length - index * PART_DOCUMENTS))
      yield Buffer.from(used.buffer, used.byteOffset, used.byteLength)
    }
  }
}
