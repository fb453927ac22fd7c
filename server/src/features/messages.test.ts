/** A player's wish to get no broadcasts, by the bot or the player's own client. */
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { testApp, type TestApp } from '#test/test-app.ts'

async function optedOut({ database }: TestApp): Promise<unknown[]> {
  const { rows } = await sql`select user_id, opted_out_at from player_messages where opted_out_at is not null order by 1`.execute(
    database.db,
  )
  return rows
}

test('design §8 a bot and the player’s own client set and take back that a player wants no broadcasts', async () => {
  const app = await testApp()
  const bot = await app.bot()
  for (const userId of [7, 8]) await bot.call('PUT', `/bot/v1/players/${userId}`, {})
  const set = (value: boolean) => bot.call('PUT', '/bot/v1/players/7/messages', { optedOut: value })
  expect((await set(false)).body).toEqual({ success: true, optedOut: false })
  expect(await optedOut(app)).toEqual([])
  expect((await set(true)).body).toEqual({ success: true, optedOut: true })
  const [first] = await optedOut(app)
  expect(first).toEqual({ user_id: 7, opted_out_at: expect.any(Date) })
  await set(true)
  expect(await optedOut(app)).toEqual([first]) // the time of the first wish stays
  expect((await app.player(7).call('PUT', '/bot/v1/players/me/messages', { optedOut: false })).status).toBe(200)
  expect(await optedOut(app)).toEqual([])
  expect((await app.player(8).call('PUT', '/bot/v1/players/me/messages', { optedOut: true })).status).toBe(200)
  expect(await optedOut(app)).toMatchObject([{ user_id: 8 }])
})

test('design §8 the wish keeps what is known about a player’s reach', async () => {
  const app = await testApp()
  const bot = await app.bot()
  await bot.call('PUT', '/bot/v1/players/7', {})
  await sql`insert into player_messages (user_id, unreachable_at, unreachable_reason) values (7, now(), 'blocked')`.execute(
    app.database.db,
  )
  for (const value of [true, false]) await bot.call('PUT', '/bot/v1/players/7/messages', { optedOut: value })
  const { rows } = await sql`select unreachable_reason, opted_out_at from player_messages`.execute(app.database.db)
  expect(rows).toEqual([{ unreachable_reason: 'blocked', opted_out_at: null }])
})

test('security: a player’s client sets the wish of that player only, and nobody that of a player who does not exist', async () => {
  const app = await testApp()
  const bot = await app.bot()
  await bot.call('PUT', '/bot/v1/players/7', {})
  const others = await app.player(8).call('PUT', '/bot/v1/players/7/messages', { optedOut: true })
  expect([others.status, others.body.code]).toEqual([403, 'FORBIDDEN'])
  for (const caller of [bot, app.player(9)]) {
    const answer = await caller.call('PUT', '/bot/v1/players/9/messages', { optedOut: true })
    expect([answer.status, answer.body.code]).toEqual([404, 'NO_SUCH_PLAYER'])
  }
  expect((await (await app.bot(undefined, 'read')).call('PUT', '/bot/v1/players/7/messages', { optedOut: true })).status).toBe(
    403,
  )
  expect(await optedOut(app)).toEqual([])
})
