/**
 * `npm run import -- DIRECTORY` (design §8): loads NDJSON, one file for each collection of §3, into the database. Hides the order of the
 * files, the batches and the handling of refused rows. Importing the same files again changes nothing; memory does not grow with them.
 */
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { callerDirectory } from '#src/config.ts'
import { foldCounters } from '#src/counters/counters.ts'
import { sql, type Transaction } from 'kysely'
import type { Database } from '#src/db/database.ts'
import { transactionOrDryRun } from '#src/db/dry-run.ts'
import type { Tables } from '#src/db/tables.ts'
import { StartError } from '#src/postgres/errors.ts'
import { type Collection, collections, type Loading } from './collections.ts'
import { type Line, readLines, refuseOtherEncoding } from './import-lines.ts'
import { openRejects, type Rejects } from './import-rejects.ts'
import type * as parse from './import-rows.ts'
import { BadRow, parseObject } from './import-values.ts'
import { SeenKeys } from './seen-keys.ts'
import type * as write from './import-write.ts'
import { listFiles } from './import-files.ts'
import { takeImportLock } from './import-lock.ts'
import { limited } from './limited.ts'
import { inLargePortions, vacuum } from './import-vacuum.ts'
import { keepReserve } from './disk-reserve.ts'

export interface ImportOptions {
  database: Database
  directory: string
  /** Whether to report what the import would do and roll back each batch. */
  isDryRun?: boolean
  log?: (line: string) => void
  /** Called after each batch; `read` counts the lines of this file that are not blank. */
  onProgress?: (progress: { file: string; read: number }) => void
  /** Called with each refused line. */
  onRefused?: ((refusal: Refusal) => void) | undefined
  /** Called for each batch instead of its writer. Only a move-in has it: it keeps what was changed in the console. */
  batches?: Batches | undefined
  /** The file for refused rows, by default `rejected.ndjson` in the current folder. If it exists, its name gets a number. */
  rejectedPath?: string
}

export interface Refusal {
  /** The name of the line's file without `.ndjson`. */
  collection: string
  line: Line
  reason: string
  /** Whether it was refused because an earlier line has the same key. */
  isRepeated: boolean
}

export interface Batches {
  /** The most rows of a batch. */
  rows: number
  /** Writes a batch with its writer. It may run again from the start, like the writer. */
  write(
    tx: Transaction<Tables>,
    batch: { collection: string; rows: parse.Columns[] },
    writer: write.Writer,
  ): Promise<write.Written>
  /** Called when the last batch is stored or, in a dry run, taken back. */
  stored(): void
}

export interface ImportReport {
  /** The files that were there, in the order of loading. */
  files: FileReport[]
  /** *.ndjson files that belong to no known collection and were not read. */
  unknown: string[]
  /** The path of the file with the refused rows, if there are any. */
  rejectedPath?: string
  seconds: number
}

/** What happened to the lines of one file; `read` is the sum of `loaded`, `unchanged` and `rejected`. */
export interface FileReport {
  file: string
  /** The name that §3 gives the collection; for `*.users.ndjson` the history collection it belongs to, with `/users`. */
  collection: string
  read: number
  /** Rows added or changed, or in a dry run those that would be. A player of whom only the balance changes counts, too. */
  loaded: number
  /** How many of these were added. */
  added: number
  /** Rows that are already stored with the same values. */
  unchanged: number
  rejected: number
}

interface Run
  extends
    Required<Pick<ImportOptions, 'database' | 'directory' | 'isDryRun' | 'log' | 'onProgress'>>,
    Pick<ImportOptions, 'onRefused' | 'batches'> {
  rejects: Rejects
  written: Loading['written']
}

const REJECTED_FILE = 'rejected.ndjson'
const REJECTED_FILES = /^rejected(-\d+)?\.ndjson$/
const BATCH_ROWS = 5_000
const BATCH_BYTES = 4 * 1024 * 1024
/** The most keys to reserve memory for at once (200 MB): if a file begins with short lines, the estimate of their number is too high. */
const MAX_RESERVED = 10_000_000
/** Bytes that a batch may write to disk, including indexes and PostgreSQL's write-ahead log. */
const BATCH_WRITES_BYTES = 32 * 1024 * 1024
/** Refused rows of one file that are shown; the file of refused rows contains all of them. */
const MESSAGES_SHOWN = 50
/** Written rows after which a table is vacuumed, so that its statistics and visibility map are up to date at once. */
const VACUUM_ROWS = 2_000
const VACUUM_EVERY_ROWS = 1_000_000

