/**
 * Answers calls with spreadsheets (§7), streamed from one snapshot of the database. Limits the exports at the same time, reports progress,
 * writes the audit entry, and breaks a download off when its session ends or the user's role changes. The database connection is freed as
 * soon as the sheet is written, or when the transfer is cancelled, stalls or fails.
 */
import type { Logger } from 'pino'
import { CSV_MEDIA_TYPE, type SheetFormat, XLSX_MEDIA_TYPE } from '@arcade/contract/downloads/calls'
import { actOf, audit } from '#src/audit/audit.ts'
import { type CallContext, Failure, signedIn, unlessGone } from '#src/calls.ts'
import type { Database } from '#src/db/database.ts'
import type { Sessions } from '#src/identity/sessions.ts'
import { isDiskFull } from '#src/postgres/errors.ts'
import type { Snapshot } from '#src/db/snapshot.ts'
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
}

export interface DownloadOptions {
  context: CallContext
  /** The id under which the caller asks for the progress. */
  exportId: string | undefined
  format?: SheetFormat | undefined
  /** The name of the exported list for the audit trail; `detail` says which part of it. */
  target: string
  detail?: Record<string, unknown>
  /** The name of the XLSX file. A CSV file gets the same name with the ending `.csv`. */
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
  /** Returns the progress of a download that the caller started, on any server. @throws Failure NOT_FOUND once it is over */
  progress(exportId: string, context: CallContext): Promise<Progress>
  /** Returns the number of sheets that are being written. */
  running(): number
}

interface Export {
  id: string | undefined
  userId: string
  userType: string
  sessionToken: string
  /** Rows written so far. */
  rows: number
  total: number
  transfer?: Transfer
}

export async function createDownloads({
  database,
  sessions,
  log,
  spool,
  maxExports,
  stallMs = STALL_MS,
}: {
  database: Database
  sessions: Pick<Sessions, 'onChange' | 'holderOf'>
  log: Logger
  spool: Spool
  /** How many sheets may be written at once. Each holds a database connection and half a core. */
  maxExports: number
  stallMs?: number
}): Promise<Downloads> {
  /** Exports whose sheet is still being written. */
  const writing = new Set<Export>()
  /** All of these, and exports whose sheet is written but not yet fully read. */
  const running = new Set<Export>()
  const ownProgress = (exportId: string, userId: string): Progress | undefined => {
    for (const { id, userId: owner, rows, total, transfer } of running)
      if (id === exportId && owner === userId) return { rows: Math.floor(rows * (transfer?.takenShare() ?? 0)), total }
    return undefined
  }
  const askOthers = await progressElsewhere(database, ownProgress)
  sessions.onChange((userId) => {
    for (const one of running) if (userId === undefined || one.userId === userId) void breakOffUnlessAllowed(one)
  })
  const downloads: Downloads = {
    async start(options: DownloadOptions) {
      const { context, exportId, format = 'xlsx', fileName, sheetName } = options
      const { id: userId, userType } = signedIn(context)
      if (writing.size >= maxExports || spool.transfers >= maxExports * TRANSFERS_PER_EXPORT) {
        throw new Failure('UNAVAILABLE', {
          message: 'Too many downloads are running. Please try again in a moment.',
          retryAfterSeconds: RETRY_AFTER_SECONDS,
        })
      }
      const current: Export = { id: exportId, userId, userType, sessionToken: context.sessionToken ?? '', rows: 0, total: 0 }
      writing.add(current)
      running.add(current)
      try {
        const stalled = new AbortController()
        const { columns, total, chunks } = await openChunks(options, {
          database,
          stallMs,
          onStall: (error) => stalled.abort(error),
          onEnd: () => void writing.delete(current),
        })
        // Audited only now: a download that was refused above, such as an unknown item's history, has handed out no data.
        await auditDownload(options, total).catch(async (error: unknown) => {
          await chunks.return?.()
          throw error
        })
        current.total = total
        const onRows = (written: number): void => {
          current.rows = written
        }
        const isCsv = format === 'csv'
        const sheet = writeSheet({ format, sheetName, columns, rows: chunks, onRows, signal: stalled.signal })
        current.transfer = spool.through(sheet)
        // The session may have ended before there was a transfer to break off.
        await breakOffUnlessAllowed(current)
        void current.transfer.ended.then((error) => {
          running.delete(current)
          if (error === undefined) return
          log.error(
            { event: 'download-broken', target: options.target, requestId: context.requestId, err: error },
            'a download broke off',
          )
        })
        return {
          headers: {
            'content-type': isCsv ? CSV_MEDIA_TYPE : XLSX_MEDIA_TYPE,
            'content-disposition': `attachment; filename="${isCsv ? fileName.replace(/\.xlsx$/, '.csv') : fileName}"`,
            'x-row-count': String(total),
          },
          body: current.transfer.body,
        }
      } catch (error) {
        writing.delete(current)
        running.delete(current)
        throw error
      }
    },

    running: () => writing.size,

    async progress(exportId, context) {
      const { id: userId } = signedIn(context)
      const progress = ownProgress(exportId, userId) ?? (await askOthers(exportId, userId))
      if (!progress) throw new Failure('NOT_FOUND')
      return progress
    },
  }
  return downloads

  /** Breaks a download off if its session has ended or the role has changed. While the database is unreachable, it continues. */
  async function breakOffUnlessAllowed({ sessionToken, userType, transfer }: Export): Promise<void> {
    const isAllowed = await sessions.holderOf(sessionToken).then(
      (holder) => holder?.userType === userType,
      () => true,
    )
    if (!isAllowed) transfer?.breakOff(new Error('The session has ended, or the role has changed'))
  }

  /**
   * Writes to the audit trail who downloaded which data. Downloads stay possible on a nearly full disk, but must not use up the space
   * reserved for the database: as space runs out, the entry is first shortened, then only logged.
   */
  async function auditDownload(
    { context, target, format = 'xlsx', detail = {} }: Pick<DownloadOptions, 'context' | 'target' | 'format' | 'detail'>,
    rows: number,
  ): Promise<void> {
    const { ids: _ids, ...short } = detail
    const logInstead = (cause?: unknown): void =>
      log.warn(
        { event: 'download', target, userId: signedIn(context).id, requestId: context.requestId, err: cause },
        'a download could not be written to the audit trail',
      )
    if (database.freeSpaceNearlyGone()) return logInstead()
    const entry = {
      record: { kind: 'list', id: target, name: target },
      detail: { ...(database.freeSpaceLow() ? short : detail), format, rows },
    } as const
    await audit(database.db, actOf(context), 'export', entry).catch((error: unknown) => {
      if (!isDiskFull(error)) throw error
      logInstead(error)
    })
  }
}

