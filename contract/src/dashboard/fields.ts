/** What the dashboard's activity can be asked for. */

export const activityRanges = ['24h', '7d', '30d', 'all'] as const
export type ActivityRange = (typeof activityRanges)[number]
export const DEFAULT_ACTIVITY_RANGE: ActivityRange = '30d'
/** The dashboard ranks so many players and so many items. */
export const RANKS_SHOWN = 10
/** It tells what claims of so many items were paid. */
export const PAID_ITEMS_MAX = 50
