/** The dashboard (§2, §3): metrics, activity over time, and server-sent events when they change. */
import { z } from 'zod'
import { call } from '#src/call.ts'
import { activityRanges, DEFAULT_ACTIVITY_RANGE } from './fields.ts'
import { idField } from '#src/field-schemas.ts'
import { historyKindField } from '#src/history/calls.ts'
import { shownIdParameter } from '#src/players/calls.ts'

const count = z.int().min(0)

export const dashboardMetrics = z.object({
  totalUsers: count,
  totalTelegramUsers: count,
  userTypes: z.object({ user: count, admin: count }),
  activeAnnouncements: count,
  totalTasks: count,
  /** The number of tasks of each type, social and daily together. A type without tasks is absent; the page shows 0 (§2). */
  tasksByType: z.partialRecord(
    z.enum(['instagram', 'youtube', 'moreLink', 'twitter', 'telegram', 'linkedin', 'discord', 'email', 'bsc']),
    count,
  ),
})
export type DashboardMetrics = z.infer<typeof dashboardMetrics>

const missingText = z.string().nullable()

/** `players` counts new players, `paid` is the sum paid for claims, the others count participations. */
const point = z.object({
  at: z.iso.datetime(),
  players: count,
  social: count,
  daily: count,
  announcement: count,
  paid: z.number(),
})

/** Activity in a range that ends now. Days, months and years begin at midnight UTC. */
export const activity = z.object({
  range: z.enum(activityRanges),
  unit: z.enum(['hour', 'day', 'month', 'year']),
  /** One point for each unit, oldest first, without gaps; empty if there was never any activity. */
  points: z.array(point),
  /** The same number of points before `points`, for comparison; empty for the range `all`. */
  previous: z.array(point),
  /** Participations in the range by type of task or announcement, highest first. Types without participations are absent. */
  types: z.array(z.object({ kind: historyKindField, type: z.string(), participations: count })),
  /** The players with the highest balances, whatever the range. Blocked players are among them, but not on the game's leaderboard. */
  topPlayers: z.array(
    z.object({
      userId: z.int(),
      firstName: missingText,
      lastName: missingText,
      username: missingText,
      balance: z.number(),
      isBlocked: z.boolean(),
    }),
  ),
  /** The items with the most participations in the last seven days including today, whatever the range. */
  topItems: z.array(z.object({ kind: historyKindField, id: idField, title: z.string(), participations: count })),
  /**
   * The sums paid for claims of each item in the range, highest first, at most MAX_PAID_ITEMS items. Adjustments and the game's own ledger
   * entries are not included.
   */
  paidItems: z.array(z.object({ kind: historyKindField, id: idField, title: z.string(), paid: z.number() })),
})
export type Activity = z.infer<typeof activity>

const figure = z.object({
  /** From `since` until now. */
  value: z.number(),
  /** The part of `value` that is compared: all of it, or only the whole days if the unit is a day. */
  whole: z.number(),
  /** The value of the span before `whole`, which is as long as `whole`. */
  before: z.number(),
  /** Since the beginning of the hour of the caller's last look; null without a look in the span, and for spans of days. */
  sinceLook: z.number().nullable(),
})

/** What happened since the caller looked at the dashboard last, but at least in the last 24 hours and at most in the last 30 days. */
const today = z.object({
  /** When the caller's last visit of the dashboard ended; null on the first one. */
  lookedAt: z.iso.datetime().nullable(),
  /** The beginning of the span: of an hour or, for a look longer ago than a day, of a day in UTC. */
  since: z.iso.datetime(),
  unit: z.enum(['hour', 'day']),
  /** The hours, or the whole days, that `whole` and `before` count. */
  compared: count,
  players: figure,
  participations: figure,
  claims: figure,
  /** The points that claims paid. */
  paid: figure,
})
export type Today = z.infer<typeof today>

const alert = z.object({
  id: z.string(),
  about: z.enum(['backups', 'broadcast', 'webhook', 'disk', 'replica', 'mail']),
  text: z.string(),
})
export type Alert = z.infer<typeof alert>

/** The JSON data of each event of `dashboard.events`, by the event's name in the stream (HTML standard, 9.2). */
export interface Followed {
  figures: { metrics: DashboardMetrics; activity: Activity }
  /** The number of titles and participants of the kind, and of the followed item's participants. */
  history: { titles: number; participants: number; ofItem: number | null }
  /** Null if the player does not exist. */
  player: { entries: number; balance: number; blockedAt: string | null } | null
}

const rangeInput = z.strictObject({ range: z.enum(activityRanges).default(DEFAULT_ACTIVITY_RANGE) })

/** What a stream follows: the dashboard with the activity of a range, a kind of History and optionally one of its items, or a player. */
const followedInput = z
  .strictObject({
    range: z.enum(activityRanges).optional(),
    history: historyKindField.optional(),
    item: idField.optional(),
    player: shownIdParameter.optional(),
  })
  .refine(({ range, history, player }) => [range, history, player].filter((one) => one !== undefined).length <= 1, {
    path: ['range'],
    message: 'Give range, history or player',
  })
  .refine(({ history, item }) => item === undefined || history !== undefined, {
    path: ['item'],
    message: 'item goes with history',
  })
export type FollowedInput = z.infer<typeof followedInput>

export const dashboard = {
  get: call(['admin'], { needs: 'dashboard.read', unexpected: 'METRICS_FAILED', mayBeSecondOld: true })
    .route({ method: 'GET', path: '/api/metrics', tags: ['Metrics'], summary: 'The figures of the dashboard' })
    .output(dashboardMetrics),
  activity: call(['admin'], { needs: 'dashboard.read', unexpected: 'METRICS_FAILED', mayBeSecondOld: true })
    .route({ method: 'GET', path: '/api/activity', tags: ['Metrics'], summary: 'What happened in a range of time that ends now' })
    .input(rangeInput)
    .output(activity),
  today: call(['admin'], { needs: 'dashboard.read', unexpected: 'METRICS_FAILED', mayBeSecondOld: true })
    .route({ method: 'GET', path: '/api/today', tags: ['Metrics'], summary: 'What happened since the caller looked last' })
    .output(today),
  look: call(['admin'], { needs: 'dashboard.read', onFullDisk: 'small' })
    .route({ method: 'POST', path: '/api/today/look', tags: ['Metrics'], summary: 'Note that the caller looks at the dashboard' })
    .input(z.strictObject({}))
    .output(z.object({ success: z.literal(true) })),
  alerts: call(['admin'], { needs: 'dashboard.read' })
    .route({
      method: 'GET',
      path: '/api/alerts',
      tags: ['Metrics'],
      summary: 'What an admin should do something about: broadcasts, webhooks, mails, backups, disk, replica',
    })
    .output(z.object({ alerts: z.array(alert) })),
  events: call(['admin'], { needs: 'dashboard.read' })
    .route({
      method: 'GET',
      path: '/api/events',
      tags: ['Metrics'],
      summary:
        'Server-sent events of the figures and activity, a kind of History or a player: at the beginning and after each change',
      outputStructure: 'detailed',
    })
    .input(followedInput)
    .output(
      z.object({
        headers: z.record(z.string(), z.string()),
        body: z.custom<unknown>((value) => value instanceof Object),
      }),
    ),
}
