import { sql } from 'kysely'
import { expect, test } from 'vitest'
import type { Activity } from '@arcade/contract/dashboard/calls'
import { beginActivity, addParticipationCount, addPlayerCount } from '#src/counters/activity.ts'
import { addToCounters, foldCounters } from '#src/counters/counters.ts'
import type { Database } from '#src/db/database.ts'
import { countEntrySql } from '#src/counters/entry-counts.ts'
import type { HistoryKind } from '@arcade/contract/history/fields'
import { takeClocks } from '#test/clock.ts'
import { testApp } from '#test/test-app.ts'
import { addPlayers } from '#test/players.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

const items = [
  { kind: 'social', item_id: 's1', title: 'Follow', type: 'twitter' },
  { kind: 'social', item_id: 's:2', title: 'Watch', type: 'youtube' },
  { kind: 'daily', item_id: 's1', title: 'Visit', type: 'twitter' },
  { kind: 'announcement', item_id: 'a1', title: 'News', type: 'desc' },
] as const

/** Adds players and participations `ages` milliseconds ago to tables and counters. Player n takes part in item n. */
async function happened(database: Database, ages: number[], firstId = 1): Promise<void> {
  await database.transaction(async (tx) => {
    const activity = await beginActivity(tx)
    for (const [index, age] of ages.entries()) {
      const at = new Date(activity.now.getTime() - age)
      const item = items[index % items.length]!
      const userId = firstId + index
      await addPlayers(tx, [{ user_id: userId, created_at: at, balance: index % 13 }])
      await tx.insertInto('participations').values({ user_id: userId, kind: item.kind, item_id: item.item_id, at }).execute()
      addPlayerCount(activity, at, 1)
      addParticipationCount(activity, { kind: item.kind, itemId: item.item_id }, at, 1)
    }
    await addToCounters(tx, activity.deltas)
  })
}

/** Adds claims by players of `happened`, now. They are participations as well. */
async function claimed(
  { db }: Database,
  claims: { userId: number; item: (typeof items)[number]; reward: number }[],
): Promise<void> {
  for (const { userId, item, reward } of claims) {
    const { kind, item_id: itemId } = item
    const count = countEntrySql({ amount: `${reward}::numeric`, item: { kind: `'${kind}'::text`, itemId: `'${itemId}'::text` } })
    await sql`
      with paid as (
        update balances set balance = balance + ${reward}, entries = entries + 1 where user_id = ${userId} returning user_id, balance, entries),
      taken as (
        insert into participations (user_id, kind, item_id, period, at) values (${userId}, ${kind}, ${itemId}, 'claimed', now())),
      counted as (${sql.raw(count)})
      insert into ledger_entries (user_id, seq, amount, cause, kind, item_id, balance)
      select user_id, entries, ${reward}, 'claim', ${kind}, ${itemId}, balance from paid`.execute(db)
  }
}

async function addItems({ db }: Database): Promise<void> {
  await db
    .insertInto('history_items')
    .values(items.map((item) => ({ ...item, reward: 1 })))
    .execute()
}

/** Returns the expected points, counted row by row. */
async function countedPoints({ db }: Database, unit: Activity['unit'], from: string): Promise<Activity['points']> {
  const { rows } = await sql<Record<string, number> & { at: Date }>`
    with happened as (
      select created_at as at, 'players' as series, 0::numeric as paid from telegram_users
      union all select at, kind, 0 from participations
      union all select at, cause, amount from ledger_entries where cause = 'claim'
    )
    select step at time zone 'UTC' as at, count(*) filter (where series = 'players') as players, count(*) filter (where series = 'social') as social,
      count(*) filter (where series = 'daily') as daily, count(*) filter (where series = 'announcement') as announcement,
      coalesce(sum(paid), 0) as paid
    from generate_series(${from}::timestamptz at time zone 'UTC', now() at time zone 'UTC', ('1 ' || ${unit})::interval) step
    left join happened on date_trunc(${unit}, happened.at at time zone 'UTC') = step group by step order by step`.execute(db)
  return rows.map((row) => ({ ...row, at: row.at.toISOString() })) as unknown as Activity['points']
}

