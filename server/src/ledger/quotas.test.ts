/** Limits of items (design §7): the last place goes to one, the points of a day are never exceeded, and both are counted exactly. */
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { auditTrail } from '#test/audit-trail.ts'
import { expectReconciled } from '#test/ledger.ts'
import { addPlayers } from '#test/players.ts'
import { type Client, testApp, type TestApp } from '#test/test-app.ts'
import { countDeadlocks, openAgain } from '#test/test-database.ts'
import { sweepQuotas } from './quotas.ts'

const PLAYERS = 200

interface Item {
  id: string
  reward?: number
  most?: number
  budget?: number
  collection?: 'social' | 'daily'
}

async function addTask({ database }: TestApp, { id, reward = 5, most, budget, collection = 'social' }: Item): Promise<void> {
  await sql`insert into tasks (collection, id, image, priority, title, reward, max_participants, daily_budget)
    select ${collection}, ${id}, 'twitter', count(*), ${id}, ${reward}, ${most ?? null}::int, ${budget ?? null}::numeric from tasks`.execute(
    database.db,
  )
}

/** An app with the players 1 to 200. */
async function limitedApp(): Promise<{ app: TestApp; bot: Client }> {
  const app = await testApp()
  await addPlayers(
    app.database.db,
    Array.from({ length: PLAYERS }, (_, n) => ({ user_id: n + 1, first_name: 'Ada' })),
  )
  await sql`insert into webhooks (id, url, events, secret) values ('w', 'https://bot.example/hook', '{item.full}', '\\x00')`.execute(
    app.database.db,
  )
  return { app, bot: await app.bot() }
}

const claim = (bot: Client, player: number, id: string, kind = 'social') =>
  bot.call('POST', `/bot/v1/players/${player}/claims`, { kind, id })

async function readItem({ database }: TestApp, id: string) {
  const { rows } = await sql<{ isFull: boolean; isSpent: boolean; taken: number; paid: number }>`
    select full_at is not null as "isFull", budget_spent_on is not null as "isSpent",
           (select count(*) from participations where item_id = ${id}) as taken,
           (select coalesce(sum(amount), 0) from ledger_entries where cause = 'claim' and item_id = ${id}) as paid
      from tasks where id = ${id}`.execute(database.db)
  return rows[0]!
}

async function fullEvents({ database }: TestApp): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select payload::jsonb #>> '{data,items,0,id}' as id from webhook_deliveries where event = 'item.full'`.execute(database.db)
  return rows.map(({ id }) => id)
}

/**
 * Sends the claim of each of the players at once, to three servers in turn, and again after a 503, as bots do on a busy machine.
 * Returns the answers' codes, `paid` for those that were paid.
 */
async function race(bot: Client, id: string): Promise<string[]> {
  const limits = { size: 16 }
  const before = await countDeadlocks()
  const databases = [await openAgain({ limits }), await openAgain({ limits }), await openAgain({ limits })]
  const servers = await Promise.all(databases.map((database) => testApp({ database })))
  const send = async (player: number): Promise<string> => {
    for (;;) {
      const path = `/bot/v1/players/${player}/claims`
      const { status, body } = await servers[player % 3]!.guest.call('POST', path, { kind: 'social', id }, bot.headers)
      if (status !== 503) return status === 200 && body.isFirst ? 'paid' : String(body.code)
    }
  }
  const codes = await Promise.all(Array.from({ length: PLAYERS }, (_, n) => send(n + 1)))
  for (const database of databases) await database.close()
  expect(await countDeadlocks(), 'deadlocks').toBe(before)
  return codes
}

function counted(codes: string[]): Record<string, number> {
  return Object.fromEntries([...new Set(codes)].toSorted().map((code) => [code, codes.filter((one) => one === code).length]))
}

test.each([1, 16, 37])(
  'design §7 of 200 players who claim at once on three servers, exactly %i get a place',
  { timeout: 120_000 },
  async (most) => {
    const { app, bot } = await limitedApp()
    await addTask(app, { id: 'few', most })
    expect(counted(await race(bot, 'few'))).toEqual({ FULL: PLAYERS - most, paid: most })
    expect(await readItem(app, 'few')).toEqual({ isFull: true, isSpent: false, taken: most, paid: 5 * most })
    expect(await fullEvents(app)).toEqual(['few'])
    expect(await auditTrail(app.database.db, 'item.full')).toMatchObject([
      { actorKind: 'system', recordKind: 'socialTask', recordId: 'few', detail: { quota: 'places' } },
    ])
    await expectReconciled(app.database)
  },
)

test(
  'design §7 of 200 players who claim at once on three servers, as many are paid as the points of the day suffice for',
  { timeout: 120_000 },
  async () => {
    const { app, bot } = await limitedApp()
    await addTask(app, { id: 'poor', reward: 7.5, budget: 232 }) // 30 rewards and 7 points
    expect(counted(await race(bot, 'poor'))).toEqual({ FULL: PLAYERS - 30, paid: 30 })
    expect(await readItem(app, 'poor')).toEqual({ isFull: false, isSpent: true, taken: 30, paid: 225 })
    expect(await fullEvents(app)).toEqual(['poor'])
    await expectReconciled(app.database)
  },
)

