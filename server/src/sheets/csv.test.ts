/** Cells of a CSV file. */
import { expect, test } from 'vitest'
import { chunkOf, columnsOf, type TestColumn } from '#test/sheet-source.ts'
import { csv } from './csv.ts'

const columns: TestColumn<string>[] = (['number', 'integer', 'text'] as const).map((kind) => ({
  header: kind,
  width: 20,
  kind,
  value: (row) => row,
}))

test.each([
  ['-5', '-5,-5,-5'],
  ['0.0000001', '1e-7,0.0000001,0.0000001'],
  ['-0.0000001', '-1e-7,-0.0000001,-0.0000001'],
  ['-1e-7', `-1e-7,'-1e-7,'-1e-7`],
  ['1e300', '1e+300,1e300,1e300'],
  ['7.0', '7,7.0,7.0'],
  ['-0', '0,-0,-0'],
  ['NaN', ',NaN,NaN'],
  ['=1+1', `'=1+1,'=1+1,'=1+1`],
])(
  'security: %s is %s as number, as integer and as text: numbers stay numbers, what a program would compute is guarded',
  async (value, line) => {
    async function* rows() {
      yield chunkOf(columns, [value])
    }
    const pieces: Uint8Array[] = []
    for await (const piece of csv({ columns: columnsOf(columns), rows: rows() })) pieces.push(piece)
    expect(Buffer.concat(pieces).toString()).toBe(`\uFEFFnumber,integer,text\r\n${line}\r\n`)
  },
)
