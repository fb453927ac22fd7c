import { expect, test } from 'vitest'
import { quietUntil } from './quiet-hours.ts'

const NIGHT = { from: 22, to: 8, zone: 'Europe/Berlin' }
const until = (moment: string, hours = NIGHT) => quietUntil(new Date(moment), hours)?.toISOString()

test('quiet hours end at their full hour by the zone', () => {
  expect(until('2026-07-01T20:00:00Z')).toBe('2026-07-02T06:00:00.000Z')
  expect(until('2026-07-02T05:59:59Z')).toBe('2026-07-02T06:00:00.000Z')
  expect(until('2026-01-01T21:30:00Z')).toBe('2026-01-02T07:00:00.000Z')
})

test('outside of them nobody waits', () => {
  expect(until('2026-07-02T06:00:00Z')).toBeUndefined()
  expect(until('2026-07-01T19:59:59Z')).toBeUndefined()
  expect(until('2026-07-01T12:00:00Z', { ...NIGHT, from: 13, to: 14 })).toBeUndefined()
})

test('at a change of the clock they end when the clock shows their hour, which may come twice or not at all', () => {
  // On 29 March 2026 the clock goes from 2 to 3, on 25 October from 3 to 2.
  expect(until('2026-03-28T23:00:00Z')).toBe('2026-03-29T06:00:00.000Z')
  expect(until('2026-10-24T23:00:00Z')).toBe('2026-10-25T07:00:00.000Z')
  expect(until('2026-03-29T00:30:00Z', { from: 1, to: 2, zone: 'Europe/Berlin' })).toBe('2026-03-29T01:00:00.000Z')
  expect(until('2026-10-25T00:30:00Z', { from: 2, to: 3, zone: 'Europe/Berlin' })).toBe('2026-10-25T02:00:00.000Z')
})

test('a time zone that differs by half an hour is supported', () => {
  expect(until('2026-07-01T18:00:00Z', { from: 23, to: 7, zone: 'Asia/Kolkata' })).toBe('2026-07-02T01:30:00.000Z')
})
