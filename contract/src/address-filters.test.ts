import { expect, test } from 'vitest'
import { addressParameters, readAddressFilters } from './address-filters.ts'
import { auditList } from '#src/audit/fields.ts'
import { playerList } from '#src/players/fields.ts'
import { taskLists } from '#src/tasks/fields.ts'

const read = (search: string) => readAddressFilters(playerList, addressParameters(search.split('&').map(parameter)))

function parameter(text: string): [name: string, value: string] {
  const [name = '', value = ''] = text.split('=')
  return [name, decodeURIComponent(value)]
}

test('Lists: an address that can be read completely has no unread parts, whatever its order, page and look', () => {
  const groups = JSON.stringify([{ balanceMin: 5, has: 'wallet' }])
  const address = {
    q: 'ada l',
    balanceMin: '1e3',
    balanceMax: '9007199254740992',
    joinedFrom: '2026-01-31',
    joinedUntil: '2026-02-01',
    status: 'blocked',
    tookPart: 'social:1',
    seenDays: '007',
    has: 'wallet, email',
    any: groups,
    sort: 'zzz',
    reversed: 'maybe',
    page: 'abc',
    size: '7',
    after: '',
    before: 'x',
    rows: 'tall',
    columns: 'Email',
  }
  expect(readAddressFilters(playerList, address)).toEqual({
    values: {
      q: 'ada l',
      balanceMin: 1000,
      balanceMax: 9007199254740992,
      joinedFrom: '2026-01-31',
      joinedUntil: '2026-02-01',
      status: 'blocked',
      tookPart: 'social:1',
      seenDays: 7,
      has: 'email,wallet',
      any: groups,
    },
    unread: [],
  })
  expect(read('q=')).toEqual({ values: {}, unread: [] })
  expect(readAddressFilters(playerList, { q: 42, balanceMin: 5, status: undefined })).toEqual({
    values: { q: '42', balanceMin: 5 },
    unread: [],
  })
})

test.each([
  'balanceMin=true',
  'balanceMin=1,000',
  'balanceMin=',
  'balanceMin=9007199254740993',
  'balanceMax=0.1000000000000000055',
  'joinedFrom=2026-02-30',
  'joinedFrom=2026-01-31T09:30',
  'joinedUntil=2026-13-01',
  'joinedBefore=2026-01-31',
  'status=null',
  'status=active',
  'wallet=true',
  'has=fax',
  'seenDays=0',
  'tookPart=social:%00',
  'any=%5B%7B%22seenDays%22%3A%22x%22%7D%5D',
  'q=%00',
  'search=ada',
  'constructor=1',
  'unread=status',
  'status=blocked&status=unblocked',
])('Lists: a part of an address that cannot be read is named: %s', (part) => {
  const name = part.split('=')[0]
  expect(read(part)).toEqual({ values: {}, unread: [name] })
  expect(read(`foo=1&${part}&joinedDays=7`)).toEqual({ values: { joinedDays: 7 }, unread: ['foo', name] })
})

test('Lists: the texts of an address have their limits in code points; one that is cut is named', () => {
  const emoji = '\u{1f600}'
  for (const q of [emoji.repeat(60), `a${emoji.repeat(60)}`, emoji.repeat(100)])
    expect(readAddressFilters(playerList, { q })).toEqual({ values: { q }, unread: [] })
  expect(readAddressFilters(playerList, { q: `a${emoji.repeat(100)}` })).toEqual({
    values: { q: `a${emoji.repeat(99)}` },
    unread: ['q'],
  })
  for (const [type, kept, unread] of [
    [emoji.repeat(64), emoji.repeat(64), []],
    [`a${emoji.repeat(64)}`, `a${emoji.repeat(63)}`, ['type']],
  ] as const)
    expect(readAddressFilters(taskLists.daily, { type })).toEqual({ values: { type: kept }, unread })
})

test('Lists: minutes are read only where the list has them', () => {
  expect(readAddressFilters(auditList, { doneFrom: '2026-05-05T09:30', doneUntil: '2026-05-05' })).toEqual({
    values: { doneFrom: '2026-05-05T09:30', doneUntil: '2026-05-05T23:59' },
    unread: [],
  })
  expect(readAddressFilters(auditList, { doneFrom: '2026-05-05T25:00' })).toEqual({ values: {}, unread: ['doneFrom'] })
})