/**
 * Loads the valid rows and reports the others. An interrupted import can simply be run again.
 *
 * A dry run does the same and rolls back each batch, so that it blocks others no longer than an import does. Rows that refer to history
 * documents of the same import count as they would. A dry run does not see what earlier batches of the same file, each of some thousand
 * lines, would have changed. Two lines with the same priority or e-mail address in different batches are therefore both compared with the
 * stored rows.
 * @throws StartError if the directory cannot be read or has no known file, or if the disk is nearly full
 */
export async function importDirectory({
  database,
  directory,
  isDryRun = false,
  log = () => {},
  onProgress = () => {},
  onRefused,
  batches,
  ...options
}: ImportOptions): Promise<ImportReport> {
  const start = performance.now()
  const { files: names, folders } = await listFiles(directory)
  const present = collections.filter(({ name }) => names.includes(`${name}.ndjson`))
  const unknown = names.filter((file) => !REJECTED_FILES.test(file) && !present.some(({ name }) => file === `${name}.ndjson`))
  if (present.length === 0) {
    const others = [...unknown, ...folders.map((name) => `${name}, which is a folder`)]
    const found = others.length > 0 ? ` (only ${others.join(', ')})` : ''
    throw new StartError(
      `There is nothing to import in ${directory}${found}: expected ${collections.map(({ name }) => `${name}.ndjson`).join(', ')}.`,
    )
  }
  for (const { name } of present) await refuseOtherEncoding(join(directory, `${name}.ndjson`))
  for (const file of unknown) log(`${file}: ignored, no collection has this name`)
  for (const folder of folders) log(`${folder}: ignored, this is a folder`)

  const rejects = openRejects(options.rejectedPath ?? join(callerDirectory(), REJECTED_FILE))
  const lock = batches || isDryRun ? undefined : await takeImportLock(database, 'import') // a move-in has its own
  const written = { announcement: new Set<string>(), social: new Set<string>(), daily: new Set<string>() }
  const run: Run = { database, directory, isDryRun, log, onProgress, rejects, written, onRefused, batches }
  const files: FileReport[] = []
  try {
    // After an import of other rows, a move-in has to compare all of its documents with what is stored.
    if (lock) await sql`delete from moved_documents`.execute(database.db)
    for (const collection of present) files.push(await new FileImport(run, collection).load())
  } finally {
    await Promise.all([lock?.end(), rejects.close()])
    if (rejects.path !== undefined) log(`The rows that were refused are in ${rejects.path}`)
    if (rejects.problem !== undefined)
      log(
        `The rows that were refused could not be written down (${rejects.problem}): import again where you may write to keep them`,
      )
  }
  if (isDryRun) log('This was a dry run: nothing was changed.')
  else await foldCounters(database)
  const { path } = rejects
  return { files, unknown, ...(path !== undefined && { rejectedPath: path }), seconds: (performance.now() - start) / 1000 }
}

/** A line of a file, from being read until it is stored or refused. */
interface ImportedLine {
  line: Line
  columns?: parse.Columns
  /** Why the line is refused. */
  reason?: string
  isRepeated?: boolean
  note?: string | undefined
}

/** The import of one file. The next batch is read while the previous one is being written. */
class FileImport {
  readonly #run: Run
  readonly #collection: Collection
  readonly #file: string
  readonly #messages: ReturnType<typeof limited>
  readonly #report: FileReport
  #loadedSinceVacuum = 0

