/** Reads files back with the tests' own small reader: the zip by its directory, the sheets by their tags. */
import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { type Cells, cellFormats, readAll, readWorkbook } from '#test/read-sheets.ts'
import { chunkOf, columnsOf, type TestColumn } from '#test/sheet-source.ts'
import { spreadsheet } from './spreadsheet.ts'

const textColumn: TestColumn<string | null>[] = [{ header: 'Text', width: 20, kind: 'text', value: (row) => row }]
const idColumn: TestColumn<number>[] = [{ header: 'id', width: 12, kind: 'number', value: (row) => row }]

describe('security: exports: a real XLSX file', () => {
  test('has the parts of the package, each with a correct checksum', async () => {
    const { parts } = await write(idColumn, [1])
    expect([...parts.keys()]).toEqual([
      '_rels/.rels',
      'xl/styles.xml',
      'xl/worksheets/sheet1.xml',
      'xl/workbook.xml',
      'xl/_rels/workbook.xml.rels',
      '[Content_Types].xml',
    ])
    expect(parts.get('[Content_Types].xml')).toContain('PartName="/xl/worksheets/sheet1.xml"')
  })

  test('has typed cells: text, numbers, dates in UTC, and empty cells for missing values', async () => {
    interface Row {
      name: string | null
      balance: number | undefined
      at: Date | null
    }
    const columns: TestColumn<Row>[] = [
      { header: 'Name', width: 20, kind: 'text', value: (row) => row.name },
      { header: 'Balance', width: 10, kind: 'number', value: (row) => row.balance },
      { header: 'At', width: 20, kind: 'date', value: (row) => row.at },
    ]
    const at = new Date('2026-11-21T04:30:05.138Z')
    const { sheets } = await write(columns, [
      { name: 'Åse 😀 李', balance: 438335.75, at },
      { name: null, balance: undefined, at: null },
      { name: '', balance: -5, at: new Date('1900-03-01T00:00:00Z') },
    ])
    expect(sheets['Sheet']).toEqual([
      { A: 'Name', B: 'Balance', C: 'At' },
      { A: 'Åse 😀 李', B: 438335.75, C: at },
      {},
      { B: -5, C: new Date('1900-03-01T00:00:00Z') },
    ])
  })

  test.each<[string, number | bigint | string | null, unknown]>([
    ['zero', 0, 0],
    ['an id of 13 digits', 1234567890123, 1234567890123],
    ['the largest safe integer', Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER],
    ['a tiny number', 1e-7, 1e-7],
    ['a huge number', 1.5e300, 1.5e300],
    ['a numeric of PostgreSQL', '12345.67', 12345.67],
    ['a bigint', 100001793n, 100001793],
    ['a bigint that a spreadsheet would round', 12345678901234567890n, '12345678901234567890'],
    ['text that is not a number', '12 coins', '12 coins'],
    ['digits after a zero, which are a text id', '007', '007'],
    ['a formula in a number column', '=1+1', "'=1+1"],
    ['NaN', NaN, undefined],
    ['infinity', -Infinity, undefined],
  ])('a number column with %s', async (_, value, expected) => {
    const columns: TestColumn<typeof value>[] = [{ header: 'n', width: 9, kind: 'number', value: (row) => row }]
    expect(await firstCell(columns, value)).toEqual(expected)
  })

  test.each<[string, bigint | string, number | string]>([
    ['15 digits', 123456789012345n, 123456789012345],
    ['16 digits (Excel would show only 15)', 4503599627370497n, '4503599627370497'],
    ['a sign and 15 digits', -123456789012345n, -123456789012345],
    ...['1e5', '7.0', '7.', '-0', '007', '1.5', 'NaN'].map((id): [string, string, string] => [`the text id ${id}`, id, id]),
  ])('an integer column with %s', async (_, value, expected) => {
    const columns: TestColumn<typeof value>[] = [{ header: 'ID', width: 9, kind: 'integer', value: (row) => row }]
    expect(await firstCell(columns, value)).toEqual(expected)
  })

  test.each([
    ['an invalid date is empty', new Date(NaN), undefined],
    ['a date before Excel’s first one is text', new Date('1899-12-31T00:00:00Z'), '1899-12-31T00:00:00.000Z'],
    ['Excel’s last date is a date', new Date('9999-12-31T23:59:59Z'), new Date('9999-12-31T23:59:59Z')],
    [
      'a later date is text, and the plus of its year makes no formula',
      new Date('+010000-01-01T00:00:00Z'),
      "'+010000-01-01T00:00:00.000Z",
    ],
  ])('%s', async (_, value, expected) => {
    const columns: TestColumn<Date>[] = [{ header: 'at', width: 20, kind: 'date', value: (row) => row }]
    expect(await firstCell(columns, value)).toEqual(expected)
  })

  test('has a bold header that stays in view, a filter and the given widths', async () => {
    const { parts } = await write(textColumn, ['a', 'b'])
    const sheet = parts.get('xl/worksheets/sheet1.xml')!
    expect(sheet).toContain('<pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/>')
    expect(sheet).toContain('<col min="1" max="1" width="20" customWidth="1"/>')
    expect(sheet).toContain('<autoFilter ref="A1:A3"/>')
    expect(sheet).toContain('<c r="A1" s="1" ')
    expect(cellFormats(parts)[1]).toContain('fontId="1"')
  })

  test('an empty table has only a header', async () => {
    expect((await write(textColumn, [])).sheets).toEqual({ Sheet: [{ A: 'Text' }] })
  })

  test('names columns past Z', async () => {
    const columns = Array.from({ length: 703 }, (_, i): TestColumn<null> => ({
      header: `h${i}`,
      width: 5,
      kind: 'text',
      value: () => 'x',
    }))
    const header = (await write(columns, [null])).sheets['Sheet']![0]!
    expect([header['Z'], header['AA'], header['ZZ'], header['AAA']]).toEqual(['h25', 'h26', 'h701', 'h702'])
  })

  test('the same rows give the same bytes', async () => {
    const digest = async () =>
      createHash('sha256')
        .update((await write(textColumn, ['a', 'b'])).bytes)
        .digest('hex')
    expect(await digest()).toBe(await digest())
  })
})

