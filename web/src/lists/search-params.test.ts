import { expect, test } from 'vitest'
import { parseSearch, stringifySearch } from './search-params.ts'

test.each(['1e5', '9007199254740993', 'true', 'null', '007', '"quoted"', '{"a":1}', 'a+b c&d=é', '%zz'])(
  'Lists: an address keeps the search %j as a text',
  (q) => {
    const address = stringifySearch({ q, page: 2, after: undefined })
    expect(parseSearch(address)).toEqual({ q, page: '2' })
  },
)

test('Lists: an address without parameters has no question mark', () => {
  expect(stringifySearch({ q: undefined })).toBe('')
  expect(parseSearch('')).toEqual({})
})

test('Lists: links of earlier versions, which wrote such texts as JSON, still work', () => {
  expect(parseSearch('?q=%22100000%22&sort=a-z')).toEqual({ q: '100000', sort: 'a-z' })
})

test('Lists: a repeated parameter keeps all its values, because none of them is the one that was meant', () => {
  expect(parseSearch('?status=blocked&q=a&status=unblocked')).toEqual({ status: ['blocked', 'unblocked'], q: 'a' })
})
