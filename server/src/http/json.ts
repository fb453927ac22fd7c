/**
 * Parses the JSON of a request, which is untrusted (security.md, Input). Its bytes are scanned first: for the number of values, the depth,
 * different field names, and numbers that a double cannot represent. `JSON.parse` alone would take seconds for 8 MB of empty objects.
 * Other requests run between the steps, and between parts of the scan.
 */
import { setImmediate as letOthersRun } from 'node:timers/promises'
import { MAX_NUMBER } from '@arcade/contract/entity'
import { isExactNumber } from '@arcade/contract/numbers'
import { isStorable } from '@arcade/contract/text'
import { Failure } from '#src/calls.ts'

const MAX_DEPTH = 16
const MAX_KEYS = 100 // an object with 100,000 different keys takes half a second to build
/** Different field names in a large body. With 127,000 of them, `JSON.parse` takes four times as long. */
const MAX_NAMES = 1000
/** Bytes of the call's limit for each allowed value: 1,024 values in 64 kB, 10,000 users with 12 fields in 8 MB. */
const LIMIT_BYTES_A_VALUE = 64
/** Bytes from which the steps take long enough to let other requests run in between, and of each part of the scan. */
const LARGE_BYTES = 64 * 1024

export interface JsonOptions {
  /** The call's limit of bytes, which the body does not exceed. */
  limitBytes: number
  /** A field whose rows the call checks one by one: they may contain any text, and NaN replaces a number that a double cannot represent. */
  rowsField?: string | undefined
}

/** @throws Failure INVALID_INPUT for text that is not JSON, or JSON beyond the limits */
export async function parseJson(bytes: Uint8Array, { limitBytes, rowsField }: JsonOptions): Promise<unknown> {
  const pause = (): Promise<unknown> | undefined => (bytes.length > LARGE_BYTES ? letOthersRun() : undefined)
  const hasRows = rowsField !== undefined
  const { refusal, inexact } = await scan(bytes, { maxValues: Math.floor(limitBytes / LIMIT_BYTES_A_VALUE), hasRows, pause })
  if (refusal && !hasRows) throw refusal
  await pause()
  const text = decode(bytes)
  await pause()
  const value = parse(text, refusal && nanFor(inexact))
  await pause()
  // Forbidden characters can come into decoded text by escapes only.
  if (/\\u/i.test(text) || prototypeKeys.some((key) => text.includes(key))) refuseUnsafe(withoutRows(value, rowsField))
  await pause()
  return value
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw notJson()
  }
}

function parse(text: string, revive: Reviver | undefined): unknown {
  try {
    return JSON.parse(text, revive as ((key: string, value: unknown) => unknown) | undefined) as unknown
  } catch {
    throw notJson()
  }
}

/** A reviver for JSON.parse. `source`, the number as written, is not in TypeScript's types yet. */
type Reviver = (key: string, value: unknown, context: { source?: string }) => unknown

function nanFor(inexact: ReadonlySet<string>): Reviver {
  return (_key, value, { source }) =>
    typeof value === 'number' && source !== undefined && inexact.has(source.slice(0, MAX_NUMBER_LENGTH)) ? Number.NaN : value
}

function withoutRows(value: unknown, rowsField: string | undefined): unknown {
  if (rowsField === undefined || typeof value !== 'object' || value === null) return value
  const { [rowsField]: _rows, ...rest } = value as Record<string, unknown>
  return rest
}

const prototypeKeys = ['__proto__', 'constructor', 'prototype']

/** Refuses text that PostgreSQL cannot store, and keys that could reach JavaScript's prototypes: U+0000, lone surrogates, `__proto__`. */
export function refuseUnsafe(value: unknown, key = ''): void {
  if (typeof value === 'string') {
    if (!isStorable(value)) throw invalid('Text must not contain U+0000 or lone surrogates.', key)
    return
  }
  if (typeof value !== 'object' || value === null) return
  for (const name of Object.keys(value)) {
    if (prototypeKeys.includes(name)) throw new Failure('INVALID_INPUT')
    refuseUnsafe(name)
    refuseUnsafe((value as Record<string, unknown>)[name], Array.isArray(value) ? key : name)
  }
}

const OUT_OF_RANGE = `The number must be between ${-MAX_NUMBER} and ${MAX_NUMBER}.`
const [SPACE, QUOTE, BACKSLASH, PLUS, COMMA, COLON, MINUS] = [0x20, 0x22, 0x5c, 0x2b, 0x2c, 0x3a, 0x2d]
const [ZERO, NINE, LETTER_A, LETTER_Z] = [0x30, 0x39, 0x61, 0x7a]
const [OPEN_OBJECT, CLOSE_OBJECT, OPEN_ARRAY, CLOSE_ARRAY] = [0x7b, 0x7d, 0x5b, 0x5d]

/**
 * Scans JSON byte by byte without building values. Two values with nothing between them are refused at once, because counting by commas
 * would miss them; other text that is not JSON is left to the parser.
 * @param hasRows whether all numbers that a double cannot represent are wanted, and not only the first
 * @returns the numbers that a double cannot represent, as written, and the refusal of the first one
 */
