/**
 * Spreadsheets as answers to calls (§7): rows of one snapshot, streamed. Hides the limit on exports at once, progress, the audit
 * entry, that one breaks off when its session ends or the role changes, and that a connection is freed as soon as the sheet is
 * written, and however a transfer ends: given up, stalled or failed.
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

/** Sheets that are written but not taken hold no connection, yet memory: so many for each export that may run. */
const TRANSFERS_PER_EXPORT = 16
/**
 * A reader for whom no row was read in so long, as neither they nor the spool took any more, is cut off: an open snapshot keeps the
 * database from vacuuming.
 */
const STALL_MS = 60_000
const RETRY_AFTER_SECONDS = 15

export interface Table {
  columns: Column[]
  /** The number of rows to come. */
  total: number
  /** A query of the snapshot, or COPY text of rows at hand. */
  rows: { sql: string; parameters?: unknown[] } | Buffer
}

export interface DownloadOptions {
  context: CallContext
  /** The caller asks for the progress under this id. */
  exportId: string | undefined
  format?: SheetFormat | undefined
  /** The name of what is exported and which part of it, for the audit trail. */
  target: string
  detail?: Record<string, unknown>
  /** Of the XLSX file; a CSV file has the same with its own ending. */
  fileName: string
  sheetName: string
  open: (snapshot: Snapshot) => Promise<Table>
}

export interface DownloadAnswer {
  headers: Record<string, string>
  body: ReadableStream<Uint8Array>
}

export interface Downloads {
  /** @throws Failure while nothing was sent; a later failure breaks the transfer, so that a short file never looks whole */
  start(options: DownloadOptions): Promise<DownloadAnswer>
  /** Rows that were sent so far of all, to whom started the download, on whichever server. @throws Failure NOT_FOUND once it is over */
  progress(exportId: string, context: CallContext): Promise<Progress>
  /** How many sheets are being written. */
  running(): number
}

interface Export {
  id: string | undefined
  userId: string
  userType: string
  sessionToken: string
  /** Written so far. */
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
  /** Those whose sheet is being written. */
  const writing = new Set<Export>()
  /** Those and the ones whose reader has not taken all of it. */
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
        // What is refused above, such as a history that never was, takes nothing away.
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
        // What changed before there was a transfer shows in this look-up.
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

  /** While the database is away nothing is known, so the transfer goes on. */
  async function breakOffUnlessAllowed({ sessionToken, userType, transfer }: Export): Promise<void> {
    const isAllowed = await sessions.holderOf(sessionToken).then(
      (holder) => holder?.userType === userType,
      () => true,
    )
    if (!isAllowed) transfer?.breakOff(new Error('The session has ended, or the role has changed'))
  }

  /**
   * Records who took which data away. Reading goes on when the disk has no room for the record, and downloads do not use up the room that
   * is kept for the database: the entry gets short, and then it is a line of the log.
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
  /** Once, when the rows need nothing any more. */
  onEnd: () => void
}

/**
 * Opens the snapshot and reads its first rows, so that what can fail at once does so before the answer begins. The snapshot is held
 * open until the last row was read or the reader left.
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
  const goOn = (begun: Opened): Promise<void> => {
    opened.resolve(begun)
    return released.promise
  }
  const holding = database.reads.snapshot(begin, goOn, { isOneMoment: true })
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
