/**
 * Answers calls with spreadsheets (§7), streamed from one snapshot of the database. Limits the exports at the same time, reports progress,
 * writes the audit entry, and breaks a download off when its session ends or the user's role changes. The database connection is freed as
 * soon as the sheet is written, or when the transfer is cancelled, stalls or fails.
 */
import type { Logger } from 'pino'
import { CSV_MEDIA_TYPE, type SheetFormat, XLSX_MEDIA_TYPE } from '@arcade/contract/downloads/calls'
import type { Permission } from '@arcade/contract/team/permissions'
import { actOf, audit } from '#src/audit/audit.ts'
import { type CallContext, Failure, sessionOf, signedIn, untilClientLeaves } from '#src/calls.ts'
import type { Database } from '#src/db/database.ts'
import type { Sessions } from '#src/identity/sessions.ts'
import { isDiskFull } from '#src/postgres/errors.ts'
import type { Snapshot } from '#src/db/snapshot.ts'
import { contentDisposition } from './file-name.ts'
import { type Progress, progressElsewhere } from './progress.ts'
import type { Spool, Transfer } from './spool.ts'
import type { Column } from './cells.ts'
import { writeSheet } from './sheet-writer.ts'

/** The most unfinished transfers for each export that may run. A sheet that is written but not yet read holds memory, but no connection. */
const TRANSFERS_PER_EXPORT = 16
/**
 * Milliseconds without a row read from the database, because neither the reader nor the spool took more, after which a download is broken
 * off: an open snapshot keeps the database from vacuuming.
 */
const STALL_MS = 60_000
const RETRY_AFTER_SECONDS = 15

export interface Table {
  columns: Column[]
  /** The number of rows to come. */
  total: number
  /** A query to run in the snapshot, or the rows themselves as COPY text. */
  rows: { sql: string; parameters?: unknown[] } | Buffer
  /** The name of the XLSX file, if the data decides it. */
  fileName?: string
}

export interface DownloadOptions {
  context: CallContext
  /** The id under which the caller asks for the progress. */
  exportId: string | undefined
  format?: SheetFormat | undefined
  /** The name of the exported list for the audit trail; `detail` says which part of it. */
  target: string
  detail?: Record<string, unknown>
  /** The name of the XLSX file, unless the table has its own. A CSV file gets the same name with the ending `.csv`. */
  fileName: string
  sheetName: string
  open: (snapshot: Snapshot) => Promise<Table>
}

export interface DownloadAnswer {
  headers: Record<string, string>
  body: ReadableStream<Uint8Array>
}

export interface Downloads {
  /** Starts a download. @throws Failure until then; a later failure breaks the transfer off, so that a short file never looks complete */
  start(options: DownloadOptions): Promise<DownloadAnswer>
  /** Returns the progress of a download that the caller started on any server. Before it begins and once it is over, the object is empty. */
  progress(exportId: string, context: CallContext): Promise<Partial<Progress>>
  /** Returns the number of sheets that are being written. */
  writingCount(): number
}

interface Services {
  database: Database
  sessions: Pick<Sessions, 'onChange' | 'holdersOf'>
  log: Logger
  spool: Spool
  /** How many sheets may be written at once. Each holds a database connection and half a core. */
  maxExports: number
  stallMs?: number
}

export async function createDownloads(services: Services): Promise<Downloads> {
  const downloads = new SheetDownloads(services)
  await downloads.listen()
  return downloads
}

interface Export {
  id: string | undefined
  userId: string
  /** What the person could do when the export began. */
  permissions: readonly Permission[]
  sessionId: string
  /** Rows written so far. */
  rows: number
  total: number
  transfer?: Transfer
}

class SheetDownloads implements Downloads {
  readonly #services: Services
  /** Exports whose sheet is still being written. */
  readonly #writing = new Set<Export>()
  /** All of these, and exports whose sheet is written but not yet fully read. */
  readonly #unfinished = new Set<Export>()
  #askOthers: Awaited<ReturnType<typeof progressElsewhere>> | undefined

  constructor(services: Services) {
    this.#services = services
  }

