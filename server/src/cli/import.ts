/** `arcade import` and `arcade seed`: loads rows from files, or makes synthetic ones. */
import { basename } from 'node:path'
import { actOfProcess, audit } from '#src/audit/audit.ts'
import { importDirectory } from '#src/import/import.ts'
import { seed } from '#src/import/seed.ts'
import type { RunOnDatabase } from './on-database.ts'

/** The exit code of an import that refused rows. */
const ROWS_REFUSED = 2

export function importFrom(directory: string, { isDryRun }: { isDryRun: boolean }): RunOnDatabase {
  return async ({ database, print }) => {
    const act = actOfProcess('command', 'arcade import')
    const record = { kind: 'installation', id: 'import', name: basename(directory) } as const
    // A dry run changes nothing, so it writes no audit entry either.
    const auditImport = async (detail: Record<string, unknown>): Promise<void> => {
      if (!isDryRun) await audit(database.db, act, 'data.import', { record, detail })
    }
    await auditImport({ state: 'begun' })
    const report = await importDirectory({ database, directory, isDryRun, log: print })
    const files = report.files.map(({ file, read, loaded, rejected }) => ({ file, read, loaded, rejected }))
    await auditImport({ state: 'done', files })
    return report.files.some((file) => file.rejected > 0) ? ROWS_REFUSED : 0
  }
}

export function seedRows(rows: { telegramUsers: number; participations: number }): RunOnDatabase {
  return async ({ database, print }) => {
    await audit(database.db, actOfProcess('command', 'arcade seed'), 'data.seed', { detail: rows })
    await seed({ database, ...rows, log: print })
  }
}
