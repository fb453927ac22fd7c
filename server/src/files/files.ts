/**
 * Uploaded files (design §4, security.md Uploads), on disk or in S3. Hides their names and places, and how files and rows stay consistent.
 * A file is listed for removal before its first byte is stored. The transaction of a row that names it takes it off that list. The
 * transaction that removes it from the row lists it again, as withdrawn: it is no longer served, but its bytes stay until it is purged
 * (ADR 14). `sweep` removes due files, and tries again until it succeeds. No transaction waits for the store, which may be slow: code that
 * needs its answer asks before or after the transaction.
 */
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { type Kysely, sql } from 'kysely'
import type { Logger } from 'pino'
import { firstCharacters, shownFileName } from '@arcade/contract/text'
import { Failure } from '#src/calls.ts'
import type { Database } from '#src/db/database.ts'
import type { Tables } from '#src/db/tables.ts'
import { LOCKS, LOCK_SPACE } from '#src/postgres/lock-holder.ts'
import { bytesOf, diskStore, type FileStore, isKey, type OpenFile } from './disk.ts'
import { storeUnavailable } from './bucket.ts'
import { s3Store, STORE_UNAVAILABLE } from './s3.ts'

/** Returns the store that FILES_URL names, or the folder DATA_DIR/files. It is opened when it is first used. */
export function openFileStore({ filesUrl, dataDir }: { filesUrl: string | undefined; dataDir: string }): FileStore {
  return filesUrl === undefined ? diskStore(join(dataDir, 'files')) : s3Store(filesUrl)
}

export interface NewFile {
  folder: 'announcements'
  /** The name of the file on the operator's computer. Its safe part becomes the end of the key. */
  name: string
  extension: keyof typeof mediaTypes
  bytes: Uint8Array
  /** A thumbnail in WebP. */
  thumb: Uint8Array
}

interface ServedFile extends OpenFile {
  mediaType: string
}

export interface Files {
  /** Stores a file and its thumbnail under a new key. They are removed after an hour unless `keep` is called. */
  put(file: NewFile): Promise<string>
  /** Stores a copy of a file, like `put`. Returns its key, or undefined if the file is not in the store. */
  copy(key: string): Promise<string | undefined>
  /** Resolves with undefined for a file that does not exist or was withdrawn; `has` is false for these. */
  open(key: string, size?: 'thumb'): Promise<ServedFile | undefined>
  has(key: string): Promise<boolean>
  /** Returns the first of the keys whose file is not in the store. Call it before the transaction that keeps them. */
  findMissing(keys: string[]): Promise<string | undefined>
  /** Keeps files, in the transaction of the row that names them. Returns the first key that cannot be kept. */
  keep(tx: Kysely<Tables>, keys: string[]): Promise<string | undefined>
  /**
   * Withdraws files, in the transaction that removes them from their row: they are no longer served.
   * @param end `purge` if their bytes stay until `purge` is called, `expiry` if they are removed after TRASH_DAYS
   */
  withdraw(tx: Kysely<Tables>, keys: string[], end: 'purge' | 'expiry'): Promise<void>
  /** Serves withdrawn files again, in the transaction of the restored row. @throws Failure NOT_IN_TRASH if the bytes of one are gone */
  restore(tx: Kysely<Tables>, keys: string[]): Promise<void>
  /** Makes withdrawn files due for removal. Call `sweepSoon` after the commit. */
  purge(tx: Kysely<Tables>, keys: string[]): Promise<void>
  /** Whether files could be stored within the last few seconds. */
  isReady(): Promise<boolean>
  /** Starts a sweep without waiting for it. */
  sweepSoon(): void
  /** Removes due files from the store. A background task calls this; several processes may do so at once. */
  sweep(): Promise<void>
}

/** Attempts to find an unused key: a store that claims to have a file under each of them is faulty. */
const MAX_TAKEN = 20
const READY_MS = 1000
const READY_AGAIN_MS = 3000
const ORPHAN_SECONDS = 60 * 60
const RETRY_SECONDS = 10 * 60

/** The media types that the console stores, by extension. Any other file in a store is served as application/octet-stream. */
const mediaTypes = { png: 'image/png', jpg: 'image/jpeg', webp: 'image/webp', gif: 'image/gif' } as const

/** SQL for the keys of all files in use: those that a row names, and withdrawn ones that can still be restored. */
export const belongingKeysSql = `
  select image_key as key from announcements where image_key is not null
  union select icon_key from announcements where icon_key is not null
  union select key from file_removals where is_withdrawn and not is_removing and requested_at > now()`

interface FilesOptions {
  database: Database
  store: FileStore
  log: Logger
  /** The days for which the trash keeps deleted records. */
  trashDays: number
}

