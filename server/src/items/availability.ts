/**
 * Saves when, for whom and how often an item can be claimed. A start or end takes effect once: a new date sets a mark, which the scheduler
 * clears when it has acted, and a date that is saved unchanged keeps its mark. Code that saves an item calls this in the same transaction,
 * after it has locked the item's row.
 */
import { type RawBuilder, sql, type Transaction } from 'kysely'
import type { HistoryKind } from '@arcade/contract/history/fields'
import { budgetPaysReward, endsAfterStart } from '@arcade/contract/items/availability'
import { Failure } from '#src/calls.ts'
import { counterOfRowSql } from '#src/counters/counters.ts'
import { databaseNow } from '#src/db/moments.ts'
import type { Tables } from '#src/db/tables.ts'
import { notifySchedule } from './schedule-notice.ts'

/** What the row of an item says, with dates as ISO texts. */
export interface Availability {
  startsAt: string | null
  endsAt: string | null
  maxParticipants: number | null
  dailyBudget: number | null
  segmentId: string | null
}

/** What a save says: a missing value stays as it is, and null clears it. */
export type AvailabilityInput = { readonly [Name in keyof Availability]?: Availability[Name] | undefined }

interface Saving {
  item: { kind: HistoryKind; id: string }
  /** The item as it is; null for a new one. */
  before: (Availability & { reward: number }) | null
  input: AvailabilityInput & { reward: number }
  /**
   * `restored`: an earlier version, whose dates may have passed; they then take no effect. `keptLive`: an announcement that stays active,
   * so it has started already.
   */
  how?: 'saved' | 'restored' | 'keptLive'
}

const none: Availability = { startsAt: null, endsAt: null, maxParticipants: null, dailyBudget: null, segmentId: null }

/** The columns that a save changes. */
export interface AvailabilityColumns {
  starts_at?: Date | null
  start_pending?: boolean
  ends_at?: Date | null
  end_pending?: boolean
  max_participants?: number | null
  daily_budget?: number | null
  segment_id?: string | null
  full_at?: RawBuilder<Date | null> | null
  budget_spent_on?: null
}

/**
 * Checks what a save says and returns the columns that it changes.
 * @throws Failure INVALID_INPUT, which names the field
 */
export async function changedAvailability(
  tx: Transaction<Tables>,
  { item, before, input, how = 'saved' }: Saving,
): Promise<AvailabilityColumns> {
  const earlier = before ?? { ...none, reward: input.reward }
  const after = merged(earlier, input)
  const isChanged = (name: keyof Availability): boolean => !isSame(earlier[name], after[name])
  const columns: AvailabilityColumns = {}
  if (isChanged('startsAt') || isChanged('endsAt')) {
    refuseUnless(endsAfterStart, { ...after, reward: input.reward })
    Object.assign(columns, changedDates(after, { isChanged, how, now: await databaseNow(tx) }))
    await notifySchedule(tx)
  }
  if (isChanged('dailyBudget') || earlier.reward !== input.reward)
    refuseUnless(budgetPaysReward, { ...after, reward: input.reward })
  if (isChanged('segmentId')) {
    if (after.segmentId !== null && !(await isSegment(tx, after.segmentId))) throw noSegment(how)
    columns.segment_id = after.segmentId
  }
  if (isChanged('maxParticipants')) columns.max_participants = after.maxParticipants
  if (isChanged('dailyBudget')) columns.daily_budget = after.dailyBudget
  const isLimited = after.maxParticipants !== null || after.dailyBudget !== null
  const isNewLimit = isChanged('maxParticipants') || isChanged('dailyBudget') || (isLimited && earlier.reward !== input.reward)
  if (before && isNewLimit) Object.assign(columns, await resetLimits(tx, item, after.maxParticipants))
  return columns
}

function merged(earlier: Availability, input: AvailabilityInput): Availability {
  const given = Object.entries(input).filter(([name, value]) => name in none && value !== undefined)
  const kept = Object.keys(none).map((name) => [name, earlier[name as keyof Availability]])
  return Object.fromEntries([...kept, ...given])
}

/** Dates are the same if they are the same moment, in whatever form. */
function isSame(before: string | number | null, after: string | number | null): boolean {
  if (typeof before !== 'string' || typeof after !== 'string') return before === after
  return before === after || Date.parse(before) === Date.parse(after)
}

