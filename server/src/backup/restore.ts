/**
 * Restores a backup into an empty target, or on trial into a temporary database (ADR 12). It changes nothing before the checksum of every
 * part is verified, and in the end compares the restored rows with the manifest.
 */
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import { zstdDecompress } from 'node:zlib'
import { sql } from 'kysely'
import type { Logger } from 'pino'
import { actOfProcess, audit } from '#src/audit/audit.ts'
import { verifyAudit } from '#src/audit/verify.ts'
import { aToZSql } from '#src/db/collations.ts'
import { loadMigrations } from '#src/db/migrate.ts'
import { pauseRestored } from '#src/broadcasts/ending.ts'
import { pauseScheduledWork } from '#src/db/scheduled-work.ts'
import { findMediaType } from '#src/files/files.ts'
import { type Connection, destroy } from '#src/postgres/connections.ts'
import { copyIn } from '#src/postgres/copy.ts'
import { makeDataDir } from '#src/postgres/data-dir.ts'
import { StartError } from '#src/postgres/errors.ts'
import {
  checkParts,
  DamagedError,
  damaged,
  type Manifest,
  type Part,
  readManifest,
  readPart,
  rowsOf,
  type SavedTable,
} from './manifest.ts'
import { type Place, writableBytesIn } from './place.ts'
import { asWritten, copyInStatement, quote, sumRows, tablesToSave } from './saved-tables.ts'
import { openTarget, refuseOtherRestore, removeScratch, type Target, type TargetOptions } from './target.ts'
import { countVerified } from './verifying.ts'
import { unwatched, type Watch } from './watch.ts'

export interface Restored {
  manifest: Manifest
  /** The bot tokens that are valid in the restored console. */
  tokens: BotToken[]
}

export interface BotToken {
  name: string
  [fact: string]: unknown
}

/**
 * Fills an empty target. Ends the sessions and one-time links of the backup, and pauses scheduled work.
 * @throws StartError if the backup is damaged or newer, or the target is not empty; nothing was changed then
 */
export async function restoreBackup(place: Place, options: TargetOptions): Promise<Restored> {
  const manifest = await readChecked(place)
  const target = await openTarget(options)
  try {
    await target.migrate(manifest.migrations)
    await loadTables(target.client, { place, manifest, areAllIndexesBuilt: true })
    await target.migrate()
    for (const file of manifest.files)
      await options.files?.store.put(file.key, await readPart(place, file), findMediaType(file.key))
    return { manifest, tokens: await settle(target, place, manifest) }
  } finally {
    await target.close()
  }
}

export interface VerifyOptions {
  /** The folder for the temporary database. It need not exist, and is removed in the end. */
  scratchDir: string
  log: Logger
  watch?: Watch
}

/**
 * Restores a backup into a temporary embedded database, compares it with the manifest, verifies the audit trail, and removes the database.
 * @throws DamagedError if its content differs from what was saved
 * @throws StartError if it is newer, or cannot be restored here. Whether the disk has room for it is checked first
 */
