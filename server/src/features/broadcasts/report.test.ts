/** The report of a broadcast: reached, seen, claimed, by hour, cost, and the control group (design §8). */
import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { OUTCOMES } from '#src/broadcasts/outcomes.ts'
import { type Client, testApp, type TestApp } from '#test/test-app.ts'

type Outcome = keyof typeof OUTCOMES

interface Given {
  app: TestApp
  admin: Client
  bot: Client
  announcementId: string
}

/** An active announcement that pays 5, and players 1 to `players`. */
async function opening(players: number): Promise<Given> {
  const app = await testApp()
  const [admin, bot] = [await app.signUp('admin'), await app.bot()]
  const input = { type: 'desc', title: 'News', subtitle: 'Today', reward: 5 }
  const { id } = (await admin.call('POST', '/api/announcements', input)).body
  await admin.call('POST', `/api/announcements/${id}/status`, { status: false })
  await bot.call('POST', '/bot/v1/players', { players: Array.from({ length: players }, (_, n) => ({ userId: n + 1 })) })
  return { app, admin, bot, announcementId: id }
}

/** Writes a broadcast `b` that began an hour ago, and its recipients, as the console would have sent it 10 minutes ago. */
async function send({ app, announcementId }: Given, outcomes: Record<number, Outcome>): Promise<void> {
  const { db } = app.database
  await sql`insert into broadcasts (id, number, announcement_id, title, filter, state, hold_back, started_at, planned_at)
    values ('b', 1, ${announcementId}, 'News', '{}', 'sending', 10, now() - interval '1 hour', now())`.execute(db)
  for (const [userId, outcome] of Object.entries(outcomes)) {
    const at = ['pending', 'held', 'skippedOptedOut'].includes(outcome) ? sql`null` : sql`now() - interval '10 minutes'`
    await sql`insert into broadcast_recipients (user_id, broadcast, chunk, outcome, at) values (${Number(userId)}, 1, 0, ${OUTCOMES[outcome]}, ${at})`.execute(
      db,
    )
  }
}

const claim = async ({ bot, announcementId }: Given, userId: number) => {
  const answer = await bot.call('POST', `/bot/v1/players/${userId}/claims`, { kind: 'announcement', id: announcementId })
  expect(answer.status, answer.body.message).toBe(200)
  return answer.body.entry.id as string
}
const reportOf = async ({ admin }: Given) => (await admin.call('GET', '/api/broadcasts/b/report')).body

describe('design §8 the report of a broadcast', () => {
  test('counts the players reached, those who saw it and those who claimed it after the message, and what that cost', async () => {
    const given = await opening(8)
    await claim(given, 1) // before the message
    await sql`update participations set at = now() - interval '2 days'`.execute(given.app.database.db)
    await send(given, { 1: 'sent', 2: 'sent', 3: 'sent', 4: 'sent', 5: 'refusedBlocked', 6: 'unknown', 7: 'pending' })
    for (const userId of [2, 3]) await claim(given, userId)
    await claim(given, 5) // was not reached
    await claim(given, 8) // is no recipient
    const { upTo } = (await given.bot.call('GET', '/bot/v1/players/4/announcements')).body
    for (const userId of [4, 7]) await given.bot.call('POST', `/bot/v1/players/${userId}/announcements/seen`, { upTo })

    const report = await reportOf(given)
    expect(report).toMatchObject({ reached: 4, seen: 3, claimed: 2, cost: 10, control: null })
    expect(report.hours.reduce((sum: number, { sent }: { sent: number }) => sum + sent, 0)).toBe(4)
    expect(report.hours.reduce((sum: number, { claimed }: { claimed: number }) => sum + claimed, 0)).toBe(2)
  })

  test('a reversed claim costs nothing, but stays a claim', async () => {
    const given = await opening(2)
    await send(given, { 1: 'sent', 2: 'sent' })
    const entryId = await claim(given, 1)
    await claim(given, 2)
    await (await given.app.bot(undefined, 'admin')).call('POST', '/bot/v1/players/1/reversals', { entryId, reason: 'fraud' })
    expect(await reportOf(given)).toMatchObject({ claimed: 2, cost: 5 })
  })

  test('lists the hours from the first message or claim to the last one without gaps, and at most two weeks of them', async () => {
    const given = await opening(2)
    await send(given, { 1: 'sent', 2: 'sent' })
    const { db } = given.app.database
    await claim(given, 1)
    await sql`update broadcasts set started_at = '2026-01-01 09:00+00'`.execute(db)
    await sql`update broadcast_recipients set at = '2026-01-01 09:30+00'`.execute(db)
    await sql`update participations set at = '2026-01-01 12:59:59+00'`.execute(db)
    const hour = (at: string, sent: number, claimed: number) => ({ at: `2026-01-01T${at}:00:00.000Z`, sent, claimed })
    expect((await reportOf(given)).hours).toEqual([hour('09', 2, 0), hour('10', 0, 0), hour('11', 0, 0), hour('12', 0, 1)])
    // The outcome is written after the player has the message, perhaps in the next hour.
    await sql`update broadcast_recipients set at = '2026-01-01 10:00+00'`.execute(db)
    await sql`update participations set at = '2026-01-01 09:59:30+00'`.execute(db)
    expect((await reportOf(given)).hours).toEqual([hour('09', 0, 1), hour('10', 2, 0)])
    await sql`update participations set at = '2026-03-01 12:00+00'`.execute(db)
    const late = await reportOf(given)
    expect([late.hours.length, late.claimed]).toEqual([14 * 24, 1])
  })

  test('compares all who were to get the message with the control group, but nobody who had claimed before', async () => {
    const given = await opening(42)
    for (const userId of [1, 21]) await claim(given, userId)
    await sql`update participations set at = now() - interval '2 days'`.execute(given.app.database.db)
    const outcomes: Record<number, Outcome> = {}
    for (let userId = 1; userId <= 40; userId += 1)
      outcomes[userId] = userId <= 20 ? 'held' : userId <= 38 ? 'sent' : 'refusedBlocked'
    outcomes[41] = 'skippedOptedOut' // when the recipients were chosen, so that nobody like this player is held back
    outcomes[42] = 'skippedBlocked' // when the player's turn came
    await send(given, outcomes)
    for (const userId of [41, 2, 3, 22, 23, 24, 25, 26, 27, 28, 39]) await claim(given, userId)
    const { control } = await reportOf(given)
    expect(control).toMatchObject({ messaged: { players: 20, claimed: 8 }, held: { players: 19, claimed: 2 } })
    expect(control.difference).toBeCloseTo(8 / 20 - 2 / 19, 12)
    expect(control.low).toBeGreaterThan(0)
    expect(control.high).toBeLessThan(1)
    expect(control.smallestDifference).toBeGreaterThan(control.difference) // these groups are small
  })

  test('is empty before a broadcast begins, and does not exist for an unknown one', async () => {
    const given = await opening(1)
    expect((await given.admin.call('GET', '/api/broadcasts/b/report')).body.code).toBe('NO_SUCH_BROADCAST')
    await send(given, { 1: 'pending' })
    const empty = { reached: 0, seen: 0, claimed: 0, cost: 0, hours: [], control: null }
    expect(await reportOf(given)).toEqual(empty)
    await sql`update broadcasts set started_at = null, state = 'scheduled'`.execute(given.app.database.db)
    expect(await reportOf(given)).toEqual(empty)
  })
})
