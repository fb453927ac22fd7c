/** Reads the values of an imported line: what each may be, and what it becomes. Nothing here touches the database or a file. */
import { MAX_LINK_LENGTH, linkField } from '@arcade/contract/field-schemas'
import { MAX_NUMBER } from '@arcade/contract/entity'
import { MAX_USER_ID } from '@arcade/contract/players/calls'
import { isExactNumber } from '@arcade/contract/numbers'
import { characterCount, isBlank, shownFileName, typedText } from '@arcade/contract/text'

/** Thrown for a row that is refused; its message tells the operator what to correct. */
export class BadRow extends Error {}

export type Row = Record<string, unknown>
export type Value = string | number | boolean | null

const MAX_ID_LENGTH = 128 // idField of the contract
const MAX_TEXT_LENGTH = 10_000
/** Leaves room for the other fields in a line of an import, which has at most 1 MiB. */
export const MAX_JSON_LENGTH = 250_000
const SHOWN_DIGITS = 40
/** The longest text of an indexed column, in code points: an index entry holds 2,704 bytes, and a code point takes up to 4. */
export const MAX_NAME_LENGTH = 500

/** Matches JSON that may contain a rounded number: only one with 16 digits or an exponent can change when it is parsed. */
const maybeRounded = /[:,[]\s*-?(?:[\d.]{16}|[\d.]+e)/i

/**
 * Returns the JSON object of a line. A number that a double cannot represent exactly is never rounded (design §5): it is refused in a field
 * that is kept, and ignored in any other.
 * @param kept the names of the fields that the import keeps
 * @throws BadRow
 */
export function parseObject(text: string, kept: ReadonlySet<string>): Row {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw new BadRow('The line is not valid JSON')
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new BadRow('The line is not a JSON object')
  if (maybeRounded.test(text)) refuseRounded(text, kept)
  return value as Row
}

function refuseRounded(text: string, kept: ReadonlySet<string>): void {
  class Rounded {
    readonly source: string
    constructor(source: string) {
      this.source = source
    }
  }
  const mark = (_name: string, value: unknown, { source }: { source?: string }): unknown =>
    typeof value === 'number' && source !== undefined && !isExactNumber(source) ? new Rounded(source) : value
  const refuseWithin = (name: string, value: unknown): void => {
    if (value instanceof Rounded)
      throw new BadRow(`${name}: the number ${value.source.slice(0, SHOWN_DIGITS)} cannot be kept exactly`)
    if (typeof value === 'object' && value !== null) for (const part of Object.values(value)) refuseWithin(name, part)
  }
  const row = JSON.parse(text, mark as (name: string, value: unknown) => unknown) as Row
  for (const [name, value] of Object.entries(row)) if (kept.has(name)) refuseWithin(name, value)
}

export function isMissing(value: unknown): value is undefined | null | '' {
  return value === undefined || value === null || value === ''
}

/** Returns a document's id. Firestore does not allow the ids `.` and `..` either. */
export function documentId(row: Row, name: string): string {
  const id = required(row, name, MAX_ID_LENGTH)
  if (id === '.' || id === '..') throw new BadRow(`${name} must not be ${id}, which browsers remove from addresses`)
  return id
}

/** Returns a player's id, which may be written as a number or as digits. */
export function playerId(row: Row, name: string): number {
  const value = row[name]
  if (isMissing(value)) throw new BadRow(`${name} is required`)
  const id = typeof value === 'string' && /^[1-9]\d{0,15}$/.test(value) && BigInt(value) <= MAX_USER_ID ? Number(value) : value
  if (typeof id !== 'number' || !Number.isInteger(id) || id < 1 || id > MAX_USER_ID) {
    throw new BadRow(`${name} must be a whole number from 1 to ${MAX_USER_ID}`)
  }
  return id
}

export function number(row: Row, name: string): number {
  const value = row[name]
  if (isMissing(value)) throw new BadRow(`${name} is required`)
  if (typeof value !== 'number') throw new BadRow(`${name} must be a number`)
  if (Math.abs(value) > MAX_NUMBER) throw new BadRow(`${name} must be between ${-MAX_NUMBER} and ${MAX_NUMBER}`)
  return value
}

export function integer(row: Row, name: string): number {
  const value = number(row, name)
  if (!Number.isInteger(value)) throw new BadRow(`${name} must be a whole number`)
  return value
}

/** Returns a whole number from 1 to `most`, or null if it is missing. */
export function maybeCount(row: Row, name: string, most: number): number | null {
  if (isMissing(row[name])) return null
  const count = integer(row, name)
  if (count < 1 || count > most) throw new BadRow(`${name} must be from 1 to ${most}`)
  return count
}

/** Returns a flag, or null if it is missing. */
export function maybeFlag(row: Row, name: string): boolean | null {
  return isMissing(row[name]) ? null : flag(row, name)
}

/** Returns a flag; a missing one is false. */
export function flag(row: Row, name: string): boolean {
  const value = row[name]
  if (!isMissing(value) && typeof value !== 'boolean') throw new BadRow(`${name} must be true or false`)
  return value === true
}

export function required(row: Row, name: string, maxLength = MAX_TEXT_LENGTH): string {
  const text = optional(row, name, maxLength)
  if (text === null || isBlank(text)) throw new BadRow(`${name} is required`)
  return text
}

export function optional(row: Row, name: string, maxLength = MAX_TEXT_LENGTH): string | null {
  return readText(row, name, { maxLength, kept: (text) => text })
}

/** Returns a text that operators type, as the forms keep it, or null if it is missing or blank. */
export function typed(row: Row, name: string, maxLength = MAX_TEXT_LENGTH): string | null {
  return readText(row, name, { maxLength, kept: typedText }) || null
}

export function requiredTyped(row: Row, name: string, maxLength = MAX_TEXT_LENGTH): string {
  const text = typed(row, name, maxLength)
  if (text === null) throw new BadRow(`${name} is required`)
  return text
}

/** Returns a text that is a JSON object. */
export function jsonText(row: Row, name: string): string | null {
  const text = optional(row, name, MAX_JSON_LENGTH)
  if (text === null) return null
  try {
    const value = JSON.parse(text) as unknown
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return text
  } catch {
    // told below
  }
  throw new BadRow(`${name} must be a text that is a JSON object`)
}

export function fileName(row: Row, name: string): string | null {
  return readText(row, name, { maxLength: MAX_TEXT_LENGTH, kept: shownFileName }) || null
}

/** @param options.kept returns the text as it is kept; its length is then checked, because NFC can make a text longer */
function readText(
  row: Row,
  name: string,
  { maxLength, kept }: { maxLength: number; kept: (text: string) => string },
): string | null {
  const value = row[name]
  if (isMissing(value)) return null
  if (typeof value !== 'string') throw new BadRow(`${name} must be a text`)
  const text = kept(wellFormed(name, value))
  if (characterCount(text) > maxLength) throw new BadRow(`${name} must be at most ${maxLength} characters`)
  return text
}

/** PostgreSQL stores neither U+0000 nor half of a surrogate pair. */
export function wellFormed(name: string, text: string): string {
  if (text.includes('\0')) throw new BadRow(`${name} contains the character U+0000`)
  if (!text.isWellFormed()) throw new BadRow(`${name} contains half a character (a lone surrogate)`)
  return text
}

export function oneOf<Choice extends string>(row: Row, name: string, allowed: readonly Choice[]): Choice {
  const text = required(row, name)
  const found = allowed.find((value) => value === text)
  if (found === undefined) throw new BadRow(`${name} must be one of ${allowed.join(', ')}`)
  return found
}

export function link(row: Row, name: string): string | null {
  const text = optional(row, name, MAX_LINK_LENGTH)
  if (text === null) return null
  const checked = linkField.safeParse(text)
  if (!checked.success) throw new BadRow(`${name}: Invalid URL format`) // §5
  return checked.data || null
}

const ISO = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?)(Z|[+-]\d\d:\d\d)?)?$/i
const LAST_MS = Date.UTC(9999, 11, 31, 23, 59, 59, 999)
const FIRST_MS = -62_135_596_800_000 // the year 1