export async function verifyBackup(place: Place, { scratchDir, log, watch = unwatched }: VerifyOptions): Promise<Manifest> {
  const { signal } = watch
  const verified = countVerified(watch)
  await makeDataDir(dirname(scratchDir))
  const keepRoom = async (bytes: number): Promise<void> => {
    const writable = await writableBytesIn(dirname(scratchDir)) // the console's own database may be on this disk
    if (writable < bytes)
      throw new StartError(
        `The disk of ${dirname(scratchDir)} has too little room to verify this backup: ` +
          `that needs about ${inMegabytes(bytes)} MB, and ${inMegabytes(Math.max(0, writable))} MB can be used. Free some.`,
      )
  }
  const manifest = await readChecked(place, async (found) => {
    await keepRoom(trialBytes(found))
    return verified.beginParts(found)
  })
  await refuseOtherRestore(scratchDir)
  await removeScratch(scratchDir, log)
  try {
    // The database is temporary, so it need not survive a power failure.
    const target = await openTarget({ dataDir: scratchDir, log, overrides: { fsync: 'off', full_page_writes: 'off' } })
    const stop = (): void => destroy(target.client)
    signal.addEventListener('abort', stop)
    try {
      await target.migrate(manifest.migrations)
      // A newer migration may rely on any of the indexes.
      const areAllIndexesBuilt = (await loadMigrations()).length > manifest.migrations.length
      const loaded = verified.beginLoad(manifest)
      const onRead = async (part: SavedTable['parts'][number]): Promise<void> => {
        await keepRoom(part.textBytes)
        loaded(part)
      }
      await loadTables(target.client, { place, manifest, areAllIndexesBuilt, onRead })
      await target.migrate()
      const { findings } = await verifyAudit(target.database, { onProgress: verified.beginAudit(manifest) })
      if (findings.length > 0)
        throw new DamagedError(
          `The rows of ${place.address} are those that were saved, but its audit trail is not whole: ${findings.join(' ')}`,
        )
    } catch (error) {
      signal.throwIfAborted()
      throw error
    } finally {
      signal.removeEventListener('abort', stop)
      await target.close()
    }
  } finally {
    await removeScratch(scratchDir, log)
  }
  return manifest
}

/** The bytes of a temporary database without rows, as measured. */
const EMPTY_TRIAL_BYTES = 50_000_000
/** The bytes that PostgreSQL adds to a row: its head, its generated columns and its places in indexes. Measured: 220 for players and participations. */
const OVERHEAD_OF_ROW_BYTES = 150

/** Returns about how many bytes the temporary database of a verification takes. */
function trialBytes(manifest: Manifest): number {
  const texts = manifest.tables.flatMap(({ parts }) => parts).reduce((sum, { textBytes }) => sum + textBytes, 0)
  return EMPTY_TRIAL_BYTES + texts + rowsOf(manifest) * OVERHEAD_OF_ROW_BYTES
}

function inMegabytes(bytes: number): number {
  return Math.ceil(bytes / 1_000_000)
}

/** @param begin called with the manifest before the parts are read. Returns a function that is called with each part */
async function readChecked(place: Place, begin?: (manifest: Manifest) => Promise<(part: Part) => void>): Promise<Manifest> {
  const manifest = await readManifest(place)
  const known = (await loadMigrations()).map(({ name }) => name)
  const unknown = manifest.migrations.filter((name) => !known.includes(name))
  if (unknown.length > 0)
    throw new StartError(
      `The backup in ${place.address} was made by a newer Arcade Console (${manifest.version}; its migration ${unknown.join(', ')} is unknown here), so nothing was restored: use that version or a later one.`,
    )
  await checkParts(place, manifest, await begin?.(manifest))
  return manifest
}

interface LoadOptions {
  place: Place
  manifest: Manifest
  /** Whether to build all indexes; otherwise only those that enforce a constraint. */
  areAllIndexesBuilt: boolean
  /** Called for each part before it is loaded. */
  onRead?: (part: SavedTable['parts'][number]) => Promise<void>
}

