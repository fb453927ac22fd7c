/**
 * `node server/test/keep-backups.ts [DATABASE_URL]`: writes a small backup for each migration that has none in kept-backups yet, and one
 * of the newest schema for this major version of PostgreSQL. Never change a kept backup: it is what a console of that version wrote.
 */
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { sql } from 'kysely'
import { pino } from 'pino'
import { makeBackup } from '#src/backup/backup.ts'
import { openDatabase } from '#src/db/database.ts'
import { loadMigrations } from '#src/db/migrate.ts'
import { diskStore } from '#src/files/disk.ts'
import { consoleRows } from './console-rows.ts'
import { keptBackupFile, memoryPlace } from './kept-backup.ts'

const base = await mkdtemp(path.join(os.tmpdir(), 'arcade-keep-'))
const log = pino({ level: 'silent' })
const steps = await loadMigrations()
let left = consoleRows
try {
  await mkdir(path.dirname(keptBackupFile('')), { recursive: true })
  for (const [index, { name }] of steps.entries()) {
    const options = { dataDir: path.join(base, 'data'), url: process.argv[2], use: 'command', log } as const
    const database = await openDatabase({ ...options, migrations: steps.slice(0, index + 1) })
    const later: string[] = []
    for (const statement of left) {
      const table = /^(?:insert into|update) (\w+)/.exec(statement)?.[1] ?? ''
      const { rows } = await sql<{ there: boolean }>`select to_regclass(${table}) is not null as there`.execute(database.db)
      if (rows[0]?.there) await sql.raw(statement).execute(database.db)
      else later.push(statement)
    }
    left = later
    const { rows: engine } = await sql<{ name: string }>`
      select 'postgres-' || current_setting('server_version_num')::int / 10000 as name`.execute(database.db)
    const names = index === steps.length - 1 ? [name, engine[0]!.name] : [name]
    for (const missing of names.filter((one) => !existsSync(keptBackupFile(one)))) {
      const place = memoryPlace()
      await makeBackup({ database, fileStore: diskStore(path.join(base, 'files')), place, compression: 'none' })
      await place.keep(keptBackupFile(missing))
      process.stdout.write(`${missing}\n`)
    }
    await database.close()
  }
} finally {
  await rm(base, { recursive: true, force: true })
}
