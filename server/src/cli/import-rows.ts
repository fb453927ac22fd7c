/**
 * What a line of each collection (§3) has to be, and the columns it becomes (design §5). Pure: no database, no files.
 * Fields that are not ours are ignored; of what is wrong with a row the first thing is said.
 */
import { announcementTypes, linkTypeLabels } from '@arcade/contract/entities/announcement'
import { emailField, LINK_MAX_LENGTH, linkField } from '@arcade/contract/fields'
import { MAX_NUMBER } from '@arcade/contract/numbers'
import { hasLink, taskCollections, type TaskCollection } from '@arcade/contract/entities/task'
import type { HistoryKind } from '@arcade/contract/entities/history'

/** Why a row is refused, for the person who will mend it. */
export class BadRow extends Error {}

export type Columns = Record<string, string | number | boolean | null>
export type Row = Record<string, unknown>

export interface ParsedRow {
  columns: Columns
  /** Loaded, yet not everything in it could be kept. */
  note?: string
}

const ID_MAX_LENGTH = 128 // idField of the contract
const TEXT_MAX_LENGTH = 10_000
/** Of what is or may be indexed: an entry of a B-tree holds 2,704 bytes, a UTF-16 unit takes up to 3. */
const NAME_MAX_LENGTH = 500

/** A line's JSON object. @throws BadRow */
export function parseObject(text: string): Row {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw new BadRow('The line is not valid JSON')
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new BadRow('The line is not a JSON object')
  if (text.includes('9007199254740993')) refuseRounded(text)
  return value as Row
}

/** @throws BadRow */
export function parseUser(row: Row): ParsedRow {
  const email = emailField.safeParse(row['email'])
  if (!email.success) throw new BadRow(`email: ${email.error.issues[0]?.message}`)
  return {
    columns: {
      id: documentId(row, 'id'),
      fname: required(row, 'fname', NAME_MAX_LENGTH),
      lname: required(row, 'lname', NAME_MAX_LENGTH),
      email: wellFormed('email', email.data),
      user_type: oneOf(row, 'userType', ['admin', 'user']),
      created_at: moment(row, 'createdAt'),
    },
  }
}

const playerTexts = {
  firstName: 'first_name',
  lastName: 'last_name',
  username: 'username',
  twitterUsername: 'twitter_username',
  instagramUsername: 'instagram_username',
  linkedInUsername: 'linked_in_username',
  discordUsername: 'discord_username',
  youtubeUsername: 'youtube_username',
  email: 'email',
  phoneNumber: 'phone_number',
  tonWalletAddress: 'ton_wallet_address',
  bscWallet: 'bsc_wallet',
} as const

/** The document's id and its field userId are the same number; one of them is enough. @throws BadRow */
export function parseTelegramUser(row: Row): ParsedRow {
  const id = isMissing(row['id']) ? undefined : playerId(row, 'id')
  const userId = id !== undefined && isMissing(row['userId']) ? id : playerId(row, 'userId')
  if (id !== undefined && id !== userId) throw new BadRow('id and userId differ')
  const columns: Columns = {
    user_id: userId,
    created_at: moment(row, 'createdAt'),
    balance: isMissing(row['balance']) ? 0 : number(row, 'balance'),
  }
  for (const [name, column] of Object.entries(playerTexts)) columns[column] = optional(row, name, NAME_MAX_LENGTH)
  return { columns }
}

/** @throws BadRow */
export function parseTask(collection: TaskCollection, row: Row): ParsedRow {
  const type = oneOf(row, 'image', taskCollections[collection].types)
  const address = link(row)
  return {
    columns: {
      id: documentId(row, 'id'),
      image: type,
      priority: number(row, 'priority'),
      title: required(row, 'title'),
      link: hasLink(type) ? address : null, // §5
      reward: reward(row),
      created_at: moment(row, 'createdAt'),
    },
  }
}