async function countedTypes({ db }: Database, from: string): Promise<Activity['types']> {
  const { rows } = await sql<Activity['types'][number]>`
    select kind, type, count(*) as participations from participations join history_items using (kind, item_id)
    where at >= ${from}::timestamptz group by kind, type order by participations desc, kind, type`.execute(db)
  return rows
}

async function countedPaid({ db }: Database, from: string): Promise<Activity['paidItems']> {
  const { rows } = await sql<Activity['paidItems'][number]>`
    select kind, item_id as id, title, sum(amount) as paid from ledger_entries join history_items using (kind, item_id)
    where cause = 'claim' and at >= ${from}::timestamptz group by kind, item_id, title order by paid desc, kind, item_id`.execute(
    db,
  )
  return rows
}

const lengths = { '24h': 24, '7d': 7, '30d': 30 }

test.each(['24h', '7d', '30d'] as const)(
  'Dashboard: %s equals counting the rows, whether or not deltas are folded',
  async (range) => {
    const app = await testApp()
    const admin = await app.signUp('admin')
    await addItems(app.database)
    await happened(
      app.database,
      Array.from({ length: 240 }, (_, index) => (index * index * HOUR_MS) / 50),
    )
    await claimed(
      app.database,
      items
        .flatMap((item, index) => [0.1, 0.2, index].map((reward, player) => ({ userId: player + 1, item, reward })))
        .filter(({ item }, index) => index % 3 < 2 || item.kind !== 'daily'),
    )
    for (const fold of [false, true]) {
      if (fold) await foldCounters(app.database)
      const { body, status } = await admin.call('GET', `/api/activity?range=${range}`)
      expect(status).toBe(200)
      expect(body.points).toHaveLength(lengths[range])
      expect(body.previous).toHaveLength(lengths[range])
      expect([...body.previous, ...body.points]).toEqual(await countedPoints(app.database, body.unit, body.previous[0].at))
      expect(body.types).toEqual(await countedTypes(app.database, body.points[0].at))
      expect(body.paidItems).toEqual(await countedPaid(app.database, body.points[0].at))
      expect(body.paidItems).toHaveLength(items.length)
      expect(body.points.some((point: Activity['points'][number]) => point.players > 1)).toBe(true)
    }
  },
)

test.each([5, -5])('Dashboard: 24h ends now by the database’s clock, with the server’s clock %i days ahead', async (days) => {
  takeClocks().jump(days * DAY_MS)
  const app = await testApp()
  const admin = await app.signUp('admin')
  await addItems(app.database)
  await happened(app.database, [0, HOUR_MS])
  const { body } = await admin.call('GET', '/api/activity?range=24h')
  expect(body.points).toEqual(await countedPoints(app.database, 'hour', body.points[0].at))
  expect(body.points.reduce((sum: number, { players }: { players: number }) => sum + players, 0)).toBe(2)
})

test.each([
  ['days', 'day', 40],
  ['months', 'month', 400],
  ['years', 'year', 2000],
])('Dashboard: range all has one point for each of %s, starting with the first activity', async (_name, unit, days) => {
  const app = await testApp()
  const admin = await app.signUp('admin')
  await addItems(app.database)
  await happened(
    app.database,
    Array.from({ length: 20 }, (_, index) => (index / 19) * days * DAY_MS),
  )
  await claimed(app.database, [{ userId: 1, item: items[2], reward: 7.25 }])
  const { body } = await admin.call('GET', '/api/activity?range=all')
  expect(body.unit).toBe(unit)
  expect(body.points).toEqual(await countedPoints(app.database, unit as 'day', body.points[0].at))
  expect(body.points[0].players).toBeGreaterThan(0)
  expect(body.points.reduce((sum: number, { players }: { players: number }) => sum + players, 0)).toBe(20)
  expect(body.types).toEqual(await countedTypes(app.database, '2000-01-01'))
  expect(body.paidItems).toEqual([{ kind: 'daily', id: 's1', title: 'Visit', paid: 7.25 }])
  expect(body.points.at(-1).paid).toBe(7.25)
})

