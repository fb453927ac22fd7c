/**
 * Parses a line of each collection (§3) into the columns it becomes (design §5). Every field that the contract declares is read by its kind,
 * unless it has its own reader here; other fields are ignored. Uses neither the database nor files.
 */
import { linkTypeLabels } from '@arcade/contract/announcements/fields'
import type { Field, Fields, StoredName } from '@arcade/contract/entity'
import { MAX_PARTICIPANTS } from '@arcade/contract/items/availability'
import type { HistoryKind } from '@arcade/contract/history/fields'
import { hasLink, type TaskCollection, taskCollections } from '@arcade/contract/tasks/fields'
import { emailField } from '@arcade/contract/field-schemas'
import { bareUsername } from '@arcade/contract/text'
import {
  announcementEntity,
  columnName,
  columnTypes,
  type Entity,
  historyItemEntity,
  participantEntity,
  playerEntity,
  storedNames,
  taskEntity,
  userEntity,
} from '#src/db/entities.ts'
import { periodOf } from '#src/ledger/periods.ts'
import * as read from './import-values.ts'
import { BadRow, type Row, type Value } from './import-values.ts'

export type Columns = Record<string, Value>

export interface ParsedRow {
  columns: Columns
  /** Why not everything in a loaded row could be kept. */
  note?: string
}

/** The names of the fields that an import writes: all stored fields except those that only the console sets. */
type ImportedName<E extends Entity, Own extends string> = Exclude<StoredName<E['fields']>, Own>

type Reader = (row: Row, name: string) => Value

interface ImportOptions<E extends Entity, Own extends string> {
  entity: E
  /** Fields that only the console sets. */
  own: readonly Own[]
  /** Readers of the fields for which the kind does not suffice. */
  readers: { readonly [Name in ImportedName<E, Own>]?: Reader }
  textMaxLength?: number
  /** Whether operators type the texts, unlike those of players. */
  isTyped?: true
}

interface ImportedField<Name extends string = string> {
  name: Name
  column: string
  /** The type of the column in PostgreSQL. */
  type: string
  read: Reader
}

/** The field with what a move-in has kept of a document, as JSON in a text, so that no number is rounded and no order is lost. */
export const FROM_BEFORE = 'fromBefore'

/** Returns each field that an import writes, with its column and its reader. */
export function importedFields<E extends Entity, const Own extends StoredName<E['fields']>>({
  entity,
  own,
  readers,
  textMaxLength,
  isTyped,
}: ImportOptions<E, Own>): ImportedField<ImportedName<E, Own> | 'fromBefore'>[] {
  const names = storedNames<Fields>(entity.fields).filter((name) => !(own as readonly string[]).includes(name))
  const fields = (names as ImportedName<E, Own>[]).map((name) => {
    const field = entity.fields[name]!
    return {
      name,
      column: columnName(entity, name),
      type: columnTypes[field.kind],
      read: readers[name] ?? readerFor(field, textMaxLength, isTyped),
    }
  })
  return [...fields, { name: FROM_BEFORE, column: 'from_before', type: 'text', read: read.jsonText }]
}

function readerFor(field: Field, maxLength: number | undefined, isTyped = false): Reader {
  const readPresent = field.kind === 'text' ? textReaderFor(field, maxLength, isTyped) : presentReaderFor(field)
  if (!field.isOptional || field.kind === 'text') return readPresent
  return (row, name) => (read.isMissing(row[name]) ? null : readPresent(row, name))
}

function textReaderFor(field: Field, maxLength: number | undefined, isTyped: boolean): Reader {
  const [optional, required] = isTyped ? [read.typed, read.requiredTyped] : [read.optional, read.required]
  const readText = field.isOptional ? optional : required
  return (row, name) => readText(row, name, maxLength)
}

/** Returns the reader of a field that is not a text. */
function presentReaderFor(field: Field): Reader {
  switch (field.kind) {
    case 'choice': {
      const options = Object.keys(field.options)
      return (row, name) => read.oneOf(row, name, options)
    }
    case 'number':
      return read.number
    case 'integer':
      return read.integer
    case 'moment':
      return read.moment
    default:
      return read.flag
  }
}

function readColumns(fields: readonly ImportedField[], row: Row): Columns {
  const columns: Columns = {}
  for (const field of fields) columns[field.column] = field.read(row, field.name)
  return columns
}

/** Returns the columns that an import writes, with their types in PostgreSQL. */
export function importedColumns(fields: readonly ImportedField[]): Record<string, string> {
  return Object.fromEntries(fields.map(({ column, type }) => [column, type]))
}

export const importedUsers = importedFields({
  entity: userEntity,
  own: ['version', 'lastSeenAt'],
  readers: { id: read.documentId, email: readEmail },
  textMaxLength: read.MAX_NAME_LENGTH,
  isTyped: true,
})

/** @throws BadRow */
export function parseUser(row: Row): ParsedRow {
  return { columns: readColumns(importedUsers, row) }
}

function readEmail(row: Row, name: string): string {
  const email = emailField.safeParse(row[name])
  if (!email.success) throw new BadRow(`${name}: ${email.error.issues[0]?.message}`)
  return read.wellFormed(name, email.data)
}

export const importedPlayers = importedFields({
  entity: playerEntity,
  own: [],
  readers: {
    userId: readUserId,
    createdAt: read.telegramMoment,
    username: readUsername,
    balance: (row, name) => (read.isMissing(row[name]) ? null : read.number(row, name)),
  },
  textMaxLength: read.MAX_NAME_LENGTH,
})

/** @throws BadRow */
export function parseTelegramUser(row: Row): ParsedRow {
  return { columns: readColumns(importedPlayers, row) }
}

