/**
 * Compares the file store with the rows while files come and go. Each difference is checked a second time: a file is stored after its entry
 * in `file_removals` is written and removed before the entry is, and no key is used twice, so a difference found twice is real.
 */
import { type Kysely, sql } from 'kysely'
import type { Tables } from '#src/db/tables.ts'
import { type FileStore, isKey } from './disk.ts'
import { belongingKeysSql, thumbKey } from './files.ts'

export interface FileFault {
  /** What is wrong with the file; `faultTexts` has the sentences. */
  kind: 'missing' | 'leaving' | 'unkept' | 'stray'
  key: string
}

export const faultTexts: Record<FileFault['kind'], string> = {
  missing: 'belongs to a record, but it or its thumbnail is not in the file store.',
  leaving: 'belongs to an announcement, but waits to be removed.',
  unkept: 'belongs to an announcement in the trash, but nothing keeps it until that is purged.',
  stray: 'is in the file store, but belongs to no record.',
}

export async function* findFileFaults(db: Kysely<Tables>, store: FileStore): AsyncGenerator<FileFault> {
  for (const kind of ['leaving', 'unkept'] as const) {
    for (const key of await keysOf(db, contradictions[kind])) yield { kind, key }
  }
  const belonging = await keysOf(db, belongingKeysSql)
  for (let from = 0; from < belonging.length; from += ASKED_AT_ONCE) {
    const keys = belonging.slice(from, from + ASKED_AT_ONCE)
    const isThere = await Promise.all(keys.map((key) => isWhole(store, key)))
    const gone = keys.filter((_, index) => !isThere[index])
    for (const key of gone.length === 0 ? [] : await keysOf(db, belongingKeysSql, gone)) yield { kind: 'missing', key }
  }
  for await (const names of batches(store.keys())) {
    const keys = [...new Set(names.map(({ key }) => key))]
    const known = new Set(await keysOf(db, knownKeysSql, keys))
    for (const { name, key } of names) {
      if (known.has(key) || !(await store.has(name))) continue
      // A thumbnail or unfinished part is reported with its file.
      if (name === key || !(await store.has(key))) yield { kind: 'stray', key }
    }
  }
}

/** Repairs what can be repaired in the database. Returns false if the file's bytes are lost, or if it needs no repair any more. */
export async function mendFileFault(tx: Kysely<Tables>, { kind, key }: FileFault): Promise<boolean> {
  if (kind === 'missing') return false
  const { numAffectedRows = 0n } = await mendings[kind](key).execute(tx)
  return numAffectedRows > 0n
}

/** Requests to a store at the same time, or names of files in one statement. */
const ASKED_AT_ONCE = 16
const NAMES_AT_ONCE = 1000
/** How long a file that no row names is kept, so that an operator can look at it. */
const STRAY_DAYS = 7

const namedKeysSql = `select image_key as key from announcements where image_key is not null
  union select icon_key from announcements where icon_key is not null`
const trashedKeysSql = `select key from trash, unnest(array[content #>> '{row,image_key}', content #>> '{row,icon_key}']) as key
  where kind = 'announcement' and expires_at > now() and key is not null`
/** The keys of files that belong to a record, and of files that wait to be removed. */
const knownKeysSql = `${namedKeysSql} union select key from file_removals`

const contradictions = {
  leaving: `select key from file_removals where key in (${namedKeysSql})`,
  unkept: `select distinct key from (${trashedKeysSql}) as trashed
    where key not in (${namedKeysSql}) and key not in (select key from file_removals where is_withdrawn)`,
}

const mendings = {
  leaving: (key: string) =>
    sql`delete from file_removals where key = ${key} and not is_removing and key in (${sql.raw(namedKeysSql)})`,
  unkept: (key: string) =>
    sql`insert into file_removals (key, requested_at, is_withdrawn)
      select ${key}, 'infinity', true where ${key} in (${sql.raw(trashedKeysSql)})
      on conflict (key) do update set requested_at = 'infinity', is_withdrawn = true where not file_removals.is_removing`,
  stray: (key: string) =>
    sql`insert into file_removals (key, requested_at)
      select ${key}, now() + make_interval(days => ${STRAY_DAYS}) where ${key} not in (${sql.raw(namedKeysSql)})
      on conflict do nothing`,
}

async function isWhole(store: FileStore, key: string): Promise<boolean> {
  return isKey(key) && (await store.has(key)) && (await store.has(thumbKey(key)))
}

/** Returns the keys that a query returns, in order; only those among `keys`, if given. */
async function keysOf(db: Kysely<Tables>, query: string, keys?: string[]): Promise<string[]> {
  const isWanted = keys === undefined ? sql`true` : sql`key = any(${keys})`
  const { rows } = await sql<{ key: string }>`
    select key from (${sql.raw(query)}) as given where ${isWanted} order by key collate "C"`.execute(db)
  return rows.map(({ key }) => key)
}

interface StoredName {
  name: string
  /** The key of the file, or of the file whose thumbnail or unfinished part this is. */
  key: string
}

async function* batches(names: AsyncIterable<string>): AsyncGenerator<StoredName[]> {
  let batch: StoredName[] = []
  for await (const name of names) {
    if (!isKey(name)) continue // not a file of the console
    batch.push({ name, key: fileOf(name) })
    if (batch.length < NAMES_AT_ONCE) continue
    yield batch
    batch = []
  }
  if (batch.length > 0) yield batch
}

function fileOf(name: string): string {
  const whole = name.replace(/\.part$/, '')
  return whole.includes('-thumbs/') ? whole.replace('-thumbs/', '/').replace(/\.webp$/, '') : whole
}
