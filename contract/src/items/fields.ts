/** What tasks and announcements have in common: when, for whom and how often they can be claimed, and the state that follows from it. */
import type { Fields } from '#src/entity.ts'

/** The states of items. A task is never a draft, and an announcement is never paused. */
export const itemStateLabels = {
  draft: 'Draft',
  scheduled: 'Scheduled',
  live: 'Live',
  paused: 'Paused',
  ended: 'Ended',
  full: 'Full',
} as const
export type ItemState = keyof typeof itemStateLabels

const { draft, paused, ...shared } = itemStateLabels
export const taskStateLabels = { ...shared, paused } as const
export const announcementStateLabels = { draft, ...shared } as const

/** The fields of every item that say when, for whom and how often it can be claimed. */
export const availabilityFields = {
  startsAt: { label: 'Starts At', kind: 'moment', isOptional: true, sheetWidth: 24 },
  endsAt: { label: 'Ends At', kind: 'moment', isOptional: true, sheetWidth: 24 },
  /** The most players that can take part, each day of a daily task counted. */
  maxParticipants: { label: 'Most Participants', kind: 'integer', isOptional: true, sheetWidth: 18 },
  /** The most points that the item pays in a UTC day. */
  dailyBudget: { label: 'Daily Budget', kind: 'number', isOptional: true, sheetWidth: 14 },
  /** The saved view of players for whom the item is; null if it is for everyone. */
  segmentId: { label: 'Segment ID', kind: 'text', isOptional: true, sheetWidth: 38 },
  state: { label: 'State', kind: 'choice', options: itemStateLabels, isDerived: true, sheetWidth: 12 },
} as const satisfies Fields

/** The moment before which all dates that operators set are. */
export const DATES_END_MS = Date.UTC(2100, 0)

/** The furthest that one act moves dates. */
export const MAX_SHIFT_DAYS = 3660
