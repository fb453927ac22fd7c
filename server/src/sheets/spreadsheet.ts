/**
 * A table as an XLSX file, streamed (§7 downloads): hides the zip, escaping, formula guard, sheet limits and back-pressure.
 * Constant memory for any number of rows; why our own and what the guard does: docs/decisions/0003-spreadsheet-writer.md.
 */
import { ENTRY_LIMIT_BYTES, PieceBuffer, zip, type ZipEntry } from './zip-stream.ts'

/** `width` is in characters. Null, undefined, '' and NaN make an empty cell. A value that does not fit the column's kind becomes text. */
export type Column<Row> = { header: string; width: number } & (
  | { kind: 'text'; value: (row: Row) => string | null | undefined }
  | { kind: 'number'; value: (row: Row) => number | bigint | string | null | undefined }
  | { kind: 'date'; value: (row: Row) => Date | null | undefined }
)

export interface SpreadsheetOptions<Row> {
  /** Further sheets are called `name (2)`, `name (3)` and so on. Characters that Excel refuses in a name are replaced. */
  sheetName: string
  columns: readonly Column<Row>[]
  /** Batches of rows, of which one is read ahead. The iterator's `return` is called when the reader leaves or the signal fires. */
  rows: AsyncIterable<readonly Row[]>
  /** Called after each batch with the number of rows written so far. */
  onRows?: ((written: number) => void) | undefined
  /** Firing breaks the stream with the signal's reason, also while nobody reads. */
  signal?: AbortSignal | undefined
}

const LIMITS = {
  rowsPerSheet: 1_048_576, // Excel's limit, which counts the header
  bytesPerSheet: ENTRY_LIMIT_BYTES - 2 ** 26, // 64 MiB are room for the last row
  zip64From: undefined as number | undefined,
}
const CELL_CHARACTERS = 32_767
const SHEET_NAME_CHARACTERS = 31

/**
 * The file as a stream of bytes, made only as fast as it is read. A failure of `rows` errors the stream, so a transfer breaks
 * instead of ending well.
 * @param limits lower only in tests
 */
export function spreadsheet<Row>(
  options: SpreadsheetOptions<Row>,
  limits: Partial<typeof LIMITS> = {},
): ReadableStream<Uint8Array> {
  const source = new RowSource(options.rows, options.onRows)
  const bounds = { ...LIMITS, ...limits }
  const bytes = zip(parts(options, source, bounds), bounds.zip64From)
  const closed = new AbortController()
  const stop = async (reason: unknown): Promise<void> => {
    closed.abort()
    source.interrupt(reason)
    await Promise.all([bytes.return(), source.release()])
  }
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        const { signal } = options
        const handleAbort = (): void => {
          controller.error(signal?.reason)
          stop(signal?.reason).catch(() => {}) // the reader gets the signal's reason
        }
        if (signal?.aborted) handleAbort()
        else signal?.addEventListener('abort', handleAbort, { once: true, signal: closed.signal })
      },
      async pull(controller) {
        const { done, value } = await bytes.next().catch((error: unknown) => {
          closed.abort()
          throw error
        })
        if (closed.signal.aborted) return
        if (!done) return controller.enqueue(value)
        closed.abort()
        controller.close()
      },
      cancel: stop,
    },
    { highWaterMark: 0 },
  )
}

/** Hands out the rows of batches one by one. The next batch is asked for while one is written, so that the database works meanwhile. */
class RowSource<Row> {
  readonly #batches: AsyncIterator<readonly Row[]>
  readonly #onRows: ((written: number) => void) | undefined
  #batch: readonly Row[] = []
  #next = 0
  #written = 0
  #ahead: Promise<IteratorResult<readonly Row[]>> | undefined
  #interrupt: ((reason: unknown) => void) | undefined
  #interrupted: { reason: unknown } | undefined
  #released: Promise<unknown> | undefined

  constructor(rows: AsyncIterable<readonly Row[]>, onRows: ((written: number) => void) | undefined) {
    this.#batches = rows[Symbol.asyncIterator]()
    this.#onRows = onRows
  }

  /** Whether `take` may be called without waiting. */
  get isReady(): boolean {
    return this.#next < this.#batch.length
  }

  take(): Row {
    return this.#batch[this.#next++]!
  }

