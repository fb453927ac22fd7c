/** Backups of every earlier version of the console, and of earlier versions of PostgreSQL, can be restored (design §4, Upgrades). */
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { sql } from 'kysely'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { verifyAudit } from '#src/audit/verify.ts'
import { readManifest } from '#src/backup/manifest.ts'
import { restoreBackup } from '#src/backup/restore.ts'
import { openDatabase } from '#src/db/database.ts'
import { loadMigrations } from '#src/db/migrate.ts'
import { diskStore } from '#src/files/disk.ts'
import { addRows, rowsOfTables, endedTables } from '#test/console-rows.ts'
import { keptBackupFile, readKeptBackup } from '#test/kept-backup.ts'
import { createDatabase, testDatabase } from '#test/test-database.ts'

const log = pino({ level: 'silent' })
const steps = (await loadMigrations()).map(({ name }) => name)
let base: string
beforeAll(async () => {
  base = await mkdtemp(path.join(os.tmpdir(), 'arcade-test-kept-'))
})
afterAll(() => rm(base, { recursive: true, force: true }))

/** Tables that a restore clears or the server itself writes. */
const leftOut = new Set([...endedTables, 'scheduled_work_pauses'])
const isCompared = (name: string): boolean => !leftOut.has(name) && !/^(audit|counter)/.test(name)

test('design §4 there is a kept backup for every migration; node server/test/keep-backups.ts makes a new one', () => {
  expect(steps.filter((step) => !existsSync(keptBackupFile(step)))).toEqual([])
})

/** Made by PostgreSQL 15 of Debian, and by the present and the previous major version of the embedded one. */
const engines = ['postgres-15', 'postgres-17', 'postgres-18']

test.each([...steps, ...engines])('design §4 a console at %s is restored and migrated, and has the same rows', async (step) => {
  const database = await testDatabase()
  await addRows(database)
  await sql`update announcements set news = 7`.execute(database.db) // the number that a migration gives to active announcements
  await sql`update users set role = 'owner' where user_type = 'admin'`.execute(database.db) // as a migration does
  const expected = withoutMoments(await rowsOfTables(database.db))
  const place = await readKeptBackup(step)
  const { migrations, tables, postgres } = await readManifest(place)
  expect([migrations.at(-1), `postgres-${postgres.split('.')[0]}`]).toContain(step)

  const url = await createDatabase(`kept_${step.replace('-', '_')}`)
  const files = { store: diskStore(path.join(base, step)), address: step }
  await restoreBackup(place, { dataDir: '/nowhere', url, files, log })
  const restored = await openDatabase({ dataDir: '/nowhere', url, use: 'command', log })
  try {
    const rows = withoutMoments(await rowsOfTables(restored.db))
    const compared = tables.map(({ name }) => name).filter((name) => isCompared(name) && name in expected)
    expect(compared).toContain('telegram_users')
    for (const name of compared) expect(rows[name], name).toEqual(expected[name])
    expect((await verifyAudit(restored)).findings).toEqual([])
  } finally {
    await restored.close()
  }
})

/** Returns the rows without their timestamps, which differ in every run. */
function withoutMoments(tables: Record<string, string[]>): Record<string, unknown[]> {
  const keep = (row: string): Record<string, unknown> =>
    Object.fromEntries(Object.entries(JSON.parse(row) as Record<string, unknown>).filter(([name]) => !name.endsWith('_at')))
  return Object.fromEntries(
    Object.entries(tables).map(([name, rows]) => [
      name,
      rows.map(keep).toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)),
    ]),
  )
}
