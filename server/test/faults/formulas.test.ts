/**
 * Writes generated texts that look like formulas into a spreadsheet and reads it back (security.md, Exports; ADR 3). If LibreOffice is
 * installed, it also saves the spreadsheet as CSV and opens that with every separator.
 */
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { spreadsheet } from '#src/sheets/spreadsheet.ts'
import { readAll, readSheets } from '#test/read-sheets.ts'
import { chunkOf, columnsOf, type TestColumn } from '#test/sheet-source.ts'
import { reportFigure, rounds, seededRandom } from '#test/size.ts'

const SEPARATORS = [',', ';', '\t', '|']
const COLUMNS = 3
const texts = generateTexts(rounds(500, 10_000))
const written: string[] = []
let workbook: Buffer

beforeAll(async () => {
  const rows = Array.from({ length: Math.ceil(texts.length / COLUMNS) }, (_, row) =>
    texts.slice(row * COLUMNS, (row + 1) * COLUMNS),
  )
  const columns = Array.from({ length: COLUMNS }, (_, column): TestColumn<string[]> => ({
    header: 'Text',
    width: 20,
    kind: 'text',
    value: (row) => row[column],
  }))
  async function* chunks() {
    yield chunkOf(columns, rows)
  }
  workbook = await readAll(spreadsheet({ sheetName: 'Texts', columns: columnsOf(columns), rows: chunks() }))
  const [, ...read] = readSheets(new Uint8Array(workbook).buffer)['Texts']!
  for (const [index] of texts.entries()) written.push(String(read[Math.floor(index / COLUMNS)]?.[index % COLUMNS] ?? ''))
})

test('security: exports: no text contains a formula, whatever separator it is read with', () => {
  let guarded = 0
  for (const [index, text] of texts.entries()) {
    const cell = written[index]!
    if (cell !== cleaned(text)) guarded += 1
    for (const piece of SEPARATORS.flatMap((separator) => cell.split(new RegExp(`[\n${separator}]`))))
      expect(isLive(piece), `${JSON.stringify(piece)} of ${JSON.stringify(cell)}`).toBe(false)
    expect(withoutGuards(cell, cleaned(text)), JSON.stringify(cell)).toBe(cleaned(text))
  }
  expect(guarded, 'texts that needed a guard').toBeGreaterThan(texts.length / 4)
  reportFigure(`security: exports: ${texts.length} texts written and read back, ${guarded} of them guarded`)
})

test('security: exports: saved as CSV by LibreOffice, no text becomes a formula, whatever separator it is opened with', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'arcade-formulas-'))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  const office = await openOffice(directory)
  if (!office) {
    reportFigure('security: exports: LibreOffice is not installed, so that the half with its CSV was left out')
    return
  }
  await writeFile(join(directory, 'written.xlsx'), workbook)
  const files: string[] = []
  for (const [index, separator] of SEPARATORS.slice(0, rounds(1, SEPARATORS.length)).entries())
    files.push(await office.saveAsCsv('written', separator, `${index}.csv`))
  await writeFile(join(directory, 'unguarded.csv'), texts.map((text) => `x,${csvField(cleaned(text))}`).join('\n'))
  let live = 0
  let liveUnguarded = 0
  for (const separator of SEPARATORS) {
    const [unguarded, ...saved] = await office.formulasOf(['unguarded.csv', ...files], separator)
    liveUnguarded += unguarded!.length
    live += saved.flat().length
    expect(saved.flat(), `opened with ${JSON.stringify(separator)}`).toEqual([])
  }
  expect(liveUnguarded, 'formulas of texts that nobody guards').toBeGreaterThan(texts.length / 10)
  reportFigure(`security: exports: ${live} live cells in LibreOffice, ${liveUnguarded} of the same texts unguarded`)
})