describe('security: exports: text cells are never formulas', () => {
  test.each([
    '=1+1',
    '+1+1',
    '-1+1',
    '@SUM(1)',
    '=HYPERLINK("http://evil.example","x")',
    "-2+3+cmd|' /C calc'!A0",
    '+1-555-0100',
    '+49 (0)170/123-4567',
    '+49\u00a0A1',
    '@a-b',
    '@a(1)',
    '--1',
    '=',
    '+',
    '@',
    '\tplain',
    ' =1+1',
    '\u00a0=1+1',
    '\ufeff=1+1',
    '\u0085=1+1',
    '\u200b=1+1',
    '\u202e\u2066=1+1',
    '＝1+1',
    '＋1',
    '－1',
    '＠SUM(1)',
    '"=1+1"',
    '+1,5',
    '@SUM|(1)',
  ])('%j gets an apostrophe', async (text) => {
    expect(await firstCell(textColumn, text)).toBe(`'${text}`)
  })

  test.each([
    '@moon_8077',
    '@ig.name',
    '+62100025251',
    '+49 170 1234567',
    '+49\u00a0170\u202f1234567',
    '-5',
    '-5.25',
    '-',
    'moon@example.org',
    'a=1+1',
    'x; 1',
    '1.28,-103.8',
    'a|@moon|b',
    'see;@ig.name;-;+62100',
    'one\n-\ntwo',
    'x;"quoted"',
    "'quoted",
    '(1+1)',
    '0x2fb3',
    'in-1794',
    '#5',
    '12',
  ])('%j is left as it is', async (text) => {
    expect(await firstCell(textColumn, text)).toBe(text)
  })

  test.each([
    ['\0=1+1', "'=1+1"],
    ['\t=1+1', "'\t'=1+1"],
    ['\u0001\t=1+1', "'\t'=1+1"],
    ['\r=1+1', "'\n'=1+1"],
    ['\r\n=1+1', "'\n'=1+1"],
    [' \n=1+1', " \n'=1+1"],
    ['x;=1+1', "x;'=1+1"],
    ['x\t=1+1', "x\t'=1+1"],
    ['x,=1;=2', "x,'=1;'=2"],
    ['x;\0=1+1', "x;'=1+1"],
    ['x;\ufffe\0=1+1', "x;'=1+1"],
    ['x; =1', "x;' =1"],
    ['x;+cmd|-1', "x;'+cmd|-1"],
    ['x;@SUM(1)', "x;'@SUM(1)"],
    ['x,+1+1', "x,'+1+1"],
    ['x\t-1+1', "x\t'-1+1"],
    ['x|=1+1', "x|'=1+1"],
    ['x\n=1+1', "x\n'=1+1"],
    ['x\r@SUM(1)\r\n+1+1', "x\n'@SUM(1)\n'+1+1"],
    ['x;＝1+1', "x;'＝1+1"],
    ['x;"=1+1;', 'x;\'"=1+1;'],
    ['x;\u00a0"" =1', 'x;\'\u00a0"" =1'],
    ['x;@SUM,(1)', "x;'@SUM,(1)"],
    ['x;\n=1+1', "x;\n'=1+1"],
    ['x;+1|5', "x;'+1|5"],
    ['x;\t-5\t-5', "x;\t'-5\t'-5"],
  ])('%j becomes %j: neither dropped characters nor other separators bypass the guard', async (text, expected) => {
    expect(await firstCell(textColumn, text)).toBe(expected)
  })

  test('no cell is ever written as a formula', async () => {
    const { parts } = await write(textColumn, ['=1+1', '</t></is></c><c><f>1+1</f></c>'])
    expect(parts.get('xl/worksheets/sheet1.xml')).not.toContain('<f>')
  })

  test('the header is guarded too', async () => {
    const { sheets } = await write([{ header: '=1+1', width: 9, kind: 'text', value: () => null }], [null])
    expect(sheets['Sheet']![0]).toEqual({ A: "'=1+1" })
  })
})

