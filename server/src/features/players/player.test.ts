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

  test('Lists: a player who does not exist gets 404', async () => {
    const app = await testApp()
    const admin = await app.signUp('admin')
    for (const path of ['1', '1/participations', '1/neighbours']) {
      expect(await admin.call('GET', `/api/telegram-users/${path}`)).toMatchObject({
        status: 404,
        body: { code: 'NO_SUCH_PLAYER' },
      })
    }
    for (const path of ['x', '1.5', '1e99', '9007199254740993']) {
      expect((await admin.call('GET', `/api/telegram-users/${path}`)).status, path).toBe(400)
    }
  })
})
