/** The password that `arcade admin create` and `arcade move-in` read. */
import { Readable } from 'node:stream'
import { expect, test } from 'vitest'
import { readPassword } from './admins.ts'

test('a password is read without the line break at its end', async () => {
  for (const end of ['', '\n', '\r\n'])
    expect(await readPassword(Readable.from([Buffer.from(`pässwörd${end}`)]))).toBe('pässwörd')
})

test('a password that is not UTF-8 is refused', async () => {
  const latin1 = Readable.from([Buffer.from('pässwörd\n', 'latin1')])
  await expect(readPassword(latin1)).rejects.toThrow('The password is not UTF-8.')
})
