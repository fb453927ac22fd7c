import { expect, test } from 'vitest'
import { columnOf, dayOf, draggedMinutes, firstWeekday, barExtent, spanOf } from './days.ts'

const moment = (iso: string) => Date.parse(iso)
const [MONDAY, SUNDAY] = [1, 7]

test.for([
  ['week', '2026-11-27', MONDAY, '2026-11-23', '2026-11-29', 'Nov 23 – 29, 2026', '2026-11-22', '2026-11-30'],
  ['week', '2026-11-27', SUNDAY, '2026-11-22', '2026-11-28', 'Nov 22 – 28, 2026', '2026-11-21', '2026-11-29'],
  ['week', '2026-11-22', SUNDAY, '2026-11-22', '2026-11-28', 'Nov 22 – 28, 2026', '2026-11-21', '2026-11-29'],
  ['week', '2026-11-22', MONDAY, '2026-11-16', '2026-11-22', 'Nov 16 – 22, 2026', '2026-11-15', '2026-11-23'],
  ['week', '2026-12-31', MONDAY, '2026-12-28', '2027-01-03', 'Dec 28, 2026 – Jan 3, 2027', '2026-12-27', '2027-01-04'],
  ['week', '2026-11-30', MONDAY, '2026-11-30', '2026-12-06', 'Nov 30 – Dec 6, 2026', '2026-11-29', '2026-12-07'],
  ['month', '2026-11-27', MONDAY, '2026-11-01', '2026-11-30', 'November 2026', '2026-10-31', '2026-12-01'],
  ['month', '2028-02-01', MONDAY, '2028-02-01', '2028-02-29', 'February 2028', '2028-01-31', '2028-03-01'],
] as const)('the %s with %s, when weeks begin on day %s', ([kind, day, weekBegins, first, last, title, previous, next]) => {
  const span = spanOf(kind, day, 'Europe/Berlin', weekBegins)
  expect([span.days[0]!.name, span.days.at(-1)!.name]).toEqual([first, last])
  expect(span).toMatchObject({ title, previous, next })
})

test('days begin at midnight of the zone', () => {
  const { days, from, to } = spanOf('week', '2026-11-27', 'America/New_York', SUNDAY)
  expect(days.map(({ weekday, date, isWeekend }) => [weekday, date, isWeekend])).toEqual([
    ['Sun', 22, true],
    ['Mon', 23, false],
    ['Tue', 24, false],
    ['Wed', 25, false],
    ['Thu', 26, false],
    ['Fri', 27, false],
    ['Sat', 28, true],
  ])
  expect([from, to]).toEqual([moment('2026-11-22T05:00:00Z'), moment('2026-11-29T05:00:00Z')])
})

test('a day at a clock change is one column, though it has 23 or 25 hours', () => {
  const march = spanOf('month', '2026-03-15', 'Europe/Berlin', MONDAY)
  expect((march.days[28]!.to - march.days[28]!.from) / 3_600_000).toBe(23)
  expect(columnOf(moment('2026-03-29T22:00:00Z'), march)).toBe(29)
  const october = spanOf('month', '2026-10-15', 'Europe/Berlin', MONDAY)
  expect((october.days[24]!.to - october.days[24]!.from) / 3_600_000).toBe(25)
  expect(columnOf(moment('2026-10-25T10:30:00Z'), october)).toBe(24.5)
})

test('a day that a clock change begins starts at its first moment', () => {
  const { days } = spanOf('week', '2026-04-24', 'Africa/Cairo', SUNDAY) // there is no midnight on this Friday
  expect(days[5]).toMatchObject({ name: '2026-04-24', from: moment('2026-04-23T22:00:00Z') })
})

test.for([
  ['2026-11-27T18:00Z', '2026-11-29T12:00Z', { left: 5.75, right: 7, goesOnBefore: false, goesOnAfter: true }],
  ['2026-11-01T18:00Z', '2026-11-23T12:00Z', { left: 0, right: 1.5, goesOnBefore: true, goesOnAfter: false }],
  ['2026-11-23T00:00Z', '2026-11-24T00:00Z', { left: 1, right: 2, goesOnBefore: false, goesOnAfter: false }],
  [null, '2026-11-24T00:00Z', { left: 0, right: 2, goesOnBefore: true, goesOnAfter: false }],
  ['2026-11-23T00:00Z', null, { left: 1, right: 7, goesOnBefore: false, goesOnAfter: true }],
  ['2026-12-23T00:00Z', null, { left: 7, right: 7, goesOnBefore: false, goesOnAfter: true }],
] as const)('an item from %s to %s lies at %j', ([startsAt, endsAt, extent]) => {
  const span = spanOf('week', '2026-11-27', 'UTC', SUNDAY)
  const dates = { startsAt: startsAt && moment(startsAt), endsAt: endsAt && moment(endsAt) }
  expect(barExtent(dates, span)).toEqual(extent)
})

test.for([
  ['week', 0.01, 0],
  ['week', 0.02, 30],
  ['week', -1, -1440],
  ['week', 0.52, 750],
  ['month', 0.4, 0],
  ['month', 0.6, 1440],
  ['month', -2.2, -2880],
] as const)('in the %s, a drag over %s columns is %s minutes', ([kind, columns, minutes]) => {
  expect(draggedMinutes(columns, kind)).toBe(minutes)
})

test('today is a day of the zone, and weeks begin as in the operator’s country', () => {
  expect(dayOf(moment('2026-11-27T23:30:00Z'), 'Europe/Berlin')).toBe('2026-11-28')
  expect(dayOf(moment('2026-11-27T23:30:00Z'), 'America/New_York')).toBe('2026-11-27')
  expect([firstWeekday('en-US'), firstWeekday('de-DE')]).toEqual([SUNDAY, MONDAY])
})
