import { nameInAddress } from '@arcade/contract/address-filters'
import { auditList } from '@arcade/contract/audit/fields'
import type { FilterOf } from '@arcade/contract/entity'
import { participantList } from '@arcade/contract/history/fields'
import { lists } from '@arcade/contract/lists'
import { playerList } from '@arcade/contract/players/fields'
import { taskLists } from '@arcade/contract/tasks/fields'
import { userList } from '@arcade/contract/users/fields'
import { expect, test } from 'vitest'
import { firstPage, type ListAddress, listFilter, listOrder, lookAddress, readLook, readListAddress } from './list-address.ts'

const players = (raw: Record<string, unknown>) => readListAddress(playerList, raw)
const users = (raw: Record<string, unknown>) => readListAddress(userList, raw)

test.each([
  ['a text', { q: 'moon' }],
  [
    'each filter of the declaration',
    { balanceMin: 5, balanceMax: 0.5, joinedFrom: '2026-01-31', joinedUntil: '2026-02-01', wallet: 'ton' },
  ],
  ['another order', { sort: 'a-z', reversed: true }],
  ['another page size', { size: 100 }],
  ['a page after a cursor', { page: 2, after: 'x' }],
  ['a page before a cursor', { page: 3, before: 'x' }],
])('Lists: the address keeps %s', (_, address) => {
  expect(players(address)).toEqual(address)
})

test('Lists: numbers and flags are read from texts, and a search stays the text that it is', () => {
  for (const q of ['1e5', '9007199254740993', 'true', 'null', '007', '[1]']) expect(players({ q })).toEqual({ q })
  expect(players({ balanceMin: '-2.5', balanceMax: '1e3' })).toEqual({ balanceMin: -2.5, balanceMax: 1000 })
  expect(players({ balanceMin: '0x10', balanceMax: '' })).toEqual({ unread: 'balanceMin,balanceMax' })
  expect(users({ page: '3', reversed: 'true' })).toEqual({ page: 3, reversed: true })
})

test.each([
  ['default values', { sort: 'balance', size: 5, page: 1, reversed: false, q: '' }],
  ['an invalid order, page and look', { sort: 'zzz', size: 7, page: 'abc', rows: 'tall' }],
  ['a page without its cursor', { page: 4 }],
  ['a cursor without its page', { after: 'x' }],
])('Lists: the address leaves out %s', (_, raw) => {
  expect(players(raw)).toEqual({})
})

test.each([
  ['invalid values', { wallet: 'gold', balanceMin: 'much', joinedFrom: '2026-13-01' }, 'wallet,balanceMin,joinedFrom'],
  ['a day that does not exist', { joinedFrom: '2026-02-30', joinedUntil: '2025-02-29' }, 'joinedFrom,joinedUntil'],
  ['texts that no call takes', { q: 'a\0b', tookPart: 'social:\0' }, 'q,tookPart'],
  ["another list's filter", { userType: 'admin' }, 'userType'],
  ['repeated values', { status: ['blocked', 'unblocked'] }, 'status'],
  ['what was left out before', { status: 'gone', unread: 'q,status' }, 'q,status'],
])('Lists: the address leaves out and names %s', (_, raw, unread) => {
  expect(players(raw)).toEqual({ unread })
})

test('Lists: values that the call would refuse are cut to its limits or dropped', () => {
  expect(players({ q: 'x'.repeat(500), balanceMin: 1e300 })).toEqual({ q: 'x'.repeat(100), unread: 'q,balanceMin' })
  expect(users({ page: 1e300 })).toEqual({ page: 1_000_000_000 })
  expect(readListAddress(taskLists.daily, { type: 'x'.repeat(500) })).toEqual({ type: 'x'.repeat(64), unread: 'type' })
  expect(players({ rows: 'normal', columns: '\u{1f600}'.repeat(501) }).columns).toBe('\u{1f600}'.repeat(500))
})

test('Lists: numbered pages need no cursor; a page below 1 is the first', () => {
  expect(users({ page: 4, after: 'x' })).toEqual({ page: 4 })
  expect(users({ page: -1 })).toEqual({})
})

