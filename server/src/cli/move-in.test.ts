/** `arcade move-in`: its output, exit codes and audit. */
import { mkdtemp, readdir, rm } from 'node:fs/promises'
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
