import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { activityCounters, countedActivity } from '#src/testing/activity.ts'
import { testDatabase } from '#src/testing/test-database.ts'
import { countJoined, type Deltas, forgetHours } from './activity.ts'
import { addToCounters, foldCounters } from './counters.ts'
import { up } from '#src/db/migrations/0003_activity.ts'

const { db, ...database } = await testDatabase()

test('Dashboard: the migration counts the rows that are there, by the hour only the late ones', async () => {
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

test('Dashboard: ranges of names are read off the indexes', async () => {
  const deltas: Deltas = new Map()
  for (let hour = 0; hour < 20_000; hour += 1) countJoined(deltas, new Date(Date.now() - hour * 3_600_000), 1)
  await database.transaction((tx) => addToCounters(tx, deltas))
  await foldCounters({ db })
  await sql`vacuum analyze counters`.execute(db)
  const { rows } = await sql<Record<string, string>>`
    explain select name, value from counters where name >= 'activity@d:2026-11-01:' and name < 'activity@d:2026-11-21:'`.execute(
    db,
  )
  expect(rows.map((row) => row['QUERY PLAN']).join('\n')).toMatch(
    /Index.*counters_pkey[^]*Index Cond: \(\(name >= .* AND \(name < /,
  )
})

test('Dashboard: hours that nobody reads any more are forgotten, others stay', async () => {
  const deltas: Deltas = new Map()
  countJoined(deltas, new Date(), 3)
  deltas.set('activity@h:2026-01-01T00:players', 2).set('taken@h:2026-01-01T00:social:x', 2).set('taken@d:2026-01-01:social:x', 2)
  await database.transaction((tx) => addToCounters(tx, deltas))
  await foldCounters({ db })
  await forgetHours({ db })
  const { rows } = await sql<{ name: string }>`select name from counters order by name`.execute(db)
  expect(rows.map(({ name }) => name.replace(/\d.*?(?=:)/, ''))).toEqual([
    'activity@d::players',
    'activity@h::players',
    'activity@m::players',
    'taken@d::social:x',
  ])
})
