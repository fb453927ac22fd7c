/** The dashboard's figures (§3): counters for large tables, row counts for small ones. Each call runs one statement. */
import type { ActivityRange } from '@arcade/contract/dashboard/fields'
import type { Activity, DashboardMetrics } from '@arcade/contract/dashboard/calls'
import { counterSql } from '#src/counters/counters.ts'
import type { Reads } from '#src/db/reads.ts'
import { prepareActivity } from './activity.ts'

export interface FigureSource {
  metrics: () => Promise<DashboardMetrics>
  activity: (range: ActivityRange) => Promise<Activity>
}

interface MetricsRow {
  users: number
  admins: number
  players: number
  active: number
  types: Record<string, number>
}

export function createFigures(reads: Pick<Reads, 'prepared'>): FigureSource {
  const read = reads.prepared<MetricsRow>('metrics', METRICS)
  return {
    async metrics() {
      const [row] = await read([])
      const { users: user, admins: admin, players, active, types } = row!
      return {
        totalUsers: user + admin,
        totalTelegramUsers: players,
        userTypes: { user, admin },
        activeAnnouncements: active,
        totalTasks: Object.values(types).reduce((sum, count) => sum + count, 0),
        tasksByType: types,
      }
    },
    activity: prepareActivity(reads),
  }
}

const METRICS = `select ${counterSql({ of: 'users', userType: 'user' })} as users, ${counterSql({ of: 'users', userType: 'admin' })} as admins,
  ${counterSql({ of: 'players' })} as players,
  (select count(*) from announcements where status) as active,
  (select coalesce(json_object_agg(image, count), '{}') from (select image, count(*) from tasks group by image) as types) as types`