/** Generates texts of one to four pieces. Each piece is a beginning, something that a program may compute, and an ending. */
function generateTexts(count: number): string[] {
  const random = seededRandom()
  const pick = (from: readonly string[]): string => from[Math.floor(random() * from.length)]!
  const phones = ['+62100', '+49 170 1234567', '+49\u00a0170\u202f1234567']
  const words = ['x', '', 'Åse 李', '12', '-5', ...phones, '@moon', "'", '"', 'a "b"', '-', '(', '0,5']
  const separators = [...SEPARATORS, ...SEPARATORS, '\n', '\r', '\r\n', '\n\t', ' ', '']
  const before = ['', '', '', ' ', '"', '""', '\u00a0', '\u2003', '\ufeff', '\0', '\u0001', '\ufffe', '\ud800', '\t', ' "', "'"]
  const signs = ['=', '=', '=', '+', '-', '@', '＝', '＋', '－', '＠', '==', '+-', '']
  const computed = [
    '1+1',
    'SUM(1)',
    'A1',
    "cmd|' /C calc'!A0",
    'HYPERLINK("http://evil.example","x")',
    '5',
    'moon',
    '1&"',
    '_x003D_1',
  ]
  const after = ['', '', ';', ',', '"', '";', '\n', '|', '\t', ' ', '&"']
  return Array.from({ length: count }, () => {
    let text = ''
    for (let pieces = 1 + Math.floor(random() * 4); pieces > 0; pieces -= 1)
      text += pick(words) + pick(separators) + pick(before) + pick(signs) + pick(computed) + pick(after)
    return text
  })
}

// oxlint-disable-next-line no-control-regex -- the pattern must find control characters
const FORBIDDEN_IN_XML = /[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g

/** Returns the text as a cell can hold it: without characters that XML forbids and without lone surrogates, line ends as \n. */
function cleaned(text: string): string {
  return text.replaceAll(FORBIDDEN_IN_XML, '').replace(/\r\n?/g, '\n').toWellFormed()
}

/** Whether a spreadsheet program might compute this cell. ADR 3 says why the exceptions are safe. */
function isLive(piece: string): boolean {
  const start = piece.replace(/^[\s"]+/, '')
  return /^[=+\-@＝＋－＠]/.test(start) && !/^(-|[+-]\d+(\.\d+)?|\+\d+([ \u00a0\u202f]\d+)+|@[\w.]+)$/.test(piece)
}

/** Quotes a CSV field as LibreOffice does. */
function csvField(text: string): string {
  return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** Removes the apostrophes that the export added to the text. */
function withoutGuards(cell: string, text: string): string {
  let at = 0
  return Array.from(cell)
    .filter((character) => {
      const isOfText = text.startsWith(character, at)
      if (isOfText) at += character.length
      return isOfText || character !== "'"
    })
    .join('')
}

/** Returns functions that run LibreOffice, with its profile in the directory; undefined if it is not installed. */
async function openOffice(directory: string) {
  const run = async (...args: string[]): Promise<void> => {
    const profile = `-env:UserInstallation=${pathToFileURL(join(directory, 'profile')).href}`
    await promisify(execFile)('soffice', [profile, '--headless', ...args], { cwd: directory })
  }
  try {
    await run('--version')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
  const CSV = 'Text - txt - csv (StarCalc)'
  const UTF_8_IN_QUOTES = '34,76,1,,0,false'
  return {
    /** Converts `name`.xlsx to `name`.`ending` and returns that file's name. */
    async saveAsCsv(name: string, separator: string, ending: string): Promise<string> {
      const options = `${separator.charCodeAt(0)},${UTF_8_IN_QUOTES},true,false`
      await run('--convert-to', `${ending}:${CSV}:${options}`, `${name}.xlsx`)
      return `${name}.${ending}`
    },
    /** Returns the formulas in each file. Opens it with the separator, and with every option on that turns text into other values. */
    async formulasOf(names: string[], separator: string): Promise<string[][]> {
      const options = `${separator.charCodeAt(0)},${UTF_8_IN_QUOTES},true,false,false,true,-1,true`
      await run(`--infilter=${CSV}:${options}`, '--convert-to', 'fods', '--outdir', 'opened', ...names)
      return Promise.all(
        names.map(async (name) => {
          const opened = await readFile(join(directory, 'opened', name.replace(/csv$/, 'fods')), 'utf8')
          return opened.match(/table:formula="[^"]*"/g) ?? []
        }),
      )
    },
  }
}
