/** Caps: the most that a cause gives one player, or takes from one, on a day in UTC, exact even for twenty simultaneous calls. */
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { expectReconciled } from '#test/ledger.ts'
import { addPlayers } from '#test/players.ts'
import { type Client, testApp, type TestApp } from '#test/test-app.ts'
import { openAgain } from '#test/test-database.ts'

const entryCaps = { play: 10, claim: 5 }

interface Game {
  app: TestApp
  bot: Client
  enter: (amount: number, reference: string, more?: { cause?: string; userId?: number }) => ReturnType<Client['call']>
  claim: (id: string) => ReturnType<Client['call']>
}

/** Returns an app with players 7 and 8, who have 100 each, and social tasks that pay 2, 3, 4 and nothing. */
async function game(caps: Record<string, number> = entryCaps): Promise<Game> {
  const app = await testApp({ entryCaps: caps })
  const { db } = app.database
  await addPlayers(db, [
    { user_id: 7, balance: 100 },
    { user_id: 8, balance: 100 },
  ])
  await sql`insert into tasks (collection, id, image, priority, title, reward)
    select 'social', 's' || n, 'twitter', n, 'S', n from unnest('{2,3,4,0}'::int[]) n`.execute(db)
  const bot = await app.bot()
  return {
    app,
    bot,
    enter: (amount, reference, { cause = 'play', userId = 7 } = {}) =>
      bot.call('POST', `/bot/v1/players/${userId}/entries`, { amount, cause, reference }),
    claim: (id) => bot.call('POST', '/bot/v1/players/7/claims', { kind: 'social', id }),
  }
}

/** Sends 20 entries of player 7 to two servers while the balance is locked, and returns the statuses of the answers. */
async function simultaneously(apps: [TestApp, TestApp], bot: Client, amount: number): Promise<number[]> {
  const send = (n: number) =>
    apps[n % 2]!.fetch('/bot/v1/players/7/entries', {
      method: 'POST',
      headers: { ...bot.headers, 'content-type': 'application/json' },
      body: JSON.stringify({ amount, cause: 'play', reference: `r-${n}` }),
    })
  const answers = await apps[0].database.db.transaction().execute(async (tx) => {
    await sql`select user_id from balances where user_id = 7 for update`.execute(tx)
    return { sending: Promise.all(Array.from({ length: 20 }, (_, n) => send(n))) }
  })
  return (await answers.sending).map(({ status }) => status)
}

async function expectBalance({ database }: TestApp, balance: number): Promise<void> {
  const { rows } = await sql`select balance from balances where user_id = 7`.execute(database.db)
  expect(rows).toEqual([{ balance }])
  await expectReconciled(database)
}

test('design §7 an entry beyond the cap of its cause is refused with what is left; other entries are not', async () => {
  const { app, enter } = await game()
  expect((await enter(7.5, 'r1')).body).toMatchObject({ isFirst: true, balance: 107.5 })
  const beyond = await enter(2.6, 'r2')
  expect(beyond).toMatchObject({
    status: 409,
    body: { code: 'CAP_REACHED', left: 2.5, message: 'At most 2.5 more can be given for play today (UTC).' },
  })
  expect((await enter(2.5, 'r2')).status).toBe(200)
  expect((await enter(0.1, 'r3')).body).toMatchObject({
    code: 'CAP_REACHED',
    left: 0,
    message: 'No more can be given for play today (UTC).',
  })
  expect((await enter(7.5, 'r1')).body).toMatchObject({ isFirst: false, balance: 107.5 })
  // A debit is not stopped and frees nothing. Other causes and players are not affected.
  expect((await enter(-4, 'r4')).body).toMatchObject({ balance: 106 })
  expect((await enter(1, 'r5')).status).toBe(409)
  expect((await enter(50, 'r6', { cause: 'gift' })).status).toBe(200)
  expect((await enter(10, 'r7', { userId: 8 })).status).toBe(200)
  await expectBalance(app, 156)
})

test('design §7 causes without their own cap share one, so that a new name gives no more', async () => {
  const { app, enter } = await game({ ...entryCaps, '*': 3 })
  expect((await enter(2, 'r1', { cause: 'gift' })).status).toBe(200)
  const beyond = await enter(2, 'r2', { cause: 'prize' })
  expect(beyond).toMatchObject({ status: 409, body: { left: 1, message: 'At most 1 more can be given for prize today (UTC).' } })
  expect((await enter(4, 'r3', { cause: 'prize' })).body).toMatchObject({
    code: 'CAP_REACHED',
    message: '4 is more than can be given for prize on any day: at most 3.',
  })
  expect((await enter(1, 'r4', { cause: 'prize' })).status).toBe(200)
  expect((await enter(10, 'r5')).status).toBe(200)
  await expectBalance(app, 113)
})

test('design §7 a shared cap of 0 closes causes without their own cap, except for debits', async () => {
  const { enter } = await game({ '*': 0 })
  expect((await enter(1, 'r')).body).toMatchObject({ code: 'CAP_REACHED', left: 0 })
  expect((await enter(-1, 'r')).status).toBe(200)
})

