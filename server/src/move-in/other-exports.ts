/**
 * Reads documents that other exporters of Firestore wrote, as their own documents describe them:
 * - JSON of node-firestore-import-export: `{"__collections__": {"users": {"7": {…, "__collections__": {…}}}}}`
 * - JSON of firestore-export-import: `{"users": {"7": {…, "subCollection": {"users/7/done": {…}}}}}`
 * - NDJSON of firestore-backfire: `{"path": "users/7", "data": {…}}`
 */
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { isExactNumber } from '@arcade/contract/numbers'
import { readLines, refuseOtherEncoding } from '#src/import/import-lines.ts'
import { StartError } from '#src/postgres/errors.ts'
import { rawNumber } from '#src/calls.ts'
import type { Fields, FirestoreDocument } from './entity.ts'
import { readJsonValues } from './json-values.ts'

/** Files that Firebase's own tools write or that the move-in itself reads. */
const OTHERS = /^(auth|hash|firebase-export-metadata|firebase|package(-lock)?)\.json$|^rejected(-\d+)?\.ndjson$/

/**
 * Returns the paths of the files that other exporters wrote to a folder.
 * @param mapFile the path of the map file, which is left out because it is JSON, too
 */
export async function findOtherExports(directory: string, mapFile: string | undefined): Promise<string[]> {
  const entries = await readdir(directory, { withFileTypes: true })
  const names = entries.filter((entry) => entry.isFile() && /\.(nd)?json$/.test(entry.name) && !OTHERS.test(entry.name))
  return names
    .map(({ name }) => join(directory, name))
    .filter((path) => path !== mapFile)
    .toSorted()
}

/** @throws StartError for a file of another kind */
export async function* readOtherExport(path: string): AsyncGenerator<FirestoreDocument> {
  await refuseOtherEncoding(path)
  yield* path.endsWith('.ndjson') ? readPathLines(path) : readTree(path)
}

async function* readPathLines(path: string): AsyncGenerator<FirestoreDocument> {
  for await (const { number, text, problem } of readLines(path)) {
    const refuse = (what: string): StartError =>
      new StartError(
        `${path}, line ${number}: ${what}. Lines such as {"path": "users/7", "data": {}} can be moved in; rows of a sample are imported.`,
      )
    if (problem !== undefined) throw refuse(problem)
    const line = parseExactly(text)
    if (line === undefined) throw refuse('this is not valid JSON')
    const { path: target, data } = (line ?? {}) as { path?: unknown; data?: unknown }
    const parts = typeof target === 'string' ? target.split('/') : []
    if (parts.length === 0 || parts.length % 2 === 1 || parts.includes('') || typeof data !== 'object' || data === null)
      throw refuse('there is no path of a document with its data')
    yield { path: parts, fields: data as Fields }
  }
}

/** Where a value of a tree belongs: to a document, and which field of it. */
interface FieldPath {
  path: string[]
  field: string
}

/** The keys that lead to the fields of documents, by format. */
interface TreeFormat {
  /** Returns the document and the name of a field, or undefined for keys that lead on to subcollections or documents. */
  fieldAt(keys: readonly string[]): FieldPath | undefined
}

const COLLECTIONS = '__collections__'
const SUBCOLLECTIONS = 'subCollection'

/** `__collections__, users, 7, field`, and again from there. */
const nestedCollections: TreeFormat = {
  fieldAt(keys) {
    const path: string[] = []
    for (let at = 0; at < keys.length; at += 3) {
      if (keys[at] !== COLLECTIONS) return path.length > 0 && at === keys.length - 1 ? { path, field: keys[at]! } : undefined
      if (at + 2 >= keys.length) return undefined
      path.push(keys[at + 1]!, keys[at + 2]!)
    }
    return undefined
  },
}

/** `users, 7, field`; in `users, 7, subCollection, users/7/done, 8, field` the name of a subcollection is its whole path. */
const subCollections: TreeFormat = {
  fieldAt(keys) {
    if (keys.length < 3) return undefined
    const path = [keys[0]!, keys[1]!]
    for (let at = 2; at < keys.length; at += 3) {
      if (keys[at] !== SUBCOLLECTIONS) return at === keys.length - 1 ? { path, field: keys[at]! } : undefined
      if (at + 2 >= keys.length) return undefined
      path.push(keys[at + 1]!.split('/').at(-1)!, keys[at + 2]!)
    }
    return undefined
  },
}

async function* readTree(path: string): AsyncGenerator<FirestoreDocument> {
  const formatOf = (keys: readonly string[]): TreeFormat => (keys[0] === COLLECTIONS ? nestedCollections : subCollections)
  /** The document whose fields are being read, and those around it. */
  const open: FirestoreDocument[] = []
  let isEmpty = true
  const isWithin = ({ path: outer }: FirestoreDocument, inner: readonly string[]): boolean =>
    outer.length <= inner.length && outer.every((part, index) => part === inner[index])
  for await (const { keys, text } of readJsonValues(path, (at) => formatOf(at).fieldAt(at) !== undefined)) {
    isEmpty = false
    const { path: target, field } = formatOf(keys).fieldAt(keys)!
    while (open.length > 0 && !isWithin(open.at(-1)!, target)) yield open.pop()!
    if (open.at(-1)?.path.length !== target.length) open.push({ path: target, fields: Object.create(null) as Fields })
    const value = parseExactly(text)
    if (value === undefined) throw new StartError(`${path}: ${target.join('/')} has a field ${field} that is not valid JSON.`)
    open.at(-1)!.fields[field] = value
  }
  while (open.length > 0) yield open.pop()!
  if (isEmpty)
    throw new StartError(
      `${path} has no documents. JSON of node-firestore-import-export and firestore-export-import can be moved in.`,
    )
}

const MAYBE_ROUNDED = /\d{16}|\d\.?\d*e/i

/** Parses JSON and keeps the digits of numbers that a double cannot represent exactly. Returns undefined for what is not JSON. */
function parseExactly(text: string): unknown {
  const keepDigits = (_name: string, value: unknown, { source }: { source?: string }): unknown =>
    typeof value === 'number' && source !== undefined && !isExactNumber(source) ? rawNumber(source) : value
  try {
    return MAYBE_ROUNDED.test(text) ? JSON.parse(text, keepDigits as (name: string, value: unknown) => unknown) : JSON.parse(text)
  } catch {
    return undefined
  }
}