function changedDates(
  { startsAt, endsAt }: Availability,
  { isChanged, how, now }: { isChanged: (name: keyof Availability) => boolean; how: Saving['how']; now: Date },
): AvailabilityColumns {
  const columns: AvailabilityColumns = {}
  if (isChanged('startsAt')) {
    columns.starts_at = startsAt === null ? null : new Date(startsAt)
    const isToCome = columns.starts_at !== null && columns.starts_at > now
    if (isToCome && how === 'keptLive')
      throw invalid('startsAt', 'It is live, so it cannot start later. Save it without keeping it live, or leave the start out.')
    columns.start_pending = how === 'saved' ? columns.starts_at !== null : isToCome
  }
  if (isChanged('endsAt')) {
    columns.ends_at = endsAt === null ? null : new Date(endsAt)
    const isToCome = columns.ends_at !== null && columns.ends_at > now
    if (columns.ends_at !== null && !isToCome && how !== 'restored') throw invalid('endsAt', 'Ends At must be in the future')
    columns.end_pending = isToCome
  }
  return columns
}

function refuseUnless({ holds, field, message }: typeof endsAfterStart, values: Parameters<typeof holds>[0]): void {
  if (!holds(values)) throw invalid(field, message)
}

function invalid(field: string, message: string): Failure {
  return new Failure('INVALID_INPUT', { message, fields: { [field]: message } })
}

/** Whether a view is a segment. One that is about to be deleted or made private waits for the transaction, and then finds the item. */
async function isSegment(tx: Transaction<Tables>, id: string): Promise<boolean> {
  const { rows } = await sql`select from saved_views where id = ${id} and ${sql.raw(IS_SEGMENT)} for key share`.execute(tx)
  return rows.length > 0
}

function noSegment(how: Saving['how']): Failure {
  if (how !== 'restored') return invalid('segmentId', 'Choose a shared view of Telegram Users')
  const message = 'This version cannot be restored: its segment does not exist any more, or is not shared any more.'
  return new Failure('NO_SUCH_SEGMENT', { message })
}

/** An SQL condition for the saved views that are segments. */
export const IS_SEGMENT = `list = 'telegramUsers' and private_to is null`

/**
 * Deletes the buckets of an item's limits; the next claim makes them anew. An item that already has its maximum of participants is marked as
 * full.
 */
async function resetLimits(
  tx: Transaction<Tables>,
  { kind, id }: Saving['item'],
  maxParticipants: number | null,
): Promise<AvailabilityColumns> {
  await deleteQuotas(tx, kind, [id])
  const isAnnouncement = kind === 'announcement'
  const taken = counterOfRowSql({
    of: 'participants',
    kind: isAnnouncement ? `'announcement'` : 'tasks.collection',
    itemId: isAnnouncement ? 'announcements.id' : 'tasks.id',
  })
  const row = isAnnouncement ? sql`announcements where id = ${id}` : sql`tasks where collection = ${kind} and id = ${id}`
  const { rows } = await sql<{ taken: number }>`select ${sql.raw(taken)} as taken from ${row}`.execute(tx)
  const isFull = maxParticipants !== null && rows[0] !== undefined && rows[0].taken >= maxParticipants
  return { full_at: isFull ? sql<Date | null>`coalesce(full_at, now())` : null, budget_spent_on: null }
}

/** Lets the next claims count anew what is left of the limits of items that an import has changed. */
export async function recountLimits(tx: Transaction<Tables>, kind: HistoryKind, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return
  await deleteQuotas(tx, kind, ids)
  const rows = kind === 'announcement' ? sql`announcements` : sql`tasks`
  const isOfKind = kind === 'announcement' ? sql`true` : sql`collection = ${kind}`
  await sql`update ${rows} set full_at = null, budget_spent_on = null
    where ${isOfKind} and id = any(${ids}) and (full_at is not null or budget_spent_on is not null)`.execute(tx)
}

/**
 * Deletes buckets of limits. Locks them in the same order as claims do, so that the two cannot deadlock. The item's own row must have been
 * locked before.
 */
async function deleteQuotas(tx: Transaction<Tables>, kind: HistoryKind, ids: readonly string[]): Promise<void> {
  const own = sql<boolean>`kind = ${kind} and item_id = any(${ids})`
  await sql`select from item_quotas where ${own} order by item_id, quota, period, bucket for update`.execute(tx)
  await sql`delete from item_quotas where ${own}`.execute(tx)
}