  /** Begins to answer other servers that ask for the progress of an export, and to break off downloads whose session ends. */
  async listen(): Promise<void> {
    const { database, sessions } = this.#services
    this.#askOthers = await progressElsewhere(database, (exportId, userId) => this.#ownProgress(exportId, userId))
    sessions.onChange((userId) => {
      for (const one of this.#unfinished) if (userId === undefined || one.userId === userId) void this.#breakOffUnlessAllowed(one)
    })
  }

  async start(options: DownloadOptions): Promise<DownloadAnswer> {
    const { context, exportId } = options
    const { permissions } = signedIn(context)
    this.#refuseTooMany()
    const current: Export = { id: exportId, ...sessionOf(context), permissions, rows: 0, total: 0 }
    this.#writing.add(current)
    this.#unfinished.add(current)
    try {
      return await this.#begin(current, options)
    } catch (error) {
      this.#writing.delete(current)
      this.#unfinished.delete(current)
      throw error
    }
  }

  async progress(exportId: string, context: CallContext): Promise<Partial<Progress>> {
    const { id: userId } = signedIn(context)
    return this.#ownProgress(exportId, userId) ?? (await this.#askOthers?.(exportId, userId)) ?? {}
  }

  writingCount(): number {
    return this.#writing.size
  }

  #refuseTooMany(): void {
    const { maxExports, spool } = this.#services
    if (this.#writing.size < maxExports && spool.transfers < maxExports * TRANSFERS_PER_EXPORT) return
    throw new Failure('UNAVAILABLE', {
      message: 'Too many downloads are running. Please try again in a moment.',
      retryAfterSeconds: RETRY_AFTER_SECONDS,
    })
  }

  async #begin(current: Export, options: DownloadOptions): Promise<DownloadAnswer> {
    const { database, log, spool, stallMs = STALL_MS } = this.#services
    const { format = 'xlsx', sheetName } = options
    const stalled = new AbortController()
    const opened = await openRows(options, database)
    const { columns, total } = opened
    const onStall = (error: Error): void => stalled.abort(error)
    const rows = new ReleasingRows(opened, { stallMs, onStall, onEnd: () => void this.#writing.delete(current) })
    // Audited only now: a download that was refused above, such as an unknown item's history, has handed out no data.
    await auditDownload(options, total, { database, log }).catch(async (error: unknown) => {
      await rows.return()
      throw error
    })
    current.total = total
    const onRows = (written: number): void => void (current.rows = written)
    const transfer = spool.through(writeSheet({ format, sheetName, columns, rows, onRows, signal: stalled.signal }))
    current.transfer = transfer
    // The session may have ended before there was a transfer to break off.
    await this.#breakOffUnlessAllowed(current)
    void transfer.ended.then((error) => this.#end(current, options, error))
    return { headers: headersOf(options, opened), body: transfer.body }
  }

  /** @param error the reason if the transfer was cut off */
  #end(current: Export, { target, context: { requestId } }: DownloadOptions, error: unknown): void {
    this.#unfinished.delete(current)
    if (error === undefined) return
    this.#services.log.error({ event: 'download-broken', target, requestId, err: error }, 'A download broke off')
  }

  #ownProgress(exportId: string, userId: string): Progress | undefined {
    for (const { id, userId: owner, rows, total, transfer } of this.#unfinished)
      if (id === exportId && owner === userId) return { rows: Math.floor(rows * (transfer?.takenShare() ?? 0)), total }
    return undefined
  }

  /** Breaks a download off if its session has ended or a permission was lost. While the database is unreachable, it continues. */
  async #breakOffUnlessAllowed({ sessionId, userId, permissions, transfer }: Export): Promise<void> {
    const isAllowed = await this.#services.sessions.holdersOf([{ sessionId, userId }]).then(
      (holders) => permissions.every((one) => holders.get(sessionId)?.permissions.includes(one)) && holders.has(sessionId),
      () => true,
    )
    if (!isAllowed) transfer?.breakOff(new Error('The session has ended, or the role may do less'))
  }
}

function headersOf(
  { format, fileName: usual }: DownloadOptions,
  { total, fileName = usual }: Omit<Table, 'rows'>,
): Record<string, string> {
  const isCsv = format === 'csv'
  return {
    'content-type': isCsv ? CSV_MEDIA_TYPE : XLSX_MEDIA_TYPE,
    'content-disposition': contentDisposition(isCsv ? fileName.replace(/\.xlsx$/, '.csv') : fileName),
    'x-row-count': String(total),
  }
}

