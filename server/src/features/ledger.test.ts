/** What the game reads about balances: a player's entries and the leaderboard. */
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { addPlayers } from '#test/players.ts'
import { testApp } from '#test/test-app.ts'

test('design §8 a player’s entries are listed newest first, 50 a page, each with its cause', async () => {
  const app = await testApp()
  const { db } = app.database
  const bot = await app.bot('reader', 'read')
  await addPlayers(db, [{ user_id: 7, balance: 1 }, { user_id: 8 }])
  await sql`insert into ledger_entries (user_id, seq, amount, cause, kind, item_id, period, balance)
    select 7, n, 0.5, 'claim', 'daily', 'd', '2026-01-' || n, 1 + (n - 1) * 0.5 from generate_series(2, 101) n`.execute(db)
  const path = '/bot/v1/players/7/entries'
  const pages = [(await bot.call('GET', path)).body]
  for (let after = pages[0].after; after !== null && pages.length < 5; after = pages.at(-1).after)
    pages.push((await bot.call('GET', `${path}?after=${after}`)).body)
  expect(pages.map(({ entries }) => entries.length)).toEqual([50, 50, 1])
  const entries = pages.flatMap((page) => page.entries as { seq: number }[])
  expect(entries.map(({ seq }) => seq)).toEqual(Array.from({ length: 101 }, (_, n) => 101 - n))
  expect(entries[0]).toEqual({
    id: '7-101',
    seq: 101,
    amount: 0.5,
    cause: 'claim',
    item: { kind: 'daily', id: 'd', period: '2026-01-101' },
    balance: 51,
    at: expect.stringMatching(/^2.*Z$/),
  })
  expect(entries.at(-1)).toMatchObject({ id: '7-1', cause: 'opening', amount: 1, balance: 1 })
  expect((await bot.call('GET', '/bot/v1/players/8/entries')).body).toEqual({ entries: [], after: null })
  expect((await app.player(7).call('GET', '/bot/v1/players/me/entries')).body.entries).toHaveLength(50)
  expect((await app.player(7).call('GET', '/bot/v1/players/8/entries')).body.code).toBe('FORBIDDEN')
  expect((await bot.call('GET', '/bot/v1/players/9/entries')).body.code).toBe('NO_SUCH_PLAYER')
  const ofSeven = (await bot.call('GET', '/bot/v1/players/7/entries')).body.after as string
  for (const cursor of [ofSeven, 'x', ''])
    expect((await bot.call('GET', `/bot/v1/players/8/entries?after=${cursor}`)).status, cursor).toBe(400)
})

test('design §8 the leaderboard has the highest balances; among equal ones the lower id comes first', async () => {
  const app = await testApp()
  const bot = await app.bot('reader', 'read')
  expect((await bot.call('GET', '/bot/v1/leaderboard')).body).toEqual({ players: [] })
  await addPlayers(
    app.database.db,
    Array.from({ length: 120 }, (_, n) => ({ user_id: n + 1, balance: [5, -1, 0.25][n % 3]!, username: `p${n + 1}` })),
  )
  const { body } = await app.player(7).call('GET', '/bot/v1/leaderboard?limit=100')
  expect(body.players).toHaveLength(100)
  expect(body.players.slice(0, 2)).toEqual([
    { rank: 1, userId: 1, username: 'p1', firstName: null, balance: 5 },
    { rank: 2, userId: 4, username: 'p4', firstName: null, balance: 5 },
  ])
  expect(body.players.map(({ rank }: { rank: number }) => rank)).toEqual(Array.from({ length: 100 }, (_, n) => n + 1))
  expect(body.players.at(-1)).toMatchObject({ userId: 59, balance: -1 })
  expect((await bot.call('GET', '/bot/v1/leaderboard')).body.players).toEqual(body.players.slice(0, 10))
  for (const limit of ['0', '101', '1.5', 'x'])
    expect((await bot.call('GET', `/bot/v1/leaderboard?limit=${limit}`)).status).toBe(400)
})

test('design §8 the leaderboard leaves out blocked players, those behind them move up, and a blocked player has no rank', async () => {
  const app = await testApp()
  const [bot, admin] = [await app.bot('reader', 'read'), await app.signUp('admin')]
  // More blocked players than the leaderboard has places, all ahead of the others.
  const players = Array.from({ length: 350 }, (_, n) => ({ user_id: n + 1, balance: 1000 - n }))
  await addPlayers(app.database.db, players)
  const target = { ids: players.slice(0, 250).map(({ user_id: id }) => String(id)) }
  await admin.call('POST', '/api/telegram-users/block', { target, reason: 'cheats' })
  const leaders = async (client = bot) => (await client.call('GET', '/bot/v1/leaderboard?limit=100')).body.players
  const rankOf = async (id: number) => (await bot.call('GET', `/bot/v1/players/${id}`)).body
  expect(await leaders()).toHaveLength(100)
  expect((await leaders()).map(({ rank, userId }: { rank: number; userId: number }) => [rank, userId])).toEqual(
    Array.from({ length: 100 }, (_, n) => [n + 1, n + 251]),
  )
  expect(await leaders(app.player(300))).toEqual(await leaders())
  expect(await rankOf(251)).toMatchObject({ rank: 1, isRankExact: true, isBlocked: false })
  expect(await rankOf(1)).toMatchObject({ rank: null, isRankExact: false, isBlocked: true })
  expect((await app.player(1).call('GET', '/bot/v1/players/me')).body).toMatchObject({ rank: null, isBlocked: true })
  await admin.call('POST', '/api/telegram-users/unblock', { target: { ids: ['2'] } })
  expect((await leaders()).slice(0, 2)).toMatchObject([
    { rank: 1, userId: 2 },
    { rank: 2, userId: 251 },
  ])
  expect(await rankOf(251)).toMatchObject({ rank: 2 })
  // Operators still see them, marked.
  expect((await admin.call('GET', '/api/activity')).body.topPlayers.slice(0, 2)).toMatchObject([
    { userId: 1, isBlocked: true },
    { userId: 2, isBlocked: false },
  ])
})