export function createFiles(options: FilesOptions): Files {
  return new StoredFiles(options)
}

/** The files of a store. The table `file_removals` lists those that no row names. */
class StoredFiles implements Files {
  readonly #database: Database
  readonly #store: FileStore
  readonly #log: Logger
  readonly #trashDays: number
  readonly #findWithdrawn: (parameters: unknown[]) => Promise<readonly unknown[]>
  /** The time in the last new key, in milliseconds. */
  #lastTimestamp = 0
  #ready: { askedAt: number; answer: Promise<boolean> } | undefined

  constructor({ database, store, log, trashDays }: FilesOptions) {
    this.#database = database
    this.#store = store
    this.#log = log
    this.#trashDays = trashDays
    this.#findWithdrawn = database.prepared('file-withdrawn', 'select key from file_removals where key = $1 and is_withdrawn')
  }

  async put({ folder, name, extension, bytes, thumb }: NewFile): Promise<string> {
    const key = await this.#reserve(folder, `${safeName(name)}.${extension}`)
    await this.#store.put(thumbKey(key), thumb, mediaTypes.webp)
    await this.#store.put(key, bytes, mediaTypes[extension])
    return key
  }

  async copy(key: string): Promise<string | undefined> {
    const file = await this.#store.open(key)
    if (!file) return undefined
    const copied = await this.#reserve('announcements', key.slice(key.indexOf('_') + 1))
    const thumb = await this.#store.open(thumbKey(key))
    if (thumb) await this.#store.put(thumbKey(copied), await bytesOf(thumb), mediaTypes.webp)
    await this.#store.put(copied, await bytesOf(file), findMediaType(key))
    return copied
  }

