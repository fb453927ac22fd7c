/** The file store in a local folder. */
import { mkdtemp, rm, stat } from 'node:fs/promises'
import os from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { diskStore } from './disk.ts'

test('security: other users of the computer cannot list the folders of a store, whatever makes them first', async () => {
  const base = await mkdtemp(join(os.tmpdir(), 'arcade-test-disk-'))
  onTestFinished(() => rm(base, { recursive: true, force: true }))
  const modeOf = async (...path: string[]): Promise<string> => ((await stat(join(base, ...path))).mode & 0o777).toString(8)
  await diskStore(join(base, 'checked')).check()
  expect(await modeOf('checked')).toBe('700')
  await diskStore(join(base, 'put')).put('announcements/1.png', Buffer.from('x'), 'image/png')
  expect([await modeOf('put'), await modeOf('put', 'announcements')]).toEqual(['700', '700'])
})
