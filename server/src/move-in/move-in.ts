/**
 * `npm run arcade -- move-in DIR`: a game leaves Firebase. Documents become rows of the import, in files that are removed afterwards, and go
 * through its writers; accounts follow. Moving in again brings what has changed since.
 */
import { hash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'
import { sql } from 'kysely'
import type { Act } from '#src/audit/audit.ts'
import type { Database } from '#src/db/database.ts'
import type { Files } from '#src/files/files.ts'
import type { Images } from '#src/files/images.ts'
import { takeImportLock } from '#src/import/import-lock.ts'
import { keepReserve } from '#src/import/disk-reserve.ts'
import { importDirectory } from '#src/import/import.ts'
import type { SecretKey } from '#src/webhooks/secret-key.ts'
import { StartError } from '#src/postgres/errors.ts'
import { productVersion } from '#src/version.ts'
import { type AccountsToMove, checkAccountFiles, moveAccounts, type TriedPassword } from './accounts.ts'
import { findManagedExport, type ManagedExport, readDocuments } from './managed-export.ts'
import { defaultMapping, type Mapping, readMapping } from './mapping.ts'
import { type MoveInBatches, moveInBatches } from './move-in-batches.ts'
import { type Fingerprint, MovedDocuments } from './moved-documents.ts'
import { moveFiles } from './stored-files.ts'
import { findOtherExports, readOtherExport } from './other-exports.ts'
import { addExample, addReason, type MoveInReport } from './report.ts'
import { openRowFiles, type RowFiles } from './row-files.ts'
import { newReport, Translation } from './translation.ts'
import { isFileError } from './file-errors.ts'

/** The size at which the part of the heap for new objects stops growing. */
const YOUNG_HEAP_BYTES = 8 * 1024 * 1024
/** The time between two looks at that size: short, because the part grows within the first second. */
const YOUNG_HEAP_CHECK_MS = 20

export interface MoveInOptions {
  database: Database
  /** The act of the audit entries. */
  act: Act
  secretKey: SecretKey
  files: Files
  images: Images
  directory: string
  /** Where the rows are kept while they are moved in. */
  dataDir: string
  /** The path of a map file. */
  mapFile?: string | undefined
  isDryRun?: boolean
  /** Whether fields that lead nowhere are kept beside the record. */
  keepsUnknown?: boolean
  /** A password that the hash parameters are tried with before anything else. */
  tried?: TriedPassword | undefined
  /** The file for refused rows. */
  rejectedPath?: string
  /** Called before anything is written, when all documents have been read. */
  onBegin?: () => Promise<void>
  /** Called with what the move-in does at the moment. */
  note?: (line: string) => void
}

/** @throws StartError if there is nothing to move in, if an export is damaged, or during another run: then nothing was changed */
export async function moveIn(options: MoveInOptions): Promise<MoveInReport> {
  const lock = await takeImportLock(options.database, 'move-in')
  const limiting = limitYoungHeap()
  try {
    return await moveInLocked(options)
  } finally {
    clearInterval(limiting)
    await lock.end()
  }
}

/**
 * Limits the part of the heap in which V8 makes new objects. On a machine with much memory it grows to 134 MB, which makes a move-in no
 * faster. V8 reads the flag each time before it grows, so the flag is set once the part has its size.
 */
function limitYoungHeap(): NodeJS.Timeout {
  const limiting = setInterval(() => {
    const young = getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space')
    if (!young || young.space_size < YOUNG_HEAP_BYTES) return
    setFlagsFromString('--semi-space-growth-factor=1')
    clearInterval(limiting)
  }, YOUNG_HEAP_CHECK_MS)
  return limiting
}

/** Moves in while this run holds the lock. */
async function moveInLocked(options: MoveInOptions): Promise<MoveInReport> {
  const { database, isDryRun = false, keepsUnknown = false, note = () => {} } = options
  const start = performance.now()
  const plan = await checkInput(options)
  const report = newReport(isDryRun)
  const before = await measure(database)
  const rowFiles = await openRowFiles(options.dataDir, {
    // PostgreSQL may be on the same disk. Nothing is written to it while documents are read.
    keepReserve: (batchBytes) =>
      keepReserve(database, { done: `${report.documents.read} documents`, batchBytes, isDryRun: true }),
  })
  try {
    const moved = await MovedDocuments.load(database, await mappingId(plan.mapText, keepsUnknown))
    const translation = new Translation({ rowFiles, mapping: plan.mapping, report, moved, keepsUnknown })
    await translateAll(plan.sources, { translation, report, note })
    await translation.addParents(database.db)
    await rowFiles.close()
    note(isDryRun ? 'Trying all rows …' : 'Writing all rows …')
    if (!isDryRun) {
      await options.onBegin?.()
      await MovedDocuments.forget(database.db)
    }
    const { batches, refused } = await importAll(options, { rowFiles, report, moved })
    const { users, files } = translation
    if (plan.accounts) report.accounts = await moveUsers(options, plan.accounts, users)
    if (files.length > 0) report.files = await moveNamedFiles(options, files, refused)
    if (!isDryRun) await moved.save(database)
    report.balances = { before: before.balances, after: await sumAfter(database, before.balances, batches) }
    const after = await measure(database)
    report.disk = { temporary: rowFiles.bytes, database: Math.max(0, after.bytes - before.bytes) }
    report.seconds = (performance.now() - start) / 1000
    return report
  } finally {
    await rowFiles.remove()
  }
}

interface Plan {
  sources: Sources
  mapText: string
  mapping: Mapping
  accounts: Accounts | undefined
}

type Accounts = Pick<AccountsToMove, 'authFile' | 'hashFile' | 'hashing'>

/** Finds the exports and reads the small files. @throws StartError for files that are absent, damaged or contradictory */
async function checkInput({ directory, mapFile, tried }: MoveInOptions): Promise<Plan> {
  const mapText = mapFile === undefined ? '' : await readText(mapFile)
  const mapping = mapFile === undefined ? defaultMapping : readMapping(mapText, mapFile)
  const sources = await findSources(directory, mapFile)
  const { authFile } = sources
  if (tried && authFile === undefined)
    throw new StartError(`There is no auth.json or auth.csv in ${directory}, so no password can be tried.`)
  const files = authFile === undefined ? undefined : { authFile, hashFile: join(directory, 'hash.json') }
  const accounts = files && { ...files, hashing: await checkAccountFiles(files, tried) }
  return { sources, mapText, mapping, accounts }
}

/** Reads all documents and translates them into rows. */
async function translateAll(
  { managed, others }: Sources,
  { translation, report, note }: { translation: Translation; report: MoveInReport; note: (line: string) => void },
): Promise<void> {
  if (managed) {
    note(`Reading ${managed.directory} …`)
    if (managed.stated !== undefined) report.documents.stated = managed.stated
    const isKnown = (print: Fingerprint): boolean => translation.isSame(print)
    for await (const documents of readDocuments(managed, isKnown))
      for (const document of documents) await translation.add(document)
  }
  for (const path of others) {
    note(`Reading ${path} …`)
    for await (const document of readOtherExport(path)) await translation.add(document)
  }
}

function moveUsers(options: MoveInOptions, accounts: Accounts, users: Translation['users']) {
  const { database, act, secretKey, isDryRun = false, note } = options
  note?.(`Reading ${accounts.authFile} …`)
  return moveAccounts({ database, act, secretKey, ...accounts, users, isDryRun })
}

/** Moves the files that the announcements name, except those of refused announcements. */
function moveNamedFiles(options: MoveInOptions, named: Translation['files'], refused: ReadonlySet<string>) {
  const { database, files, images, directory, isDryRun = false, note } = options
  note?.('Reading the files of announcements …')
  return moveFiles({ database, files, images, storage: join(directory, 'storage'), named, refused, isDryRun })
}

interface Sources {
  managed: ManagedExport | undefined
  /** The files of other exporters. */
  others: string[]
  authFile: string | undefined
}

async function findSources(directory: string, mapFile: string | undefined): Promise<Sources> {
  if (!existsSync(directory)) throw new StartError(`There is no directory ${directory}.`)
  const managed = await findManagedExport(directory).catch((error: unknown) => {
    throw isFileError(error, 'ENOTDIR') ? new StartError(`${directory} is not a directory.`, { cause: error }) : error
  })
  const authFile = ['auth.json', 'auth.csv'].map((name) => join(directory, name)).find((path) => existsSync(path))
  const others = await findOtherExports(directory, mapFile)
  if (!managed && authFile === undefined && others.length === 0)
    throw new StartError(
      `${directory} contains nothing to move in: expected an export of Firestore (a folder with …overall_export_metadata) or auth.json.`,
    )
  return { managed, others, authFile }
}

/** Returns what distinguishes move-ins that make different rows of a document. */
async function mappingId(mapText: string, keepsUnknown: boolean): Promise<string> {
  return hash('sha256', JSON.stringify([await productVersion(), mapText, keepsUnknown]), 'base64url')
}

async function readText(path: string): Promise<string> {
  return readFile(path, 'utf8').catch((cause: unknown) => {
    throw new StartError(`${path} cannot be read.`, { cause })
  })
}

interface Imported {
  batches: MoveInBatches
  /** The paths of refused announcements. */
  refused: Set<string>
}

/** Imports the rows, if there are any, and completes the reports of their collections. */
async function importAll(
  options: MoveInOptions,
  { rowFiles, report, moved }: { rowFiles: RowFiles; report: MoveInReport; moved: MovedDocuments },
): Promise<Imported> {
  const { database, isDryRun = false, rejectedPath } = options
  const collectionOf = (name: string) => report.collections[name.replace('.', '/')]!
  const refused = new Set<string>()
  const batches = moveInBatches((name, ids) => {
    for (const id of ids) addExample(collectionOf(name).kept, `${name}/${id}`)
  })
  if (rowFiles.bytes === 0) return { batches, refused }
  const imported = await importDirectory({
    database,
    directory: rowFiles.directory,
    isDryRun,
    batches,
    ...(rejectedPath !== undefined && { rejectedPath }),
    onRefused({ collection, line, reason, isRepeated }) {
      const document = pathOf(line.text)
      moved.refuse(collection, { line: line.number, isRepeated })
      addReason(collectionOf(collection).reasons, reason, document)
      if (collection === 'announcements') refused.add(document)
    },
  })
  for (const { collection, read, loaded, added, unchanged, rejected } of imported.files) {
    const part = collectionOf(collection)
    part.read += read
    part.unchanged += unchanged
    Object.assign(part, { new: added, changed: loaded - added, refused: rejected })
  }
  if (imported.rejectedPath !== undefined) report.rejectedPath = imported.rejectedPath
  return { batches, refused }
}

/** Returns the path of the document of a line. */
function pathOf(line: string): string {
  return line === '' ? '(a document that is too long)' : (JSON.parse(line) as Record<string, string>)['__name__']!
}

interface Measure {
  /** The sum of all balances, as a decimal. */
  balances: string
  /** The size of the database. */
  bytes: number
}

async function measure({ db }: Database): Promise<Measure> {
  const { rows } = await sql<Measure>`select trim_scale(coalesce(sum(balance), 0))::text as balances,
    pg_database_size(current_database())::float8 as bytes from balances`.execute(db)
  return rows[0]!
}

/** Returns the sum of all balances after the run: in a dry run, what it would be. */
async function sumAfter({ db }: Database, before: string, { balances }: MoveInBatches): Promise<string> {
  const [from, to] = [balances.map((batch) => batch.before), balances.map((batch) => batch.after)]
  const { rows } = await sql<{
    sum: string
  }>`select trim_scale(${before}::numeric + coalesce(sum(after - before), 0))::text as sum
    from unnest(${from}::numeric[], ${to}::numeric[]) as batch (before, after)`.execute(db)
  return rows[0]!.sum
}