  constructor(run: Run, collection: Collection) {
    this.#run = run
    this.#collection = collection
    this.#file = `${collection.name}.ndjson`
    this.#messages = limited(run.log, MESSAGES_SHOWN)
    this.#report = {
      file: this.#file,
      collection: collection.name.replace('.', '/'),
      read: 0,
      loaded: 0,
      added: 0,
      unchanged: 0,
      rejected: 0,
    }
  }

  async load(): Promise<FileReport> {
    const start = performance.now()
    const writer = await this.#collection.writer({ ...this.#run, isMoveIn: this.#run.batches !== undefined })
    let storing = Promise.resolve()
    for await (const lines of readBatches(this.#path, this.#collection, this.#run.batches?.rows)) {
      await storing
      storing = this.#store(lines, writer)
      storing.catch(() => {}) // the error is reported where the promise is awaited
    }
    await storing
    this.#messages.end()
    await this.#vacuumFrom(VACUUM_ROWS)
    this.#logTotals((performance.now() - start) / 1000)
    return this.#report
  }

  get #path(): string {
    return join(this.#run.directory, this.#file)
  }

  async #store(lines: ImportedLine[], writer: write.Writer): Promise<void> {
    const { database, isDryRun, onProgress, written } = this.#run
    const { kind, name } = this.#collection
    const report = this.#report
    await keepReserve(database, { done: `${report.read} lines of ${this.#file}`, batchBytes: BATCH_WRITES_BYTES, isDryRun })
    const batch = await writeBatch(this.#run, { lines, writer, collection: name })
    for (const id of batch.histories) if (kind) written[kind].add(id)
    for (const imported of lines) await this.#reportLine(imported)
    report.read += lines.length
    report.loaded += batch.loaded
    report.added += batch.added
    report.unchanged = report.read - report.loaded - report.rejected
    this.#loadedSinceVacuum += batch.loaded
    await this.#vacuumFrom(VACUUM_EVERY_ROWS)
    onProgress({ file: this.#file, read: report.read })
  }

  async #reportLine({ line, reason, isRepeated = false, note }: ImportedLine): Promise<void> {
    if (reason !== undefined) {
      this.#report.rejected += 1
      this.#run.onRefused?.({ collection: this.#collection.name, line, reason, isRepeated })
      await this.#run.rejects.add({ source: this.#path, line, reason })
    }
    const message = reason ?? note
    if (message !== undefined) this.#messages.add(`${this.#file}:${line.number}: ${message}`)
  }

  /** Vacuums the tables if at least this number of rows was loaded since the last time. */
  async #vacuumFrom(rows: number): Promise<void> {
    const { database, isDryRun, log } = this.#run
    const { tables } = this.#collection
    if (!tables || isDryRun || this.#loadedSinceVacuum < rows) return
    this.#loadedSinceVacuum = 0
    await vacuum(database, tables, log)
  }

  #logTotals(seconds: number): void {
    const { read, loaded, unchanged, rejected } = this.#report
    const speed = read >= VACUUM_ROWS ? `, ${Math.round(read / seconds)} rows/s` : ''
    const wouldBe = this.#run.isDryRun ? 'would be ' : ''
    this.#run.log(
      `${this.#file}: ${read} read, ${loaded} ${wouldBe}loaded, ${unchanged} unchanged, ${rejected} rejected (${seconds.toFixed(1)} s${speed})`,
    )
  }
}

async function* readBatches(path: string, collection: Collection, mostRows = BATCH_ROWS): AsyncGenerator<ImportedLine[]> {
  const seen = new SeenKeys()
  const { size } = await stat(path) // 0 for a pipe
  let lines: ImportedLine[] = []
  let bytes = 0
  for await (const line of readLines(path)) {
    lines.push(refuseRepeated(toImportedLine(line, collection), collection.key, seen))
    bytes += line.text.length
    if (lines.length < mostRows && bytes < BATCH_BYTES) continue
    // The first batch shows about how many lines there are.
    if (lines.length === line.number)
      seen.reserve(Math.min(MAX_RESERVED, Math.ceil((line.number * size) / (line.start + line.length))))
    yield lines
    lines = []
    bytes = 0
  }
  if (lines.length > 0) yield lines
}

function toImportedLine(line: Line, collection: Collection): ImportedLine {
  if (line.problem !== undefined) return { line, reason: line.problem }
  try {
    return { line, ...collection.parse(parseObject(line.text, collection.kept)) }
  } catch (error) {
    if (error instanceof BadRow) return { line, reason: error.message }
    throw error
  }
}

/** Of several lines with the same id only the first is loaded, because the others may lack fields of it, or contradict it. */
function refuseRepeated(item: ImportedLine, key: readonly string[], seen: SeenKeys): ImportedLine {
  const { line, columns } = item
  if (!columns) return item
  const earlier = seen.add(JSON.stringify(key.map((column) => columns[column])), line.number)
  if (earlier === undefined) return item
  return { line, isRepeated: true, reason: `Line ${earlier} has the same id: only the first of them is read` }
}

interface Batch {
  collection: string
  lines: ImportedLine[]
  writer: write.Writer
}

/** Writes a batch. Sets the `reason` of lines that the database refuses. */
async function writeBatch(
  { database, isDryRun, batches }: Run,
  { collection, lines, writer }: Batch,
): Promise<{ loaded: number; added: number; histories: string[] }> {
  const rows = lines.flatMap(({ columns }) => (columns ? [columns] : []))
  const { loaded, added, rejected, ...written } = await transactionOrDryRun(database, isDryRun, async (tx) => {
    await inLargePortions(tx)
    return batches ? batches.write(tx, { collection, rows }, writer) : writer(tx, rows)
  })
  batches?.stored()
  for (const imported of lines)
    if (imported.columns && rejected.has(imported.columns)) imported.reason = rejected.get(imported.columns)!
  return { loaded, added, histories: written.histories ?? [] }
}
