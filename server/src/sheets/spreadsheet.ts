/**
 * Streams a table as an XLSX file (§7 downloads), in constant memory for any number of rows. Hides the zip, escaping, formula guard, sheet
 * limits and back-pressure. Why we wrote it ourselves, and what the guard does: docs/decisions/0003-spreadsheet-writer.md.
 */
import { cut, escape, textCell } from './cell-text.ts'
import { type Column, columnName, RowWriter, STYLE } from './cells.ts'
import { MAX_ENTRY_BYTES, PieceBuffer, zip, type ZipEntry } from './zip-stream.ts'

/** The content of a file in either format. */
export interface SheetContent {
  columns: readonly Column[]
  /** Chunks of whole rows in COPY text; one chunk is read ahead. The iterator's `return` is called when the reader leaves. */
  rows: AsyncIterable<Buffer>
  /** Called after each chunk with the number of rows written so far. */
  onRows?: ((written: number) => void) | undefined
}

export interface SpreadsheetContent extends SheetContent {
  /** Further sheets are called `name (2)`, `name (3)` and so on. Characters that Excel refuses in a name are replaced. */
  sheetName: string
}

const LIMITS = {
  rowsPerSheet: 1_048_576, // Excel's limit, which counts the header
  bytesPerSheet: MAX_ENTRY_BYTES - 2 ** 26, // leaves 64 MiB for the last row
  zip64From: undefined as number | undefined,
}
const SHEET_NAME_CHARACTERS = 31

/**
 * Yields the file in pieces, only as fast as they are read. Throws what `rows` throws.
 * @param limits lower only in tests
 */
export function spreadsheet(content: SpreadsheetContent, limits: Partial<typeof LIMITS> = {}): AsyncGenerator<Uint8Array> {
  const bounds = { ...LIMITS, ...limits }
  return zip(parts(content, bounds), bounds.zip64From)
}

/** Writes the rows of chunks one by one. It requests the next chunk while one is written, so that the database works meanwhile. */
class RowSource {
  readonly #chunks: AsyncIterator<Buffer>
  readonly #onRows: ((written: number) => void) | undefined
  #chunk: Buffer = Buffer.alloc(0)
  #next = 0
  #written = 0
  #ahead: Promise<IteratorResult<Buffer>> | undefined

  constructor(rows: AsyncIterable<Buffer>, onRows: ((written: number) => void) | undefined) {
    this.#chunks = rows[Symbol.asyncIterator]()
    this.#onRows = onRows
  }

  /** Whether `write` may be called without waiting. */
  get isReady(): boolean {
    return this.#next < this.#chunk.length
  }

  /** Writes the next row. */
  write(writer: RowWriter, row: number, piece: PieceBuffer): void {
    this.#next = writer.write(this.#chunk, this.#next, row, piece)
    this.#written += 1
  }

