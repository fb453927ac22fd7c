/** Names of downloaded files: what they hold, safe in every file system and header. */
import { expect, test } from 'vitest'
import { contentDisposition, datedFileName } from './file-name.ts'

const day = '\\d{4}-\\d\\d-\\d\\d'

test.each([
  [['audit'], `audit-${day}`],
  [['history', 'Follow us!', 'filtered'], `history-Follow-us-filtered-${day}`],
  [['history', '../../etc/"passwd"\r\nX: y'], `history-etc-passwd-X-y-${day}`],
  [['history', 'Подписка'], `history-Подписка-${day}`],
  [['history', '🎉'], `history-${day}`],
  [['a', 'b'.repeat(300)], `a-${'b'.repeat(40)}-${day}`],
])('%j', (parts, expected) => {
  expect(datedFileName(...parts)).toMatch(new RegExp(`^${expected}\\.xlsx$`))
})

test('RFC 6266 a header names a file in ASCII, and in full if that is not enough', () => {
  expect(contentDisposition('data.xlsx')).toBe('attachment; filename="data.xlsx"')
  expect(contentDisposition('Ü-1.xlsx')).toBe(`attachment; filename="_-1.xlsx"; filename*=UTF-8''%C3%9C-1.xlsx`)
})
