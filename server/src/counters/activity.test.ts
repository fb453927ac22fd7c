import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { activityCounters, countedActivity } from '#test/activity.ts'
import { testDatabase } from '#test/test-database.ts'
import { beginActivity, addPlayerCount, sweepHours } from './activity.ts'
import { databaseNow } from '#src/db/moments.ts'
import { takeClocks } from '#test/clock.ts'
import { activityNames, type CounterKey, counterName } from './counter-keys.ts'
import { addDelta, addToCounters, type Deltas, foldCounters } from './counters.ts'
import { up } from '#src/db/migrations/0003_activity.ts'

const database = await testDatabase()
const { db } = database

test('Dashboard: the migration counts existing rows, by the hour only the recent ones', async () => {
  await sql`insert into telegram_users (user_id, created_at)
    select n, case when n % 7 > 0 then now() - n * interval '37 minutes' end from generate_series(1, 5000) n`.execute(db)
  await sql`insert into participations (user_id, kind, item_id, at)
    select n, (array['social', 'daily', 'announcement'])[1 + n % 3], 'a:b' || n % 5, now() - n * interval '23 minutes' from generate_series(1, 5000) n`.execute(
    db,
  )
  await db.transaction().execute((tx) => up(tx as never))
  const counted = await countedActivity(db)
  expect(Object.keys(counted).length).toBeGreaterThan(1000)
  expect(await activityCounters(db)).toEqual(counted)
})

test('Dashboard: ranges of counter names are read from the index', async () => {
  const activity = await beginActivity(db)
  for (let hour = 0; hour < 20_000; hour += 1) addPlayerCount(activity, new Date(activity.now.getTime() - hour * 3_600_000), 1)
  await database.transaction((tx) => addToCounters(tx, activity.deltas))
  await foldCounters(database)
  await sql`vacuum analyze counters`.execute(db)
  const [from, to] = activityNames('day', new Date('2026-11-01'), new Date('2026-11-21'))
  const { rows } = await sql<Record<string, string>>`
    explain select name, value from counters where name >= ${sql.lit(from)} and name < ${sql.lit(to)}`.execute(db)
  expect(rows.map((row) => row['QUERY PLAN']).join('\n')).toMatch(
    /Index.*counters_pkey[^]*Index Cond: \(\(name >= .* AND \(name < /,
  )
})

test.each([0, 5, -5])(
  'Dashboard: hours that are no longer read are deleted, other counters stay; clock %i days ahead',
  async (days) => {
    takeClocks().jump(days * 24 * 3_600_000)
    const [now, longAgo] = [await databaseNow(db), new Date('2026-01-01T00:30:00Z')]
    const item = { kind: 'social', itemId: 'x' } as const
    const forgotten: CounterKey[] = [
      { of: 'activity', bucket: 'hour', at: longAgo, series: 'players' },
      { of: 'itemActivity', bucket: 'hour', at: longAgo, ...item },
    ]
    const kept: CounterKey[] = [
      { of: 'players' },
      { of: 'activity', bucket: 'hour', at: now, series: 'players' },
      { of: 'activity', bucket: 'day', at: longAgo, series: 'players' },
      { of: 'itemActivity', bucket: 'hour', at: now, ...item },
      { of: 'itemActivity', bucket: 'day', at: longAgo, ...item },
    ]
    const deltas: Deltas = new Map()
    for (const counter of [...forgotten, ...kept]) addDelta(deltas, counter, 2)
    await database.transaction((tx) => addToCounters(tx, deltas))
    await foldCounters(database)
    await sweepHours({ db })
    const { rows } = await sql<{ name: string }>`select name from counters order by name`.execute(db)
    expect(rows.map(({ name }) => name)).toEqual(kept.map(counterName).toSorted())
  },
)

test.each([5, -5])('Dashboard: present activity is counted by the hour; clock %i days ahead', async (days) => {
  takeClocks().jump(days * 24 * 3_600_000)
  const activity = await beginActivity(db)
  addPlayerCount(activity, activity.now, 1)
  addPlayerCount(activity, new Date(activity.now.getTime() - 49 * 3_600_000), 1)
  const hours = [...activity.deltas.keys()].filter((name) => name.includes('@h:'))
  expect(hours).toEqual([counterName({ of: 'activity', bucket: 'hour', at: activity.now, series: 'players' })])
})
