/** The dashboard's figures (§2 Dashboard, §3 Dashboard metrics), what happened over time, and both as they change. */
import { z } from 'zod'
import { call } from './call.ts'
import { idField } from './fields.ts'
import { historyKindField } from './history.ts'

const count = z.int().min(0)

export const dashboardMetrics = z.object({
  totalUsers: count,
  totalTelegramUsers: count,
  userTypes: z.object({ user: count, admin: count }),
  activeAnnouncements: count,
  totalTasks: count,
  /** By task type, social and daily together; a type without a task is absent and shown as 0 (§2). */
  tasksByType: z.partialRecord(
    z.enum(['instagram', 'youtube', 'moreLink', 'twitter', 'telegram', 'linkedin', 'discord', 'email', 'bsc']),
    count,
  ),
})
export type DashboardMetrics = z.infer<typeof dashboardMetrics>

export const activityRanges = ['24h', '7d', '30d', 'all'] as const
export type ActivityRange = (typeof activityRanges)[number]
export const DEFAULT_ACTIVITY_RANGE: ActivityRange = '30d'
/** Players and items that the dashboard ranks. */
export const RANKS_SHOWN = 10

const missingText = z.string().nullable()

/** What happened in a range that ends now. Days, months and years are UTC's. */
export const activity = z.object({
  range: z.enum(activityRanges),
  unit: z.enum(['hour', 'day', 'month', 'year']),
  /** Oldest first and without gaps; empty if nothing ever happened. Counts are of participations but for `players`, who joined. */
  points: z.array(z.object({ at: z.iso.datetime(), players: count, social: count, daily: count, announcement: count })),
  /** Participations in the range by the type of their task or announcement, most first; none with 0. */
  types: z.array(z.object({ kind: historyKindField, type: z.string(), participations: count })),
  /** The players with the highest balances, whatever the range. */
  topPlayers: z.array(
    z.object({ userId: z.int(), firstName: missingText, lastName: missingText, username: missingText, balance: z.number() }),
  ),
  /** What most took part in during the last seven days, today included, whatever the range. */
  topItems: z.array(z.object({ kind: historyKindField, id: idField, title: z.string(), participations: count })),
})
export type Activity = z.infer<typeof activity>

/** What an event of `metrics.events` carries as JSON. */
export interface Figures {
  metrics: DashboardMetrics
  activity: Activity
}
/** The name of such an event. */
export const FIGURES_EVENT = 'figures'

const rangeInput = z.strictObject({ range: z.enum(activityRanges).default(DEFAULT_ACTIVITY_RANGE) })

export const dashboard = {
  get: call(['admin'], { unexpected: 'METRICS_FAILED' })
    .route({ method: 'GET', path: '/api/metrics', tags: ['Metrics'], summary: 'The figures of the dashboard' })
    .output(dashboardMetrics),
  activity: call(['admin'], { unexpected: 'METRICS_FAILED' })
    .route({ method: 'GET', path: '/api/activity', tags: ['Metrics'], summary: 'What happened in a range of time that ends now' })
    .input(rangeInput)
    .output(activity),
  events: call(['admin'])
    .route({
      method: 'GET',
      path: '/api/events',
      tags: ['Metrics'],
      summary: 'Server-sent events: both of the above, at the beginning and whenever one has changed',
      outputStructure: 'detailed',
    })
    .input(rangeInput)
    .output(
      z.object({
        headers: z.record(z.string(), z.string()),
        body: z.custom<unknown>((value) => value instanceof Object),
      }),
    ),
}
