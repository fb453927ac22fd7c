/** What the calendar shows. */
import { type HistoryKind, historyKinds } from '#src/history/fields.ts'

/** The kinds to which the calendar can be narrowed. */
export type CalendarKind = HistoryKind | 'broadcast'
export const calendarKinds: readonly CalendarKind[] = [...historyKinds, 'broadcast']
