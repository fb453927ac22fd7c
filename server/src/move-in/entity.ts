/**
 * Reads a document from an entity of Datastore (`EntityProto` of onestore.entity, version 3), as exports of Firestore contain it. Its values
 * become JSON; those that JSON lacks become objects: `{__time__}`, `{__ref__}`, `{__bytes__}`, `{__lat__, __lon__}`, `{__double__}` and, for
 * a value of a kind that is not known here, `{__unknown__}`.
 */
import { rawNumber } from '#src/calls.ts'
import { BadMessage, WIRE, WireReader } from './wire.ts'

export type Fields = Record<string, unknown>

export interface FirestoreDocument {
  /** Collection and id by turns, such as `['socialTasksHistory', 'a', 'users', '7']`. */
  path: string[]
  fields: Fields
}

export interface Entity extends FirestoreDocument {
  /** The project, such as `dev~my-game`, and the database in it. */
  project: string
}

const ENTITY = { key: 13, property: 14, rawProperty: 15 }
const KEY = { project: 13, path: 14, namespace: 20, database: 23 }
const ELEMENT = { list: 1, kind: 2, number: 3, name: 4 }
const PROPERTY = { meaning: 1, name: 3, isMultiple: 4, value: 5 }
const VALUE = { integer: 1, boolean: 2, string: 3, double: 4, point: 5, latitude: 6, longitude: 7, reference: 12 }
const REFERENCE = { project: 13, element: 14, kind: 15, number: 16, name: 17 }
const MEANING = { none: 0, time: 7, point: 9, rating: 13, blob: 14, text: 15, bytes: 16, map: 19, emptyList: 24 }
/**
 * Kinds of texts that Datastore had before Firestore, which exports of old databases contain: category, link, title, content, summary,
 * author, e-mail address, instant message, phone number, postal address, and the key of a file.
 */
const OLD_TEXTS: ReadonlySet<number> = new Set([1, 2, 3, 4, 5, 6, 8, 10, 11, 12, 17])

const MAX_DEPTH = 40 // Firestore allows 20

/** @throws BadMessage */
export function readEntity(bytes: Buffer): Entity {
  const entity = readFields(new WireReader(bytes), 0)
  if (entity.path.length === 0) throw new BadMessage('an entity without a key')
  return entity
}

function readFields(reader: WireReader, depth: number): Entity {
  if (depth > MAX_DEPTH) throw new BadMessage('maps within too many maps')
  const fields: Fields = Object.create(null) as Fields
  let key: Omit<Entity, 'fields'> = { project: '', path: [] }
  while (reader.next()) {
    if (reader.field === ENTITY.property || reader.field === ENTITY.rawProperty) {
      reader.expect(WIRE.bytes)
      addProperty(fields, reader.message(), depth)
    } else if (reader.field === ENTITY.key) {
      reader.expect(WIRE.bytes)
      key = readKey(reader.message())
    } else reader.skip()
  }
  return { ...key, fields }
}

function readKey(reader: WireReader): Omit<Entity, 'fields'> {
  let [project, database, path]: [string, string, string[]] = ['', '', []]
  while (reader.next()) {
    if (reader.field === KEY.project) project = reader.text()
    else if (reader.field === KEY.database) database = reader.text()
    else if (reader.field === KEY.path) path = readPath(reader.message())
    else reader.skip()
  }
  return { project: database === '' ? project : `${project}/${database}`, path }
}

function readPath(reader: WireReader): string[] {
  const path: string[] = []
  while (reader.next()) {
    if (reader.field === ELEMENT.list && reader.wire === WIRE.groupStart) readElement(reader, ELEMENT, path)
    else reader.skip()
  }
  return path
}

/** Reads a group of a kind and an id, which is a name or a number. Firestore shows a number as `__id7__`. */
function readElement(reader: WireReader, field: { kind: number; number: number; name: number }, path: string[]): void {
  let [kind, id] = ['', '']
  while (reader.next()) {
    if (reader.field === field.kind) kind = reader.text()
    else if (reader.field === field.name) id = reader.text()
    else if (reader.field === field.number) id = `__id${reader.number()}__`
    else reader.skip()
  }
  if (kind === '' || id === '') throw new BadMessage('a key without a collection or an id')
  path.push(kind, id)
}