  async open(key: string, size?: 'thumb'): Promise<ServedFile | undefined> {
    if (!isKey(key) || (await this.#isWithdrawn(key))) return undefined
    const thumb = size === 'thumb' ? await this.#store.open(thumbKey(key)) : undefined
    if (thumb) return { ...thumb, mediaType: mediaTypes.webp }
    const file = await this.#store.open(key)
    return file && { ...file, mediaType: findMediaType(key) }
  }

  async has(key: string): Promise<boolean> {
    return isKey(key) && !(await this.#isWithdrawn(key)) && this.#store.has(key)
  }

  async findMissing(keys: string[]): Promise<string | undefined> {
    const isStored = await Promise.all(keys.map((key) => this.#store.has(key)))
    return keys.find((_, index) => !isStored[index])
  }

  async keep(tx: Kysely<Tables>, keys: string[]): Promise<string | undefined> {
    for (const key of keys.toSorted()) {
      const { numDeletedRows } = await tx
        .deleteFrom('file_removals')
        .where('key', '=', key)
        .where('is_removing', '=', false)
        .where('is_withdrawn', '=', false)
        .executeTakeFirst()
      if (numDeletedRows === 0n) return key
    }
    return undefined
  }

  async withdraw(tx: Kysely<Tables>, keys: string[], end: 'purge' | 'expiry'): Promise<void> {
    if (keys.length === 0) return
    const due = end === 'purge' ? sql`'infinity'` : sql`(now() + make_interval(days => ${this.#trashDays}))`
    await sql`insert into file_removals (key, requested_at, is_withdrawn)
      select distinct key collate "C", ${due}::timestamptz, true from unnest(${keys}::text[]) as key order by key collate "C" on conflict do nothing`.execute(
      tx,
    )
  }

  async restore(tx: Kysely<Tables>, keys: string[]): Promise<void> {
    if (keys.length === 0) return
    await sql`delete from file_removals where key = any(${keys}) and is_withdrawn and not is_removing`.execute(tx)
    const { rows } = await sql`select from file_removals where key = any(${keys})`.execute(tx)
    if (rows.length > 0) throw new Failure('NOT_IN_TRASH')
  }

  async purge(tx: Kysely<Tables>, keys: string[]): Promise<void> {
    if (keys.length === 0) return
    await sql`update file_removals set requested_at = now() where key = any(${keys}) and is_withdrawn and not is_removing`.execute(
      tx,
    )
  }

  isReady(): Promise<boolean> {
    if (this.#ready === undefined || performance.now() - this.#ready.askedAt > READY_AGAIN_MS) {
      const answer = this.#store.check().then(
        () => true,
        () => false,
      )
      this.#ready = { askedAt: performance.now(), answer: Promise.race([answer, pause(READY_MS, false, { ref: false })]) }
    }
    return this.#ready.answer
  }

  sweepSoon(): void {
    this.sweep().catch((error: unknown) => this.#log.warn({ err: error }, 'Files could not be removed and will be tried again'))
  }

  async sweep(): Promise<void> {
    while (await this.#removeOne()) {
      // repeats until no file is due
    }
  }

  async #isWithdrawn(key: string): Promise<boolean> {
    return (await this.#findWithdrawn([key])).length > 0
  }

  /** Returns a key that was never used, and lists it for removal. The primary key of `file_removals` prevents a race of processes. */
  async #reserve(folder: string, name: string): Promise<string> {
    for (let taken = 0; taken < MAX_TAKEN;) {
      // The time is only a part of the name (§7). Uniqueness is checked below, so the clock need not be right.
      this.#lastTimestamp = Math.max(Date.now(), this.#lastTimestamp + 1)
      const key = `${folder}/${this.#lastTimestamp}_${name}`
      if (await this.#store.has(key)) {
        taken += 1
        continue
      }
      if (await listForRemoval(this.#database.db, key)) return key
    }
    throw storeUnavailable(STORE_UNAVAILABLE, new Error(`the file store reports each of ${MAX_TAKEN} new keys as taken`))
  }

  /** Removes the file that is due the longest; returns false if none is. Its entry stays until then, so a failure is retried. */
  async #removeOne(): Promise<boolean> {
    const key = await takeDueKey(this.#database.db)
    if (key === undefined) return false
    try {
      await this.#store.remove(key)
      await this.#store.remove(thumbKey(key))
    } catch (error) {
      this.#log.warn({ err: error, key }, 'A file could not be removed and will be tried again')
      return true
    }
    await this.#database.db.deleteFrom('file_removals').where('key', '=', key).execute()
    return true
  }
}

/** Lists a new key for removal in an hour. Returns false if the key is listed already. */
async function listForRemoval(db: Kysely<Tables>, key: string): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await db
    .insertInto('file_removals')
    .values({ key, requested_at: sql<Date>`now() + make_interval(secs => ${ORPHAN_SECONDS})` })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst()
  return numInsertedOrUpdatedRows === 1n
}

/** Returns the key that is due the longest, if any is, and lists it for a later attempt. Skips keys that other processes have taken. */
async function takeDueKey(db: Kysely<Tables>): Promise<string | undefined> {
  const due = await db
    .updateTable('file_removals')
    .set({ is_removing: true, requested_at: sql<Date>`now() + make_interval(secs => ${RETRY_SECONDS})` })
    .where('key', '=', (select) =>
      select
        .selectFrom('file_removals')
        .select('key')
        .where('requested_at', '<=', sql<Date>`now()`)
        .where(noBackupUnderWay)
        .orderBy('requested_at')
        .limit(1)
        .forUpdate()
        .skipLocked(),
    )
    .returning('key')
    .executeTakeFirst()
  return due?.key
}

/**
 * A backup holds this lock from before its snapshot until it has copied the files, so that every file that the snapshot's rows name still
 * exists. No row of the snapshot names a file that was withdrawn before. The subquery is evaluated once for each statement.
 */
const noBackupUnderWay = sql<boolean>`(select pg_try_advisory_xact_lock_shared(${sql.lit(LOCK_SPACE)}, ${sql.lit(LOCKS.fileRemovals)}))`

/** Returns the files, with thumbnails, that the rows of a snapshot name: the files of a backup. */
export async function filesOfRows(db: Kysely<Tables>): Promise<string[]> {
  const { rows } = await sql<{ key: string }>`${sql.raw(belongingKeysSql)}`.execute(db)
  return rows.flatMap(({ key }) => [key, thumbKey(key)])
}

const SAFE_NAME_LENGTH = 80

/** Returns the part of a file name that goes into a key: ASCII letters, digits, dots, hyphens and underscores, without the extension. */
export function safeName(name: string): string {
  const plain = (name.split(/[/\\]/).at(-1) ?? '')
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .replace(/\.[^.]*$/, '')
    .replaceAll(/[^A-Za-z0-9._-]+/g, '_')
    .replaceAll(/\.{2,}/g, '.')
    .replace(/^[._-]+/, '')
    .slice(0, SAFE_NAME_LENGTH)
    .replace(/[._-]+$/, '')
  return plain === '' ? 'image' : plain
}

/** Returns a file's name as operators see it, of at most `maxLength` characters. */
export function shownName(name: string, maxLength: number): string {
  return firstCharacters(shownFileName(name), maxLength) || 'image'
}

export function thumbKey(key: string): string {
  return `${key.replace('/', '-thumbs/')}.webp`
}

export function findMediaType(key: string): string {
  const extension = key.slice(key.lastIndexOf('.') + 1)
  return Object.hasOwn(mediaTypes, extension) ? mediaTypes[extension as keyof typeof mediaTypes] : 'application/octet-stream'
}
