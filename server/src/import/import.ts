/**
 * `npm run import -- DIRECTORY` (design §8): NDJSON, a file a collection of §3, into the database. Hides the order of the
 * files, batches and what happens to bad rows. Importing the same files again changes nothing; memory does not grow with them.
 */
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { callerDirectory } from '#src/config.ts'
import { foldCounters } from '#src/counters/counters.ts'
import type { Database } from '#src/db/database.ts'
import { transactionOrDryRun } from '#src/db/dry-run.ts'
import { StartError } from '#src/postgres/errors.ts'
import type { HistoryKind } from '@arcade/contract/history/fields'
import { createSessions } from '#src/identity/sessions.ts'
import { type Line, readLines } from './import-lines.ts'
import { openRejects, type Rejects } from './import-rejects.ts'
import * as parse from './import-rows.ts'
import { BadRow, parseObject, type Row } from './import-values.ts'
import * as write from './import-write.ts'
import { inLargePortions, vacuum } from './import-vacuum.ts'
import { keepReserve } from './disk-reserve.ts'

export interface ImportOptions {
  database: Database
  directory: string
  /** Tells what the import would do and takes each batch back. */
  isDryRun?: boolean
  log?: (line: string) => void
  /** After each batch; `read` counts the lines of this file that are not blank. */
  onProgress?: (progress: { file: string; read: number }) => void
  /** Where refused rows go, or beside it with a number if there is such a file; `rejected.ndjson` where the caller is by default. */
  rejectedPath?: string
}

export interface ImportReport {
  /** In the order of loading; a file that is not there is not listed. */
  files: FileReport[]
  /** Files *.ndjson of no collection that we know; they were not read. */
  unknown: string[]
  /** Where they are, when any row was refused. */
  rejectedPath?: string
  seconds: number
}

/** `read` is the sum of the other three. */
export interface FileReport {
  file: string
  /** As §3 calls it; of `*.users.ndjson` the history collection it belongs to, with `/users`. */
  collection: string
  read: number
  /** Added or changed, or in a dry run what would be; a player whose balance alone changes is one, too. */
  loaded: number
  /** Already there exactly so, or followed by a line with the same id. */
  unchanged: number
  rejected: number
}

interface Collection {
  name: string
  parse(row: Row): parse.ParsedRow
  /** The columns that make a row the same row. */
  key: string[]
  writer(run: Run): write.Writer | Promise<write.Writer>
  /** Of the history documents that its writer writes, be it along with their items. */
  kind?: HistoryKind
  /** To be vacuumed after many rows. */
  tables?: readonly string[]
}

interface Run extends Required<Pick<ImportOptions, 'database' | 'directory' | 'isDryRun' | 'log' | 'onProgress'>> {
  rejects: Rejects
  /** Ids of the history documents that were written up to here, by kind. */
  written: Record<HistoryKind, Set<string>>
}

const histories = { socialTasksHistory: 'social', dailyTasksHistory: 'daily', announcementHistory: 'announcement' } as const

/** Items before their history documents before their participants. */
const collections: Collection[] = [
  {
    name: 'users',
    parse: parse.parseUser,
    key: ['id'],
    writer: async ({ database }) => write.usersWriter(await createSessions(database)),
  },
  {
    name: 'telegramUsers',
    parse: parse.parseTelegramUser,
    key: ['user_id'],
    writer: () => write.writeTelegramUsers,
    tables: ['telegram_users', 'balances', 'ledger_entries'],
  },
  {
    name: 'socialTask',
    parse: (row) => parse.parseTask('social', row),
    key: ['id'],
    writer: () => write.tasksWriter('social'),
    kind: 'social',
  },
  {
    name: 'dailyTask',
    parse: (row) => parse.parseTask('daily', row),
    key: ['id'],
    writer: () => write.tasksWriter('daily'),
    kind: 'daily',
  },
  {
    name: 'announcements',
    parse: parse.parseAnnouncement,
    key: ['id'],
    writer: () => write.writeAnnouncements,
    kind: 'announcement',
  },
  ...Object.entries(histories).map(([name, kind]) => ({
    name,
    parse: (row: Row) => parse.parseHistoryItem(kind, row),
    key: ['item_id'],
    writer: ({ written }: Run) => write.historyItemsWriter(new Set(written[kind])),
    kind,
  })),
  ...Object.entries(histories).map(([name, kind]) => ({
    name: `${name}.users`,
    parse: (row: Row) => parse.parseParticipation(kind, row),
    key: ['user_id', 'item_id', 'period'],
    // What a dry run has written is not there any more for what refers to it.
    writer: ({ isDryRun, written }: Run) => write.participationsWriter(kind, isDryRun ? written[kind] : new Set()),
    tables: ['participations'],
  })),
]

