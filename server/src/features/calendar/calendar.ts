/** The calendar: tasks and announcements with a start or an end, by the time in which they can be claimed, and broadcasts. */
import type { contract } from '@arcade/contract/contract'
import { MAX_CALENDAR_ITEMS, type CalendarBroadcast, type CalendarItem } from '@arcade/contract/calendar/calls'
import { historyKinds } from '@arcade/contract/history/fields'
import { itemPermissions } from '@arcade/contract/team/records'
import { IS_ANY_WAITING } from '#src/broadcasts/pace.ts'
import { shownState, type StoredState } from '#src/broadcasts/state.ts'
import { type Handlers, signedIn } from '#src/calls.ts'
import { idOrderSql } from '#src/db/collations.ts'
import type { Database } from '#src/db/database.ts'
import { isoSql, momentSql, microsecondsText } from '#src/db/moments.ts'
import { announcementStateSql, taskStateSql } from '#src/items/state.ts'

interface BroadcastRow extends Omit<CalendarBroadcast, 'state'> {
  state: StoredState
  isPaused: boolean
  isWaiting: boolean
}

export function calendarHandlers({ database }: { database: Database }): Handlers<typeof contract.calendar> {
  const readItems = database.reads.prepared<CalendarItem>('calendar', ITEMS)
  const readBroadcasts = database.reads.prepared<BroadcastRow>('calendar-broadcasts', BROADCASTS)
  return {
    async list({ from, to }, context) {
      const { permissions } = signedIn(context)
      const kinds = historyKinds.filter((kind) => permissions.includes(itemPermissions[kind].read))
      const span = [microsecondsText(new Date(from)), microsecondsText(new Date(to))]
      const [items, broadcasts] = await Promise.all([
        readItems([...span, kinds]),
        permissions.includes('broadcasts.read') ? readBroadcasts(span) : [],
      ])
      return {
        items: items.slice(0, MAX_CALENDAR_ITEMS),
        broadcasts: broadcasts.slice(0, MAX_CALENDAR_ITEMS).map(({ isPaused, isWaiting, ...broadcast }) => ({
          ...broadcast,
          state: shownState({ state: broadcast.state, isPaused }, isWaiting),
        })),
        isMore: Math.max(items.length, broadcasts.length) > MAX_CALENDAR_ITEMS,
      }
    },
  }
}

/** The items that have a date and lie, at least in part, between $1 and $2. A missing date is without limit. */
const IS_WITHIN = `(starts_at is not null or ends_at is not null)
  and (starts_at is null or starts_at < ${momentSql('$2')}) and (ends_at is null or ends_at > ${momentSql('$1')})`

const COMMON = `id, title, ${isoSql('starts_at')} as "startsAt", ${isoSql('ends_at')} as "endsAt", version, starts_at`

/** $3 has the kinds that the caller may see. */
const ITEMS = `
  select kind, id, title, "startsAt", "endsAt", version, status, state from (
    select 'announcement' as kind, ${COMMON}, status, ${announcementStateSql()} as state from announcements where ${IS_WITHIN}
    union all
    select collection as kind, ${COMMON}, null as status, ${taskStateSql()} as state from tasks where ${IS_WITHIN}) as items
   where kind = any($3::text[])
   order by starts_at nulls first, ${idOrderSql('id')} limit ${MAX_CALENDAR_ITEMS + 1}`

/**
 * Selects the broadcasts that were, are or will be sent at some time between $1 and $2. One that was cancelled before it began is left out.
 * One that is under way and has no end counts as going on until now.
 */
const BROADCASTS = `
  select id, title, ${isoSql('starts_at')} as "startsAt", ${isoSql('ends_at')} as "endsAt", state, is_paused as "isPaused",
         ${IS_ANY_WAITING} as "isWaiting"
    from (select id, title, state, is_paused, started_at, starts_at,
                 case when coalesce(done_at, ends_at) is not null then greatest(starts_at, coalesce(done_at, ends_at)) end as ends_at
            from (select *, coalesce(started_at, send_at, made_at) as starts_at from broadcasts) as begun) as spans
   where (state <> 'cancelled' or started_at is not null) and starts_at < ${momentSql('$2')} and (starts_at >= ${momentSql('$1')}
      or coalesce(ends_at, case when state in ('planning', 'sending') then now() end) > ${momentSql('$1')})
   order by starts_at, ${idOrderSql('id')} limit ${MAX_CALENDAR_ITEMS + 1}`
