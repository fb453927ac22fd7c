/**
 * What a move-in keeps: fields that the console has no place for, whether the game has set a player's details here since, and which
 * documents the last move-in has stored. A server of the previous version keeps working.
 */
import { type Kysely, sql } from 'kysely'

const tables = ['users', 'telegram_users', 'tasks', 'announcements', 'history_items', 'participations']

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const table of tables) {
    await sql`alter table ${sql.table(table)} add column from_before text`.execute(db)
    await sql
      .raw(`comment on column ${table}.from_before is 'Fields that the console has no place for, as JSON, kept by a move-in.'`)
      .execute(db)
  }
  await sql`alter table telegram_users add column details_set_at timestamptz`.execute(db)
  await sql
    .raw(
      `comment on column telegram_users.details_set_at is 'When the game last set details of the player; null if only imports did.'`,
    )
    .execute(db)
  await sql`create table moved_documents (part integer primary key, mapping text not null, hashes bytea not null)`.execute(db)
  await sql
    .raw(
      `comment on table moved_documents is 'Hashes of the documents that the last move-in has stored, some thousand in a row.'`,
    )
    .execute(db)
  await sql.raw(`comment on column moved_documents.mapping is 'A hash of what became of the documents.'`).execute(db)
}