function addProperty(fields: Fields, reader: WireReader, depth: number): void {
  let meaning = MEANING.none
  let name: string | undefined
  let isMultiple = false
  let value: Value = { kind: 'null' }
  while (reader.next()) {
    if (reader.field === PROPERTY.name) name = reader.text()
    else if (reader.field === PROPERTY.value) value = readValue(reader.message())
    else if (reader.field === PROPERTY.meaning) meaning = Number(reader.number())
    else if (reader.field === PROPERTY.isMultiple) isMultiple = reader.number() !== 0
    else reader.skip()
  }
  if (name === undefined) throw new BadMessage('a property without a name')
  if (meaning === MEANING.emptyList) fields[name] = []
  else if (!isMultiple) fields[name] = toJson(value, meaning, depth)
  else {
    const list = (fields[name] ??= [])
    if (!Array.isArray(list)) throw new BadMessage(`a list ${name} that is also a value`)
    list.push(toJson(value, meaning, depth))
  }
}

type Value =
  | { kind: 'null' | 'unknown' }
  | { kind: 'integer'; value: number | bigint }
  | { kind: 'boolean'; value: boolean }
  | { kind: 'double'; value: number }
  | { kind: 'string'; value: Buffer }
  | { kind: 'point'; latitude: number; longitude: number }
  | { kind: 'reference'; path: string[] }

function readValue(reader: WireReader): Value {
  let value: Value = { kind: 'null' }
  while (reader.next()) {
    const { field, wire } = reader
    if (field === VALUE.string && wire === WIRE.bytes) value = { kind: 'string', value: reader.bytes() }
    else if (field === VALUE.integer && wire === WIRE.varint) value = { kind: 'integer', value: reader.number() }
    else if (field === VALUE.boolean && wire === WIRE.varint) value = { kind: 'boolean', value: reader.number() !== 0 }
    else if (field === VALUE.double && wire === WIRE.fixed64) value = { kind: 'double', value: reader.double() }
    else if (field === VALUE.point && wire === WIRE.groupStart) value = readPoint(reader)
    else if (field === VALUE.reference && wire === WIRE.groupStart) value = readReference(reader)
    else {
      reader.skip()
      value = { kind: 'unknown' }
    }
  }
  return value
}

function readPoint(reader: WireReader): Value {
  let [latitude, longitude] = [0, 0]
  while (reader.next()) {
    if (reader.field === VALUE.latitude) latitude = reader.double()
    else if (reader.field === VALUE.longitude) longitude = reader.double()
    else reader.skip()
  }
  return { kind: 'point', latitude, longitude }
}

function readReference(reader: WireReader): Value {
  const path: string[] = []
  while (reader.next()) {
    if (reader.field === REFERENCE.element && reader.wire === WIRE.groupStart) readElement(reader, REFERENCE, path)
    else reader.skip()
  }
  return { kind: 'reference', path }
}

/** @param meaning the kind of value that a plain value represents: a time, for example, is a number of microseconds */
function toJson(value: Value, meaning: number, depth: number): unknown {
  switch (value.kind) {
    case 'null':
      return null
    case 'boolean':
      return value.value
    case 'integer':
      if (meaning === MEANING.time) return { __time__: timeText(value.value) }
      return meaning === MEANING.none || meaning === MEANING.rating ? exactNumber(value.value) : unknownValue(meaning)
    case 'double':
      return Number.isFinite(value.value) ? value.value : { __double__: String(value.value) }
    case 'string':
      return stringToJson(value.value, meaning, depth)
    case 'point':
      return { __lat__: value.latitude, __lon__: value.longitude }
    case 'reference':
      return { __ref__: value.path.join('/') }
    default:
      return unknownValue(meaning)
  }
}

function stringToJson(bytes: Buffer, meaning: number, depth: number): unknown {
  if (meaning === MEANING.none || meaning === MEANING.text || OLD_TEXTS.has(meaning)) return bytes.toString('utf8')
  if (meaning === MEANING.map) return readFields(new WireReader(bytes), depth + 1).fields
  if (meaning === MEANING.blob || meaning === MEANING.bytes) return { __bytes__: bytes.toString('base64') }
  return unknownValue(meaning)
}

function unknownValue(meaning: number): unknown {
  return { __unknown__: `a value of Firestore whose kind is not known here (meaning ${meaning})` }
}

/** Digits beyond the precision of a double stay as they are in JSON. */
function exactNumber(value: number | bigint): unknown {
  return typeof value === 'number' ? value : rawNumber(String(value))
}

const MICROS_PER_MS = 1000n
/** The milliseconds that a Date can represent. */
const LAST_MS = 8_640_000_000_000_000n

/** Returns a time in microseconds since 1970 as ISO text, in microseconds too. */
function timeText(given: number | bigint): string {
  const micros = BigInt(given)
  const within = ((micros % MICROS_PER_MS) + MICROS_PER_MS) % MICROS_PER_MS
  const ms = (micros - within) / MICROS_PER_MS
  if (ms > LAST_MS || ms < -LAST_MS) return `${given} µs`
  return new Date(Number(ms)).toISOString().replace('Z', `${String(within).padStart(3, '0')}Z`)
}
