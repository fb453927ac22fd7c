import type { CalendarBroadcast, CalendarItem } from '@arcade/contract/calendar/calls'
import { expect, test } from 'vitest'
import { broadcastDates, broadcastText, entriesIn, entryKey, eventsOf, shortText } from './entries.ts'

const NOW = Date.parse('2026-11-27T12:00:00Z')
const zone = 'Europe/Berlin'

function broadcast(changes: Partial<CalendarBroadcast> = {}): CalendarBroadcast {
  return { id: 'a', title: 'News', startsAt: '2026-12-01T17:00:00.000Z', endsAt: null, state: 'scheduled', ...changes }
}

const item: CalendarItem = {
  kind: 'social',
  id: 'a',
  title: 'Season 3',
  startsAt: null,
  endsAt: '2026-12-03T19:00:00.000Z',
  state: 'live',
  status: null,
  version: 1,
}

const began = '2026-11-20T17:00:00.000Z'

test.for([
  ['a scheduled one is a moment', broadcast(), '2026-12-01T17:00'],
  ['an end is known', broadcast({ endsAt: '2026-12-01T20:00:00.000Z' }), '2026-12-01T20:00'],
  ['one that is being sent goes on until now', broadcast({ startsAt: began, state: 'sending' }), '2026-11-27T12:00'],
  ['one that is paused, too', broadcast({ startsAt: began, state: 'paused' }), '2026-11-27T12:00'],
  ['one that is paused and has not begun is a moment', broadcast({ state: 'paused' }), '2026-12-01T17:00'],
  ['one that is done has its end', broadcast({ startsAt: began, endsAt: began, state: 'done' }), '2026-11-20T17:00'],
] as const)('the end of a broadcast: %s', ([, shown, end]) => {
  expect(new Date(broadcastDates(shown, NOW).endsAt).toISOString().slice(0, 16)).toBe(end)
})

test.for([
  [null, 'Tue, Dec 1, 06:00 PM', '06:00 PM'],
  ['2026-12-01T17:00:30.000Z', 'Tue, Dec 1, 06:00 PM', '06:00 PM'],
  ['2026-12-01T19:00:00.000Z', 'Tue, Dec 1, 06:00 PM – 08:00 PM', '06:00 PM – 08:00 PM'],
  ['2026-12-02T19:00:00.000Z', 'Tue, Dec 1, 06:00 PM – Wed, Dec 2, 08:00 PM', 'Tue, Dec 1, 06:00 PM – Wed, Dec 2, 08:00 PM'],
] as const)('the times of a broadcast that ends at %s', ([endsAt, text, short]) => {
  expect(broadcastText(broadcast({ endsAt }), zone)).toBe(text)
  expect(shortText(broadcast({ endsAt }), zone)).toBe(short)
})

test('entries are within the span, by their start, those without one first, and of one kind', () => {
  const [from, to] = [Date.parse('2026-12-01T17:00:00Z'), Date.parse('2026-12-02T00:00:00Z')]
  const answer = {
    items: [item, { ...item, id: 'over', endsAt: '2026-12-01T17:00:00.000Z' }],
    broadcasts: [
      broadcast({ id: 'later', startsAt: '2026-12-01T18:00:00.000Z' }),
      broadcast({ id: 'first' }),
      broadcast({ id: 'before', startsAt: '2026-12-01T16:59:59.999Z' }),
      broadcast({ id: 'over', startsAt: began, endsAt: '2026-12-01T17:00:00.000Z', state: 'done' }),
      broadcast({ id: 'into', startsAt: began, endsAt: '2026-12-01T17:00:00.001Z', state: 'done' }),
      broadcast({ id: 'after', startsAt: '2026-12-02T00:00:00.000Z' }),
    ],
  }
  const keys = (kind?: 'broadcast' | 'social' | 'daily') => entriesIn(answer, { from, to }, { now: NOW, kind }).map(entryKey)
  expect(keys()).toEqual(['social a', 'broadcast into', 'broadcast first', 'broadcast later'])
  expect(keys('broadcast')).toEqual(['broadcast into', 'broadcast first', 'broadcast later'])
  expect(keys('social')).toEqual(['social a'])
  expect(keys('daily')).toEqual([])
})

test('the events of items and broadcasts', () => {
  const whats = (entry: Parameters<typeof eventsOf>[0]) => eventsOf(entry).map(({ what }) => what)
  expect(whats(item)).toEqual(['ends'])
  expect(whats(broadcast())).toEqual(['begins'])
  const endsAt = '2026-12-01T19:00:00.000Z'
  expect(whats(broadcast({ endsAt }))).toEqual(['begins', 'ends'])
  expect(whats(broadcast({ endsAt, state: 'sending' }))).toEqual(['began', 'ends'])
  expect(whats(broadcast({ endsAt, state: 'cancelled' }))).toEqual(['began', 'cancelled'])
  expect(whats(broadcast({ startsAt: began, endsAt: began, state: 'done' }))).toEqual(['began'])
})