test(
  'design §7 both limits hold; a claim that one of them refuses takes nothing from the other',
  { timeout: 120_000 },
  async () => {
    const { app, bot } = await limitedApp()
    await addTask(app, { id: 'both', most: 100, budget: 50 })
    expect(counted(await race(bot, 'both'))).toEqual({ FULL: PLAYERS - 10, paid: 10 })
    const { rows } = await sql`select quota, sum(remaining) as left from item_quotas group by quota order by quota`.execute(
      app.database.db,
    )
    expect(rows).toEqual([
      { quota: 'places', left: 90 },
      { quota: 'points', left: 0 },
    ])
  },
)

test('design §7 the remainders of several rewards pay another one, when the reward is lowered', async () => {
  const { app, bot } = await limitedApp()
  await addTask(app, { id: 'odd', reward: 3, budget: 96 }) // two rewards in each bucket
  for (let player = 1; player <= 20; player += 1) expect((await claim(bot, player, 'odd')).status).toBe(200)
  await sql`update tasks set reward = 5`.execute(app.database.db) // 36 points are left, in buckets of 0, 3 or 6
  const codes: string[] = []
  for (let player = 21; player <= 30; player += 1) codes.push(String((await claim(bot, player, 'odd')).body.code ?? 'paid'))
  expect(counted(codes)).toEqual({ FULL: 3, paid: 7 })
  expect(await readItem(app, 'odd')).toMatchObject({ isSpent: true, paid: 95 })
})

test('design §7 a repeated claim of a full item gets its earlier answer, and takes no place', async () => {
  const { app, bot } = await limitedApp()
  await addTask(app, { id: 'two', most: 2 })
  const first = await claim(bot, 1, 'two')
  for (let n = 0; n < 3; n += 1) expect((await claim(bot, 1, 'two')).body).toEqual({ ...first.body, isFirst: false })
  expect((await claim(bot, 2, 'two')).body).toMatchObject({ isFirst: true })
  expect(await claim(bot, 3, 'two')).toMatchObject({ status: 409, body: { code: 'FULL' } })
  expect((await claim(bot, 1, 'two')).body).toEqual({ ...first.body, isFirst: false })
  expect(await readItem(app, 'two')).toMatchObject({ isFull: true, taken: 2 })
})

test('design §7 a claim that is refused for another reason takes no place', async () => {
  const { app, bot } = await limitedApp()
  await addTask(app, { id: 'one', most: 1 })
  await sql`update balances set blocked_at = now() where user_id = 1`.execute(app.database.db)
  expect((await claim(bot, 1, 'one')).body.code).toBe('PLAYER_BLOCKED')
  expect((await claim(bot, 9999, 'one')).body.code).toBe('NO_SUCH_PLAYER')
  expect((await claim(bot, 2, 'one')).body).toMatchObject({ isFirst: true })
})

test('design §7 places count who took part before the limit was set, and points what was paid today', async () => {
  const { app, bot } = await limitedApp()
  const { db } = app.database
  await addTask(app, { id: 'late' })
  for (let player = 1; player <= 3; player += 1) await claim(bot, player, 'late')
  await sql`update tasks set max_participants = 5, daily_budget = 20`.execute(db)
  expect((await claim(bot, 4, 'late')).status).toBe(200)
  expect(await claim(bot, 5, 'late')).toMatchObject({ status: 409, body: { code: 'FULL' } })
  // Another day has a budget of its own, but the same places.
  for (const table of ['item_quotas', 'counters', 'uncounted_entries']) await sql`delete from ${sql.table(table)}`.execute(db)
  await sql`update tasks set budget_spent_on = budget_spent_on - 1`.execute(db)
  expect((await claim(bot, 5, 'late')).status).toBe(200)
  expect(await claim(bot, 6, 'late')).toMatchObject({ status: 409, body: { code: 'FULL' } })
  expect(await readItem(app, 'late')).toMatchObject({ isFull: true, taken: 5 })
})

test('design §7 after a change of the limit the places are counted anew', async () => {
  const { app, bot } = await limitedApp()
  const { db } = app.database
  const admin = await app.signUp('admin')
  await addTask(app, { id: 'more', most: 2 })
  await addTask(app, { id: 'other', most: 1 })
  for (let player = 1; player <= 2; player += 1) await claim(bot, player, 'more')
  await claim(bot, 1, 'other')
  const setMost = async (maxParticipants: number | null): Promise<void> => {
    const task = { type: 'twitter', title: 'More', priority: 0, reward: 5, maxParticipants }
    expect((await admin.call('PUT', '/api/social-tasks/more', task)).status).toBe(200)
  }
  await setMost(3)
  expect(await readItem(app, 'more')).toMatchObject({ isFull: false })
  expect(await readItem(app, 'other')).toMatchObject({ isFull: true })
  expect((await claim(bot, 3, 'more')).status).toBe(200)
  expect((await claim(bot, 4, 'more')).body.code).toBe('FULL')
  await setMost(1)
  expect((await claim(bot, 4, 'more')).body.code).toBe('FULL')
  await setMost(null)
  expect((await claim(bot, 4, 'more')).status).toBe(200)
  const { rows } = await sql`select item_id from item_quotas where item_id = 'more'`.execute(db)
  expect(rows).toEqual([])
})