describe('security: exports: hostile text', () => {
  test.each([
    ['markup', `<b a="1">&amp;</b> ]]> 'q'`, `<b a="1">&amp;</b> ]]> 'q'`],
    ['characters illegal in XML', 'a\0\u0001\b\v\f\u001f\ufffe\uffffb', 'ab'],
    ['a lone high surrogate', 'a\ud83db', 'a\ufffdb'],
    ['a lone low surrogate', 'a\ude00', 'a\ufffd'],
    ['a surrogate pair', '😀', '😀'],
    ['what looks like an escape', '_x0041_ _x000d_ _x005F_', '_x0041_ _x000d_ _x005F_'],
    ['overlapping escapes', '_x0041_x0042_', '_x0041_x0042_'],
    ['a handle that looks like an escape', '@a_x0041_', '@a_x0041_'],
    ['spaces at the ends', '  a  ', '  a  '],
    ['lines', 'a\nb\r\nc\rd\n', 'a\nb\nc\nd\n'],
    ['tabs inside', 'a\tb', 'a\tb'],
    ['nothing but illegal characters', '\0\0', ''],
    ['__proto__', '__proto__', '__proto__'],
  ])('%s', async (_, text, expected) => {
    expect(await firstCell(textColumn, text)).toBe(expected)
  })

  test('leading space is preserved, and text that looks like an escape is escaped as Excel expects', async () => {
    const { parts } = await write(textColumn, [' a', '_x0041_'])
    expect(parts.get('xl/worksheets/sheet1.xml')).toContain('<t xml:space="preserve"> a</t>')
    expect(parts.get('xl/worksheets/sheet1.xml')).toContain('_x005F_x0041_')
  })

  test.each([
    ['32,767 characters are whole', 'a'.repeat(32_767), 'a'.repeat(32_767)],
    ['more characters are cut off', 'a'.repeat(40_000), 'a'.repeat(32_767)],
    ['a surrogate pair is not cut in two', `${'a'.repeat(32_766)}😀`, 'a'.repeat(32_766)],
    ['a surrogate pair that fits stays', `${'a'.repeat(32_765)}😀b`, `${'a'.repeat(32_765)}😀`],
    ['the apostrophe counts', `=${'a'.repeat(32_766)}`, `'=${'a'.repeat(32_765)}`],
    ['escaping does not count', '&'.repeat(32_767), '&'.repeat(32_767)],
  ])('%s', async (_, text, expected) => {
    const cell = await firstCell(textColumn, text)
    expect(cell === expected, `${String(cell).length} of ${expected.length} characters`).toBe(true)
  })

  test('cells can be much longer than a piece of the file', async () => {
    const rows = Array.from({ length: 50 }, (_, i) => `${i}${'щ<'.repeat(16_000)}`)
    const { sheets } = await write(textColumn, rows)
    expect(sheets['Sheet']!.slice(1).map((row) => row['A'])).toEqual(rows)
  })
})

