/**
 * The calendar of tasks and announcements that have a start or an end, and of broadcasts. Dates are changed with the calls of the items
 * and broadcasts themselves.
 */
import { z } from 'zod'
import { type BroadcastState, broadcastStateLabels } from '#src/broadcasts/fields.ts'
import { call } from '#src/call.ts'
import { idField, versionField } from '#src/field-schemas.ts'
import { historyKindField } from '#src/history/calls.ts'
import { asRefinement, availabilityInput, endsAfterStart } from '#src/items/availability.ts'
import { itemStateLabels, type ItemState } from '#src/items/fields.ts'

/** Most items, and most broadcasts, that one answer has. */
export const MAX_CALENDAR_ITEMS = 500

/** The longest span of an answer. */
const MAX_CALENDAR_DAYS = 366
const DAY_MS = 24 * 60 * 60 * 1000

const momentField = z.iso.datetime({ offset: true })

const calendarItem = z.object({
  kind: historyKindField,
  id: idField,
  title: z.string(),
  /** Null if the item has no start, or no end. */
  startsAt: z.iso.datetime().nullable(),
  endsAt: z.iso.datetime().nullable(),
  state: z.enum(Object.keys(itemStateLabels) as ItemState[]),
  /** Whether an announcement is active; null for tasks, which have no status. */
  status: z.boolean().nullable(),
  version: versionField,
})
export type CalendarItem = z.infer<typeof calendarItem>

const calendarBroadcast = z.object({
  id: idField,
  title: z.string(),
  /** When it began or begins. */
  startsAt: z.iso.datetime(),
  /** When it ended, or the latest time at which it will end; null if that is not known. */
  endsAt: z.iso.datetime().nullable(),
  state: z.enum(Object.keys(broadcastStateLabels) as BroadcastState[]),
})
export type CalendarBroadcast = z.infer<typeof calendarBroadcast>

const [isInOrder, orderRule] = asRefinement(endsAfterStart)

/** The form with which the calendar changes an item's dates; null for none. */
export const calendarDates = z
  .strictObject({ startsAt: availabilityInput.startsAt, endsAt: availabilityInput.endsAt })
  .refine((dates) => isInOrder({ ...dates, reward: 0 }), orderRule)

export const calendar = {
  list: call(['admin'], { needs: ['tasks.read', 'announcements.read'], mayBeSecondOld: true })
    .route({
      method: 'GET',
      path: '/api/calendar',
      tags: ['Calendar'],
      summary: 'Tasks and announcements with a start or an end that can be claimed at some time from `from` and before `to`',
      description:
        'Also the broadcasts that were, are or will be sent in that time, for callers with the permission `broadcasts.read`; there are none for others.',
    })
    .input(
      z
        .strictObject({ from: momentField, to: momentField })
        .refine(({ from, to }) => Date.parse(from) < Date.parse(to), { path: ['to'], message: 'to must be after from' })
        .refine(({ from, to }) => Date.parse(to) - Date.parse(from) <= MAX_CALENDAR_DAYS * DAY_MS, {
          path: ['to'],
          message: `to must be at most ${MAX_CALENDAR_DAYS} days after from`,
        }),
    )
    /** By start, those without a start first. With `isMore` there are more items or broadcasts than `MAX_CALENDAR_ITEMS`. */
    .output(z.object({ items: z.array(calendarItem), broadcasts: z.array(calendarBroadcast), isMore: z.boolean() })),
}