  /** Waits for the next row; false at the end. */
  async hasNext(): Promise<boolean> {
    while (!this.isReady) {
      if (this.#batch.length > 0) this.#onRows?.((this.#written += this.#batch.length))
      this.#batch = []
      const { done, value } = await this.#nextBatch()
      if (done) return false
      this.#readAhead()
      this.#batch = value
      this.#next = 0
    }
    return true
  }

  /** Ends the wait for a batch that may never come. */
  interrupt(reason: unknown): void {
    this.#interrupted = { reason }
    this.#interrupt?.(reason)
  }

  /** Releases the source, and does so once. An async generator runs its `finally` only after the batch that it is reading. */
  release(): Promise<unknown> {
    this.#released ??= Promise.resolve(this.#batches.return?.())
    return this.#released
  }

  #readAhead(): void {
    this.#ahead = this.#batches.next()
    this.#ahead.catch(() => {}) // thrown where it is awaited
  }

  #nextBatch(): Promise<IteratorResult<readonly Row[]>> {
    return new Promise((resolve, reject) => {
      if (this.#interrupted) return reject(this.#interrupted.reason)
      if (!this.#ahead) this.#readAhead()
      this.#interrupt = reject
      this.#ahead!.then(resolve, reject)
    })
  }
}

/** The files of the package. Those that list the sheets come last, as only then their number is known. */
async function* parts<Row>(
  { sheetName, columns }: SpreadsheetOptions<Row>,
  source: RowSource<Row>,
  limits: typeof LIMITS,
): AsyncGenerator<ZipEntry, void, undefined> {
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
    source.release().catch(() => {}) // what ended us early is what counts; and never wait here for a source that hangs
  }
}

async function* worksheet<Row>(
  columns: readonly Column<Row>[],
  source: RowSource<Row>,
  { rowsPerSheet, bytesPerSheet }: typeof LIMITS,
): AsyncGenerator<Uint8Array, void, undefined> {
  const cells = columns.map(cellWriter)
  const widths = columns.map(({ width }, i) => `<col min="${i + 1}" max="${i + 1}" width="${width}" customWidth="1"/>`)
  const headers = columns.map(({ header }, i) => textCell(`<c r="${columnName(i)}1" s="${STYLE.header}"`, header))
  const piece = new PieceBuffer()
  piece.add(`${XML}<worksheet xmlns="${MAIN}">${FROZEN_HEADER}<cols>${widths.join('')}</cols>`)
  piece.add(`<sheetData><row r="1">${headers.join('')}</row>`)
  let row = 1
  let bytes = 0
  while (row < rowsPerSheet && bytes < bytesPerSheet && (source.isReady || (await source.hasNext()))) {
    const record = source.take()
    const number = digits(++row)
    let xml = `<row r="${number}">`
    for (const cell of cells) xml += cell(record, number)
    piece.add(`${xml}</row>`)
    if (!piece.isFull) continue
    const full = piece.take()
    bytes += full.length
    yield full
  }
  piece.add(`</sheetData><autoFilter ref="A1:${columnName(columns.length - 1)}${row}"/></worksheet>`)
  yield piece.take()
}

/** Makes one function for each column, so that the loop over millions of cells only decides on values. */
function cellWriter<Row>(column: Column<Row>, index: number): (row: Row, number: string) => string {
  const start = `<c r="${columnName(index)}`
  const text = (value: string | null | undefined, row: string): string =>
    value ? textCell(`${start}${row}" s="${STYLE.text}"`, value) : ''
  if (column.kind === 'text') return (row, number) => text(column.value(row), number)
  if (column.kind === 'number') {
    return (row, number) => {
      const value = column.value(row)
      const decimal = typeof value === 'number' ? value : exactNumber(value)
      if (decimal === undefined) return text(value?.toString(), number)
      if (!Number.isFinite(decimal)) return ''
      const isWide = Math.abs(decimal) >= GENERAL_FORMAT_END && Number.isInteger(decimal)
      return `${start}${number}"${isWide ? ` s="${STYLE.integer}"` : ''}><v>${Number.isInteger(decimal) ? digits(decimal) : decimal}</v></c>`
    }
  }
  return (row, number) => {
    const time = column.value(row)?.getTime() ?? NaN
    if (Number.isNaN(time)) return ''
    if (time < FIRST_DATE_MS || time > LAST_DATE_MS) return text(new Date(time).toISOString(), number)
    return `${start}${number}" s="${STYLE.date}"><v>${(time / DAY_MS + UNIX_EPOCH_DAY).toFixed(9)}</v></c>`
  }
}

/** Not `String`, which cost 100 MB of V8's nursery over a million rows, likely by its cache of number texts (ADR 0003). */
function digits(integer: number): string {
  return integer.toFixed(0)
}