/** Fields that the type and link type have no use for are not kept (§5). @throws BadRow */
export function parseAnnouncement(row: Row): ParsedRow {
  const isLink = oneOf(row, 'type', announcementTypes) === 'link'
  const linkType = isLink ? oneOf(row, 'linkType', Object.keys(linkTypeLabels)) : null
  const [description, address, inputText] = [optional(row, 'description'), link(row), optional(row, 'inputText')]
  if (!isMissing(row['status']) && typeof row['status'] !== 'boolean') throw new BadRow('status must be true or false')
  const lost = ['image', 'icon'].filter((name) => optional(row, name) !== null)
  return {
    columns: {
      id: documentId(row, 'id'),
      type: isLink ? 'link' : 'desc',
      title: required(row, 'title'),
      subtitle: required(row, 'subtitle'),
      description: isLink ? null : description,
      link: isLink ? address : null,
      link_type: linkType,
      input_text: linkType === 'input' ? inputText : null,
      reward: reward(row),
      status: row['status'] === true,
      image_name: optional(row, 'imageName'),
      icon_name: optional(row, 'iconName'),
      created_at: moment(row, 'createdAt'),
    },
    ...(lost.length > 0 && { note: `The file of ${lost.join(' and ')} is in another store: upload it again` }),
  }
}

/** Kept as it is, of whatever type it was: it may be about an item of long ago. @throws BadRow */
export function parseHistoryItem(kind: HistoryKind, row: Row): ParsedRow {
  return {
    columns: {
      kind,
      item_id: documentId(row, 'id'),
      title: required(row, 'title'),
      type: required(row, 'type', NAME_MAX_LENGTH),
      link: link(row),
      link_type: optional(row, 'linkType', NAME_MAX_LENGTH),
      description: optional(row, 'description'),
      input_text: optional(row, 'inputText'),
      reward: number(row, 'reward'),
      created_at: moment(row, 'createdAt'),
    },
  }
}

/** A document of the users subcollection; `parent` is the history document it is in. @throws BadRow */
export function parseParticipation(kind: HistoryKind, row: Row): ParsedRow {
  const at = moment(row, 'timestamp')
  if (at === null) throw new BadRow('timestamp is required')
  return {
    columns: {
      user_id: playerId(row, 'id'),
      kind,
      item_id: documentId(row, 'parent'),
      period: '',
      username: optional(row, 'username', NAME_MAX_LENGTH),
      first_name: optional(row, 'first_name', NAME_MAX_LENGTH),
      last_name: optional(row, 'last_name', NAME_MAX_LENGTH),
      user_input: optional(row, 'userInput'),
      at,
    },
  }
}

function isMissing(value: unknown): value is undefined | null | '' {
  return value === undefined || value === null || value === ''
}

function documentId(row: Row, name: string): string {
  return required(row, name, ID_MAX_LENGTH)
}

/** A player's number, as a number or as its digits. */
function playerId(row: Row, name: string): number {
  const value = row[name]
  if (isMissing(value)) throw new BadRow(`${name} is required`)
  const id = typeof value === 'string' && /^[1-9]\d{0,15}$/.test(value) && BigInt(value) <= MAX_NUMBER ? Number(value) : value
  if (typeof id !== 'number' || !Number.isInteger(id) || id < 1 || id > MAX_NUMBER) {
    throw new BadRow(`${name} must be a whole number from 1 to ${MAX_NUMBER}`)
  }
  return id
}

function number(row: Row, name: string): number {
  const value = row[name]
  if (isMissing(value)) throw new BadRow(`${name} is required`)
  if (typeof value !== 'number') throw new BadRow(`${name} must be a number`)
  if (Math.abs(value) > MAX_NUMBER) throw new BadRow(`${name} must be between ${-MAX_NUMBER} and ${MAX_NUMBER}`)
  return value
}

/** What players are to be paid from now on. A history document keeps what was paid, whatever that was. */
function reward(row: Row): number {
  const value = number(row, 'reward')
  if (value < 0) throw new BadRow('reward must be 0 or more')
  return value
}

