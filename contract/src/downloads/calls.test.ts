import { expect, test } from 'vitest'
import { downloads } from './calls.ts'
import { inputOf, messagesOf } from '#src/testing/inputs.ts'

const schema = inputOf(downloads.history)
const person = { id: 7, username: 'ada', first_name: 'Ada', last_name: null, userInput: 'x', timestamp: '2026-01-01' }

test.for([
  { type: 'input', title: 'T', link: 'https://x.com', linkType: 'input', inputText: 'I', reward: 5, users: [person] },
  { type: 'noInput', title: 'T', link: 'https://x.com', linkType: 'noInput', reward: '5' },
  { type: 'desc', title: 'T', description: 'D', reward: null, users: [] },
  { type: 'twitter', title: 'T' },
  { title: 7, somethingElse: {} },
  { kind: 'announcement', id: 'a1' },
  {},
])('§7 {data: %j} is taken', (data) => {
  expect(messagesOf(schema, { data })).toEqual({})
})

test.for([
  [{}, 'data'],
  [{ data: [] }, 'data'],
  [{ data: { users: 'all' } }, 'data.users'],
  [{ data: { users: [null] } }, 'data.users.0'],
  [{ data: { title: {} } }, 'data.title'],
  [{ data: { kind: 'weekly' } }, 'data.kind'],
  [{ data: { id: '' } }, 'data.id'],
  [{ data: {}, exportId: 'x' }, 'exportId'],
] as const)('§7 %j is refused at %s', ([input, field]) => {
  expect(Object.keys(messagesOf(schema, input))).toEqual([field])
})

test('§7 numeric player ids become texts, so that spreadsheets do not round them', () => {
  expect(schema.parse({ data: { users: [person] } })).toMatchObject({ data: { users: [{ id: '7' }] } })
})

test('design §7 at most 10,000 posted users', () => {
  const users = (count: number) => ({ data: { users: Array.from({ length: count }, () => person) } })
  expect(messagesOf(schema, users(10_000))).toEqual({})
  expect(messagesOf(schema, users(10_001))).toEqual({
    'data.users': "At most 10000 users can be sent; name the item's kind and id for all of them",
  })
})
