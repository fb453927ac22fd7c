import { describe, expect, test } from 'vitest'
import { announcements } from '#src/announcements/calls.ts'
import { downloads, selectionDownloadInput } from '#src/downloads/calls.ts'
import { changed, inputOf, messagesOf } from '#src/testing/inputs.ts'
import { dailyTasks, socialTasks } from '#src/tasks/calls.ts'
import { users } from '#src/users/calls.ts'

const UUID = '8d3fd6f5-3d40-4c0b-a2bb-5f1f2a1c9c0e'
const ids = (count: number) => Array.from({ length: count }, (_, n) => `id${n}`)

describe.for([
  ['users', inputOf(users.removeMany), { userType: 'user' }, {}],
  ['social tasks', inputOf(socialTasks.removeMany), { type: 'twitter' }, {}],
  ['daily tasks', inputOf(dailyTasks.removeMany), { type: 'telegram' }, {}],
  ['announcements', inputOf(announcements.removeMany), { status: 'active' }, {}],
  ['announcements, their status', inputOf(announcements.setStatus), { type: 'link' }, { status: true }],
  ['an export', selectionDownloadInput, { userType: 'user' }, { list: 'users' }],
] as const)('many rows at once: %s', ([, schema, filter, more]) => {
  const input = { target: { ids: ids(1) }, ...more }

  test.for([
    ['picked ones', { ids: ids(3) }],
    ['as many as can be picked', { ids: ids(10_000) }],
    ['all', { filter: {} }],
    ['all that a search finds', { filter: { search: 'ada' } }],
    ['all that a filter matches', { filter }],
  ] as const)('%s', ([, target]) => {
    expect(messagesOf(schema, { ...input, target })).toEqual({})
  })

  test.for([
    ['none', { ids: [] }],
    ['more than can be picked', { ids: ids(10_001) }],
    ['an empty id', { ids: [''] }],
    ['numbers', { ids: [1] }],
    ['both', { ids: ids(1), filter: {} }],
    ['neither', {}],
    ['a filter that the list does not have', { filter: { balance: 3 } }],
    ['a value that the filter does not have', { filter: { userType: 'owner', type: 7, status: 'x' } }],
    ['nothing at all', undefined],
  ] as const)('not %s', ([, target]) => {
    expect(messagesOf(schema, changed(input, { target }))).not.toEqual({})
  })
})

describe('a dry run', () => {
  const remove = inputOf(users.removeMany)
  const input = { target: { ids: ids(1) } }

  test('has to be requested', () => {
    expect(remove.parse(input)).toEqual({ ...input, dryRun: false })
    expect(remove.parse({ ...input, dryRun: true })).toMatchObject({ dryRun: true })
  })

  test.for([{ expected: -1 }, { expected: 1.5 }, { expected: '3' }, { dryRun: 'true' }])('%j is refused', (changes) => {
    expect(Object.keys(messagesOf(remove, { ...input, ...changes }))).toEqual(Object.keys(changes))
  })
})

describe('exports', () => {
  test.for(['users', 'telegramUsers', 'socialTasks', 'dailyTasks', 'announcements'])('of %s', (list) => {
    expect(messagesOf(inputOf(downloads.selection), { list, target: { filter: {} }, exportId: UUID })).toEqual({})
  })

  test.for(['sessions', '', undefined])('not of %s', (list) => {
    expect(messagesOf(inputOf(downloads.selection), { list, target: { filter: {} } })).not.toEqual({})
  })

  test('a list accepts only its own filters', () => {
    const target = { filter: { balanceMin: 5 } }
    expect(messagesOf(inputOf(downloads.selection), { list: 'telegramUsers', target })).toEqual({})
    expect(messagesOf(inputOf(downloads.selection), { list: 'users', target })).not.toEqual({})
  })

  test('the id of a download is a UUID', () => {
    expect(messagesOf(inputOf(downloads.progress), { exportId: UUID })).toEqual({})
    expect(Object.keys(messagesOf(inputOf(downloads.progress), { exportId: '../1' }))).toEqual(['exportId'])
  })
})
