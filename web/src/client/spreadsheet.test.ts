import { expect, test } from 'vitest'
import { parseFileName } from './spreadsheet.ts'

test.each([
  ['attachment; filename="userdata.xlsx"', 'userdata.xlsx'],
  ['attachment; filename=userdata.xlsx', 'userdata.xlsx'],
  ['attachment; filename="data.xlsx"; filename*=UTF-8\'\'%C3%9Cbersicht%202.xlsx', 'Übersicht 2.xlsx'],
  ['attachment; filename="data.xlsx"; filename*=UTF-8\'\'%E0%A4%A', 'data.xlsx'],
  ['attachment; filename="a \\"quoted\\" name.xlsx"', 'a "quoted" name.xlsx'],
  ['attachment; filename="../../etc/passwd"', 'passwd'],
  ['attachment; filename="C:\\\\temp\\\\x.xlsx"', 'x.xlsx'],
  ['attachment; filename=""', undefined],
  ['attachment', undefined],
  [null, undefined],
])('§7 the file name of %s is %s', (header, name) => {
  expect(parseFileName(header)).toBe(name)
})