/** Fills the tables in one transaction. Builds the indexes that enforce no constraint afterwards, which takes a fraction of the time. */
async function loadTables(
  client: Connection,
  { place, manifest, areAllIndexesBuilt, onRead = async () => {} }: LoadOptions,
): Promise<void> {
  await asWritten(client)
  const targets = await tablesToSave(client)
  const saved = targets.map(({ name, columns }) => {
    const table = manifest.tables.find((one) => one.name === name)
    // The order of columns may differ, because migrations of other versions may have added them in another order.
    if (table === undefined || table.columns.toSorted().join() !== columns.toSorted().join())
      throw damaged(place, `its table ${name} is not that of its migrations`)
    return table
  })
  await client.query(`begin; set local maintenance_work_mem = '256MB'`)
  const { rows: indexes } = await client.query<{ name: string; definition: string }>(INDEXES)
  if (indexes.length > 0) await client.query(`drop index ${indexes.map(({ name }) => quote(name)).join(', ')}`)
  await client.query(`truncate ${targets.map(({ name }) => quote(name)).join(', ')}`)
  for (const table of saved) await copyIn(client, copyInStatement(table), textOf(place, table, { manifest, onRead }))
  if (areAllIndexesBuilt) for (const { definition } of indexes) await client.query(definition)
  for (const table of saved) {
    const { rows, checksum } = await sumRows(client, table)
    if (rows !== table.rows || checksum !== table.checksum)
      throw damaged(place, `the restored table ${table.name} differs from the saved one (${rows} rows, ${table.rows} were saved)`)
  }
  await client.query('commit')
  await client.query('analyze')
}

const INDEXES = `
  select c.relname as name, pg_get_indexdef(c.oid) as definition
    from pg_index join pg_class c on c.oid = indexrelid
   where c.relnamespace = current_schema()::regnamespace and not indisunique
     and not exists (select from pg_depend where objid = c.oid and classid = 'pg_class'::regclass and deptype = 'e')
   order by c.relname`

/** Yields a table's rows as text, reading the next part while one is being loaded. */
async function* textOf(
  place: Place,
  { parts }: SavedTable,
  { manifest: { compression }, onRead }: Pick<Required<LoadOptions>, 'manifest' | 'onRead'>,
): AsyncGenerator<Buffer> {
  const read = async (part: SavedTable['parts'][number]): Promise<Buffer> => {
    await onRead(part)
    const bytes = await readPart(place, part)
    return compression === 'none' ? bytes : zstd(bytes, { maxOutputLength: part.textBytes })
  }
  let next: Promise<Buffer> | undefined
  for (const [index, part] of parts.entries()) {
    const text = await (next ?? read(part))
    const following = parts[index + 1]
    next = following && read(following)
    next?.catch(() => undefined) // the error is reported where the promise is awaited
    yield text
  }
}

const zstd = promisify(zstdDecompress)

/**
 * Tables whose rows let somebody in, are on the way to it, or would be sent by both consoles: sessions, links, codes, mails, and browsers that
 * were sent to the sign-in service.
 */
const ENDED_TABLES = [
  'sessions',
  'pending_sign_ins',
  'setup_links',
  'password_links',
  'password_requests',
  'password_resets',
  'email_changes',
  'mails',
  'invitations',
  'telegram_link_codes',
  'passkey_challenges',
  'oidc_flows',
] as const

/** Ends what must not be valid in a second console, such as sessions, and releases the database for use. */
async function settle(target: Target, place: Place, { moment }: Manifest): Promise<BotToken[]> {
  const {
    client,
    database: { db },
  } = target
  await client.query('begin')
  for (const table of ENDED_TABLES) await db.deleteFrom(table).execute()
  await db
    .updateTable('backups')
    .set({ error: 'It was being made at the moment of the backup that this console was restored from.' })
    .where('finished_at', 'is', null)
    .where('error', 'is', null)
    .execute()
  await db.updateTable('backups').set({ step: null, percent: null, done_bytes: null }).where('step', 'is not', null).execute()
  await pauseRestored(db, moment)
  await pauseScheduledWork(db, `This console was restored from the backup of ${moment}.`)
  const record = { kind: 'installation', id: 'backup', name: place.address } as const
  await audit(db, actOfProcess('command', 'arcade restore'), 'backup.restore', { record, detail: { moment } })
  const { rows } = await sql<{ token: BotToken }>`
    select to_jsonb(bot_tokens) - 'token_hash' - 'previous_hash' - 'id' as token from bot_tokens order by ${sql.raw(aToZSql('name'))}`.execute(
    db,
  )
  await target.finish()
  await client.query('commit')
  return rows.map(({ token }) => token)
}
