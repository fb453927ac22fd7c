/** COPY's text format, written here and read by PostgreSQL, and the other way round. */
import { expect, test } from 'vitest'
import { testDatabase } from '#test/test-database.ts'
import { copyText, readRows } from './copy-text.ts'

const texts = ['', 'plain', '\\N', '\\', '\b\f\n\r\t\v', 'a\\tb', 'ü 李 😀', '\u0001\u007f', 'null']

test('§7 exports: copyText writes what PostgreSQL writes, and readRows reads it back', async () => {
  const database = await testDatabase()
  const rows = texts.map((text, index) => [text, index % 2 === 0 ? null : index, index % 3 === 0])
  const list = rows.map((_, index) => `($${index * 3 + 1}::text, $${index * 3 + 2}::int, $${index * 3 + 3}::boolean)`).join(', ')
  const chunks: Buffer[] = []
  await database.snapshot(async ({ copy }) => {
    for await (const chunk of copy(`values ${list}`, rows.flat())) chunks.push(chunk)
  })
  const copied = Buffer.concat(chunks)
  expect(copyText(rows).toString()).toBe(copied.toString())
  const read = (value: string | number | boolean | null | undefined) =>
    value === null ? null : typeof value === 'boolean' ? (value ? 't' : 'f') : String(value)
  expect(readRows(copied)).toEqual(rows.map((row) => row.map(read)))
})
