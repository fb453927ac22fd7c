/**
 * Changes the dates of many items at once: moves them, ends the items now, or puts back what an act has changed. Rows are locked in the order
 * of their ids, so that two acts on the same rows wait for each other instead of deadlocking. The caller writes the audit entries.
 */
import { type RawBuilder, sql, type Transaction } from 'kysely'
import type { HistoryKind } from '@arcade/contract/history/fields'
import { DATES_END_MS } from '@arcade/contract/items/fields'
import { Failure } from '#src/calls.ts'
import { isoSql } from '#src/db/moments.ts'
import type { Tables } from '#src/db/tables.ts'
import { notifySchedule } from './schedule-notice.ts'
import { announcementStateSql, taskStateSql } from './state.ts'

/** The fields that these acts change; tasks have no status. */
export interface Dates {
  startsAt: string | null
  endsAt: string | null
  status?: boolean
}

export interface Redated {
  id: string
  title: string
  version: number
  before: Dates
  after: Dates
}

interface Refused {
  id: string
  title: string
  reason: string
}

type Condition = RawBuilder<boolean>

/** The table of a kind, and the condition for the rows of that kind. */
function rowsOf(kind: HistoryKind): { table: RawBuilder<unknown>; isOfKind: Condition; fields: RawBuilder<unknown> } {
  const dates = `${isoSql('starts_at')} as "startsAt", ${isoSql('ends_at')} as "endsAt"`
  const isAnnouncement = kind === 'announcement'
  return {
    table: sql.table(isAnnouncement ? 'announcements' : 'tasks'),
    isOfKind: isAnnouncement ? sql<boolean>`true` : sql<boolean>`collection = ${kind}`,
    fields: sql.raw(`id, title, version, ${dates}${isAnnouncement ? ', status' : ''}`),
  }
}

type Row = Pick<Redated, 'id' | 'title' | 'version'> & Dates

function datesOf({ startsAt, endsAt, status }: Row): Dates {
  return { startsAt, endsAt, ...(status !== undefined && { status }) }
}

function redated(before: readonly Row[], after: readonly Row[]): Redated[] {
  const earlier = new Map(before.map((row) => [row.id, row]))
  return after.map((row) => {
    const { id, title, version } = row
    return { id, title, version, before: datesOf(earlier.get(id)!), after: datesOf(row) }
  })
}

interface Shift {
  where: Condition
  days: number
  minutes: number
  /** The time zone of the days. */
  zone: string
}

/**
 * Moves the dates that are still to come. Items that have none, or that could not be saved with the new dates, stay as they are.
 * @throws Failure INVALID_INPUT if the database does not know the zone
 */
export async function shiftDates(
  tx: Transaction<Tables>,
  kind: HistoryKind,
  { where, days, minutes, zone }: Shift,
): Promise<{ changed: Redated[]; refused: Refused[] }> {
  await refuseUnknownZone(tx, zone)
  const { table, isOfKind, fields } = rowsOf(kind)
  const moved = (date: string) => sql`((${sql.raw(date)} at time zone ${zone}::text + make_interval(days => ${days}::int))
    at time zone ${zone}::text + make_interval(mins => ${minutes}::int))`
  const start = sql`case when ${START_TO_COME} then ${moved('starts_at')} else starts_at end`
  const end = sql`case when ${END_TO_COME} then ${moved('ends_at')} else ends_at end`
  const { rows } = await sql<Row & { reason: string | null }>`
    select ${fields}, case when not coalesce(${START_TO_COME}, false) and not coalesce(${END_TO_COME}, false) then ${NO_DATE}
        when ${START_TO_COME} and ${moved('starts_at')} <= now() then 'It would start in the past.'
        when ${END_TO_COME} and ${moved('ends_at')} <= now() then 'It would end in the past.'
        when greatest(${start}, ${end}) >= to_timestamp(${DATES_END_MS / 1000}) then 'It would start or end after 2099.'
        when ${end} <= ${start} then 'The clocks change then, so it would end before it starts.' end as reason
      from ${table} where ${isOfKind} and (${where}) order by id for update`.execute(tx)
  const movable = rows.filter(({ reason }) => reason === null)
  const { rows: after } = await sql<Row>`
    update ${table} set version = version + 1,
           starts_at = ${start}, ends_at = ${end}
     where ${isOfKind} and id = any(${movable.map(({ id }) => id)}) returning ${fields}`.execute(tx)
  if (after.length > 0) await notifySchedule(tx)
  const refused = rows.flatMap(({ id, title, reason }) => (reason === null ? [] : { id, title, reason }))
  return { changed: redated(movable, after), refused }
}

