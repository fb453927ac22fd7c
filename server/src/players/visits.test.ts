/** When players were last seen: which calls count, how often they are written, and that nothing comes back of an erased player. */
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { addPlayers } from '#test/players.ts'
import { type Client, testApp, type TestApp } from '#test/test-app.ts'
import { createVisits } from './visits.ts'

const HOUR_MS = 3_600_000

async function seen({ database }: Pick<TestApp, 'database'>): Promise<number[]> {
  const { rows } = await sql<{ id: number }>`select user_id as id from player_visits order by 1`.execute(database.db)
  return rows.map(({ id }) => id)
}

test('segments: each call of a player’s own client is a visit, and those of the bot that a player causes', async () => {
  const app = await testApp()
  const [bot, admin] = [await app.bot(), await app.signUp('admin')]
  await addPlayers(
    app.database.db,
    Array.from({ length: 12 }, (_, index) => ({ user_id: index + 1 })),
  )
  const calls: [Client, string, string, object?][] = [
    [app.player(1), 'GET', 'me'],
    [app.player(2), 'GET', 'me/tasks?collection=social'],
    [app.player(3), 'POST', 'me/announcements/seen', { upTo: 0 }],
    [bot, 'GET', '4/announcements'],
    [bot, 'PUT', '5', { firstName: 'Bea' }],
    [bot, 'POST', '6/entries', { amount: 5, cause: 'round', reference: 'one' }],
    [bot, 'PUT', '77', { firstName: 'New' }],
    // A bot may read everyone's balance at night, and an operator is not the player.
    [bot, 'GET', '8'],
    [bot, 'GET', '9/entries'],
  ]
  for (const [client, method, path, body] of calls)
    expect((await client.call(method, `/bot/v1/players/${path}`, body)).status, path).toBe(200)
  expect((await admin.call('GET', '/api/telegram-users/10')).status).toBe(200)
  expect((await app.player(999).call('GET', '/bot/v1/players/me')).body).toMatchObject({ code: 'NO_SUCH_PLAYER' })
  expect((await bot.call('POST', '/bot/v1/players/11/claims', { kind: 'social', id: 'none' })).status).toBe(404)
  await app.visits.write()
  expect(await seen(app)).toEqual([1, 2, 3, 4, 5, 6, 77])
  const { body } = await admin.call('GET', '/api/telegram-users?seenDays=1&sort=user-id&pageSize=25')
  expect(body.users.map(({ userId }: { userId: number }) => userId)).toEqual([1, 2, 3, 4, 5, 6, 77])
  expect((await admin.call('GET', '/api/telegram-users/1/standing')).body.lastSeen).not.toBeNull()
})

test('segments: a player is written at most once an hour, also by several servers', async () => {
  const { database } = await testApp()
  await addPlayers(database.db, [{ user_id: 1 }])
  let now = 0
  const [first, second] = [createVisits(database, () => now), createVisits(database, () => now)]
  const at = async () =>
    (await sql<{ at: string }>`select seen_at::text as at from player_visits`.execute(database.db)).rows[0]?.at
  first.note(1)
  await first.write()
  const written = await at()
  expect(written).toBeDefined()
  for (const visits of [first, second]) {
    visits.note(1)
    await visits.write()
  }
  expect(await at()).toBe(written)

  await sql`update player_visits set seen_at = now() - interval '61 minutes'`.execute(database.db)
  const old = await at()
  first.note(1)
  await first.write()
  expect(await at()).toBe(old)
  now += HOUR_MS
  first.note(1)
  await first.write()
  expect(await at()).not.toBe(old)
})

test('segments: visits that could not be written are written later', async () => {
  const { database } = await testApp()
  await addPlayers(database.db, [{ user_id: 1 }])
  const visits = createVisits(database)
  visits.note(1)
  await sql`alter table player_visits rename to visits_away`.execute(database.db)
  await expect(visits.write()).rejects.toThrow('player_visits')
  await sql`alter table visits_away rename to player_visits`.execute(database.db)
  await visits.write()
  expect(await seen({ database })).toEqual([1])
})

test('segments: a visit makes a player reachable again, but no other one', async () => {
  const { database } = await testApp()
  await addPlayers(database.db, [{ user_id: 1 }, { user_id: 2 }])
  await sql`insert into player_messages (user_id, unreachable_at, unreachable_reason, opted_out_at)
    values (1, now(), 'blocked', now()), (2, now(), 'blocked', null)`.execute(database.db)
  const visits = createVisits(database)
  visits.note(1)
  await visits.write()
  const { rows } = await sql`select user_id, unreachable_at is null as "isReachable", unreachable_reason as reason,
    opted_out_at is null as "wantsAll" from player_messages order by 1`.execute(database.db)
  expect(rows).toEqual([
    { user_id: 1, isReachable: true, reason: null, wantsAll: false },
    { user_id: 2, isReachable: false, reason: 'blocked', wantsAll: true },
  ])
})

test('ADR 22 a visit that was noted before the player was erased is not written afterwards', async () => {
  const app = await testApp()
  const admin = await app.signUp('admin')
  await addPlayers(app.database.db, [{ user_id: 7 }])
  await sql`insert into player_messages (user_id, unreachable_at, unreachable_reason) values (7, now(), 'blocked')`.execute(
    app.database.db,
  )
  app.visits.note(7)
  await app.visits.write()
  expect(await seen(app)).toEqual([7])
  const later = createVisits(app.database)
  later.note(7)
  expect((await admin.call('POST', '/api/telegram-users/7/erase', { confirmation: 7 })).status).toBe(200)
  await later.write()
  expect(await seen(app)).toEqual([])
  expect((await sql`select from player_messages`.execute(app.database.db)).rows).toEqual([])
})
