/**
 * Switches announcements by hand. Activating is news for players (design §7). The switch wins over the schedule: a date that contradicts it
 * no longer applies.
 */
import { sql, type Transaction } from 'kysely'
import { type Act, audit, changesBetween } from '#src/audit/audit.ts'
import { pauseBroadcastsOf } from '#src/broadcasts/ending.ts'
import { isoSql } from '#src/db/moments.ts'
import { raiseNews } from '#src/items/news.ts'
import type { Condition } from '#src/lists/list.ts'
import type { Tables } from '#src/db/tables.ts'
import { announcementRecord } from './announcements-list.ts'

interface Dates {
  startsAt: string | null
  endsAt: string | null
}

export interface Switched extends Dates {
  id: string
  title: string
  version: number
  /** The dates before. */
  before: Dates
}

/**
 * Changes the status of the announcements that have the other one, and writes their audit entries. A start in the future is removed, and so
 * is an end in the past if the announcement becomes active. Its broadcasts pause if it becomes inactive. Rows are locked in the order of their ids, so that two acts on the same rows
 * wait for each other instead of deadlocking.
 */
export async function switchStatus(
  tx: Transaction<Tables>,
  act: Act,
  { where, status }: { where: Condition; status: boolean },
): Promise<Switched[]> {
  const { rows: before } = await sql<Dates & { id: string }>`
    select id, ${dates} from announcements where (${where}) and status <> ${status} order by id for update`.execute(tx)
  if (before.length === 0) return []
  const ids = before.map(({ id }) => id)
  const isOver = sql`(${status} and coalesce(ends_at <= now(), false))`
  const { rows: after } = await sql<Omit<Switched, 'before'>>`
    update announcements
       set status = ${status}, version = version + 1,
           starts_at = case when starts_at > now() then null else starts_at end, start_pending = false,
           ends_at = case when ${isOver} then null else ends_at end, end_pending = end_pending and not ${isOver}
     where id = any(${ids}) returning id, title, version, ${dates}`.execute(tx)
  const earlier = new Map(before.map(({ id, startsAt, endsAt }) => [id, { startsAt, endsAt }]))
  const switched = after.map((row) => ({ ...row, before: earlier.get(row.id)! }))
  const entries = switched.map(({ before: was, startsAt, endsAt, version, ...record }) => ({
    record: announcementRecord(record),
    changes: { status: [!status, status] as const, ...changesBetween({ ...was }, { startsAt, endsAt }) },
    detail: { version },
  }))
  await audit(tx, act, status ? 'announcement.activate' : 'announcement.deactivate', entries)
  if (status) await raiseNews(tx, ids)
  else await pauseBroadcastsOf(tx, act, { announcementIds: ids, because: 'switched off' })
  return switched
}

const dates = sql.raw(`${isoSql('starts_at')} as "startsAt", ${isoSql('ends_at')} as "endsAt"`)

/** Says which dates no longer apply; nothing if all still do. */
export function scheduleText(switched: readonly Switched[]): { schedule?: string } {
  const starts = switched.flatMap(({ before, startsAt }) =>
    before.startsAt !== null && startsAt === null ? before.startsAt : [],
  )
  const ends = switched.flatMap(({ before, endsAt }) => (before.endsAt !== null && endsAt === null ? before.endsAt : []))
  const sentences = [...sentence('start', starts), ...sentence('end', ends)]
  return sentences.length === 0 ? {} : { schedule: sentences.join(' ') }
}

/** @param moments ISO texts */
function sentence(what: 'start' | 'end', moments: readonly string[]): string[] {
  const [first] = moments
  if (first === undefined) return []
  if (moments.length > 1) return [`The ${what}s of ${moments.length} announcements no longer apply.`]
  return [`The ${what} on ${first.slice(0, 10)} at ${first.slice(11, 16)} UTC no longer applies.`]
}
