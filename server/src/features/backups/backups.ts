/** The call that shows admins the state of backups (design §8). */
import type { contract } from '@arcade/contract/contract'
import { type BackupSettings, backupState } from '#src/backup/schedule.ts'
import type { Handlers } from '#src/calls.ts'
import type { Database } from '#src/db/database.ts'

interface Services {
  database: Database
  backups: BackupSettings | undefined
}

export function backupsHandlers({ database, backups }: Services): Handlers<typeof contract.backups> {
  return { state: () => backupState(database, backups) }
}