test('design §7 claims have their own cap; repeats and claims that pay nothing do not count', async () => {
  const { app, claim, enter } = await game()
  expect((await enter(10, 'r')).status).toBe(200)
  expect((await claim('s2')).body).toMatchObject({ isFirst: true, balance: 112 })
  expect(await claim('s4')).toMatchObject({ status: 409, body: { code: 'CAP_REACHED', left: 3 } })
  const { rows } = await sql`select item_id from participations`.execute(app.database.db)
  expect(rows).toEqual([{ item_id: 's2' }])
  expect((await claim('s3')).body).toMatchObject({ isFirst: true, balance: 115 })
  expect((await claim('s2')).body).toMatchObject({ isFirst: false })
  expect((await claim('s0')).body).toMatchObject({ isFirst: true, reward: 0 })
  const { rows: kept } = await sql<{ given: object }>`select given from balances where user_id = 7`.execute(app.database.db)
  expect(Object.values(kept[0]!.given)).toEqual([{ claim: 5, play: 10 }])
  await expectBalance(app, 115)
})

test('design §7 the caps start again the next day, and the sums of the day before are dropped', async () => {
  const { app, claim, enter } = await game()
  await enter(10, 'r1')
  await claim('s2')
  const today = new Date().toISOString().slice(0, 10)
  await sql`update balances set given = jsonb_set('{}', '{2026-01-31}', given -> ${today}::text) where user_id = 7`.execute(
    app.database.db,
  )
  expect((await enter(10, 'r2')).status).toBe(200)
  expect(await claim('s4')).toMatchObject({ status: 200 })
  const { rows } = await sql<{ given: object }>`select given from balances where user_id = 7`.execute(app.database.db)
  expect(rows[0]!.given).toEqual({ [today]: { claim: 4, play: 10 } })
})

test('design §7 20 simultaneous calls on two servers give exactly as much as the cap allows', async () => {
  const { app, bot } = await game()
  const second = await testApp({ entryCaps, database: await openAgain() })
  const statuses = await simultaneously([app, second], bot, 1)
  expect(statuses.filter((status) => status === 200)).toHaveLength(10)
  expect(statuses.filter((status) => status === 409)).toHaveLength(10)
  await expectBalance(app, 110)
})

test('design §7 what a cause takes has a cap of its own, so that a leaked token cannot empty balances', async () => {
  const { app, enter } = await game({ ...entryCaps, '-play': 10 })
  expect((await enter(-7.5, 'r1')).body).toMatchObject({ isFirst: true, balance: 92.5 })
  expect(await enter(-2.6, 'r2')).toMatchObject({
    status: 409,
    body: { code: 'CAP_REACHED', left: 2.5, message: 'At most 2.5 more can be taken for play today (UTC).' },
  })
  expect((await enter(-2.5, 'r2')).status).toBe(200)
  expect((await enter(-0.1, 'r3')).body).toMatchObject({ left: 0, message: 'No more can be taken for play today (UTC).' })
  expect((await enter(-11, 'r3')).body).toMatchObject({
    code: 'CAP_REACHED',
    message: '11 is more than can be taken for play on any day: at most 10.',
  })
  expect((await enter(-7.5, 'r1')).body).toMatchObject({ isFirst: false, balance: 92.5 })
  // Gains and losses make no room for each other. Other causes and players are not affected.
  expect((await enter(10, 'r4')).status).toBe(200)
  expect((await enter(-1, 'r5')).status).toBe(409)
  expect((await enter(1, 'r5')).status).toBe(409)
  expect((await enter(-50, 'r6', { cause: 'purchase' })).status).toBe(200)
  expect((await enter(-10, 'r7', { userId: 8 })).status).toBe(200)
  expect((await enter(-200, 'r8', { userId: 8 })).body).toMatchObject({ code: 'BALANCE_TOO_LOW' })
  await expectBalance(app, 50)
})

test('design §7 causes without their own cap on what they take share one', async () => {
  const { app, enter } = await game({ '-*': 3, '-purchase': 20, play: 10 })
  expect((await enter(-2, 'r1')).status).toBe(200)
  expect(await enter(-2, 'r2', { cause: 'fee' })).toMatchObject({ status: 409, body: { left: 1 } })
  expect((await enter(-1, 'r3', { cause: 'fee' })).status).toBe(200)
  expect((await enter(-20, 'r4', { cause: 'purchase' })).status).toBe(200)
  expect((await enter(50, 'r5', { cause: 'gift' })).status).toBe(200)
  await expectBalance(app, 127)
})

test('design §7 20 simultaneous calls on two servers take exactly as much as the cap allows', async () => {
  const caps = { '-play': 10 }
  const { app, bot } = await game(caps)
  const second = await testApp({ entryCaps: caps, database: await openAgain() })
  const answers = await simultaneously([app, second], bot, -1)
  expect(answers.filter((status) => status === 200)).toHaveLength(10)
  expect(answers.filter((status) => status === 409)).toHaveLength(10)
  await expectBalance(app, 90)
})

test('design §7 without caps no sums are stored with the balance', async () => {
  const app = await testApp()
  await addPlayers(app.database.db, [{ user_id: 7 }])
  const bot = await app.bot()
  await bot.call('POST', '/bot/v1/players/7/entries', { amount: 1000, cause: 'play', reference: 'r' })
  expect((await sql`select given from balances`.execute(app.database.db)).rows).toEqual([{ given: null }])
})
