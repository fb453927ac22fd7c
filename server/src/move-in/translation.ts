/** Turns the documents of an export into the rows of the import, and takes note of what the report says about them. */
import type { Kysely } from 'kysely'
import type { HistoryKind } from '@arcade/contract/history/fields'
import type { Tables } from '#src/db/tables.ts'
import { FROM_BEFORE } from '#src/import/import-rows.ts'
import { MAX_JSON_LENGTH } from '#src/import/import-values.ts'
import { SeenKeys } from '#src/import/seen-keys.ts'
import type { FirestoreDocument } from './entity.ts'
import { collectionOf, type Mapping, translate, type Translated } from './mapping.ts'
import { addExample, addOther, addUnmapped, type MoveInReport, newCollectionReport, noExamples, noNames } from './report.ts'
import type { Fingerprint, MovedDocuments } from './moved-documents.ts'
import type { RowFiles } from './row-files.ts'
import type { NamedFile } from './stored-files.ts'

/** The collections of items and of their history documents, by kind. */
const kinds: Record<HistoryKind, { items: string; histories: string }> = {
  social: { items: 'socialTask', histories: 'socialTasksHistory' },
  daily: { items: 'dailyTask', histories: 'dailyTasksHistory' },
  announcement: { items: 'announcements', histories: 'announcementHistory' },
}

interface TranslationOptions {
  rowFiles: RowFiles
  mapping: Mapping
  report: MoveInReport
  moved: MovedDocuments
  /** Whether the fields that lead nowhere are kept beside the record. */
  keepsUnknown: boolean
}

export class Translation {
  readonly #rowFiles: RowFiles
  readonly #mapping: Mapping
  readonly #report: MoveInReport
  readonly #moved: MovedDocuments
  readonly #keepsUnknown: boolean
  readonly #emails = new SeenKeys()
  readonly #priorities = new SeenKeys()
  /** The ids of users, to compare them with accounts. */
  readonly users = new SeenKeys()
  /** The files of announcements. */
  readonly files: NamedFile[] = []
  /** By kind: history documents that exist or follow from an item, and the parents of participants. */
  readonly #known = new Map<string, Set<string>>()
  readonly #parents = new Map<string, Map<string, string>>()

  constructor({ rowFiles, mapping, report, moved, keepsUnknown }: TranslationOptions) {
    this.#rowFiles = rowFiles
    this.#mapping = mapping
    this.#report = report
    this.#moved = moved
    this.#keepsUnknown = keepsUnknown
  }

  async add(document: FirestoreDocument & { print?: Fingerprint }): Promise<void> {
    this.#report.documents.read += 1
    const name = collectionOf(document)
    const mapping = this.#mapping.get(name)
    const path = document.path.join('/')
    const translated = mapping && translate(document, mapping)
    if (!translated) {
      addOther(this.#report.otherCollections, name, path)
      return
    }
    this.#note(translated, path)
    this.#keepUnknown(translated, path)
    this.#moved.add(translated.collection, document.print)
    await this.#rowFiles.add(translated.collection, translated.row)
  }

  /** Whether the last move-in has stored the same document. If so, it is counted. */
  isSame(print: Fingerprint): boolean {
    const name = this.#moved.markIfSame(print)
    if (name === undefined) return false
    const collection = this.#collection(name)
    collection.read += 1
    collection.unchanged += 1
    this.#report.documents.read += 1
    this.#report.documents.same += 1
    return true
  }

  /** Adds history documents that exist only as the parent of participants, unless the console has them. */
  async addParents(db: Kysely<Tables>): Promise<void> {
    for (const [kind, { items, histories }] of Object.entries(kinds)) {
      const parents = this.#parents.get(`${histories}.users`) ?? new Map<string, string>()
      const known = [items, histories].map((collection) => this.#known.get(collection))
      const missing = [...parents.keys()].filter((id) => !known.some((ids) => ids?.has(id)))
      if (missing.length === 0) continue
      const stored = await db
        .selectFrom('history_items')
        .select('item_id')
        .where('kind', '=', kind as HistoryKind)
        .where('item_id', 'in', missing)
        .execute()
      const isStored = new Set(stored.map(({ item_id: id }) => id))
      for (const id of missing) {
        const path = parents.get(id)!
        addExample(this.#collection(histories).onlyAsParent, path)
        if (!isStored.has(id)) await this.#rowFiles.add(histories, { __name__: path, id, title: id, type: 'other', reward: 0 })
      }
    }
  }

  #collection(name: string): MoveInReport['collections'][string] {
    return (this.#report.collections[name.replace('.', '/')] ??= newCollectionReport())
  }

  /** Takes note of the fields that lead nowhere, and keeps them in the row if that is asked for. */
  #keepUnknown({ collection, row, unmapped }: Translated, path: string): void {
    if (unmapped.length === 0) return
    const text = this.#keepsUnknown ? JSON.stringify(Object.fromEntries(unmapped)) : undefined
    const isKept = text !== undefined && text.length <= MAX_JSON_LENGTH
    if (isKept) row[FROM_BEFORE] = text
    const fields = this.#collection(collection).unmapped
    for (const [name, value] of unmapped) addUnmapped(fields, name, { value, document: path, isKept })
  }

  #note({ collection, row }: Translated, path: string): void {
    this.#collection(collection)
    for (const [name, value] of Object.entries(row)) {
      if (typeof value !== 'string' || name === '__name__') continue
      const field = `${collection.replace('.', '/')}.${name}`
      const longest = this.#report.longest[field]
      if (longest === undefined || value.length > longest.characters)
        this.#report.longest[field] = { characters: value.length, document: path }
    }
    if (collection === 'announcements') this.#noteFiles(row, path)
    const { duplicates, documents } = this.#report
    const { id, parent, email, priority } = row
    if (collection === 'users') {
      this.users.add(String(id), documents.read)
      if (typeof email === 'string' && this.#emails.add(email.toLowerCase(), documents.read) !== undefined)
        addExample(duplicates.email, path)
    }
    if (collection === 'socialTask' || collection === 'dailyTask') {
      const key = `${collection} ${String(priority)}`
      if (this.#priorities.add(key, documents.read) !== undefined) addExample(duplicates.priority, path)
    }
    if (collection.endsWith('.users')) {
      const parents = this.#parents.get(collection) ?? new Map<string, string>()
      this.#parents.set(collection, parents)
      if (!parents.has(String(parent))) parents.set(String(parent), path.split('/').slice(0, -2).join('/'))
    } else if (collection !== 'users' && collection !== 'telegramUsers') {
      const known = this.#known.get(collection) ?? new Set<string>()
      this.#known.set(collection, known.add(String(id)))
    }
  }

  #noteFiles(row: Translated['row'], document: string): void {
    for (const field of ['image', 'icon'] as const) {
      const [address, name] = [row[field], row[`${field}Name`]]
      if (typeof address !== 'string' || address === '') continue
      const named = { document, id: String(row['id']), field, address }
      this.files.push({ ...named, name: typeof name === 'string' && name !== '' ? name : null })
    }
  }
}

export function newReport(isDryRun: boolean): MoveInReport {
  return {
    isDryRun,
    collections: {},
    otherCollections: noNames(),
    duplicates: { email: noExamples(), priority: noExamples() },
    balances: { before: '0', after: '0' },
    longest: noNames(),
    documents: { read: 0, same: 0 },
    seconds: 0,
    disk: { temporary: 0, database: 0 },
  }
}
