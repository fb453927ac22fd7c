/** A spreadsheet as the answer to a call: one snapshot of the database, streamed, freed when the client leaves (§7). */
import { XLSX_MEDIA_TYPE } from '@arcade/contract/download'
import type { Database } from '#src/db/database.ts'
import { type Column, spreadsheet } from '#src/spreadsheet.ts'

const ROWS_A_BATCH = 2000

export interface DownloadOptions<Row> {
  database: Database
  fileName: string
  sheetName: string
  columns: Column<Row>[]
  sql: string
  parameters?: unknown[]
  /** The number of rows, for the page's progress display. */
  total: () => Promise<number>
  signal: AbortSignal
}

/** Answers with `fileName` as an attachment; `x-row-count` tells the rows to come, `x-export-id` where progress can be asked. */
export async function download<Row>(options: DownloadOptions<Row>): Promise<{ headers: Record<string, string>; body: ReadableStream }> {
  const { database, fileName, sheetName, columns, signal } = options
  const total = await options.total()
  const rows = snapshotRows<Row>(database, options.sql, options.parameters ?? [])
  return {
    headers: {
      'content-type': XLSX_MEDIA_TYPE,
      'content-disposition': `attachment; filename="${fileName}"`,
      'x-row-count': String(total),
    },
    body: spreadsheet<Row>({ sheetName, columns, rows, signal }),
  }
}

/** The rows of a query in batches, read through a cursor of one REPEATABLE READ transaction that ends with the iteration. */
async function* snapshotRows<Row>(database: Database, sql: string, parameters: unknown[]): AsyncGenerator<Row[]> {
  yield* database.snapshotRows<Row>(sql, parameters, ROWS_A_BATCH)
}