const REJECTED_FILE = 'rejected.ndjson'
const REJECTED_FILES = /^rejected(-\d+)?\.ndjson$/
const BATCH_ROWS = 5_000
const BATCH_BYTES = 4 * 1024 * 1024
/** With indexes and PostgreSQL's log. */
const BATCH_WRITES_BYTES = 32 * 1024 * 1024
/** Of a file; all refused rows are in the file for them. */
const MESSAGES_SHOWN = 50
/** From here on a table is vacuumed, so that its statistics and visibility map are right at once. */
const VACUUM_ROWS = 2_000
const VACUUM_EVERY_ROWS = 1_000_000

/**
 * Loads what is good and reports the rest. An interrupted import is simply run again.
 *
 * A dry run does the same on the database as it stands and takes back each batch, so that it holds up others no longer than an import
 * does. Rows that refer to history documents of the same import count as they would. What it does not see is what earlier batches of the
 * same file would have changed, each of some thousand lines: of two lines with one id in two batches, both are compared with what is there
 * now, and so are two that want one priority or one e-mail address.
 * @throws StartError when the directory cannot be read or has no file of ours, or the disk is nearly full
 */
export async function importDirectory({
  database,
  directory,
  isDryRun = false,
  log = () => {},
  onProgress = () => {},
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
  for (const file of unknown) log(`${file}: ignored, no collection has this name`)
  for (const folder of folders) log(`${folder}: ignored, this is a folder`)

  const rejects = openRejects(options.rejectedPath ?? join(callerDirectory(), REJECTED_FILE))
  const written = { announcement: new Set<string>(), social: new Set<string>(), daily: new Set<string>() }
  const run: Run = { database, directory, isDryRun, log, onProgress, rejects, written }
  const files: FileReport[] = []
  try {
    for (const collection of present) files.push(await importFile(run, collection))
  } finally {
    await rejects.close()
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

/** What is called *.ndjson. */
async function listFiles(directory: string): Promise<{ files: string[]; folders: string[] }> {
  try {
    const entries = await readdir(directory, { withFileTypes: true })
    const named = entries.filter(({ name }) => name.endsWith('.ndjson')).toSorted((a, b) => (a.name < b.name ? -1 : 1))
    const [folders = [], files = []] = [true, false].map((isFolder) =>
      named.flatMap((entry) => (entry.isDirectory() === isFolder ? entry.name : [])),
    )
    return { files, folders }
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') throw new StartError(`There is no directory ${directory}.`, { cause: error })
    if (code === 'ENOTDIR') throw new StartError(`${directory} is not a directory.`, { cause: error })
    throw new StartError(`${directory} cannot be read: ${message}`, { cause: error })
  }
}

/** A line on its way into the database. */
interface Item {
  line: Line
  columns?: parse.Columns
  /** Why it does not get there. */
  reason?: string
  note?: string | undefined
  /** The line before with the same id. */
  earlier?: Item | undefined
}

async function importFile(run: Run, collection: Collection): Promise<FileReport> {
  const { database, isDryRun, log } = run
  const start = performance.now()
  const file = `${collection.name}.ndjson`
  const report: FileReport = {
    file,
    collection: collection.name.replace('.', '/'),
    read: 0,
    loaded: 0,
    unchanged: 0,
    rejected: 0,
  }
  const writer = await collection.writer(run)
  const messages = limited(log, MESSAGES_SHOWN)
  let loadedSinceVacuum = 0
  const vacuumFrom = async (rows: number): Promise<void> => {
    if (!collection.tables || isDryRun || loadedSinceVacuum < rows) return
    loadedSinceVacuum = 0
    await vacuum(database, collection.tables, log)
  }

  const store = async (items: Item[]): Promise<void> => {
    await keepReserve(database, { done: `${report.read} lines of ${file}`, batchBytes: BATCH_WRITES_BYTES, isDryRun })
    const written = await writeBatch(run, { items, key: collection.key, writer })
    for (const id of written.histories) if (collection.kind) run.written[collection.kind].add(id)
    for (const { line, reason, note } of items) {
      if (reason !== undefined) {
        report.rejected += 1
        await run.rejects.add({ source: join(run.directory, file), line, reason })
      }
      const message = reason ?? note
      if (message !== undefined) messages.add(`${file}:${line.number}: ${message}`)
    }
    report.read += items.length
    report.loaded += written.loaded
    report.unchanged = report.read - report.loaded - report.rejected
    loadedSinceVacuum += written.loaded
    await vacuumFrom(VACUUM_EVERY_ROWS)
    run.onProgress({ file, read: report.read })
  }

  // The next batch is read while the last is written, one at a time.
  let storing = Promise.resolve()
  for await (const items of readBatches(join(run.directory, file), collection)) {
    await storing
    storing = store(items)
    storing.catch(() => {}) // reported where it is awaited
  }
  await storing
  messages.end()
  await vacuumFrom(VACUUM_ROWS)
  const seconds = (performance.now() - start) / 1000
  const { read, loaded, unchanged, rejected } = report
  const speed = read >= VACUUM_ROWS ? `, ${Math.round(read / seconds)} rows/s` : ''
  const wouldBe = isDryRun ? 'would be ' : ''
  log(
    `${file}: ${read} read, ${loaded} ${wouldBe}loaded, ${unchanged} unchanged, ${rejected} rejected (${seconds.toFixed(1)} s${speed})`,
  )
  return report
}

async function* readBatches(path: string, collection: Collection): AsyncGenerator<Item[]> {
  let items: Item[] = []
  let bytes = 0
  for await (const line of readLines(path)) {
    items.push(toItem(line, collection))
    bytes += line.text.length
    if (items.length < BATCH_ROWS && bytes < BATCH_BYTES) continue
    yield items
    items = []
    bytes = 0
  }
  if (items.length > 0) yield items
}

function toItem(line: Line, collection: Collection): Item {
  if (line.problem !== undefined) return { line, reason: line.problem }
  try {
    return { line, ...collection.parse(parseObject(line.text)) }
  } catch (error) {
    if (error instanceof BadRow) return { line, reason: error.message }
    throw error
  }
}

interface Batch {
  items: Item[]
  key: string[]
  writer: write.Writer
}

/** Of lines with one id the last that is not refused counts. Gives those that are refused by the database their `reason`. */
async function writeBatch(
  { database, isDryRun }: Run,
  { items, key, writer }: Batch,
): Promise<{ loaded: number; histories: string[] }> {
  const latest = new Map<string, Item>()
  for (const item of items) {
    const { columns } = item
    if (!columns) continue
    const id = JSON.stringify(key.map((column) => columns[column]))
    item.earlier = latest.get(id)
    latest.set(id, item)
  }
  const { reasons, ...written } = await transactionOrDryRun(database, isDryRun, async (tx) => {
    await inLargePortions(tx)
    const result = { loaded: 0, histories: [] as string[], reasons: new Map<Item, string>() }
    let open = [...latest.values()]
    while (open.length > 0) {
      const rows = open.flatMap(({ columns }) => (columns ? [columns] : []))
      const { loaded, rejected, histories: documents = [] } = await writer(tx, rows)
      result.loaded += loaded
      result.histories.push(...documents)
      const refused = open.filter(({ columns }) => columns && rejected.has(columns))
      for (const item of refused) result.reasons.set(item, rejected.get(item.columns!) ?? '')
      open = refused.flatMap(({ earlier }) => earlier ?? [])
    }
    return result
  })
  for (const [item, reason] of reasons) item.reason = reason
  return written
}

/** Says how many more there were than it let through. */
function limited(log: (line: string) => void, most: number): { add(line: string): void; end(): void } {
  let seen = 0
  return {
    add(line) {
      seen += 1
      if (seen <= most) log(line)
    },
    end() {
      if (seen > most) log(`… and ${seen - most} more`)
    },
  }
}