const START_TO_COME = sql`(start_pending and starts_at > now())`
const END_TO_COME = sql`(end_pending and ends_at > now())`
const NO_DATE = sql.lit('It has no start or end to come.')

async function refuseUnknownZone(tx: Transaction<Tables>, zone: string): Promise<void> {
  if (zone === 'UTC') return
  const { rows } = await sql`select from pg_timezone_names where name = ${zone}`.execute(tx)
  const message = 'There is no such time zone'
  if (rows.length === 0) throw new Failure('INVALID_INPUT', { message, fields: { zone: message } })
}

/** Ends items now, except drafts and those that have ended. A start that has not come no longer applies; announcements become inactive. */
export async function endNow(tx: Transaction<Tables>, kind: HistoryKind, where: Condition): Promise<Redated[]> {
  const { table, isOfKind, fields } = rowsOf(kind)
  const isAnnouncement = kind === 'announcement'
  const state = sql.raw(isAnnouncement ? announcementStateSql() : taskStateSql())
  // now() is the beginning of this transaction. Another one may have ended the item while this one waited for its row.
  const isEnded = sql`coalesce(ends_at <= clock_timestamp(), false)`
  const { rows: before } = await sql<Row>`
    select ${fields} from ${table} where ${isOfKind} and (${where}) and ${state} not in ('draft', 'ended') and not ${isEnded}
     order by id for update`.execute(tx)
  const { rows: after } = await sql<Row>`
    update ${table} set version = version + 1, ends_at = date_trunc('milliseconds', now()), end_pending = false, start_pending = false,
           starts_at = case when starts_at > now() then null else starts_at end ${isAnnouncement ? sql`, status = false` : sql``}
     where ${isOfKind} and id = any(${before.map(({ id }) => id)}) returning ${fields}`.execute(tx)
  return redated(before, after)
}

/** What an undone act had changed in one item, with the values from before. */
export interface PutBack extends Partial<Dates> {
  id: string
  paused?: boolean
}

/** Gives items their earlier dates, status or pause. A date that has come meanwhile takes no effect. */
export async function putBack(tx: Transaction<Tables>, kind: HistoryKind, items: readonly PutBack[]): Promise<void> {
  if (items.length === 0) return
  const { table, isOfKind } = rowsOf(kind)
  const flag = sql.raw(kind === 'announcement' ? 'status' : 'paused')
  const rows = items.map((item) => ({ ...item, hasStart: item.startsAt !== undefined, hasEnd: item.endsAt !== undefined }))
  await sql`
    update ${table} as t set version = t.version + 1, ${flag} = coalesce(b.${flag}, t.${flag}),
           starts_at = case when b."hasStart" then b."startsAt" else t.starts_at end,
           start_pending = case when b."hasStart" then coalesce(b."startsAt" > now(), false) else t.start_pending end,
           ends_at = case when b."hasEnd" then b."endsAt" else t.ends_at end,
           end_pending = case when b."hasEnd" then coalesce(b."endsAt" > now(), false) else t.end_pending end
      from json_to_recordset(${JSON.stringify(rows)}::json)
        as b (id text, status boolean, paused boolean, "hasStart" boolean, "startsAt" timestamptz, "hasEnd" boolean, "endsAt" timestamptz)
     where t.id = b.id and ${isOfKind}`.execute(tx)
  await notifySchedule(tx)
}