test('Dashboard: range all begins with the earliest time that a bot may send, and counts as many players as there are', async () => {
  const app = await testApp()
  const admin = await app.signUp('admin')
  await addItems(app.database)
  const ages = ['1970-01-01T00:00:00Z', '2005-01-01T00:00:00Z', '2012-12-31T23:59:59Z'].map((at) => Date.now() - Date.parse(at))
  await happened(app.database, [...ages, 0])
  const { body } = await admin.call('GET', '/api/activity?range=all')
  expect(body.points).toEqual(await countedPoints(app.database, 'year', '1970-01-01'))
  expect(body.points.filter(({ players }: { players: number }) => players > 0)).toHaveLength(ages.length + 1)
})

test('Dashboard: the top players, and the items with the most participants of the last seven days', async () => {
  const app = await testApp()
  const admin = await app.signUp('admin')
  await addItems(app.database)
  // The first item has participants only long ago, the others fewer and fewer this week.
  await happened(
    app.database,
    [20, 0, 0, 0, 20, 0, 0, 20, 20, 0].map((days) => days * DAY_MS),
  )
  const { body } = await admin.call('GET', '/api/activity')
  expect(body.range).toBe('30d')
  expect(body.topItems).toEqual([
    { kind: 'social', id: 's:2', title: 'Watch', participations: 3 },
    { kind: 'daily', id: 's1', title: 'Visit', participations: 2 },
    { kind: 'announcement', id: 'a1', title: 'News', participations: 1 },
  ])
  expect(body.topPlayers).toHaveLength(10)
  expect(body.topPlayers[0]).toEqual({
    userId: 10,
    firstName: null,
    lastName: null,
    username: null,
    balance: 9,
    isBlocked: false,
  })
  expect(body.topPlayers.map(({ balance }: { balance: number }) => balance)).toEqual([9, 8, 7, 6, 5, 4, 3, 2, 1, 0])
})

test('Dashboard: without data, range all has no points and the other ranges have zeros', async () => {
  const app = await testApp()
  const admin = await app.signUp('admin')
  const all = await admin.call('GET', '/api/activity?range=all')
  expect(all.body).toEqual({
    range: 'all',
    unit: 'month',
    points: [],
    previous: [],
    types: [],
    topPlayers: [],
    topItems: [],
    paidItems: [],
  })
  const week = await admin.call('GET', '/api/activity?range=7d')
  expect(week.body.points.map(({ players, social }: Record<string, number>) => [players, social])).toEqual(
    Array.from({ length: 7 }, () => [0, 0]),
  )
})

test.each(['range=1y', 'range=', 'range=7d&range=7d', 'from=2026-01-01'])('Dashboard: ?%s is refused', async (query) => {
  const app = await testApp()
  const admin = await app.signUp('admin')
  for (const path of ['/api/activity', '/api/events']) expect((await admin.call('GET', `${path}?${query}`)).status).toBe(400)
})

test('Dashboard: a task whose type has changed counts for its new type', async () => {
  const app = await testApp()
  const admin = await app.signUp('admin')
  await addItems(app.database)
  await happened(app.database, [0])
  await app.database.db
    .updateTable('history_items')
    .set({ type: 'discord' satisfies string })
    .where('kind', '=', 'social' satisfies HistoryKind)
    .execute()
  const { body } = await admin.call('GET', '/api/activity')
  expect(body.types).toEqual([{ kind: 'social', type: 'discord', participations: 1 }])
})