interface ChunkServices {
  database: Database
  stallMs: number
  onStall: (error: Error) => void
  /** Called once, when the snapshot has been closed. */
  onEnd: () => void
}

/**
 * Opens the snapshot and reads the first rows, so that early errors occur before the answer begins. The snapshot stays open until the last
 * row was read, or the reader has left or stalled.
 */
async function openChunks({ open, context }: DownloadOptions, { database, stallMs, onStall, onEnd }: ChunkServices) {
  type Opened = Omit<Table, 'rows'> & { source: AsyncIterator<Buffer>; first: IteratorResult<Buffer> }
  const opened = Promise.withResolvers<Opened>()
  const released = Promise.withResolvers<void>()
  const begin = async (snapshot: Snapshot): Promise<Opened> => {
    const { columns, total, rows } = await open(snapshot)
    const source = Buffer.isBuffer(rows) ? onlyChunk(rows) : snapshot.copy(rows.sql, rows.parameters)
    return { columns, total, source, first: await unlessGone(source.next(), context.signal) }
  }
  const holdOpen = (begun: Opened): Promise<void> => {
    opened.resolve(begun)
    return released.promise
  }
  const holding = database.reads.snapshot(begin, holdOpen, { isOneMoment: true })
  holding.catch(opened.reject)
  const { columns, total, source, first } = await opened.promise

  let timer: NodeJS.Timeout | undefined
  let isOver = false
  const end = (): void => {
    if (isOver) return
    isOver = true
    clearTimeout(timer)
    released.resolve()
    holding.catch(() => {}).finally(onEnd)
  }
  const watch = (): void => {
    if (isOver) return
    timer = setTimeout(() => {
      end()
      onStall(new Error('The reader stalled'))
    }, stallMs)
  }
  watch()

  let ahead: IteratorResult<Buffer> | undefined = first
  const chunks: AsyncIterableIterator<Buffer> = {
    async next() {
      clearTimeout(timer)
      try {
        const result = ahead ?? (await source.next())
        ahead = undefined
        if (result.done) end()
        else watch()
        return result
      } catch (error) {
        end()
        throw error
      }
    },
    async return() {
      end()
      return { done: true, value: undefined }
    },
    [Symbol.asyncIterator]: () => chunks,
  }
  return { columns, total, chunks }
}

async function* onlyChunk(rows: Buffer): AsyncGenerator<Buffer> {
  yield rows
}
