/** What the form of a broadcast says of an announcement that players cannot find or claim. */
import { expect, test } from 'vitest'
import { availabilityNote } from './availability.ts'

const FRIDAY = '2099-12-04T18:00:00Z'
const SUNDAY = '2099-12-06T22:00:00Z'
const scheduled = { status: false, state: 'scheduled', startsAt: FRIDAY, endsAt: SUNDAY } as const
const minutesAfter = (iso: string, minutes: number) => Date.parse(iso) + minutes * 60_000

test('one that is Active, and still is when the broadcast begins, needs no word', () => {
  const live = { status: true, state: 'live', startsAt: null, endsAt: SUNDAY } as const
  expect(availabilityNote(live, undefined)).toBeUndefined()
  expect(availabilityNote(live, minutesAfter(SUNDAY, -1))).toBeUndefined()
  expect(availabilityNote(live, minutesAfter(SUNDAY, 0))).toMatch(/^It ends on .*, before the broadcast begins: players get/)
})

test('one that starts by itself is found if it starts first', () => {
  expect(availabilityNote(scheduled, minutesAfter(FRIDAY, 5))).toMatch(
    /^It becomes Active by itself on .*, before the broadcast begins\.$/,
  )
  expect(availabilityNote(scheduled, minutesAfter(FRIDAY, -5))).toMatch(/players who get the message before that do not find it/)
  expect(availabilityNote(scheduled, undefined)).toMatch(/players who get the message before that do not find it/)
})

test('one that is In Active without a start, has ended or is full', () => {
  const draft = { status: false, state: 'draft', startsAt: null, endsAt: null } as const
  expect(availabilityNote(draft, undefined)).toMatch(/^It is In Active: /)
  expect(availabilityNote({ ...draft, state: 'ended' }, undefined)).toMatch(/^It has ended: /)
  expect(availabilityNote({ ...draft, status: true, state: 'full' }, undefined)).toMatch(/^It is full: /)
})