/**
 * Returns a time as ISO text with milliseconds. It may be written as ISO (UTC by default), as epoch milliseconds or as a Firestore timestamp:
 * `{seconds, nanoseconds}`, `{_seconds, _nanoseconds}`, `{__datatype__: 'timestamp', value}` or `{__time__}`.
 */
export function moment(row: Row, name: string): string | null {
  const value = row[name]
  if (isMissing(value)) return null
  const ms = toMilliseconds(value)
  if (!isFrom(ms, FIRST_LIKELY_MS, LAST_LIKELY_MS))
    refuseOtherUnit(value, name, (other) => isFrom(other, FIRST_LIKELY_MS, LAST_LIKELY_MS))
  return toIso(ms, name)
}

/** @throws BadRow if the milliseconds are not in the years 1 to 9999 */
function toIso(milliseconds: number, name: string): string {
  const ms = Math.floor(milliseconds)
  if (!isFrom(ms, FIRST_MS, LAST_MS)) throw new BadRow(`${name} is not a point in time`)
  return new Date(ms).toISOString()
}

/** Reads the time of something that a Telegram user did. Telegram began in 2013, so a much earlier time is a mistake, as is a later one than now. */
export function telegramMoment(row: Row, name: string): string | null {
  const value = row[name]
  if (isMissing(value)) return null
  const ms = toMilliseconds(value)
  const isLikely = (time: number): boolean => isFrom(time, FIRST_LIKELY_MS, Date.now() + DAY_MS)
  if (isLikely(ms)) return toIso(ms, name)
  refuseOtherUnit(value, name, isLikely)
  throw new BadRow(`${name} would be ${toIso(ms, name)}, ${ms < FIRST_LIKELY_MS ? `before ${FIRST_YEAR}` : 'in the future'}`)
}