describe('security: exports: more rows than a sheet holds', () => {
  const numbers = (count: number): number[] => Array.from({ length: count }, (_, i) => i)

  test.each([
    [9, [9]],
    [10, [9, 1]],
    [18, [9, 9]],
    [25, [9, 9, 7]],
  ])('%d rows on sheets of 10 with the header', async (count, expected) => {
    const { sheets } = await write(idColumn, numbers(count), { limits: { rowsPerSheet: 10 }, sheetName: 'Players', batch: 4 })
    expect(Object.keys(sheets)).toEqual(['Players', 'Players (2)', 'Players (3)'].slice(0, expected.length))
    const written = Object.values(sheets)
    expect(written.map((rows) => rows.length - 1)).toEqual(expected)
    expect(written.map((rows) => rows[0])).toEqual(expected.map(() => ({ A: 'id' })))
    expect(written.flatMap((rows) => rows.slice(1).map((row) => row['A']))).toEqual(numbers(count))
  })

  test('by default a sheet ends at 1,048,576 rows', async () => {
    const { parts } = await write(idColumn, numbers(1_048_577), { batch: 10_000, isParsed: false })
    expect(parts.get('xl/worksheets/sheet1.xml')!.slice(-200)).toMatch(
      /<row r="1048576"><c r="A1048576"><v>1048574<\/v><\/c><\/row><\/sheetData><autoFilter ref="A1:A1048576"/,
    )
    expect(parts.get('xl/worksheets/sheet2.xml')).toContain('<row r="3"><c r="A3"><v>1048576</v></c></row></sheetData>')
  }, 60_000)

  test('a sheet whose XML would need Zip64 ends early', async () => {
    const rows = numbers(30).map(() => 'x'.repeat(30_000))
    const { sheets } = await write(textColumn, rows, { limits: { bytesPerSheet: 200_000 } })
    expect(Object.keys(sheets).length).toBeGreaterThan(1)
    expect(Object.values(sheets).flatMap((sheet) => sheet.slice(1))).toHaveLength(30)
  })

  test('an archive past 4 GiB has its directory in Zip64', async () => {
    const { sheets, isZip64 } = await write(idColumn, numbers(25), { limits: { rowsPerSheet: 10, zip64From: 1000 } })
    expect(isZip64).toBe(true)
    expect(Object.values(sheets).map((rows) => rows.length)).toEqual([10, 10, 8])
    expect((await write(idColumn, [1])).isZip64).toBe(false)
  })

  test.each([
    ['a/b\\c?d*e[f]g:h', 'a_b_c_d_e_f_g_h'],
    ["'Quoted'", '_Quoted_'],
    ['', 'Sheet'],
    ['history', 'history_'],
    ['Tom & "Jerry" <3', 'Tom & "Jerry" <3'],
    ['x'.repeat(40), 'x'.repeat(31)],
    [`${'x'.repeat(30)}😀`, 'x'.repeat(30)],
  ])('the sheet name %j is written as %j', async (sheetName, expected) => {
    expect(Object.keys((await write(idColumn, [], { sheetName })).sheets)).toEqual([expected])
  })

  test('a long sheet name is shortened before its number', async () => {
    const { sheets } = await write(idColumn, numbers(12), { limits: { rowsPerSheet: 10 }, sheetName: 'x'.repeat(40) })
    expect(Object.keys(sheets)).toEqual(['x'.repeat(31), `${'x'.repeat(27)} (2)`])
  })
})

interface WriteOptions {
  sheetName?: string
  limits?: Parameters<typeof spreadsheet>[1]
  batch?: number
  isParsed?: boolean
}

async function write<Row>(columns: TestColumn<Row>[], rows: Row[], options: WriteOptions = {}) {
  const { sheetName = 'Sheet', limits = {}, batch = 100, isParsed = true } = options
  async function* chunks(): AsyncGenerator<Buffer> {
    for (let at = 0; at < rows.length; at += batch) yield chunkOf(columns, rows.slice(at, at + batch))
  }
  const bytes = await readAll(spreadsheet({ sheetName, columns: columnsOf(columns), rows: chunks() }, limits))
  const { parts, sheets, isZip64 } = readWorkbook(bytes, { isParsed })
  return { bytes, parts, sheets, isZip64 }
}

/** Returns the first cell under the header. */
async function firstCell<Row>(columns: TestColumn<Row>[], row: Row): Promise<Cells[string] | undefined> {
  return (await write(columns, [row])).sheets['Sheet']![1]!['A']
}
