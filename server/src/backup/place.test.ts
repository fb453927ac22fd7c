/** The addresses of places, and which of them lie below another. */
import { expect, test } from 'vitest'
import { openBelow, openPlace } from './place.ts'

test.each([
  ['s3://b/p?endpoint=http://x', 's3://b/p'],
  ['s3://b/p/?endpoint=http://x', 's3://b/p'],
  ['s3://b/p//?endpoint=http://x', 's3://b/p'],
  ['s3://b?endpoint=http://x', 's3://b'],
  ['s3://b/?endpoint=http://x', 's3://b'],
  ['/srv/backups', '/srv/backups'],
  ['/srv/backups//', '/srv/backups'],
])('the place of %s is %s, and what lies below it is found by its address', (address, shown) => {
  const place = openPlace(address)
  expect(place.address).toBe(shown)
  expect(place.below('2026').address).toBe(`${shown}/2026`)
  expect(openBelow(place, place.below('2026').address)?.address).toBe(`${shown}/2026`)
  for (const other of [shown, `${shown}/`, `${shown}-2/2026`, 's3://other/2026', '/other/2026'])
    expect(openBelow(place, other)?.address, other).toBeUndefined()
})

test('all folders lie below the root of the file system', () => {
  expect(openPlace('/').address).toBe('/')
  expect(openBelow(openPlace('/'), '/2026')?.address).toBe('/2026')
})
