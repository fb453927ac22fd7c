/** Dates that do not fit into a bar stand beside it, where they are whole. */
import { expect, test } from 'vitest'
import { sideOfText } from './bar-text.ts'
import { barExtent, spanOf } from './days.ts'

const DATES = 'Fri, Dec 4, 06:00 PM – Sun, Dec 6, 11:59 PM'
const WEEK_REM = 54 // the calendar in a window of 1440 pixels
const week = spanOf('week', '2026-12-04', 'UTC', 1) // from Monday the 30th of November

const at = (iso: string) => Date.parse(iso)

test.each([
  ['a long bar', '2026-12-01T00:00Z', '2026-12-05T00:00Z', 'inside'],
  ['a bar that is nearly long enough, near the end', '2026-12-04T18:00Z', '2026-12-06T23:59Z', 'start'],
  ['a short bar near the beginning', '2026-12-01T06:00Z', '2026-12-01T07:00Z', 'end'],
])('the dates of %s', (_, start, end, where) => {
  const extent = barExtent({ startsAt: at(start), endsAt: at(end) }, week)
  expect(sideOfText(DATES, extent, week, WEEK_REM)).toBe(where)
})

test('where no side has room, half of the dates would say nothing', () => {
  const extent = barExtent({ startsAt: at('2026-12-03T00:00Z'), endsAt: at('2026-12-04T00:00Z') }, week)
  expect(sideOfText(DATES, extent, week, 30)).toBe('nowhere')
  expect(sideOfText(DATES, extent, week, 0)).toBe('nowhere')
})
