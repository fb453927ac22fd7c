/**
 * Makes a backup: the rows of one snapshot by COPY, while others read and write, and the files that these rows name (ADR 12). Memory does
 * not grow with the database: a few parts of some megabytes are in memory at a time.
 */
import { arrayBuffer } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { constants, zstdCompress } from 'node:zlib'
import type { Database } from '#src/db/database.ts'
import { kyselyOn } from '#src/db/kysely-on.ts'
import { beginAtOneMoment } from '#src/db/one-moment.ts'
import type { Tables } from '#src/db/tables.ts'
import type { FileStore } from '#src/files/disk.ts'
import { filesOfRows } from '#src/files/files.ts'
import { type Connection, destroy } from '#src/postgres/connections.ts'
import { copyOut } from '#src/postgres/copy.ts'
import { StartError } from '#src/postgres/errors.ts'
import { LOCKS, LOCK_SPACE } from '#src/postgres/lock-holder.ts'
import { FORMAT, MANIFEST, type Manifest, partOf, type SavedTable, UNFINISHED, writeManifest } from './manifest.ts'
import type { Place } from './place.ts'
import { asWritten, copyOutStatement, sizesOfTables, sumRows, type TableToSave, tablesToSave } from './saved-tables.ts'
import { countSaved, type Saving } from './saving.ts'
import { unwatched, type Watch } from './watch.ts'
import { productVersion } from '#src/version.ts'

export interface BackupOptions {
  database: Pick<Database, 'connect'>
  fileStore: FileStore
  place: Place
  /** `none` makes a backup whose tables can be read and compared as text. */
  compression?: Manifest['compression']
  watch?: Watch
}

/**
 * Makes a backup in a place that is empty or holds an unfinished backup. The caller has the turn (turn.ts).
 * @throws StartError if the place is not empty or has too little room
 */
export async function makeBackup({
  database,
  fileStore,
  place,
  compression = 'zstd',
  watch = unwatched,
}: BackupOptions): Promise<Manifest> {
  watch.signal.throwIfAborted()
  const main = await database.connect('arcade backup')
  const second = await database.connect('arcade backup checksums').catch((error: unknown) => {
    destroy(main)
    throw error
  })
  const close = (): void => [main, second].forEach(destroy) // also releases their locks and ends their transactions
  watch.signal.addEventListener('abort', close)
  try {
    await clearUnfinished(place)
    await place.put(UNFINISHED, Buffer.from('This backup is being made, or was cut off: it is of no use yet.\n'))
    try {
      const manifest = await save({ main, second, fileStore, place, compression, watch })
      watch.signal.throwIfAborted()
      await writeManifest(place, manifest)
      await place.remove(UNFINISHED)
      return manifest
    } catch (error) {
      // This frees a full disk again. The next backup removes what could not be removed now.
      await clearUnfinished(place).catch(() => undefined)
      watch.signal.throwIfAborted()
      throw error
    }
  } finally {
    watch.signal.removeEventListener('abort', close)
    close()
  }
}

/** Removes the folder of an unfinished backup with what is left in it. A whole backup stays. */
export async function removeRemains(place: Place): Promise<void> {
  if ((await place.names()).includes(MANIFEST)) return
  await clearUnfinished(place)
  await place.removeFolder()
}

/** Removes a backup. If the removal is interrupted, what remains counts as an unfinished backup. */
export async function removeBackup(place: Place): Promise<void> {
  await place.put(UNFINISHED, Buffer.from('This backup is being removed.\n'))
  await place.remove(MANIFEST)
  await clearUnfinished(place)
  await place.removeFolder()
}

/** Bytes of text in a part, which are about one megabyte compressed: small enough for memory, large enough for few requests to S3. */
const PART_TEXT_BYTES = 4 * 1024 * 1024
/** Parts that are compressed and written at the same time, while the next one is read. */
const PARTS_AT_ONCE = 2
const FILES_AT_ONCE = 4
const ZSTD_LEVEL = 3 // zstd's default (ADR 12)

async function clearUnfinished(place: Place): Promise<void> {
  const names = await place.names()
  if (names.includes(MANIFEST)) throw new StartError(`There is a backup in ${place.address}: name an empty place.`)
  if (names.length === 0) return
  const isPart = (name: string): boolean => /^(tables|files)\//.test(name)
  const other = names.find((name) =>
    isPart(name) ? !names.includes(UNFINISHED) : !/^(unfinished|manifest\.json\.part|unfinished\.part)$/.test(name),
  )
  if (other !== undefined) throw new StartError(`${place.address} is not empty (${other}): name an empty place.`)
  for (const name of names) if (name !== UNFINISHED) await place.remove(name)
  await place.remove(UNFINISHED)
}

interface SaveOptions extends Required<Pick<BackupOptions, 'fileStore' | 'place' | 'compression' | 'watch'>> {
  main: Connection
  second: Connection
}