const DAY_MS = 86_400_000
const UNIX_EPOCH_DAY = 25_569 // 1970-01-01 as Excel counts days
const FIRST_DATE_MS = Date.UTC(1900, 2, 1) // before it Excel is a day off: it has a 29 February 1900
const LAST_DATE_MS = Date.UTC(10_000, 0, 1) - 1
const GENERAL_FORMAT_END = 1e11 // from here on the General format shows an exponent

/** PostgreSQL's numeric and bigint may arrive as text; past 15 digits a spreadsheet would round them, so they stay text. */
function exactNumber(value: string | bigint | null | undefined): number | undefined {
  const text = value?.toString() ?? ''
  return /^-?\d+(\.\d+)?$/.test(text) && text.replace(/\D/g, '').length <= 15 ? Number(text) : undefined
}

// oxlint-disable-next-line no-control-regex -- finding them is the purpose
const NEEDS_CARE = /[\x00-\x1f&<>\ufffe\uffff]|^\s|\s$|_x[\da-fA-F]{4}_|[,;|](?:"|\s)*[=+\-@＝＋－＠]/
// oxlint-disable-next-line no-control-regex
const ILLEGAL_IN_XML = /[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g

function textCell(start: string, text: string): string {
  if (text.length <= CELL_CHARACTERS && !NEEDS_CARE.test(text) && !isFormula(text))
    return `${start} t="inlineStr"><is><t>${text}</t></is></c>`
  const safe = cut(guardText(text.replace(ILLEGAL_IN_XML, '')))
  return `${start} t="inlineStr"><is><t xml:space="preserve">${escape(safe)}</t></is></c>`
}

const FORMULA_START = /^(?:[\t\n]|["\s]*[=+\-@＝＋－＠])/
/** A lone hyphen, a plain number or phone number and a handle hold nothing that a spreadsheet could compute or call. */
const HARMLESS = /^(?:-|[+-]\d+(?:\.\d+)?|@[A-Za-z0-9_.]+)$/
/**
 * Where a new cell with a formula would start for a program that takes the character before it for a separator. What is harmless up
 * to the same separator or the end of the text is left out; another separator after it may be a part of the cell. After a tab nothing is
 * left out: to a program that splits elsewhere it is white space, so that in `;⇥-5⇥-5` the two numbers are one cell.
 */
const FORMULA_AFTER_SEPARATOR =
  /(?<=([,;\t\n|]))(?=(?:"|[^\S\t\n])*[=+\-@＝＋－＠])(?!(?<!\t)(?:-|[+-]\d+(?:\.\d+)?|@[A-Za-z0-9_.]+)(?:\1|$))/g

/**
 * Text that a spreadsheet would compute after a save as CSV gets an apostrophe, as OWASP (ASVS 1.2.10) asks; also where a separator
 * or a line's end inside the text would start a new cell. Line ends become `\n`.
 */
export function guardText(text: string): string {
  const inner = text.replace(/\r\n?/g, '\n').replace(FORMULA_AFTER_SEPARATOR, "'")
  return isFormula(inner) ? `'${inner}` : inner
}

function isFormula(text: string): boolean {
  return FORMULA_START.test(text) && !HARMLESS.test(text)
}

/** Excel's limit of a cell; a surrogate pair is not cut in two. */
function cut(text: string, length = CELL_CHARACTERS): string {
  if (text.length <= length) return text
  const isPairCut = /[\ud800-\udbff]/.test(text[length - 1]!)
  return text.slice(0, isPairCut ? length - 1 : length)
}

/** Excel reads `_x0041_` as `A`, so the underscore of such a text is escaped. A lone surrogate needs nothing: UTF-8 turns it into U+FFFD. */
function escape(text: string): string {
  return text
    .replace(/_(?=x[\da-f]{4}_)/gi, '_x005F_')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
}

/** A, B … Z, AA … */
function columnName(index: number): string {
  const letter = String.fromCharCode(65 + (index % 26))
  return index < 26 ? letter : columnName(Math.floor(index / 26) - 1) + letter
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

/** Positions of the cell formats in the `cellXfs` below. */
const STYLE = { header: 1, date: 2, text: 3, integer: 4 } as const
const STYLES = `${XML}<styleSheet xmlns="${MAIN}">\
<numFmts count="1"><numFmt numFmtId="164" formatCode="yyyy\\-mm\\-dd\\ hh:mm:ss"/></numFmts>\
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
