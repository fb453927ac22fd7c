/** The addresses of places, which of them lie below another, and what is read there. */
import { mkdtemp, rename, rm, symlink } from 'node:fs/promises'
import os from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
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

test.each([
  ['tables/a.zst', 'tables/a.zst'],
  ['files/announcements/1.png', 'files/announcements/1.png'],
  ['tables/a.zst', 'tables'],
  ['manifest.json', 'manifest.json'],
])('security: %s is refused if %s is a link, which tells nothing about the file elsewhere', async (name, linked) => {
  const base = await mkdtemp(join(os.tmpdir(), 'arcade-test-place-'))
  onTestFinished(() => rm(base, { recursive: true, force: true }))
  const place = openPlace(join(base, 'backups', 'one'))
  await place.put(name, Buffer.from('bytes'))
  // The place itself may be a link to another disk.
  await rename(join(base, 'backups'), join(base, 'disk'))
  await symlink(join(base, 'disk'), join(base, 'backups'))
  expect(String(await place.read(name))).toBe('bytes')

  await rename(join(base, 'disk/one', linked), join(base, 'elsewhere'))
  await symlink(join(base, 'elsewhere'), join(base, 'disk/one', linked))
  await expect(place.read(name)).rejects.toThrow(`${name} is not a regular file of this folder`)
  await expect(place.read(`${name}.other`)).resolves.toBeUndefined()
})