const DAY_MS = 86_400_000
const FIRST_YEAR = 2005
const FIRST_LIKELY_MS = Date.UTC(FIRST_YEAR, 0)
/** The last likely end of an item. Later times can be written as ISO text. */
const LAST_LIKELY_MS = Date.UTC(2100, 0)
/** Milliseconds in a unit. */
const UNITS = { seconds: 1000, milliseconds: 1, microseconds: 1 / 1000, nanoseconds: 1 / 1_000_000 }

function isFrom(ms: number, first: number, last: number): boolean {
  return ms >= first && ms <= last
}

/** Refuses a number that would be a likely time in another unit or if it were not text, and says so. @throws BadRow */
function refuseOtherUnit(value: unknown, name: string, isLikely: (ms: number) => boolean): void {
  if (typeof value === 'object' && value !== null) {
    const { __time__: time, __datatype__: type, value: inner } = value as Row
    if (type === 'timestamp' || typeof time === 'string') refuseOtherUnit(type === 'timestamp' ? inner : time, name, isLikely)
    return
  }
  const isText = typeof value === 'string' && /^\s*\d+\s*$/.test(value)
  if (!isText && typeof value !== 'number') return
  const unit = Object.entries(UNITS).find(([, factor]) => isLikely(Number(value) * factor))?.[0]
  if (unit === undefined) return
  const seems = `${name} seems to be in ${unit}`
  throw new BadRow(
    isText
      ? `${seems}, as text: write milliseconds as a number, or an ISO time`
      : `${seems}, but a number is read as milliseconds`,
  )
}

/** Returns the time in milliseconds since 1970, or NaN if the value is not a time. */
function toMilliseconds(value: unknown): number {
  if (typeof value === 'number') return value
  if (typeof value === 'string') {
    const [, day, time = '00:00', zone = 'Z'] = ISO.exec(value.trim()) ?? []
    const midnight = Date.parse(`${day}T00:00Z`)
    // Date.parse reads the 31st of February as a day in March.
    if (Number.isNaN(midnight) || new Date(midnight).toISOString().slice(0, 10) !== day) return Number.NaN
    return Date.parse(`${day}T${time}${zone.toUpperCase()}`)
  }
  if (typeof value !== 'object' || value === null) return Number.NaN
  const { __time__: time, __datatype__: type, value: inner } = value as Row
  if (typeof time === 'string') return toMilliseconds(time)
  if (type === 'timestamp' && (inner as Row | undefined)?.['__datatype__'] === undefined) return toMilliseconds(inner)
  const { _seconds, _nanoseconds, seconds = _seconds, nanoseconds = _nanoseconds ?? 0 } = value as Row
  if (!Number.isInteger(seconds) || !Number.isInteger(nanoseconds)) return Number.NaN
  const fraction = nanoseconds as number
  return fraction < 0 || fraction >= 1e9 ? Number.NaN : (seconds as number) * 1000 + Math.floor(fraction / 1e6)
}
