/** What the address of the dashboard holds; it is read before the page is loaded, so it is apart from it. */
import type { ActivityRange } from '@arcade/contract/dashboard'

export interface DashboardSearch {
  /** The last 30 days, unless it says otherwise. */
  range?: Exclude<ActivityRange, '30d'>
}

/** What is not understood is left out. */
export function dashboardSearch({ range }: Record<string, unknown>): DashboardSearch {
  return range === '24h' || range === '7d' || range === 'all' ? { range } : {}
}
