/** The dashboard's figures (§2 Dashboard, §3 Dashboard metrics). */
import { z } from 'zod'
import { call } from '#src/call.ts'

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

export const metrics = {
  get: call(['admin'], { unexpected: 'METRICS_FAILED' })
    .route({ method: 'GET', path: '/api/metrics', tags: ['Metrics'], summary: 'The figures of the dashboard' })
    .output(dashboardMetrics),
}