test('Lists: the address accepts any task type, because imported tasks may have any', () => {
  expect(readListAddress(taskLists.social, { type: 'telegram' })).toEqual({ type: 'telegram' })
})

test('Lists: a list with a single order ignores sort and reversed', () => {
  expect(readListAddress(participantList, { reversed: true, sort: 'newest', q: 'a' })).toEqual({ q: 'a' })
})

test('Lists: days become timestamps in the operator’s time zone, and the last day is included', () => {
  const address = players({ q: 'a', joinedFrom: '2026-01-31', joinedUntil: '2026-01-31', balanceMin: 1 })
  expect(listFilter(playerList, address)).toEqual({
    search: 'a',
    balanceMin: 1,
    joinedFrom: new Date(2026, 0, 31).toISOString(),
    joinedBefore: new Date(2026, 1, 1).toISOString(),
  })
  expect(listOrder(playerList, address)).toEqual({ sort: 'balance', reversed: false })
})

test('Lists: the first page keeps search, filters and order', () => {
  const address = players({ q: 'a', wallet: 'ton', sort: 'a-z', page: 2, after: 'x', size: 25 })
  expect(firstPage(address)).toEqual({ q: 'a', wallet: 'ton', sort: 'a-z', size: 25 })
})

test.each(Object.values(lists))('Lists: no filter of $name has the same name as another parameter of the address', (list) => {
  const names = Object.entries(list.filters).map(([name, filter]) => nameInAddress(name, filter))
  expect(names).not.toEqual(expect.arrayContaining([expect.stringMatching(/^(q|sort|reversed|page|size|after|before|unread)$/)]))
})

/** Type errors that tsc must report; it fails if one of them compiles. */
export const mistakes = [
  // @ts-expect-error -- the list has no such filter
  { country: 'de' } satisfies ListAddress<typeof playerList>,
  // @ts-expect-error -- the address holds the last day, not the time after it
  { joinedBefore: '2026-01-01' } satisfies ListAddress<typeof playerList>,
  // @ts-expect-error -- the filter has no such choice
  { wallet: 'gold' } satisfies ListAddress<typeof playerList>,
  // @ts-expect-error -- the list has no such order
  { sort: 'email' } satisfies ListAddress<typeof playerList>,
  // @ts-expect-error -- the call has no such filter
  { country: 'de' } satisfies FilterOf<typeof playerList>,
]

test('Lists: the address holds the look of the table only with valid rows', () => {
  expect(players({ rows: 'compact', columns: 'Email,Balance' })).toEqual({ rows: 'compact', columns: 'Email,Balance' })
  expect(players({ columns: 'Email' })).toEqual({})
  expect(players({ rows: 'tall' })).toEqual({})
  expect(readLook({})).toBeUndefined()
  for (const look of [
    { isCompact: true, changed: [] },
    { isCompact: false, changed: ['Balance', 'Email'] },
  ])
    expect(readLook(lookAddress(look))).toEqual(look)
})

test('Lists: a filter to the minute includes its last minute; days in the address mean whole days', () => {
  const asked = (raw: Record<string, unknown>) => listFilter(auditList, readListAddress(auditList, raw))
  const minute = (hour: number, minutes: number) => new Date(2026, 4, 5, hour, minutes).toISOString()
  const typed = { doneFrom: '2026-05-05T09:30', doneUntil: '2026-05-05T09:59' }
  expect(readListAddress(auditList, typed)).toEqual(typed)
  expect(asked(typed)).toEqual({ doneFrom: minute(9, 30), doneBefore: minute(10, 0) })
  expect(asked({ doneFrom: '2026-05-05', doneUntil: '2026-05-05' })).toEqual({
    doneFrom: minute(0, 0),
    doneBefore: minute(24, 0),
  })
  expect(asked({ doneFrom: '2026-05-05T25:00', doneUntil: 'T09:59' })).toEqual({})
  expect(players({ joinedFrom: '2026-05-05T09:30' }), 'only where the list says so').toEqual({ unread: 'joinedFrom' })
})