test('design §7 a limit that is removed while a claim waits does not refuse the claim', async () => {
  const { app, bot } = await limitedApp()
  await addTask(app, { id: 'none', most: 1 })
  const waiting = await app.database.db.transaction().execute(async (tx) => {
    await sql`update tasks set max_participants = null`.execute(tx)
    const answer = claim(bot, 1, 'none')
    await expect
      .poll(
        async () =>
          (
            await sql`select from pg_stat_activity where wait_event_type = 'Lock' and query like '%max_participants%'`.execute(
              app.database.db,
            )
          ).rows.length,
      )
      .toBe(1)
    return { answer }
  })
  expect((await waiting.answer).body).toMatchObject({ isFirst: true })
})

test('design §7 of a daily task each participation takes a place', async () => {
  const { app, bot } = await limitedApp()
  await addTask(app, { id: 'd', most: 2, collection: 'daily' })
  expect((await claim(bot, 1, 'd', 'daily')).status).toBe(200)
  for (const table of ['participations', 'ledger_entries'])
    await sql`update ${sql.table(table)} set period = '2026-01-31' where period <> ''`.execute(app.database.db)
  expect((await claim(bot, 1, 'd', 'daily')).status).toBe(200)
  expect((await claim(bot, 2, 'd', 'daily')).body.code).toBe('FULL')
})

test('design §7 what was left of earlier days and of deleted items is forgotten', async () => {
  const { app, bot } = await limitedApp()
  const { db } = app.database
  await addTask(app, { id: 'stays', most: 10, budget: 50 })
  await addTask(app, { id: 'goes', most: 10 })
  for (const id of ['stays', 'goes']) await claim(bot, 1, id)
  await sql`insert into item_quotas select kind, item_id, quota, '2026-01-01', bucket, remaining from item_quotas where quota = 'points'`.execute(
    db,
  )
  await sql`delete from tasks where id = 'goes'`.execute(db)
  await sweepQuotas(app.database)
  const { rows } =
    await sql`select item_id, quota, count(*) as buckets, count(distinct period) as periods from item_quotas group by 1, 2 order by 2`.execute(
      db,
    )
  expect(rows).toEqual([
    { item_id: 'stays', quota: 'places', buckets: 16, periods: 1 },
    { item_id: 'stays', quota: 'points', buckets: 16, periods: 1 },
  ])
})

test.each([
  ['before its start', `starts_at = now() + interval '1 hour'`, 'NOT_STARTED'],
  ['after its end', `ends_at = now()`, 'ENDED'],
  ['while it is paused', `paused = true`, 'PAUSED'],
  ['when its places are taken', `full_at = now()`, 'FULL'],
  ['when its points of the day are spent', `budget_spent_on = (now() at time zone 'UTC')::date`, 'FULL'],
])('design §8 a task is refused %s, and a repeated claim still gets its answer', async (_when, change, code) => {
  const { app, bot } = await limitedApp()
  await addTask(app, { id: 't' })
  const first = await claim(bot, 1, 't')
  await sql.raw(`update tasks set ${change}`).execute(app.database.db)
  expect(await claim(bot, 2, 't')).toMatchObject({ status: 409, body: { code } })
  expect((await claim(bot, 1, 't')).body).toEqual({ ...first.body, isFirst: false })
  await sql`update tasks set starts_at = now(), ends_at = now() + interval '1 hour', paused = false, full_at = null,
    budget_spent_on = (now() at time zone 'UTC')::date - 1`.execute(app.database.db)
  expect((await claim(bot, 2, 't')).body).toMatchObject({ isFirst: true })
})

test.each([
  ['a draft', `status = false`, 'ANNOUNCEMENT_INACTIVE'],
  ['one that waits for its start', `status = false, starts_at = now(), start_pending = true`, 'NOT_STARTED'],
  ['one after its end, though it is active', `ends_at = now()`, 'ENDED'],
  ['a full one', `full_at = now()`, 'FULL'],
])('design §8 of announcements, %s is refused', async (_what, change, code) => {
  const { app, bot } = await limitedApp()
  await sql`insert into announcements (id, type, title, subtitle, reward, status) values ('a', 'desc', 'A', '', 1, true)`.execute(
    app.database.db,
  )
  await sql.raw(`update announcements set ${change}`).execute(app.database.db)
  expect(await claim(bot, 1, 'a', 'announcement')).toMatchObject({ status: 409, body: { code } })
})
