/** The histogram of balances counts the players who are not blocked, whatever happens to those who are. */
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { addPlayers } from '#test/players.ts'
import { testApp } from '#test/test-app.ts'
import { testDatabase } from '#test/test-database.ts'
import { addToCounters, type Deltas, foldCounters } from '#src/counters/counters.ts'
import { recount } from '#src/counters/recount.ts'
import { up } from '#src/db/migrations/0030_link_makers.ts'
import { importBalances } from './imported-balances.ts'

const database = await testDatabase()
const { db } = database
const players = [7, 8, 9, 10].map((userId) => ({ user_id: userId, balance: userId * 100 }))

/** Returns the histogram, after checking it against the rows. */
async function histogram(): Promise<Record<string, number>> {
  await foldCounters(database)
  const miscounts: unknown[] = []
  // The players of these tests are added without the counters of players and activity.
  await recount(database, { onMiscount: (one) => void (one.name.startsWith('balances:') && miscounts.push(one)) })
  expect(miscounts).toEqual([])
  const { rows } = await sql<{ name: string; value: number }>`
    select name, value from counters where name like 'balances:%' and value <> 0 order by name`.execute(db)
  return Object.fromEntries(rows.map(({ name, value }) => [name, value]))
}

test('design §8 the histogram leaves out blocked players, also when their balances change, and has them back afterwards', async () => {
  const app = await testApp()
  const [admin, bot] = [await app.signUp('admin'), await app.bot('desk', 'admin')]
  const act = async (path: string, body: object, client = admin) =>
    expect(await client.call('POST', path, body)).toMatchObject({ status: 200 })
  await addPlayers(db, players)
  expect(await histogram()).toEqual({ 'balances:0370': 1, 'balances:0380': 1, 'balances:0390': 1, 'balances:0410': 1 })

  await act('/api/telegram-users/block', { target: { ids: ['7', '8', '9'] }, reason: 'Plays by a script' })
  expect(await histogram()).toEqual({ 'balances:0410': 1 })
  await act('/bot/v1/players/7/adjustments', { amount: 5000, reason: 'A gift' }, bot)
  await act('/bot/v1/players/7/reversals', { entryId: '7-2', reason: 'A mistake' }, bot)
  await act('/bot/v1/players/7/adjustments', { amount: -600, reason: 'Not earned' }, bot)
  await db.transaction().execute(async (tx) => {
    const deltas: Deltas = new Map()
    expect(await importBalances(tx, [{ userId: 8, balance: 20 }], deltas)).toEqual([8])
    await addToCounters(tx, deltas)
  })
  expect(await histogram()).toEqual({ 'balances:0410': 1 })

  await act('/api/telegram-users/9/erase', { confirmation: 9 })
  expect(await histogram()).toEqual({ 'balances:0390': 1, 'balances:0410': 1 })
  await act('/api/telegram-users/unblock', { target: { ids: ['7', '8'] } })
  expect(await histogram()).toEqual({ 'balances:0220': 1, 'balances:0310': 1, 'balances:0390': 1, 'balances:0410': 1 })
})

test('design §4 the migration takes the players who are blocked already out of the histogram, once', async () => {
  await addPlayers(db, players)
  await sql`update balances set blocked_at = now(), block_reason = 'x' where user_id in (7, 8)`.execute(db)
  await sql`comment on index balances_open_by_balance is null`.execute(db)
  for (let time = 0; time < 2; time += 1) {
    await up(db as never)
    expect(await histogram()).toEqual({ 'balances:0390': 1, 'balances:0410': 1 })
  }
})
