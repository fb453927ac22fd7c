/** Lets a test define a spreadsheet's columns as functions of a row, and encodes its rows as COPY text, which spreadsheets read. */
import { copyText } from '#src/postgres/copy-text.ts'
import type { Column } from '#src/sheets/cells.ts'

export type TestColumn<Row> = Omit<Column, 'field' | 'words'> & { value: (row: Row) => Parameters<typeof copyText>[0][0][0] }

export function columnsOf<Row>(columns: readonly TestColumn<Row>[]): Column[] {
  return columns.map(({ header, width, kind }, field) => ({ header, width, kind, field }))
}

/** Encodes a batch of rows as a chunk of COPY text. */
export function chunkOf<Row>(columns: readonly TestColumn<Row>[], rows: readonly Row[]): Buffer {
  return copyText(rows.map((row) => columns.map(({ value }) => value(row))))
}
