/**
 * News for players (design §7, News). Each activation of an announcement raises the news number. An announcement has the number of its last
 * activation, and a player the number that was last shown. A player has news while a live announcement has a higher number; others and
 * deleted ones do not count. Code that activates announcements calls `raiseNews` in the same transaction.
 */
import { type Kysely, sql, type Transaction } from 'kysely'
import type { Tables } from '#src/db/tables.ts'
import { announcementStateSql } from './state.ts'

/**
 * Gives each announcement that has just become active the next news number. The row with the number stays locked until the transaction ends,
 * so a lower number is never committed after a higher one, and a reader of a number misses none below it.
 */
export async function raiseNews(tx: Transaction<Tables>, announcementIds: readonly string[]): Promise<void> {
  if (announcementIds.length === 0) return
  await sql`
    with raised as (update status_epoch set epoch = epoch + ${announcementIds.length} returning epoch - ${announcementIds.length} as before)
    update announcements set news = before + ordinal
      from raised, unnest(${announcementIds.toSorted()}::text[]) with ordinality as active (id, ordinal)
     where announcements.id = active.id`.execute(tx)
}

/**
 * Gives a news number to each active announcement that has none, such as those that a server of an earlier version has activated. If all
 * have one, nothing changes, so repeating the call never notifies a player twice.
 * @returns these announcements
 */
export async function raiseMissingNews(tx: Transaction<Tables>): Promise<{ id: string; title: string }[]> {
  const { rows } = await sql<{ id: string; title: string }>`
    select id, title from announcements where status and news = 0 order by id for update`.execute(tx)
  await raiseNews(
    tx,
    rows.map(({ id }) => id),
  )
  return rows
}

/** Returns the current news number. It only grows. */
export async function readNews(db: Kysely<Tables>): Promise<number> {
  const { epoch } = await db.selectFrom('status_epoch').select('epoch').executeTakeFirstOrThrow()
  return epoch
}

/**
 * Returns the highest news number of the live announcements for each segment, null for everyone. A player whose number is lower has news, if
 * one of these is for the player.
 */
export async function readActiveNews(db: Kysely<Tables>): Promise<{ segmentId: string | null; newest: number }[]> {
  const { rows } = await sql<{ segmentId: string | null; newest: number }>`
    select segment_id as "segmentId", max(news) as newest from announcements
     where ${sql.raw(announcementStateSql())} = 'live' group by segment_id`.execute(db)
  return rows
}

/**
 * Records that a player was shown the news up to a number from `readNews`. A late call with a lower number changes nothing.
 * @returns whether there is such a player
 */
export async function markNewsSeen(tx: Kysely<Tables>, userId: number, upTo: number): Promise<boolean> {
  const { numAffectedRows } = await sql`
    update telegram_users set seen_status_epoch = greatest(seen_status_epoch, ${upTo}) where user_id = ${userId}`.execute(tx)
  return numAffectedRows === 1n
}
