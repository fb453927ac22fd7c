import { expect, test } from 'vitest'
import { clockChangeText, fromLocal, localOfInput, movedBy, offsetText, toInputValue, zonedText, zoneText } from './zoned-time.ts'

const local = (value: string) => localOfInput(value) ?? Number.NaN
const moment = (iso: string) => Date.parse(iso)

test.for([
  ['UTC', '2026-11-27T18:00', '2026-11-27T18:00:00Z'],
  ['Europe/Berlin', '2026-11-27T18:00', '2026-11-27T17:00:00Z'],
  ['Europe/Berlin', '2026-07-01T00:00', '2026-06-30T22:00:00Z'],
  ['America/New_York', '2026-11-27T23:59', '2026-11-28T04:59:00Z'],
  ['Asia/Kolkata', '2026-11-27T00:00', '2026-11-26T18:30:00Z'],
  ['Pacific/Kiritimati', '2026-11-27T10:00', '2026-11-26T20:00:00Z'],
  ['Pacific/Pago_Pago', '2026-11-27T22:00', '2026-11-28T09:00:00Z'],
  ['Asia/Kathmandu', '2026-02-28T05:45', '2026-02-28T00:00:00Z'],
] as const)('in %s, %s is %s, and back', ([zone, typed, iso]) => {
  expect(fromLocal(local(typed), zone)).toEqual({ comes: 'once', at: moment(iso) })
  expect(toInputValue(moment(iso), zone)).toBe(typed)
})

test.for([
  // Europe: 02:00 becomes 03:00 on the last Sunday of March.
  ['Europe/Berlin', '2026-03-29T02:00', '2026-03-29T01:00:00Z', '02:00 AM', '03:00 AM'],
  ['Europe/Berlin', '2026-03-29T02:59', '2026-03-29T01:00:00Z', '02:00 AM', '03:00 AM'],
  ['America/New_York', '2026-03-08T02:30', '2026-03-08T07:00:00Z', '02:00 AM', '03:00 AM'],
  // Half an hour, and at midnight.
  ['Australia/Lord_Howe', '2026-10-04T02:15', '2026-10-03T15:30:00Z', '02:00 AM', '02:30 AM'],
  ['Africa/Cairo', '2026-04-24T00:30', '2026-04-23T22:00:00Z', '12:00 AM', '01:00 AM'],
] as const)('in %s there is no %s', ([zone, typed, change, before, after]) => {
  expect(fromLocal(local(typed), zone)).toMatchObject({ comes: 'never', at: moment(change) })
  expect(clockChangeText(local(typed), zone)).toMatch(new RegExp(`from ${before} to ${after}, so there is no`))
})

test('a whole day that a zone left out is not there', () => {
  // Samoa went from the 29th to the 31st of December 2011.
  expect(fromLocal(local('2011-12-30T12:00'), 'Pacific/Apia')).toMatchObject({
    comes: 'never',
    at: moment('2011-12-30T10:00:00Z'),
  })
})

test.for([
  ['Europe/Berlin', '2026-10-25T02:30', '2026-10-25T00:30:00Z', '2026-10-25T01:30:00Z'],
  ['Europe/Berlin', '2026-10-25T02:00', '2026-10-25T00:00:00Z', '2026-10-25T01:00:00Z'],
  ['America/New_York', '2026-11-01T01:59', '2026-11-01T05:59:00Z', '2026-11-01T06:59:00Z'],
  ['Australia/Lord_Howe', '2026-04-05T01:45', '2026-04-04T14:45:00Z', '2026-04-04T15:15:00Z'],
] as const)('in %s, %s comes twice', ([zone, typed, first, second]) => {
  expect(fromLocal(local(typed), zone)).toEqual({ comes: 'twice', at: moment(first), second: moment(second) })
  expect(clockChangeText(local(typed), zone)).toMatch(/the clock goes back, so 0[12]:\d\d AM comes twice\.$/)
  for (const at of [first, second]) expect(toInputValue(moment(at), zone)).toBe(typed)
})

test.for([
  ['Europe/Berlin', '2026-10-25T03:00'],
  ['Europe/Berlin', '2026-10-25T01:59'],
  ['Europe/Berlin', '2026-03-29T03:00'],
  ['Europe/Berlin', '2026-03-29T01:59'],
  ['UTC', '2026-03-29T02:30'],
] as const)('in %s nothing is unusual about %s, beside a clock change', ([zone, typed]) => {
  expect(fromLocal(local(typed), zone).comes).toBe('once')
  expect(clockChangeText(local(typed), zone)).toBeUndefined()
})

test.for([
  ['2026-03-28T17:00:00Z', 1, '2026-03-29T16:00:00Z'], // 18:00 stays 18:00, though the day has 23 hours
  ['2026-10-24T16:00:00Z', 1, '2026-10-25T17:00:00Z'],
  ['2026-10-26T17:00:00Z', -2, '2026-10-24T16:00:00Z'],
  ['2026-03-28T01:30:00Z', 1, '2026-03-29T01:00:00Z'], // there is no 02:30: the clock goes forward at that moment
  ['2026-10-24T00:30:00Z', 1, '2026-10-25T00:30:00Z'], // of two the first
  ['2026-11-27T17:00:12.345Z', 0, '2026-11-27T17:00:12.345Z'],
  ['2026-11-27T17:00:12.345Z', 3, '2026-11-30T17:00:12.345Z'],
] as const)('in Berlin, %s moved by %s days is %s', ([from, days, to]) => {
  expect(new Date(movedBy(moment(from), days * 24 * 60, 'Europe/Berlin')).toISOString()).toBe(new Date(to).toISOString())
})

test('zones are named with their offset', () => {
  expect(zoneText(moment('2026-11-27T12:00:00Z'), 'Europe/Berlin')).toBe('Europe/Berlin (UTC+1)')
  expect(zoneText(moment('2026-07-01T12:00:00Z'), 'Europe/Berlin')).toBe('Europe/Berlin (UTC+2)')
  expect(zoneText(moment('2026-07-01T12:00:00Z'), 'America/New_York')).toBe('America/New York (UTC−4)')
  expect(offsetText(0, 'Asia/Kolkata')).toBe('UTC+5:30')
  expect(zoneText(0, 'UTC')).toBe('UTC')
  expect(zonedText(moment('2026-11-27T17:05:00Z'), 'Europe/Berlin')).toBe('11/27/2026 06:05 PM')
  expect(zonedText(moment('2026-11-27T23:00:00Z'), 'Europe/Berlin')).toBe('11/28/2026 12:00 AM')
})

test.for(['', '2026-11-27', '2026-13-27T10:00', '2026-02-30T10:00Z', 'tomorrow'])('%j is no local time', (value) => {
  expect(localOfInput(value)).toBeUndefined()
})
