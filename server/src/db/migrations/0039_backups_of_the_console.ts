/**
 * Backups that admins start in the console, the progress of a backup while it is made or verified, and why a verification failed. A server
 * of the previous version keeps working and leaves these columns empty.
 */
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table backups
    add column is_of_console boolean not null default false,
    add column made_by text references users (id) on delete set null,
    add column step text,
    add column percent smallint,
    add column done_bytes bigint,
    add column cancelled_at timestamptz,
    add column verify_error text`.execute(db)
  for (const [column, meaning] of Object.entries(meanings))
    await sql.raw(`comment on column backups.${column} is '${meaning}'`).execute(db)
}

const meanings = {
  is_of_console: 'Whether an admin started it in the console; false for scheduled ones and those of the command line.',
  made_by: 'The id of the admin who started it, unless that user was removed.',
  step: 'What a server or command is doing with the backup now; null if nothing.',
  percent: 'How much of the making or verifying under way is done.',
  done_bytes: 'How many bytes the making or verifying under way has written or read.',
  cancelled_at: 'When an admin asked to cancel the making or verifying under way, or the making that was cancelled.',
  verify_error:
    'Why the last verification did not come to an end; null if it did. What is wrong with the backup itself is in error.',
}