  /** Waits for the next row; false at the end. */
  async hasNext(): Promise<boolean> {
    while (!this.isReady) {
      if (this.#chunk.length > 0) this.#onRows?.(this.#written)
      this.#chunk = this.#chunk.subarray(0, 0)
      const { done, value } = await (this.#ahead ?? this.#chunks.next())
      if (done) return false
      this.#ahead = this.#chunks.next()
      this.#ahead.catch(() => {}) // thrown where it is awaited
      this.#chunk = value
      this.#next = 0
    }
    return true
  }

  release(): Promise<unknown> {
    return Promise.resolve(this.#chunks.return?.())
  }
}

/** Yields the files of the package. Those that list the sheets come last, because the number of sheets is not known earlier. */
async function* parts(
  { sheetName, columns, rows, onRows }: SpreadsheetContent,
  limits: typeof LIMITS,
): AsyncGenerator<ZipEntry, void, undefined> {
  const source = new RowSource(rows, onRows)
  try {
    yield { name: '_rels/.rels', content: [Buffer.from(ROOT_RELATIONS)] }
    yield { name: 'xl/styles.xml', content: [Buffer.from(STYLES)] }
    let sheets = 0
    do {
      sheets++
      yield { name: `xl/worksheets/sheet${sheets}.xml`, content: worksheet(columns, source, limits) }
    } while (await source.hasNext())
    yield { name: 'xl/workbook.xml', content: [Buffer.from(workbook(sheetName, sheets))] }
    yield { name: 'xl/_rels/workbook.xml.rels', content: [Buffer.from(workbookRelations(sheets))] }
    yield { name: '[Content_Types].xml', content: [Buffer.from(contentTypes(sheets))] }
  } finally {
    source.release().catch(() => {}) // only the error that ended this early counts, and a source that hangs must not be waited for
  }
}

async function* worksheet(
  columns: readonly Column[],
  source: RowSource,
  { rowsPerSheet, bytesPerSheet }: typeof LIMITS,
): AsyncGenerator<Uint8Array, void, undefined> {
  const writer = new RowWriter(columns)
  const widths = columns.map(({ width }, i) => `<col min="${i + 1}" max="${i + 1}" width="${width}" customWidth="1"/>`)
  const headers = columns.map(({ header }, i) => textCell(`<c r="${columnName(i)}1" s="${STYLE.header}"`, header))
  const piece = new PieceBuffer()
  piece.add(`${XML}<worksheet xmlns="${MAIN}">${FROZEN_HEADER}<cols>${widths.join('')}</cols>`)
  piece.add(`<sheetData><row r="1">${headers.join('')}</row>`)
  let row = 1
  let bytes = 0
  while (row < rowsPerSheet && bytes < bytesPerSheet && (source.isReady || (await source.hasNext()))) {
    row += 1
    source.write(writer, row, piece)
    if (!piece.isFull) continue
    const full = piece.take()
    bytes += full.length
    yield full
  }
  piece.add(`</sheetData><autoFilter ref="A1:${columnName(columns.length - 1)}${row}"/></worksheet>`)
  yield piece.take()
}

/** Excel refuses `: \ / ? * [ ]`, apostrophes at the ends, more than 31 characters, an empty name and the name History. */
function sheetTitle(name: string, number: number): string {
  const suffix = number === 1 ? '' : ` (${number})`
  // oxlint-disable-next-line no-control-regex
  const legal = name.replace(/[\x00-\x1f\ufffe\uffff:\\/?*[\]]|^'|'$/g, '_').trim()
  const title = cut(legal || 'Sheet', SHEET_NAME_CHARACTERS - suffix.length).replace(/'$/, '_')
  return (/^history$/i.test(title) ? `${title}_` : title) + suffix
}

const XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main'
const PACKAGE = 'http://schemas.openxmlformats.org/package/2006'
const DOCUMENT = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'
const CONTENT = 'application/vnd.openxmlformats-officedocument.spreadsheetml'
const FROZEN_HEADER =
  '<sheetViews><sheetView workbookViewId="0"><pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews>'

/** The style sheet. `STYLE` has the positions in its `cellXfs`. */
const STYLES = `${XML}<styleSheet xmlns="${MAIN}">\
<numFmts count="1"><numFmt numFmtId="164" formatCode="yyyy\\-mm\\-dd\\ hh:mm:ss.000"/></numFmts>\
<fonts count="2"><font><sz val="11"/><name val="Calibri"/></font><font><b/><sz val="11"/><name val="Calibri"/></font></fonts>\
<fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills>\
<borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders>\
<cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs>\
<cellXfs count="5"><xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0"/>\
<xf numFmtId="49" fontId="1" fillId="0" borderId="0" xfId="0" applyNumberFormat="1" applyFont="1"/>\
<xf numFmtId="164" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/>\
<xf numFmtId="49" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/>\
<xf numFmtId="1" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/></cellXfs>\
<cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>`

const ROOT_RELATIONS = `${XML}<Relationships xmlns="${PACKAGE}/relationships">\
<Relationship Id="rId1" Type="${DOCUMENT}/officeDocument" Target="xl/workbook.xml"/></Relationships>`

function workbook(name: string, sheets: number): string {
  const list = each(sheets, (n) => `<sheet name="${escape(sheetTitle(name, n))}" sheetId="${n}" r:id="rId${n}"/>`)
  return `${XML}<workbook xmlns="${MAIN}" xmlns:r="${DOCUMENT}"><bookViews><workbookView/></bookViews><sheets>${list}</sheets></workbook>`
}

function workbookRelations(sheets: number): string {
  const list = each(sheets, (n) => `<Relationship Id="rId${n}" Type="${DOCUMENT}/worksheet" Target="worksheets/sheet${n}.xml"/>`)
  return `${XML}<Relationships xmlns="${PACKAGE}/relationships">${list}\
<Relationship Id="rId${sheets + 1}" Type="${DOCUMENT}/styles" Target="styles.xml"/></Relationships>`
}

function contentTypes(sheets: number): string {
  const list = each(sheets, (n) => `<Override PartName="/xl/worksheets/sheet${n}.xml" ContentType="${CONTENT}.worksheet+xml"/>`)
  return `${XML}<Types xmlns="${PACKAGE}/content-types">\
<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>\
<Default Extension="xml" ContentType="application/xml"/>\
<Override PartName="/xl/workbook.xml" ContentType="${CONTENT}.sheet.main+xml"/>\
<Override PartName="/xl/styles.xml" ContentType="${CONTENT}.styles+xml"/>${list}</Types>`
}

function each(count: number, write: (number: number) => string): string {
  return Array.from({ length: count }, (_, i) => write(i + 1)).join('')
}
