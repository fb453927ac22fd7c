/** Where an import writes the rows that it rejects (design §8). */
import { execFileSync } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { gzipSync } from 'node:zlib'
import { expect, onTestFinished, test } from 'vitest'
import { testDatabase } from '#test/test-database.ts'
import { importDirectory } from './import.ts'

const PLAYER = '{"id":"1","firstName":"Ada","balance":1}\n'
const USER = '{"id":"a","fname":"A","lname":"X","email":"a@gmail.com","userType":"admin","createdAt":1778001600000}\n'

async function directoryOf(files: Record<string, string | Buffer>): Promise<string> {
  const directory = await mkdtemp(path.join(os.tmpdir(), 'arcade-test-import-'))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  for (const [name, text] of Object.entries(files)) await writeFile(path.join(directory, `${name}.ndjson`), text)
  return directory
}

test('design §8 rejected.ndjson of an earlier import is kept; later files get a number', async () => {
  const database = await testDatabase()
  const directory = await directoryOf({ telegramUsers: '[]\n', rejected: 'old\n' })
  const importing = () => importDirectory({ database, directory, rejectedPath: path.join(directory, 'rejected.ndjson') })
  const names = async () => (await readdir(directory)).toSorted()
  expect((await importing()).rejectedPath).toBe(path.join(directory, 'rejected-2.ndjson'))
  expect((await importing()).rejectedPath).toBe(path.join(directory, 'rejected-3.ndjson'))
  expect(await readFile(path.join(directory, 'rejected.ndjson'), 'utf8')).toBe('old\n')
  await writeFile(path.join(directory, 'telegramUsers.ndjson'), PLAYER)
  const good = await importing()
  expect(good).toMatchObject({ unknown: [] })
  expect(good.rejectedPath).toBeUndefined()
  expect(await names()).toEqual(['rejected-2.ndjson', 'rejected-3.ndjson', 'rejected.ndjson', 'telegramUsers.ndjson'])
})

test('design §8 only the owner can read rejected.ndjson', async () => {
  const directory = await directoryOf({ telegramUsers: '[]\n' })
  const rejectedPath = path.join(directory, 'rejected.ndjson')
  await importDirectory({ database: await testDatabase(), directory, rejectedPath })
  expect((await stat(rejectedPath)).mode & 0o777).toBe(0o600)
})

test('design §8 if rejected rows cannot be written to a file, the good ones load, and the log has the rest', async () => {
  const database = await testDatabase()
  const directory = await directoryOf({ telegramUsers: `[]\n${PLAYER}`, users: USER })
  const rejectedPath = path.join(directory, 'users.ndjson', 'rejected.ndjson') // nothing can be created below a file
  const lines: string[] = []
  const report = await importDirectory({ database, directory, rejectedPath, log: (line) => lines.push(line) })
  expect(report.files.map(({ loaded, rejected }) => [loaded, rejected])).toEqual([
    [1, 0],
    [1, 1],
  ])
  expect(report.rejectedPath).toBeUndefined()
  expect(lines).toContain('telegramUsers.ndjson:1: The line is not a JSON object')
  expect(lines.filter((line) => line.includes('could not be written down (ENOTDIR'))).toEqual([
    expect.stringContaining(rejectedPath),
  ])
})

test.each([
  ['UTF-16', Buffer.from(`\ufeff${PLAYER}`, 'utf16le'), 'is in UTF-16: save it as UTF-8'],
  ['UTF-16 without a byte order mark', Buffer.from(PLAYER, 'utf16le'), 'is in UTF-16: save it as UTF-8'],
  ['UTF-16 in the other byte order', Buffer.from(`\ufeff${PLAYER}`, 'utf16le').swap16(), 'is in UTF-16: save it as UTF-8'],
  ['gzip', gzipSync(PLAYER), 'is compressed with gzip: unpack it first'],
])('design §8 a file in %s is refused as a whole, in one line, and nothing is loaded', async (_name, telegramUsers, reason) => {
  const database = await testDatabase()
  const directory = await directoryOf({ users: USER, telegramUsers })
  const importing = importDirectory({ database, directory, rejectedPath: path.join(directory, 'rejected.ndjson') })
  await expect(importing).rejects.toThrow(`telegramUsers.ndjson ${reason}, so nothing was loaded.`)
  expect(await database.db.selectFrom('users').select('id').execute()).toEqual([])
})

test('design §8 a named pipe is read from its first byte', async () => {
  const database = await testDatabase()
  const directory = await directoryOf({})
  const pipe = path.join(directory, 'users.ndjson')
  execFileSync('mkfifo', [pipe])
  const [report] = await Promise.all([importDirectory({ database, directory }), writeFile(pipe, USER)])
  expect(report.files).toMatchObject([{ loaded: 1, rejected: 0 }])
})
