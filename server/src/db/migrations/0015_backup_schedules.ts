/** Since when each schedule of backups is in force, so that a first backup which nobody made is missed, whatever servers began and ended meanwhile. */
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create table backup_schedules (
     place text not null,
     times text not null,
     since timestamptz not null default now(),
     primary key (place, times))`.execute(db)
}
