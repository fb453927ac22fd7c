/**
 * Says what becomes of each collection and field of Firestore. By default they have the names of §3; a map file gives others, constants, and
 * what is dropped. Uses neither files nor the database.
 */
import { StartError } from '#src/postgres/errors.ts'
import { FROM_BEFORE } from '#src/import/import-rows.ts'
import { importedCollections } from '#src/import/collections.ts'
import type { FirestoreDocument, Fields } from './entity.ts'

/** What becomes of one collection. */
export interface CollectionMapping {
  /** The collection of the import, such as `users` or `socialTasksHistory.users`; undefined if its documents are dropped. */
  to: string | undefined
  /** The names of the import's fields by those of Firestore; `a.b` names a field in a map. */
  fields: ReadonlyMap<string, string>
  constants: Fields
  dropped: ReadonlySet<string>
}

/** Mappings by the names of collections, such as `users` and `socialTasksHistory/users`. */
export type Mapping = ReadonlyMap<string, CollectionMapping>

const noFields = { fields: new Map<string, string>(), constants: {}, dropped: new Set<string>() }

export const defaultMapping: Mapping = new Map(
  [...importedCollections.keys()].map((to) => [to.replace('.', '/'), { to, ...noFields }]),
)

const SHAPE =
  '{"collections": {"players": {"to": "telegramUsers", "fields": {"coins": "balance"}, "constants": {}, "drop": ["token"]}}}'

/** Reads a map file. Collections that it does not name keep their defaults. @throws StartError that says what is wrong */
export function readMapping(text: string, path: string): Mapping {
  const refuse = (what: string): StartError => new StartError(`${path}: ${what}. A map file is JSON such as ${SHAPE}.`)
  let file: unknown
  try {
    file = JSON.parse(text)
  } catch {
    throw refuse('this is not valid JSON')
  }
  if (!isObject(file) || !isObject(file['collections'])) throw refuse('"collections" is missing')
  const mapping = new Map(defaultMapping)
  for (const [name, rule] of Object.entries(file['collections'])) {
    if (!isObject(rule)) throw refuse(`the collection ${name} is not an object`)
    const unknown = Object.keys(rule).find((key) => !['to', 'fields', 'constants', 'drop'].includes(key))
    if (unknown !== undefined) throw refuse(`"${unknown}" of ${name} is not known`)
    mapping.set(name, readRule(name, rule, refuse))
  }
  return mapping
}

function readRule(name: string, rule: Fields, refuse: (what: string) => StartError): CollectionMapping {
  const { to: given = name, fields = {}, constants = {}, drop = [] } = rule
  if (drop === true) return { to: undefined, ...noFields }
  const to = String(given).replace('/', '.')
  const kept = importedCollections.get(to)
  if (!kept)
    throw refuse(`${name} leads to ${String(given)}, but only to ${[...defaultMapping.keys()].join(', ')} can be moved in`)
  if (to.includes('.') !== name.includes('/'))
    throw refuse(`${name} leads to ${String(given)}, but participants are in a subcollection, and nothing else is`)
  if (!isObject(fields) || !isObject(constants)) throw refuse(`"fields" and "constants" of ${name} must be objects`)
  if (!Array.isArray(drop) || drop.some((field) => typeof field !== 'string'))
    throw refuse(`"drop" of ${name} must be true or a list of fields`)
  const targets = [...Object.values(fields), ...Object.keys(constants)]
  const foreign = targets.find((target) => typeof target !== 'string' || !kept.has(target) || target === FROM_BEFORE)
  if (foreign !== undefined)
    throw refuse(
      `${name}: there is no field ${JSON.stringify(foreign)}, only ${[...kept].filter((field) => field !== FROM_BEFORE).join(', ')}`,
    )
  return { to, fields: new Map(Object.entries(fields) as [string, string][]), constants, dropped: new Set(drop as string[]) }
}

export interface Translated {
  collection: string
  row: Fields
  /** The fields that lead nowhere, with their values. */
  unmapped: [name: string, value: unknown][]
}

/** Returns the name of a document's collection without ids, such as `socialTasksHistory/users`. */
export function collectionOf({ path }: FirestoreDocument): string {
  return path.filter((_, index) => index % 2 === 0).join('/')
}

/** Turns a document into a row of the import, which keeps the document's path as `__name__`. Returns undefined for a dropped one. */
export function translate(document: FirestoreDocument, mapping: CollectionMapping): Translated | undefined {
  const { to, fields, constants, dropped } = mapping
  if (to === undefined) return undefined
  const { path } = document
  const kept = importedCollections.get(to)!
  const row = Object.create(null) as Fields
  row['__name__'] = path.join('/')
  const unmapped: Translated['unmapped'] = []
  const assign = (name: string, value: unknown): void => {
    if (dropped.has(name)) return
    const target = fields.get(name) ?? (kept.has(name) && name !== FROM_BEFORE && !isTarget(fields, name) ? name : undefined)
    if (target !== undefined) row[target] = value
    else if (isPlainMap(value) && hasFieldsWithin(fields, dropped, name))
      for (const [inner, part] of Object.entries(value)) assign(`${name}.${inner}`, part)
    else unmapped.push([name, value])
  }
  for (const [name, value] of Object.entries(document.fields)) assign(name, value)
  Object.assign(row, constants)
  const id = path.at(-1)!
  const given = row['id']
  if (to === 'telegramUsers') {
    // Some games name players' documents by Telegram's number, others have it in a field only.
    if (row['userId'] === undefined || isPlayerId(id)) row['id'] = id
    else delete row['id']
  } else if (!to.endsWith('.users')) {
    if (given !== undefined && given !== id) unmapped.push(['id', given])
    row['id'] = id
  } else {
    row['parent'] = path.at(-3)
    if (given === undefined || given === null) row['id'] = id
  }
  return { collection: to, row, unmapped }
}

function isTarget(fields: CollectionMapping['fields'], name: string): boolean {
  return fields.size > 0 && [...fields.values()].includes(name)
}

function isPlayerId(id: string): boolean {
  return /^[1-9]\d{0,15}$/.test(id)
}

function hasFieldsWithin(fields: CollectionMapping['fields'], dropped: ReadonlySet<string>, name: string): boolean {
  return [...fields.keys(), ...dropped].some((key) => key.startsWith(`${name}.`))
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Whether a value is a map of Firestore, rather than a time or another value that JSON lacks. */
function isPlainMap(value: unknown): value is Fields {
  return isObject(value) && !Object.keys(value).some((key) => key.startsWith('__'))
}
