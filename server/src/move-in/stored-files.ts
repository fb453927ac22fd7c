/**
 * Moves the files in that announcements name by their address in Firebase's storage: from a copy of the bucket, judged and encoded again as
 * uploads are. A file keeps the name of its object at the end of its key, so a second run knows which ones are there.
 */
import { lstat, readdir, readFile } from 'node:fs/promises'
import { join, resolve, sep } from 'node:path'
import { sql } from 'kysely'
import { MAX_FILE_NAME_LENGTH, MAX_UPLOAD_BYTES } from '@arcade/contract/announcements/calls'
import { Failure } from '#src/calls.ts'
import type { Database } from '#src/db/database.ts'
import { type Files, safeName, shownName } from '#src/files/files.ts'
import type { Images } from '#src/files/images.ts'
import { isFileError } from './file-errors.ts'
import { findChanged } from './move-in-batches.ts'
import type { FilesReport } from './report.ts'

export type FileField = 'image' | 'icon'

/** A file that a document names. */
export interface NamedFile {
  document: string
  /** The id of the announcement. */
  id: string
  field: FileField
  address: string
  /** The name that the document shows for it. */
  name: string | null
}

interface FilesToMove {
  database: Database
  files: Files
  images: Images
  /** The folder with the copy of the bucket; it need not exist. */
  storage: string
  named: readonly NamedFile[]
  /** The paths of announcements that were refused. */
  refused: ReadonlySet<string>
  isDryRun: boolean
}

export async function moveFiles({ named, refused, ...context }: FilesToMove): Promise<FilesReport> {
  const report: FilesReport = { read: named.length, new: 0, unchanged: 0, missing: [], refused: [] }
  for (const file of named) {
    const outcome = refused.has(file.document) ? { refused: 'Its document was refused' } : await moveFile(file, context)
    if (outcome === 'new' || outcome === 'unchanged') report[outcome] += 1
    else if (outcome === 'missing') report.missing.push({ document: file.document, file: file.address })
    else report.refused.push({ document: file.document, file: file.address, reason: outcome.refused })
  }
  return report
}

type Outcome = 'new' | 'unchanged' | 'missing' | { refused: string }

async function moveFile(
  file: NamedFile,
  { database, files, images, storage, isDryRun }: Omit<FilesToMove, 'named' | 'refused'>,
): Promise<Outcome> {
  const object = objectOf(file.address)
  if (!object) return { refused: 'This is no address of a file in Firebase' }
  const base = object.path.at(-1)!
  const row = await rowOf(database, file)
  // A file that was changed in the console stays; `kept` of the collection names the record.
  if (row?.isChanged || (row?.key && isKeyOf(row.key, base))) return 'unchanged'
  const path = await findFile(storage, object)
  if (path === undefined) return 'missing'
  if ((await lstat(path)).size > MAX_UPLOAD_BYTES) return { refused: `The file is larger than ${MAX_UPLOAD_BYTES} bytes` }
  try {
    const image = await images.prepare(await readFile(path))
    if (isDryRun) return 'new'
    const key = await files.put({ folder: 'announcements', name: base, ...image })
    await keepFile(database, files, { file, key, shown: shownName(file.name ?? base, MAX_FILE_NAME_LENGTH) })
    return 'new'
  } catch (error) {
    if (error instanceof Failure && error.code === 'INVALID_INPUT') return { refused: error.message }
    throw error
  }
}

/** Returns the key that an announcement has for the file, and whether the announcement was changed in the console. */
async function rowOf(
  { db }: Database,
  { id, field }: NamedFile,
): Promise<{ key: string | null; isChanged: boolean } | undefined> {
  const { rows } = await sql<{ key: string | null }>`
    select ${sql.ref(`${field}_key`)} as key from announcements where id = ${id}`.execute(db)
  const isChanged = (await findChanged(db, 'announcement', [id])).has(id)
  // A record that was deleted in the console stays deleted.
  return rows[0] ? { ...rows[0], isChanged } : isChanged ? { key: null, isChanged } : undefined
}

function keepFile(
  database: Database,
  files: Files,
  { file: { id, field }, key, shown }: { file: NamedFile; key: string; shown: string },
): Promise<void> {
  const [keyColumn, nameColumn] = [sql.ref(`${field}_key`), sql.ref(`${field}_name`)]
  return database.transaction(async (tx) => {
    const { rows } = await sql<{ key: string | null }>`
      select ${keyColumn} as key from announcements where id = ${id} for update`.execute(tx)
    if (!rows[0]) return
    await sql`update announcements set ${keyColumn} = ${key}, ${nameColumn} = ${shown}, version = version + 1 where id = ${id}`.execute(
      tx,
    )
    await files.keep(tx, [key])
    if (rows[0].key !== null) await files.withdraw(tx, [rows[0].key], 'expiry')
  })
}

/** Whether a key of the console was made for the object with this name. */
function isKeyOf(key: string, base: string): boolean {
  return /^\w+\/\d+_(.*)\.\w+$/.exec(key)?.[1] === safeName(base)
}

interface StoredObject {
  bucket: string
  path: string[]
}

/** Returns the object that an address names: `gs://…`, a download address, or a public one of Google's storage. */
export function objectOf(address: string): StoredObject | undefined {
  try {
    const url = new URL(address)
    const parts = url.pathname.split('/').slice(1)
    if (url.protocol === 'gs:') return toObject(url.host, parts.join('/'))
    if (parts[0] === 'v0' && parts[1] === 'b' && parts[3] === 'o') return toObject(parts[2]!, parts.slice(4).join('/'))
    if (url.host === 'storage.googleapis.com') return toObject(parts[0]!, parts.slice(1).join('/'))
    return undefined
  } catch {
    return undefined
  }
}

function toObject(bucket: string, encoded: string): StoredObject | undefined {
  const path = decodeURIComponent(encoded).split('/')
  const isSafe = path.every((part) => part !== '' && part !== '.' && part !== '..' && !/[\0\\]/.test(part))
  return isSafe ? { bucket: decodeURIComponent(bucket), path } : undefined
}

/** Finds an object in the copy of the bucket, which gsutil puts into a folder named like the bucket, or not. */
async function findFile(storage: string, { bucket, path }: StoredObject): Promise<string | undefined> {
  const folders = await readdir(storage).catch((error: unknown) => {
    if (isFileError(error, 'ENOENT')) return [] as string[]
    throw error
  })
  for (const folder of ['', bucket]) {
    if (folder !== '' && !folders.includes(folder)) continue
    const found = join(storage, folder, ...path)
    if (!resolve(found).startsWith(resolve(storage) + sep)) return undefined
    if (await isRealFile(storage, [...(folder === '' ? [] : [folder]), ...path])) return found
  }
  return undefined
}

/** Whether the parts lead to a file through folders alone: a link could lead out of the copy. */
async function isRealFile(storage: string, parts: readonly string[]): Promise<boolean> {
  try {
    for (let depth = 1; depth < parts.length; depth += 1)
      if (!(await lstat(join(storage, ...parts.slice(0, depth)))).isDirectory()) return false
    return (await lstat(join(storage, ...parts))).isFile()
  } catch (error) {
    if (isFileError(error, 'ENOENT') || isFileError(error, 'ENAMETOOLONG') || isFileError(error, 'ENOTDIR')) return false
    throw error
  }
}
