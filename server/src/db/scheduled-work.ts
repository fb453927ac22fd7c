/** Whether scheduled work waits for a person's go, as it does after a restore: two consoles must not do the same work. */
import { type Kysely, sql } from 'kysely'
import type { Tables } from './tables.ts'

export interface Pause {
  since: Date
  reason: string
}

/** Why scheduled work is paused; `undefined` if it is not. To be asked before each piece of it. */
export async function findPause(db: Kysely<Tables>): Promise<Pause | undefined> {
  return db.selectFrom('scheduled_work_pauses').select(['since', 'reason']).executeTakeFirst()
}

export async function pauseScheduledWork(db: Kysely<Tables>, reason: string): Promise<void> {
  await db
    .insertInto('scheduled_work_pauses')
    .values({ reason })
    .onConflict((conflict) => conflict.column('id').doUpdateSet({ reason, since: sql<Date>`now()` }))
    .execute()
}

/** The pause that it ended; `undefined` if there was none. */
export async function resumeScheduledWork(db: Kysely<Tables>): Promise<Pause | undefined> {
  return db.deleteFrom('scheduled_work_pauses').returning(['since', 'reason']).executeTakeFirst()
}
