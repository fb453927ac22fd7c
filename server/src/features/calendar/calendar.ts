/** The calendar: tasks and announcements with a start or an end, by the time in which they can be claimed. */
import type { contract } from '@arcade/contract/contract'
import { CALENDAR_MAX_ITEMS, type CalendarItem } from '@arcade/contract/calendar/calls'
import { historyKinds } from '@arcade/contract/history/fields'
import { itemPermissions } from '@arcade/contract/team/records'
import { type Handlers, signedIn } from '#src/calls.ts'
import { idOrderSql } from '#src/db/collations.ts'
import type { Database } from '#src/db/database.ts'
import { isoSql, momentSql, momentText } from '#src/db/moments.ts'
import { announcementStateSql, taskStateSql } from '#src/items/state.ts'

export function calendarHandlers({ database }: { database: Database }): Handlers<typeof contract.calendar> {
  const readItems = database.reads.prepared<CalendarItem>('calendar', ITEMS)
  return {
    async list({ from, to }, context) {
      const { permissions } = signedIn(context)
      const kinds = historyKinds.filter((kind) => permissions.includes(itemPermissions[kind].read))
      const items = await readItems([momentText(new Date(from)), momentText(new Date(to)), kinds])
      return { items: items.slice(0, CALENDAR_MAX_ITEMS), isMore: items.length > CALENDAR_MAX_ITEMS }
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
   order by starts_at nulls first, ${idOrderSql('id')} limit ${CALENDAR_MAX_ITEMS + 1}`
