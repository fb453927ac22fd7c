/** `arcade move-in`: its output, exit codes and audit. */
import { mkdtemp, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { sql } from 'kysely'
import { expect, onTestFinished, test, vi } from 'vitest'
import { writeExport } from '#test/firestore-export.ts'
import { arcade } from '#test/run-arcade.ts'
import { testDatabase } from '#test/test-database.ts'

const users = { 'users/a': { fname: 'Ada', lname: 'L', email: 'ada@gmail.com', userType: 'admin' } }

test('design §8 move-in reports in words or as JSON, ends with 2 if something was refused, and is audited', async () => {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'arcade-test-move-in-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  vi.stubEnv('INIT_CWD', folder)
  await writeExport(path.join(folder, 'game/firestore_export'), { files: [users] })
  const dry = await arcade('move-in', 'game', '--dry-run')
  expect(dry).toMatchObject({
    code: 0,
    output: expect.stringContaining('users: 1 read, 1 new, 0 changed, 0 unchanged, 0 refused') as unknown,
  })
  expect(dry.output).toContain('This was a dry run: nothing was changed. The real run takes about')

  const real = await arcade('move-in', 'game', '--json')
  expect(real.code).toBe(0)
  const report = JSON.parse(real.output.slice(real.output.indexOf('{'))) as unknown
  expect(report).toMatchObject({
    isDryRun: false,
    collections: { users: { read: 1, new: 1, changed: 0, unchanged: 0, refused: 0 } },
  })
  const { db } = await testDatabase()
  const { rows: entries } = await sql`select action, record_id, record_name from audit_trail`.execute(db)
  expect(entries).toEqual([1, 2].map(() => ({ action: 'data.import', record_id: 'move-in', record_name: 'game' })))

  await writeExport(path.join(folder, 'game/firestore_export'), { files: [{ ...users, 'users/b': { fname: 'Bo' } }] })
  const refused = await arcade('move-in', 'game')
  expect(refused.code).toBe(2)
  expect(refused.output).toContain('  refused: lname is required: users/b')
  expect(await readdir(folder)).toEqual(['game', 'rejected.ndjson'])
  expect(await arcade('move-in', 'none')).toMatchObject({
    code: 1,
    output: expect.stringContaining('There is no directory') as unknown,
  })
})

const OUTPUT = 'firestore_export/all_namespaces/all_kinds/output-0'

test.each<[string, (folder: string) => Promise<unknown>, RegExp]>([
  [
    'a file that was cut off',
    async (folder) => truncate(path.join(folder, OUTPUT), (await readFile(path.join(folder, OUTPUT))).length - 2),
    /output-0 ends at byte \d+ in the middle of the record that begins at byte 0\. Copy the export again\.$/,
  ],
  [
    'a flipped bit',
    async (folder) => {
      const bytes = await readFile(path.join(folder, OUTPUT))
      bytes[40]! ^= 8
      await writeFile(path.join(folder, OUTPUT), bytes)
    },
    /output-0 is damaged at byte 0: the checksum of a record is wrong\. Copy the export again\.$/,
  ],
  [
    'a folder that is no export',
    (folder) => rm(path.join(folder, 'firestore_export'), { recursive: true }),
    /^\S+ contains nothing to move in: expected an export of Firestore \(a folder with …overall_export_metadata\) or auth\.json\.$/,
  ],
  [
    'two exports',
    (folder) => writeExport(path.join(folder, 'other'), { files: [users] }),
    /^There are several exports of Firestore in \S+: \S+, \S+\. Leave the one to move in\.$/,
  ],
  [
    'a backup of 2017',
    async (folder) => {
      await rm(path.join(folder, 'firestore_export'), { recursive: true })
      await writeFile(path.join(folder, 'users.backup_info'), '')
    },
    /^\S+users\.backup_info is of a backup of App Engine's Datastore Admin/,
  ],
  [
    'accounts as CSV',
    (folder) => writeFile(path.join(folder, 'auth.csv'), 'uid,email'),
    /auth\.csv is not JSON\. A CSV file does not say enough: run firebase auth:export auth\.json --format=JSON\.$/,
  ],
])('design §8 %s ends move-in and its dry run with 1 and one sentence; nothing is changed', async (_what, spoil, sentence) => {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'arcade-test-move-in-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  await writeExport(path.join(folder, 'firestore_export'), { files: [users] })
  await spoil(folder)
  for (const option of [[], ['--dry-run', '--json']]) {
    const { code, output } = await arcade('move-in', folder, ...option)
    const said = output.split('\n').filter((line) => line !== '' && !line.startsWith('Reading '))
    expect([code, said.length], output).toEqual([1, 1])
    expect(said[0]).toMatch(sentence)
  }
  const { db } = await testDatabase()
  const { rows } = await sql`select id from users union all select action from audit_trail`.execute(db)
  expect(rows).toEqual([])
})
