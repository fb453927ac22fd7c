import { sql } from 'kysely'
import { expect, test } from 'vitest'
import type { Today } from '@arcade/contract/dashboard/calls'
import { foldCounters } from '#src/counters/counters.ts'
import { databaseNow } from '#src/db/moments.ts'
import { addActivity } from '#test/activity.ts'
import { addPlayers } from '#test/players.ts'
import { type Client, type TestApp, testApp } from '#test/test-app.ts'

const HOUR_MS = 3_600_000
const ITEM = { kind: 'daily', itemId: 'wheel' } as const

async function today(client: Client): Promise<Today> {
  const { status, body } = await client.call('GET', '/api/today')
  expect(status).toBe(200)
  return body as Today
}

/** Runs a test whose numbers depend on the current hour. If the hour turned meanwhile, it is run again, whatever its outcome. */
async function withinOneHour(work: (app: TestApp) => Promise<void>): Promise<void> {
  for (;;) {
    const app = await testApp()
    const hour = async () => Math.floor((await databaseNow(app.database.db)).getTime() / HOUR_MS)
    const before = await hour()
    const [outcome] = await Promise.allSettled([work(app)])
    if ((await hour()) !== before) continue
    if (outcome.status === 'rejected') throw outcome.reason
    return
  }
}

/** Sets when the admin looked last, as if this were the first look for so long. */
async function lookedAgo({ database }: TestApp, { id }: Client, hours: number): Promise<void> {
  await sql`insert into dashboard_looks (user_id, seen_at) values (${id}, now() - make_interval(mins => ${Math.round(hours * 60)}))
    on conflict (user_id) do update set seen_at = excluded.seen_at`.execute(database.db)
}

/** Lets players join and take part in the middle of the hour or day that is `units` before the current one. */
async function happened({ database }: TestApp, players: number, { units, lengthMs }: { units: number; lengthMs: number }) {
  const now = await databaseNow(database.db)
  const start = Math.floor(now.getTime() / lengthMs) * lengthMs
  const at = units === 0 ? now : new Date(start - (units - 0.5) * lengthMs)
  await addActivity(database, players, { ...ITEM, at })
}

test('Today: without an earlier look it counts the last 24 hours, and compares them with the 24 hours before', () =>
  withinOneHour(async (app) => {
    const admin = await app.signUp('admin')
    for (const [units, players] of [
      [0, 1],
      [1, 2],
      [23, 4], // the first hour of the span
      [24, 8], // the last hour before it
      [47, 16], // the first hour before it
      [48, 32], // too long ago
    ] as const)
      await happened(app, players, { units, lengthMs: HOUR_MS })
    for (const fold of [false, true]) {
      if (fold) await foldCounters(app.database)
      const answer = await today(admin)
      const figure = { value: 7, whole: 7, before: 24, sinceLook: null }
      expect(answer).toMatchObject({ lookedAt: null, unit: 'hour', compared: 24, players: figure, participations: figure })
      const now = await databaseNow(app.database.db)
      expect(Math.floor(now.getTime() / HOUR_MS) * HOUR_MS - Date.parse(answer.since)).toBe(23 * HOUR_MS)
    }
  }))

test('Today: claims are counted, and the points that they paid are summed exactly', async () => {
  const app = await testApp()
  const admin = await app.signUp('admin')
  const bot = await app.bot()
  await addPlayers(app.database.db, [{ user_id: 1 }, { user_id: 2 }])
  for (const [priority, reward] of [
    [1, 0.1],
    [2, 0.2],
  ]) {
    const { body } = await admin.call('POST', '/api/social-tasks', { type: 'twitter', title: 'Follow', priority, reward })
    for (const userId of [1, 2])
      await bot.call('POST', `/bot/v1/players/${userId}/claims`, { kind: 'social', id: body.id as string })
  }
  const { claims, paid, participations } = await today(admin)
  expect(claims).toMatchObject({ value: 4, before: 0 })
  expect(participations).toMatchObject({ value: 4 })
  expect(paid).toMatchObject({ value: 0.6 })
})

test('Today: a look within a day is counted by itself, one longer ago begins the span with its day', () =>
  withinOneHour(async (app) => {
    const admin = await app.signUp('admin')
    await happened(app, 3, { units: 0, lengthMs: HOUR_MS })
    await happened(app, 5, { units: 20, lengthMs: HOUR_MS })
    await lookedAgo(app, admin, 2)
    expect(await today(admin)).toMatchObject({ unit: 'hour', players: { value: 8, sinceLook: 3 } })

    // Less than a day ago, but before the first hour of the span.
    await sql`update dashboard_looks set seen_at = date_trunc('hour', now(), 'UTC') - interval '23 hours 1 second'`.execute(
      app.database.db,
    )
    expect(await today(admin)).toMatchObject({ unit: 'hour', players: { value: 8, sinceLook: null } })

    for (const [units, players] of [
      [2, 10],
      [4, 100],
    ] as const)
      await happened(app, players, { units, lengthMs: 24 * HOUR_MS })
    await lookedAgo(app, admin, 72)
    const answer = await today(admin)
    expect(answer).toMatchObject({ unit: 'day', compared: 3, players: { before: 100, sinceLook: null } })
    expect(answer.players.value).toBe(18)
    expect(answer.since.slice(10)).toBe('T00:00:00.000Z')

    await lookedAgo(app, admin, 24 * 100)
    expect(await today(admin)).toMatchObject({ unit: 'day', compared: 29, players: { value: 118 } })
  }))

test('Today: a visit ends after half an hour without a look; each admin has their own', async () => {
  const app = await testApp()
  const [admin, other] = [await app.signUp('admin'), await app.signUp('admin')]
  const look = async () => expect((await admin.call('POST', '/api/today/look')).body).toEqual({ success: true })
  await look()
  expect((await today(admin)).lookedAt).toBeNull()
  await lookedAgo(app, admin, 0.4)
  await look()
  expect((await today(admin)).lookedAt).toBeNull()

  await lookedAgo(app, admin, 5)
  const before = (await today(admin)).lookedAt
  expect(before).not.toBeNull()
  await look()
  expect((await today(admin)).lookedAt, 'the same before and after the look is noted').toBe(before)
  await lookedAgo(app, admin, 0.4)
  await look()
  expect((await today(admin)).lookedAt, 'and for as long as the visit lasts').toBe(before)
  expect((await today(other)).lookedAt).toBeNull()
})
