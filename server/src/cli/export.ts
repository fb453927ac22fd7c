/** `arcade export`: writes all collections as files that an import can read. */
import { basename, resolve } from 'node:path'
import { actOfProcess, audit } from '#src/audit/audit.ts'
import { callerDirectory } from '#src/config.ts'
import { openFileStore } from '#src/files/files.ts'
import { exportDirectory } from '#src/import/export.ts'
import type { RunOnDatabase } from './on-database.ts'

/** The exit code if files of announcements are missing in the store. */
const FILES_MISSING = 2

export function exportInto(given: string): RunOnDatabase {
  return async ({ database, config, print }) => {
    const directory = resolve(callerDirectory(), given)
    const record = { kind: 'installation', id: 'export', name: basename(directory) } as const
    const onBegin = (): Promise<void> => audit(database.db, actOfProcess('command', 'arcade export'), 'export', { record })
    const { files, stored, missing } = await exportDirectory({ database, store: openFileStore(config), directory, onBegin })
    for (const { file, rows } of files) print(`${file}: ${rows} rows`)
    print(`files: ${stored}`)
    for (const key of missing) print(`The file ${key} belongs to an announcement, but is not in the file store.`)
    return missing.length > 0 ? FILES_MISSING : 0
  }
}
