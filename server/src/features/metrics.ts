/** The dashboard's figures (§3): counters for what grows to millions, counts of the small tables for the rest. */
import { sql } from 'kysely'
import type { contract } from '@arcade/contract/contract'
import type { Handlers } from '#src/calls.ts'
import { readCounters } from '#src/db/counters.ts'
import type { Database } from '#src/db/database.ts'

export function metricsHandlers({ database }: { database: Database }): Handlers<typeof contract.metrics> {
  return {
    get: () => calculate(database),
  }
}

async function calculate({ db }: Database) {
  const [counters, types, active] = await Promise.all([
    readCounters(db, ['users:user', 'users:admin', 'telegramUsers']),
    db
      .selectFrom('tasks')
      .select(['image', sql<number>`count(*)`.as('count')])
      .groupBy('image')
      .execute(),
    db
      .selectFrom('announcements')
      .select(sql<number>`count(*)`.as('count'))
      .where('status', '=', true)
      .executeTakeFirstOrThrow(),
  ])
  const user = counters['users:user'] ?? 0
  const admin = counters['users:admin'] ?? 0
  return {
    totalUsers: user + admin,
    totalTelegramUsers: counters['telegramUsers'] ?? 0,
    userTypes: { user, admin },
    activeAnnouncements: active.count,
    totalTasks: types.reduce((sum, { count }) => sum + count, 0),
    tasksByType: Object.fromEntries(types.map(({ image, count }) => [image, count])),
  }
}
