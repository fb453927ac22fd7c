/**
 * The time since which each backup schedule is in force, so that the console notices when the first backup is missing, however often
 * servers were started and stopped meanwhile.
 */
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create table backup_schedules (
     place text not null,
     times text not null,
     since timestamptz not null default now(),
     primary key (place, times))`.execute(db)
}
