/** Pauses scheduled work after a restore until an operator resumes it, because two consoles must not do the same work. */
import { type Kysely, sql } from 'kysely'
import type { Tables } from './tables.ts'

export interface Pause {
  since: Date
  reason: string
}

/** Returns why scheduled work is paused, or `undefined` if it is not. Call this before each piece of work. */
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

/** Resumes scheduled work. Returns the pause that it ended, or `undefined` if there was none. */
export async function resumeScheduledWork(db: Kysely<Tables>): Promise<Pause | undefined> {
  return db.deleteFrom('scheduled_work_pauses').returning(['since', 'reason']).executeTakeFirst()
}
