/** Backups, for admins: schedule, recent backups and problems; starting one, cancelling it, verifying it. */
import { z } from 'zod'
import { call } from '#src/call.ts'
import { idField } from '#src/field-schemas.ts'
import { type BackupStep, backupSteps } from './fields.ts'

const moment = z.iso.datetime()

export const backupRun = z.object({
  id: z.string(),
  /** A folder on the server, or a URL without credentials. */
  place: z.string(),
  /** Who asked for it: BACKUP_SCHEDULE, an admin in the console, or the command line. */
  by: z.enum(['schedule', 'console', 'command']),
  /** The admin who asked for it in the console, unless that user was removed. */
  madeBy: z.string().nullable(),
  startedAt: moment,
  /** When the backup was complete; null while it is being made or if that failed. */
  finishedAt: moment.nullable(),
  /** When a trial restore succeeded and matched the saved data; null if that has not happened. */
  verifiedAt: moment.nullable(),
  /** When it was removed to make room for newer backups. */
  removedAt: moment.nullable(),
  rows: z.int().nullable(),
  bytes: z.int().nullable(),
  /** Why the backup failed, or why it cannot be used. */
  error: z.string().nullable(),
  /** Why the last verification did not come to an end. It says nothing about the backup. */
  verifyError: z.string().nullable(),
  /** Whether it failed because an admin cancelled it. */
  isCancelled: z.boolean(),
  /** Whether this server can verify it: it is complete, and where the server can read it. */
  canBeVerified: z.boolean(),
  /** How far the making or verifying of it is; null if neither is going on. */
  underWay: z
    .object({
      step: z.enum(Object.keys(backupSteps) as BackupStep[]),
      percent: z.int(),
      /** The bytes written or read so far. */
      bytes: z.int(),
      isCancelling: z.boolean(),
    })
    .nullable(),
})
export type BackupRun = z.infer<typeof backupRun>

export const backupState = z.object({
  /** Where the server makes backups: a folder, or a URL without credentials. */
  place: z.string(),
  /** How many good ones are kept, of the scheduled ones and of those started in the console. */
  keep: z.int(),
  /** The configured schedule; null if no backups are scheduled. */
  schedule: z.object({ times: z.string(), nextAt: moment.nullable() }).nullable(),
  /** Set after a restore: scheduled work is paused until an operator resumes it. */
  pause: z.object({ since: moment, reason: z.string() }).nullable(),
  /** A problem that an admin should know about at once. */
  alert: z.string().nullable(),
  /** The latest backups, newest first. */
  backups: z.array(backupRun),
})
export type BackupState = z.infer<typeof backupState>

const tags = ['Backups']
const done = z.object({ success: z.literal(true) })
const ofOne = z.strictObject({ id: idField })

export const backups = {
  state: call(['admin'], { needs: 'backups.manage' })
    .route({
      method: 'GET',
      path: '/api/backups',
      tags,
      summary: 'The plan of backups, the last ones, what is wrong',
    })
    .output(backupState),
  start: call(['admin'], { needs: 'backups.manage' })
    .route({ method: 'POST', path: '/api/backups', tags, summary: 'Begin a backup; one at a time is made or verified' })
    .input(z.strictObject({}))
    .output(done.extend({ id: idField })),
  verify: call(['admin'], { needs: 'backups.manage' })
    .route({
      method: 'POST',
      path: '/api/backups/{id}/verify',
      tags,
      summary: 'Begin to restore a backup on trial and to compare it with what was saved',
    })
    .input(ofOne)
    .output(done),
  cancel: call(['admin'], { needs: 'backups.manage', onFullDisk: 'small' })
    .route({ method: 'POST', path: '/api/backups/{id}/cancel', tags, summary: 'Stop making or verifying a backup' })
    .input(ofOne)
    .output(done),
}
