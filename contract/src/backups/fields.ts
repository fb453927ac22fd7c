/** The steps in which a backup is made and verified, with their labels. */
export const backupSteps = {
  tables: 'Saving the tables',
  files: 'Saving the files',
  sums: 'Summing up what was saved',
  parts: 'Checking the checksums',
  load: 'Restoring on trial',
  audit: 'Checking the audit',
} as const
export type BackupStep = keyof typeof backupSteps
