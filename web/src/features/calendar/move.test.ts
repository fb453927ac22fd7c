import type { CalendarItem } from '@arcade/contract/calendar/calls'
import { expect, test } from 'vitest'
import { checkMove, datesOf, datesText, movedDates } from './move.ts'

const zone = 'Europe/Berlin'
const NOW = Date.parse('2026-11-27T12:00:00Z')
const DAY = 24 * 60

function item(changes: Partial<CalendarItem> = {}): CalendarItem {
  return {
    kind: 'announcement',
    id: 'a',
    title: 'Season 3',
    startsAt: '2026-12-01T17:00:00.000Z',
    endsAt: '2026-12-03T19:00:00.000Z',
    state: 'scheduled',
    status: false,
    version: 1,
    ...changes,
  }
}

const isoDates = ({ startsAt, endsAt }: ReturnType<typeof datesOf>) =>
  [startsAt, endsAt].map((at) => at && new Date(at).toISOString().slice(0, 16))

const live = item({ status: true, state: 'live', startsAt: '2026-11-20T17:00:00.000Z' })

test.for([
  ['all of it', item(), 'whole', DAY, ['2026-12-02T17:00', '2026-12-04T19:00']],
  ['its start', item(), 'start', -DAY, ['2026-11-30T17:00', '2026-12-03T19:00']],
  ['its end', item(), 'end', 30, ['2026-12-01T17:00', '2026-12-03T19:30']],
  ['an item without an end', item({ endsAt: null }), 'whole', DAY, ['2026-12-02T17:00', null]],
  ['an item without a start', item({ startsAt: null }), 'whole', DAY, [null, '2026-12-04T19:00']],
  ['an active announcement, whose start stays', live, 'whole', DAY, ['2026-11-20T17:00', '2026-12-04T19:00']],
  ['an active task', { ...live, kind: 'daily', status: null }, 'whole', DAY, ['2026-11-21T17:00', '2026-12-04T19:00']],
] as const)('the calendar moves %s', ([, moved, part, minutes, dates]) => {
  expect(isoDates(movedDates(moved, datesOf(moved), { part: part, minutes, zone }))).toEqual(dates)
})

test('a move over a clock change keeps the time of day', () => {
  const moved = item({ startsAt: '2026-03-28T17:00:00Z', endsAt: '2026-03-28T19:00:00Z' })
  expect(isoDates(movedDates(moved, datesOf(moved), { part: 'whole', minutes: DAY, zone }))).toEqual([
    '2026-03-29T16:00',
    '2026-03-29T18:00',
  ])
})

test.for([
  [item(), '2026-12-05T17:00:00Z', '2026-12-03T19:00:00Z', 'Season 3 would end before it starts.'],
  [item(), '2026-12-03T19:00:00Z', '2026-12-03T19:00:00Z', 'Season 3 would end before it starts.'],
  [item(), '2026-11-20T19:00:00Z', '2026-11-27T12:00:00Z', /cannot end in the past/],
  [live, '2026-12-01T17:00:00Z', '2026-12-03T19:00:00Z', 'Season 3 has started: its start stays.'],
] as const)('%j cannot be moved to %s – %s', ([moved, startsAt, endsAt, refusal]) => {
  expect(checkMove(moved, datesOf({ startsAt, endsAt }), NOW).refusal).toMatch(refusal)
})

test('an announcement that would start at once is asked about, a task is not', () => {
  const past = datesOf({ startsAt: '2026-11-27T12:00:00Z', endsAt: '2026-12-03T19:00:00Z' })
  expect(checkMove(item(), past, NOW)).toMatchObject({ question: { title: 'Start now' } })
  expect(checkMove(item({ kind: 'social', status: null }), past, NOW)).toEqual({})
  expect(checkMove(item(), { ...past, startsAt: NOW + 1 }, NOW)).toEqual({})
})

test('an end that has passed does not keep the start from being moved, nor an active announcement from being prolonged', () => {
  const ended = item({ kind: 'daily', status: null, startsAt: '2026-11-01T00:00:00Z', endsAt: '2026-11-20T00:00:00Z' })
  expect(checkMove(ended, { ...datesOf(ended), startsAt: Date.parse('2026-11-02T00:00:00Z') }, NOW)).toEqual({})
  expect(checkMove(live, { ...datesOf(live), endsAt: NOW + 1 }, NOW)).toEqual({})
})

test.for([
  ['2026-12-01T17:00:00Z', '2026-12-03T19:00:00Z', 'Tue, Dec 1, 06:00 PM – Thu, Dec 3, 08:00 PM'],
  ['2026-12-01T17:00:00Z', '2026-12-01T19:00:00Z', 'Tue, Dec 1, 06:00 PM – 08:00 PM'],
  ['2026-12-01T23:30:00Z', null, 'from Wed, Dec 2, 12:30 AM'],
  [null, '2026-12-01T17:00:00Z', 'until Tue, Dec 1, 06:00 PM'],
  [null, null, 'no dates'],
] as const)('%s to %s is %s', ([startsAt, endsAt, text]) => {
  expect(datesText(datesOf({ startsAt, endsAt }), zone)).toBe(text)
})
