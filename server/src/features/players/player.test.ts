/** A player's page: the fields, and what the player took part in. */
import { describe, expect, test } from 'vitest'
import { sql } from 'kysely'
import { testApp } from '#test/test-app.ts'
import { giveBalances } from '#test/players.ts'

describe("Lists: a player's page", () => {
  test('Lists: all fields, how often the player took part and what that paid; newest first, 50 a page', async () => {
    const app = await testApp()
    const admin = await app.signUp('admin')
    const { db } = app.database
    await sql`insert into telegram_users (user_id, username) values (1000, 'moon')`.execute(db)
    await giveBalances(db)
    await sql`insert into history_items (kind, item_id, title, type, reward) values ('daily', 'd', 'Say hello', 'telegram', 2.5)`.execute(
      db,
    )
    await sql`insert into participations (user_id, kind, item_id, period, user_input, at)
      select 1000, 'daily', 'd', 'day ' || lpad(n::text, 3, '0'), 'input ' || n, timestamptz '2026-01-01' + n / 3 * interval '1 day'
        from generate_series(1, 120) n`.execute(db)
    const player = await admin.call('GET', '/api/telegram-users/1000')
    expect(player.body).toMatchObject({ userId: 1000, participations: { total: 120, reward: 300 } })

    const seen: { period: string; timestamp: string }[] = []
    let after: string | null = ''
    for (let page = 0; after !== null; page += 1) {
      expect(page).toBeLessThan(4)
      const { body } = await admin.call(
        'GET',
        `/api/telegram-users/1000/participations?${after ? new URLSearchParams({ after }).toString() : ''}`,
      )
      seen.push(...body.participations)
      after = body.after
    }
    expect(seen).toHaveLength(120)
    expect(seen[0]).toEqual({
      kind: 'daily',
      id: 'd',
      period: 'day 120',
      title: 'Say hello',
      type: 'telegram',
      reward: 2.5,
      userInput: 'input 120',
      timestamp: '2026-02-10T00:00:00.000Z',
    })
    expect(seen).toEqual(seen.toSorted((a, b) => b.timestamp.localeCompare(a.timestamp) || a.period.localeCompare(b.period)))
    expect(new Set(seen.map(({ period }) => period)).size).toBe(120)
  })

  test('Lists: the rank that the game sees, and the time of what the player did last, whatever operators did since', async () => {
    const app = await testApp()
    const admin = await app.signUp('admin')
    const { db } = app.database
    await sql`insert into telegram_users (user_id, created_at) values
      (1, '2026-01-01'), (2, '2026-01-02'), (3, null), (-4, '2026-01-04'), (5, '2026-01-05')`.execute(db)
    await giveBalances(db, '100 - telegram_users.user_id')
    await sql`insert into participations (user_id, kind, item_id, period, at) values
      (1, 'social', 'a', '', '2026-02-01'), (2, 'social', 'a', '', '2026-02-02'), (2, 'social', 'b', '', '2026-02-01')`.execute(
      db,
    )
    await sql`insert into ledger_entries (user_id, seq, amount, cause, reference, balance, at) values
      (1, 2, 1, 'round', 'r-1', 99, '2026-03-01'), (1, 3, 1, 'round', 'r-2', 99, '2026-03-02'),
      (1, 4, 1, 'adjustment', null, 99, '2026-04-01'), (2, 2, 1, 'import', null, 98, '2026-04-01')`.execute(db)
    await sql`update balances set blocked_at = now() where user_id = 5`.execute(db)
    const standingOf = async (id: number) => (await admin.call('GET', `/api/telegram-users/${id}/standing`)).body
    const reached = { unreachable: null, optedOutAt: null }
    expect(await standingOf(1)).toEqual({ rank: 2, isRankExact: true, lastSeen: '2026-03-02T00:00:00.000Z', ...reached })
    expect(await standingOf(2)).toEqual({ rank: 3, isRankExact: true, lastSeen: '2026-02-02T00:00:00.000Z', ...reached })
    expect(await standingOf(3), 'nothing is known of it').toEqual({ rank: 4, isRankExact: true, lastSeen: null, ...reached })
    expect(await standingOf(-4), 'an erased player').toEqual({
      rank: null,
      isRankExact: false,
      lastSeen: '2026-01-04T00:00:00.000Z',
      ...reached,
    })
    expect(await standingOf(5), 'a blocked player').toMatchObject({ rank: null, isRankExact: false })

    await sql`insert into player_messages (user_id, unreachable_at, unreachable_reason, opted_out_at)
      values (1, '2026-05-01', 'blocked', null), (2, null, null, '2026-05-02')`.execute(db)
    expect(await standingOf(1), 'refused a message').toMatchObject({
      unreachable: { at: '2026-05-01T00:00:00.000Z', reason: 'blocked' },
      optedOutAt: null,
    })
    expect(await standingOf(2), 'wants none').toMatchObject({ unreachable: null, optedOutAt: '2026-05-02T00:00:00.000Z' })
  })

  test('Lists: a player who does not exist gets 404', async () => {
    const app = await testApp()
    const admin = await app.signUp('admin')
    for (const path of ['1', '1/standing', '1/participations', '1/neighbours']) {
      expect(await admin.call('GET', `/api/telegram-users/${path}`)).toMatchObject({
        status: 404,
        body: { code: 'NO_SUCH_PLAYER' },
      })
    }
    for (const path of ['x', '1.5', '1e99', '9007199254740993']) {
      for (const part of ['', '/standing', '/participations', '/neighbours'])
        expect(await admin.call('GET', `/api/telegram-users/${path}${part}`), path + part).toMatchObject({
          status: 400,
          body: { message: 'There is no such player: a user id is a whole number up to 9007199254740991.' },
        })
    }
  })
})