function required(row: Row, name: string, maxLength = TEXT_MAX_LENGTH): string {
  const text = optional(row, name, maxLength)
  if (text === null || text.trim() === '') throw new BadRow(`${name} is required`)
  return text
}

function optional(row: Row, name: string, maxLength = TEXT_MAX_LENGTH): string | null {
  const value = row[name]
  if (isMissing(value)) return null
  if (typeof value !== 'string') throw new BadRow(`${name} must be a text`)
  if (value.length > maxLength) throw new BadRow(`${name} must be at most ${maxLength} characters`)
  return wellFormed(name, value)
}

/** PostgreSQL stores neither U+0000 nor half of a surrogate pair. */
function wellFormed(name: string, text: string): string {
  if (text.includes('\0')) throw new BadRow(`${name} contains the character U+0000`)
  if (!text.isWellFormed()) throw new BadRow(`${name} contains half a character (a lone surrogate)`)
  return text
}

function oneOf<Value extends string>(row: Row, name: string, allowed: readonly Value[]): Value {
  const text = required(row, name)
  const found = allowed.find((value) => value === text)
  if (found === undefined) throw new BadRow(`${name} must be one of ${allowed.join(', ')}`)
  return found
}

function link(row: Row): string | null {
  const text = optional(row, 'link', LINK_MAX_LENGTH)
  if (text === null) return null
  const checked = linkField.safeParse(text)
  if (!checked.success) throw new BadRow('link: Invalid URL format') // §5
  return checked.data || null
}

const ISO = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?)(Z|[+-]\d\d:\d\d)?)?$/i
const LAST_MS = Date.UTC(9999, 11, 31, 23, 59, 59, 999)
const FIRST_MS = -62_135_596_800_000 // the year 1

/** A moment to the millisecond as ISO text: from ISO (UTC unless it says otherwise), epoch milliseconds or a Firestore timestamp. */
function moment(row: Row, name: string): string | null {
  const value = row[name]
  if (isMissing(value)) return null
  const ms = Math.floor(millisecondsOf(value))
  if (!(ms >= FIRST_MS && ms <= LAST_MS)) throw new BadRow(`${name} is not a point in time`)
  return new Date(ms).toISOString()
}

/** NaN for what is none. */
function millisecondsOf(value: unknown): number {
  if (typeof value === 'number') return value
  if (typeof value === 'string') {
    const [, day, time = '00:00', zone = 'Z'] = ISO.exec(value.trim()) ?? []
    const midnight = Date.parse(`${day}T00:00Z`)
    // Date.parse takes the 31st of February for a day in March.
    if (Number.isNaN(midnight) || new Date(midnight).toISOString().slice(0, 10) !== day) return Number.NaN
    return Date.parse(`${day}T${time}${zone.toUpperCase()}`)
  }
  if (typeof value !== 'object' || value === null) return Number.NaN
  const { _seconds, _nanoseconds, seconds = _seconds, nanoseconds = _nanoseconds ?? 0 } = value as Row
  if (!Number.isInteger(seconds) || !Number.isInteger(nanoseconds)) return Number.NaN
  const fraction = nanoseconds as number
  return fraction < 0 || fraction >= 1e9 ? Number.NaN : (seconds as number) * 1000 + Math.floor(fraction / 1e6)
}

/** 2^53 + 1 is read as 2^53, which would then be stored: what does not fit is refused (design §5). */
function refuseRounded(text: string): void {
  const check = (_name: string, value: unknown, { source }: { source?: string }): unknown => {
    if (typeof value === 'number' && Math.abs(value) === MAX_NUMBER && source?.includes('993')) {
      throw new BadRow(`A number is larger than ${MAX_NUMBER}`)
    }
    return value
  }
  JSON.parse(text, check as (name: string, value: unknown) => unknown)
}
