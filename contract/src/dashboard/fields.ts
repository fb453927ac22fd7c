/** Options and limits of the dashboard's activity. */

export const activityRanges = ['24h', '7d', '30d', 'all'] as const
export type ActivityRange = (typeof activityRanges)[number]
export const DEFAULT_ACTIVITY_RANGE: ActivityRange = '30d'
/** Players and items in the dashboard's rankings. */
export const RANKS_SHOWN = 10
/** Most items in the list of sums paid for claims. */
export const MAX_PAID_ITEMS = 50
