/**
 * JSON of a request, as untrusted text (security.md, Input). Its bytes are scanned once before anything is made of them: how many values
 * it holds, how deep, and whether a double holds its numbers. `JSON.parse` alone would take seconds for 8 MB of empty objects. Between
 * the steps other requests have their turn.
 */
import { setImmediate as letOthersRun } from 'node:timers/promises'
import { MAX_NUMBER } from '@arcade/contract/entity'
import { isExactNumber } from '@arcade/contract/numbers'
import { Failure } from '#src/calls.ts'

const MAX_DEPTH = 16
const MAX_KEYS = 100 // an object with 100,000 different keys takes half a second to build
/** So many bytes of the call's limit make room for one value: 1,024 values in 64 kB, 10,000 users with 12 fields in 8 MB. */
const LIMIT_BYTES_A_VALUE = 64
/** From here on the steps are long enough to let others run in between. */
const LARGE_BYTES = 64 * 1024

export interface JsonOptions {
  /** The most bytes that the call takes, which the body is known not to exceed. */
  limitBytes: number
  /** A field whose rows the call checks one by one: they may hold any text, and NaN stands in them for a number that a double would change. */
  rowsField?: string | undefined
}

/** @throws Failure INVALID_INPUT for what is not JSON, or JSON that nobody can mean */
export async function parseJson(bytes: Uint8Array, { limitBytes, rowsField }: JsonOptions): Promise<unknown> {
  const pause = (): Promise<unknown> | undefined => (bytes.length > LARGE_BYTES ? letOthersRun() : undefined)
  const inexact = scan(bytes, Math.floor(limitBytes / LIMIT_BYTES_A_VALUE))
  if (inexact && rowsField === undefined) throw inexact
  await pause()
  const text = decode(bytes)
  await pause()
  const value = parse(text, inexact && nanForInexact)
  await pause()
  // Nothing but an escape can bring these into decoded text.
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

function parse(text: string, revive: typeof nanForInexact | undefined): unknown {
  try {
    return JSON.parse(text, revive as ((key: string, value: unknown) => unknown) | undefined) as unknown
  } catch {
    throw notJson()
  }
}

/** `source` is the number as it stands in the text, which TypeScript does not know of yet. */
function nanForInexact(_key: string, value: unknown, { source }: { source?: string }): unknown {
  return typeof value === 'number' && source !== undefined && !isExactNumber(source) ? Number.NaN : value
}

function withoutRows(value: unknown, rowsField: string | undefined): unknown {
  if (rowsField === undefined || typeof value !== 'object' || value === null) return value
  const { [rowsField]: _rows, ...rest } = value as Record<string, unknown>
  return rest
}

const prototypeKeys = ['__proto__', 'constructor', 'prototype']

/** Refuses what PostgreSQL cannot store or what could reach JavaScript's prototypes: U+0000, lone surrogates, `__proto__`. */
export function refuseUnsafe(value: unknown, key = ''): void {
  if (typeof value === 'string') {
    if (value.includes('\0') || !value.isWellFormed()) throw invalid('Text must not hold control characters.', key)
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
const [QUOTE, BACKSLASH, COMMA, COLON, MINUS, ZERO, NINE] = [0x22, 0x5c, 0x2c, 0x3a, 0x2d, 0x30, 0x39]
const [OPEN_OBJECT, CLOSE_OBJECT, OPEN_ARRAY, CLOSE_ARRAY] = [0x7b, 0x7d, 0x5b, 0x5d]

/**
 * Reads JSON byte by byte without building anything. Text that is no JSON is left for the parser to refuse.
 * @returns why the first number that a double would change is refused
 */
function scan(bytes: Uint8Array, maxValues: number): Failure | undefined {
  /** The keys of each open object, or -1 for an array. */
  const open: number[] = []
  let values = 1
  let text = { from: 0, to: 0 }
  let key = text
  let inexact: Failure | undefined
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at]!
    if (byte === QUOTE) {
      const from = at + 1
      at = endOfText(bytes, from)
      text = { from, to: at }
    } else if (byte === COMMA) {
      values += 1
    } else if (byte === COLON) {
      key = text
      const keys = (open.at(-1) ?? 0) + 1
      if (keys > MAX_KEYS) throw invalid('The request holds too many fields.')
      if (open.length > 0) open[open.length - 1] = keys
    } else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) {
      values += 1
      open.push(byte === OPEN_OBJECT ? 0 : -1)
      if (open.length > MAX_DEPTH) throw invalid('The request is nested too deeply.')
    } else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) {
      open.pop()
    } else if (byte === MINUS || (byte >= ZERO && byte <= NINE)) {
      const from = at
      while (isInNumber[bytes[at + 1] ?? 0] === 1) at += 1
      const number = decodeText(bytes, from, Math.min(at + 1, from + LONGEST_NUMBER))
      if (JSON_NUMBER.test(number) && !isExactNumber(number))
        inexact ??= invalid(
          Math.abs(Number(number)) >= MAX_NUMBER ? OUT_OF_RANGE : 'The number cannot be kept exactly.',
          decodeText(bytes, key.from, Math.min(key.to, key.from + SHOWN_NAME_BYTES)),
        )
    }
    if (values > maxValues) throw invalid('The request holds too many values.')
  }
  return inexact
}

/** Where the quote is that ends a text. */
function endOfText(bytes: Uint8Array, from: number): number {
  let at = from
  while (at < bytes.length && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1
  return at
}

const JSON_NUMBER = /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i
/** What is cut off from a longer number leaves more digits than any double has, so it is refused all the same. */
const LONGEST_NUMBER = 400
const SHOWN_NAME_BYTES = 64
const isInNumber = new Uint8Array(256)
for (const character of '0123456789+-.eE') isInNumber[character.charCodeAt(0)] = 1

function decodeText(bytes: Uint8Array, from: number, to: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + from, to - from).toString('utf8')
}

function invalid(message: string, field = ''): Failure {
  return new Failure('INVALID_INPUT', { message, ...(field && { fields: { [field]: message } }) })
}

function notJson(): Failure {
  return invalid('The request is not valid JSON.')
}
