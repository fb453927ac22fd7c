/** Tells the servers that dates of items have changed, so that a start or end that is due soon is not missed until the next look. */
import { type Kysely, sql } from 'kysely'
import type { Tables } from '#src/db/tables.ts'

export const SCHEDULE_CHANNEL = 'item_schedule'

/** Sends the notice when the transaction commits. */
export async function notifySchedule(tx: Kysely<Tables>): Promise<void> {
  await sql`select pg_notify(${SCHEDULE_CHANNEL}, '')`.execute(tx)
}