/**
 * Writes to the audit trail who downloaded which data. Downloads stay possible on a nearly full disk, but must not use up the space
 * reserved for the database: as space runs out, the entry is first shortened, then only logged.
 */
async function auditDownload(
  { context, target, format = 'xlsx', detail = {} }: DownloadOptions,
  rows: number,
  { database, log }: Pick<Services, 'database' | 'log'>,
): Promise<void> {
  const { ids: _ids, ...short } = detail
  const logInstead = (cause?: unknown): void =>
    log.warn(
      { event: 'download', target, userId: signedIn(context).id, requestId: context.requestId, err: cause },
      'A download could not be written to the audit trail',
    )
  if (database.isSpaceNearlyGone()) return logInstead()
  const entry = {
    record: { kind: 'list', id: target, name: target },
    detail: { ...(database.isSpaceLow() ? short : detail), format, rows },
  } as const
  // A transaction, so that the download of a person who may not make it any more is refused here.
  await database
    .transaction((tx) => audit(tx, actOf(context), 'export', entry))
    .catch((error: unknown) => {
      if (!isDiskFull(error)) throw error
      logInstead(error)
    })
}

interface OpenedRows extends Omit<Table, 'rows'> {
  source: AsyncIterator<Buffer>
  first: IteratorResult<Buffer>
  /** Closes the snapshot. */
  close: () => Promise<void>
}

/** Opens a snapshot and reads the first rows, so that early errors occur before the answer begins. The snapshot stays open until `close`. */
async function openRows({ open, context }: DownloadOptions, database: Database): Promise<OpenedRows> {
  type Begun = Omit<OpenedRows, 'close'>
  const begun = Promise.withResolvers<Begun>()
  const closed = Promise.withResolvers<void>()
  const begin = async (snapshot: Snapshot): Promise<Begun> => {
    const { rows, ...table } = await open(snapshot)
    const source = Buffer.isBuffer(rows) ? onlyChunk(rows) : snapshot.copy(rows.sql, rows.parameters)
    return { ...table, source, first: await untilClientLeaves(source.next(), context.signal) }
  }
  const holdOpen = (rows: Begun): Promise<void> => {
    begun.resolve(rows)
    return closed.promise
  }
  const holding = database.reads.snapshot(begin, holdOpen, { isOneMoment: true })
  holding.catch(begun.reject)
  const close = async (): Promise<void> => {
    closed.resolve()
    await holding.catch(() => {})
  }
  return { ...(await begun.promise), close }
}

interface ReleaseOptions {
  stallMs: number
  onStall: (error: Error) => void
  /** Called once, when the snapshot has been closed. */
  onEnd: () => void
}

/** The rows of a sheet. Closes their snapshot after the last row, or when the reader has left or stalled. */
class ReleasingRows implements AsyncIterableIterator<Buffer> {
  readonly #opened: OpenedRows
  readonly #options: ReleaseOptions
  #ahead: IteratorResult<Buffer> | undefined
  #timer: NodeJS.Timeout | undefined
  #isOver = false

  constructor(opened: OpenedRows, options: ReleaseOptions) {
    this.#opened = opened
    this.#options = options
    this.#ahead = opened.first
    this.#watchReader()
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  async next(): Promise<IteratorResult<Buffer>> {
    clearTimeout(this.#timer)
    try {
      const result = this.#ahead ?? (await this.#opened.source.next())
      this.#ahead = undefined
      if (result.done) this.#end()
      else this.#watchReader()
      return result
    } catch (error) {
      this.#end()
      throw error
    }
  }

  async return(): Promise<IteratorResult<Buffer>> {
    this.#end()
    return { done: true, value: undefined }
  }

  #watchReader(): void {
    if (this.#isOver) return
    this.#timer = setTimeout(() => {
      this.#end()
      this.#options.onStall(new Error('The reader stalled'))
    }, this.#options.stallMs)
  }

  #end(): void {
    if (this.#isOver) return
    this.#isOver = true
    clearTimeout(this.#timer)
    void this.#opened.close().finally(this.#options.onEnd)
  }
}

async function* onlyChunk(rows: Buffer): AsyncGenerator<Buffer> {
  yield rows
}
