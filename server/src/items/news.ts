/**
 * What is new to a player (design §7, News): one number, which each activation raises; an announcement carries the number of its last
 * activation, a player the number that was shown to them. A player has news while an active announcement carries a higher one, so one that
 * is made inactive or deleted is none any more. Whoever makes announcements active calls `raiseNews` in the same transaction.
 */
import { type Kysely, sql, type Transaction } from 'kysely'
import type { Tables } from '#src/db/tables.ts'

/**
 * Raises the number for each announcement that has just become active, which then carries it. The row that holds it is locked until the
 * transaction ends, so a lower number is never committed after a higher one, and whoever reads one misses none below.
 */
export async function raiseNews(tx: Transaction<Tables>, announcementIds: readonly string[]): Promise<void> {
  if (announcementIds.length === 0) return
  await sql`
    with raised as (update status_epoch set epoch = epoch + ${announcementIds.length} returning epoch - ${announcementIds.length} as before)
    update announcements set news = before + place
      from raised, unnest(${announcementIds.toSorted()}::text[]) with ordinality as active (id, place)
     where announcements.id = active.id`.execute(tx)
}

/**
 * The same for active announcements that have never had a number, such as those that a server of an earlier version made active. Where all
 * have one it changes nothing, so that whoever repeats or prefetches it never bothers a player twice.
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

/** The number at this moment. It only grows. */
export async function readNews(db: Kysely<Tables>): Promise<number> {
  const { epoch } = await db.selectFrom('status_epoch').select('epoch').executeTakeFirstOrThrow()
  return epoch
}

/** The highest number that an active announcement carries, 0 if none does. A player has news who has seen less. */
export async function newsOf(db: Kysely<Tables>): Promise<number> {
  const { rows } = await sql<{ newest: number }>`select coalesce(max(news), 0) as newest from announcements where status`.execute(
    db,
  )
  return rows[0]!.newest
}

/**
 * Notes that a player was shown all up to a number, which `readNews` gave. One that comes late takes nothing back.
 * @returns whether there is such a player
 */
export async function showNews(tx: Kysely<Tables>, userId: number, upTo: number): Promise<boolean> {
  const { numAffectedRows } = await sql`
    update telegram_users set seen_status_epoch = greatest(seen_status_epoch, ${upTo}) where user_id = ${userId}`.execute(tx)
  return numAffectedRows === 1n
}