/** Reads a username, which some exports write with the `@` that Telegram shows before it. */
function readUsername(row: Row, name: string): string | null {
  return bareUsername(read.optional(row, name, read.MAX_NAME_LENGTH) ?? '') || null
}

/** Reads a player's id from the document's id or its field userId, which must be equal if both are given. */
function readUserId(row: Row, name: string): number {
  const id = read.isMissing(row['id']) ? undefined : read.playerId(row, 'id')
  const userId = id !== undefined && read.isMissing(row[name]) ? id : read.playerId(row, name)
  if (id !== undefined && id !== userId) throw new BadRow('id and userId differ')
  return userId
}

/** Reads the reward that players are paid from now on. A history document, by contrast, keeps any value that was paid. */
function readReward(row: Row, name: string): number {
  const reward = read.number(row, name)
  if (reward < 0) throw new BadRow(`${name} must be 0 or more`)
  return reward
}

/** Reads what a UTC day may pay, which is at least one reward. */
function readBudget(row: Row, name: string): number | null {
  if (read.isMissing(row[name])) return null
  const budget = read.number(row, name)
  if (budget <= 0) throw new BadRow(`${name} must be above 0`)
  if (budget < read.number(row, 'reward')) throw new BadRow(`${name} must be at least the reward`)
  return budget
}

/** Reads when an item ends, which is after it starts. */
function readEnd(row: Row, name: string): string | null {
  const [startsAt, endsAt] = [read.moment(row, 'startsAt'), read.moment(row, name)]
  if (startsAt !== null && endsAt !== null && endsAt <= startsAt) throw new BadRow(`${name} must be after startsAt`)
  return endsAt
}

/** Readers of the fields of tasks and announcements that say when, for whom and how often they can be claimed. */
const availabilityReaders = {
  endsAt: readEnd,
  maxParticipants: (row: Row, name: string) => read.maybeCount(row, name, MAX_PARTICIPANTS),
  dailyBudget: readBudget,
  segmentId: (row: Row, name: string) => (read.isMissing(row[name]) ? null : read.documentId(row, name)),
}

const taskTypes = [...new Set(Object.values(taskCollections).flatMap(({ types }) => types))]

export const importedTasks = importedFields({
  entity: taskEntity,
  own: ['version'],
  readers: {
    id: read.documentId,
    type: (row) => read.oneOf(row, 'image', taskTypes), // §3
    link: read.link,
    reward: readReward,
    verifiedByBot: read.maybeFlag,
    paused: read.maybeFlag,
    ...availabilityReaders,
  },
  isTyped: true,
})

/** @throws BadRow */
export function parseTask(collection: TaskCollection, row: Row): ParsedRow {
  const type = read.oneOf(row, 'image', taskCollections[collection].types)
  const task = readColumns(importedTasks, row)
  return { columns: hasLink(type) ? task : { ...task, link: null } } // §5
}

export const importedAnnouncements = importedFields({
  entity: announcementEntity,
  // Only uploads set files.
  own: ['version', 'image', 'icon'],
  readers: {
    id: read.documentId,
    link: read.link,
    reward: readReward,
    verifiedByBot: read.maybeFlag,
    ...availabilityReaders,
    imageName: read.fileName,
    iconName: read.fileName,
    linkType: (row, name) => (row['type'] === 'link' ? read.oneOf(row, name, Object.keys(linkTypeLabels)) : null),
  },
  isTyped: true,
})

/** Parses an announcement without the fields that its type and link type do not use (§5). @throws BadRow */
export function parseAnnouncement(row: Row): ParsedRow {
  const columns = readColumns(importedAnnouncements, row)
  const lost = ['image', 'icon'].filter((name) => read.optional(row, name) !== null)
  if (columns['type'] !== 'desc') columns['description'] = null
  if (columns['type'] !== 'link') columns['link'] = null
  if (columns['link_type'] !== 'input') columns['input_text'] = null
  return {
    columns,
    ...(lost.length > 0 && { note: `The file of ${lost.join(' and ')} is in another store: upload it again` }),
  }
}

const readName: Reader = (row, name) => read.required(row, name, read.MAX_NAME_LENGTH)

export const importedHistoryItems = importedFields({
  entity: historyItemEntity,
  // The name of the file gives the kind.
  own: ['kind'],
  readers: {
    id: read.documentId,
    type: readName,
    linkType: (row, name) => read.optional(row, name, read.MAX_NAME_LENGTH),
    link: read.link,
  },
  isTyped: true,
})

/** Parses a history document. Its type may be any text, because it may describe an item of long ago. @throws BadRow */
export function parseHistoryItem(kind: HistoryKind, row: Row): ParsedRow {
  const item = readColumns(importedHistoryItems, row)
  return { columns: { kind, ...item, created_at: read.moment(row, 'createdAt') } }
}

export const importedParticipants = importedFields({
  entity: participantEntity,
  own: [],
  readers: {
    id: read.playerId,
    username: readUsername,
    userInput: (row, name) => read.optional(row, name),
    timestamp: readPresentMoment,
  },
  textMaxLength: read.MAX_NAME_LENGTH,
})

/** Parses a document of the `users` subcollection; `parent` is the id of its history document. @throws BadRow */
export function parseParticipation(kind: HistoryKind, row: Row): ParsedRow {
  const participant = readColumns(importedParticipants, row)
  const period = periodOf(kind, String(participant['at']))
  return { columns: { ...participant, kind, item_id: read.documentId(row, 'parent'), period } }
}

function readPresentMoment(row: Row, name: string): string {
  const moment = read.telegramMoment(row, name)
  if (moment === null) throw new BadRow(`${name} is required`)
  return moment
}