async function save({ main, second, fileStore, place, compression, watch }: SaveOptions): Promise<Manifest> {
  for (const client of [main, second]) await asWritten(client)
  // This waits for file removals that are being recorded, and makes later ones wait: see files.ts.
  await main.query(`select pg_advisory_lock(${LOCK_SPACE}, ${LOCKS.fileRemovals})`)
  const { moment, postgres } = await shareSnapshot(main, second)
  const tables = await tablesToSave(main)
  const { rows: migrations } = await main.query<{ name: string }>('select name from migrations order by name')
  const keys = await filesOfRows(kyselyOn<Tables>((text, params) => main.query(text, [...params])))

  const saving = countSaved({ tables, files: keys.length, sizes: await sizesOfTables(main), watch })
  const sums = inSequence(tables, async (table) => {
    const sum = await sumRows(second, table)
    saving.summed(table)
    return sum
  })
  const parts = inSequence(tables, (table) => saveTable({ client: main, table, place, compression, saving }))
  const files = saveFiles({ keys, fileStore, place, saving })
  const [summed, saved, { copied, missing }] = await allOrNone([sums, parts, files], [main, second])
  return {
    format: FORMAT,
    version: await productVersion(),
    migrations: migrations.map(({ name }) => name),
    moment,
    postgres,
    compression,
    tables: tables.map((table, index): SavedTable => {
      const { rows, checksum } = summed[index] ?? { rows: 0, checksum: '' }
      return { ...table, rows, checksum, parts: saved[index] ?? [] }
    }),
    files: copied,
    missingFiles: missing,
  }
}

/** Makes both connections see the same snapshot of the database. */
async function shareSnapshot(main: Connection, second: Connection): Promise<{ moment: string; postgres: string }> {
  await beginAtOneMoment([main, second])
  const { rows } = await main.query<{ moment: Date; postgres: string }>(
    `select now() as moment, current_setting('server_version') as postgres`,
  )
  const { moment = new Date(), postgres = '' } = rows[0] ?? {}
  return { moment: moment.toISOString(), postgres }
}

interface SaveTableOptions {
  client: Connection
  table: TableToSave
  place: Place
  compression: Manifest['compression']
  saving: Saving
}

async function saveTable({ client, table, place, compression, saving }: SaveTableOptions): Promise<SavedTable['parts']> {
  const writing = new Set<Promise<unknown>>()
  const parts: SavedTable['parts'] = []
  let failure: unknown
  try {
    for await (const text of copyOut(client, copyOutStatement(table), PART_TEXT_BYTES)) {
      const index = parts.length
      const name = `tables/${table.name}.${String(index + 1).padStart(5, '0')}.copy`
      parts.length += 1
      const write = savePart({ name, text, place, compression })
        .then(
          (part) => {
            parts[index] = part
            saving.copied(table, part)
          },
          (error: unknown) => (failure ??= error),
        )
        .finally(() => writing.delete(write))
      writing.add(write)
      if (writing.size >= PARTS_AT_ONCE) await Promise.race(writing)
      if (failure !== undefined) break
    }
  } finally {
    await Promise.all(writing)
  }
  if (failure !== undefined) throw failure
  saving.saved(table)
  return parts
}

async function savePart({
  name,
  text,
  place,
  compression,
}: {
  name: string
  text: Buffer
  place: Place
  compression: Manifest['compression']
}): Promise<SavedTable['parts'][number]> {
  const isCompressed = compression === 'zstd'
  const bytes = isCompressed ? await compress(text) : text
  const part = partOf(isCompressed ? `${name}.zst` : name, bytes)
  await place.put(part.name, bytes)
  return { ...part, textBytes: text.byteLength }
}

const zstd = promisify(zstdCompress)

async function compress(text: Buffer): Promise<Buffer> {
  return zstd(text, { params: { [constants.ZSTD_c_compressionLevel]: ZSTD_LEVEL } })
}

interface SaveFilesOptions extends Pick<SaveOptions, 'fileStore' | 'place'> {
  keys: string[]
  saving: Saving
}

async function saveFiles({
  keys,
  fileStore,
  place,
  saving,
}: SaveFilesOptions): Promise<{ copied: Manifest['files']; missing: string[] }> {
  const copied: Manifest['files'] = []
  const missing: string[] = []
  const left = [...new Set(keys)].toSorted()
  const copy = async (key: string): Promise<void> => {
    const file = await fileStore.open(key)
    if (file === undefined) {
      saving.copiedFile({ bytes: 0 })
      return void missing.push(key)
    }
    const bytes = Buffer.from(await arrayBuffer(file.body))
    const part = partOf(`files/${key}`, bytes)
    await place.put(part.name, bytes)
    copied.push({ ...part, key })
    saving.copiedFile(part)
  }
  while (left.length > 0) {
    saving.throwIfAborted()
    const results = await Promise.allSettled(left.splice(0, FILES_AT_ONCE).map(copy))
    const failed = results.find(({ status }) => status === 'rejected')
    if (failed?.status === 'rejected') throw failed.reason
  }
  return { copied: copied.toSorted((a, b) => (a.key < b.key ? -1 : 1)), missing }
}

async function inSequence<In, Out>(items: In[], work: (item: In) => Promise<Out>): Promise<Out[]> {
  const results: Out[] = []
  for (const item of items) results.push(await work(item))
  return results
}

/** Waits for all promises. When one rejects, closes the connections of the others, so that nothing is written afterwards. */
async function allOrNone<T extends readonly Promise<unknown>[]>(
  promises: [...T],
  connections: Connection[],
): Promise<{ [K in keyof T]: Awaited<T[K]> }> {
  try {
    return await Promise.all(promises)
  } catch (error) {
    connections.forEach(destroy)
    await Promise.allSettled(promises)
    throw error
  }
}
