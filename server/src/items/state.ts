/**
 * The state of tasks and announcements as SQL: lists, the bot's calls and claims use the same expression. It follows from the database's
 * clock at the moment of the statement, so a date takes effect even before the scheduler has acted on it.
 */

const TODAY = `(now() at time zone 'UTC')::date`

/** @param item the alias of the table */
function limitedSql(item: string): string {
  return `when ${item}.full_at is not null or ${item}.budget_spent_on = ${TODAY} then 'full' else 'live' end`
}

/** Returns SQL for the state of a task: `scheduled`, `live`, `paused`, `ended` or `full`. */
export function taskStateSql(item = 'tasks'): string {
  return `case when ${item}.ends_at <= now() then 'ended' when ${item}.paused then 'paused'
    when ${item}.starts_at > now() then 'scheduled' ${limitedSql(item)}`
}

/** Returns SQL for the state of an announcement: `draft`, `scheduled`, `live`, `ended` or `full`. */
export function announcementStateSql(item = 'announcements'): string {
  return `case when ${item}.ends_at <= now() then 'ended'
    when not ${item}.status then case when ${item}.start_pending then 'scheduled' else 'draft' end ${limitedSql(item)}`
}
