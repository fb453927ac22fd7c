/**
 * The constraint on priorities becomes immediate. PostgreSQL inserts into a deferrable unique index first and checks afterwards, so that
 * two tasks added with the same priority waited for each other until one was ended as a deadlock.
 */
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table tasks
      drop constraint tasks_priority_key,
      add constraint tasks_priority_key unique (collection, priority)`.execute(db)
}