async function scan(
  body: Uint8Array,
  { maxValues, hasRows, pause }: { maxValues: number; hasRows: boolean; pause: () => Promise<unknown> | undefined },
): Promise<{ refusal: Failure | undefined; inexact: ReadonlySet<string> }> {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength) // the same memory
  /** The field names of a large body. */
  const names = bytes.length > LARGE_BYTES ? new Set<string>() : undefined
  let pauseAt = LARGE_BYTES
  /** The number of keys of each open object, or -1 for an array. */
  const open: number[] = []
  let values = 1
  let text = { from: 0, to: 0 }
  let key = text
  const inexact = new Set<string>()
  let refusal: Failure | undefined
  /** Whether a value ends before `at`, without a comma or colon after it. */
  let isAfterValue = false
  const beginValue = (): void => {
    if (isAfterValue) throw notJson()
    isAfterValue = true
  }
  for (let at = 0; at < bytes.length; at += 1) {
    if (at >= pauseAt) {
      pauseAt = at + LARGE_BYTES
      await pause()
    }
    const byte = bytes[at]!
    if (byte === QUOTE) {
      beginValue()
      text = { from: at + 1, to: endOfText(bytes, at + 1) }
      at = text.to
    } else if (byte === COMMA) {
      isAfterValue = false
      values += 1
    } else if (byte === COLON) {
      isAfterValue = false
      key = text
      countKey(open)
      if (names) addName(names, bytes.toString('utf8', key.from, key.to))
    } else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) {
      beginValue()
      isAfterValue = false
      values += 1
      if (open.push(byte === OPEN_OBJECT ? 0 : -1) > MAX_DEPTH) throw invalid('The request is nested too deeply.')
    } else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) {
      open.pop()
      isAfterValue = true
    } else if (byte === MINUS || (byte >= ZERO && byte <= NINE)) {
      beginValue()
      const from = at
      at = endOfNumber(bytes, from)
      const number = refusal && !hasRows ? undefined : inexactNumberAt(bytes, from, at)
      if (number === undefined) continue
      inexact.add(number)
      refusal ??= notExact(number, bytes.toString('utf8', key.from, Math.min(key.to, key.from + SHOWN_NAME_BYTES)))
    } else if (byte > SPACE) {
      beginValue()
      while (isLetter(bytes[at + 1] ?? 0)) at += 1
    }
    if (values > maxValues) throw invalid('The request holds too many values.')
  }
  return { refusal, inexact }
}

/** Counts a key of the innermost object. @param open the number of keys of each open object, or -1 for an array */
function countKey(open: number[]): void {
  const keys = (open.at(-1) ?? -1) + 1
  if (keys === 0) throw notJson() // not within an object
  if (keys > MAX_KEYS) throw invalid('The request holds too many fields.')
  open[open.length - 1] = keys
}

function addName(names: Set<string>, name: string): void {
  if (names.add(name).size > MAX_NAMES) throw invalid('The request holds too many different fields.')
}

/** Returns the position of the last byte of a number that begins at `from`. */
function endOfNumber(bytes: Uint8Array, from: number): number {
  let at = from
  while (isInNumber[bytes[at + 1] ?? 0] === 1) at += 1
  return at
}

/** Whether a number is short and has no exponent, so that it is exact if it is a number at all. */
function isShortNumber(bytes: Uint8Array, from: number, to: number): boolean {
  if (to - from >= SHORT_NUMBER_CHARACTERS) return false
  for (let at = from + 1; at <= to; at += 1) if (bytes[at]! > NINE || bytes[at] === PLUS) return false
  return true
}

/** Returns the number, as written, if a double cannot represent it. */
function inexactNumberAt(bytes: Buffer, from: number, to: number): string | undefined {
  if (isShortNumber(bytes, from, to)) return undefined
  const number = bytes.toString('latin1', from, Math.min(to + 1, from + MAX_NUMBER_LENGTH))
  return JSON_NUMBER.test(number) && !isExactNumber(number) ? number : undefined
}

function notExact(number: string, field: string): Failure {
  return invalid(Math.abs(Number(number)) >= MAX_NUMBER ? OUT_OF_RANGE : 'The number cannot be kept exactly.', field)
}

/** Returns the position of the quote that ends a text. */
function endOfText(bytes: Uint8Array, from: number): number {
  let at = from
  while (at < bytes.length && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1
  return at
}

const JSON_NUMBER = /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i
/** Characters of a number that are looked at: a longer number, cut off here, still has more digits than a double and is refused. */
const MAX_NUMBER_LENGTH = 400
const SHOWN_NAME_BYTES = 64
/** Characters of a number, apart from an exponent, that a double always preserves (`isExactNumber`). */
const SHORT_NUMBER_CHARACTERS = 15
/** Whether a byte can be within `true`, `false` or `null`. */
const isLetter = (byte: number): boolean => byte >= LETTER_A && byte <= LETTER_Z
const isInNumber = new Uint8Array(256)
for (const character of '0123456789+-.eE') isInNumber[character.charCodeAt(0)] = 1

function invalid(message: string, field = ''): Failure {
  return new Failure('INVALID_INPUT', { message, ...(field && { fields: { [field]: message } }) })
}

function notJson(): Failure {
  return invalid('The request is not valid JSON.')
}
