/** Balances from imports, and the ledger entries that explain them. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { testDatabase } from '#test/test-database.ts'
import { importDirectory } from './import.ts'

const database = await testDatabase()
const { db } = database
let directory: string
beforeAll(async () => {
  directory = await mkdtemp(path.join(os.tmpdir(), 'arcade-test-balances-'))
})
afterAll(() => rm(directory, { recursive: true, force: true }))

/** Imports players with these balances and returns how many rows were loaded, unchanged and rejected. */
async function importBalances(balances: Record<number, number | null>, more: object = {}) {
  const rows = Object.entries(balances).map(([id, balance]) => `${JSON.stringify({ id, balance, ...more })}\n`)
  await writeFile(path.join(directory, 'telegramUsers.ndjson'), rows.join(''))
  const { files } = await importDirectory({ database, directory, rejectedPath: path.join(directory, 'rejected') })
  const { loaded, unchanged, rejected } = files[0]!
  return { loaded, unchanged, rejected }
}

async function ledger(userId: number): Promise<unknown[]> {
  const entries = await db
    .selectFrom('ledger_entries')
    .select(['seq', 'cause', 'amount', 'balance'])
    .where('user_id', '=', userId)
    .orderBy('seq')
    .execute()
  return entries.map(({ seq, cause, amount, balance }) => [seq, cause, amount, balance])
}

const balanceOf = (userId: number) =>
  db.selectFrom('balances').select(['balance', 'imported', 'entries']).where('user_id', '=', userId).executeTakeFirst()

test('design §7 an imported balance becomes an opening entry; a balance of 0 or null has none', async () => {
  expect(await importBalances({ 1: 0.1, 2: 0, 3: null, 4: -5.5 })).toEqual({ loaded: 4, unchanged: 0, rejected: 0 })
  expect(await ledger(1)).toEqual([[1, 'opening', 0.1, 0.1]])
  expect(await ledger(4)).toEqual([[1, 'opening', -5.5, -5.5]])
  for (const id of [2, 3]) {
    expect(await ledger(id)).toEqual([])
    expect(await balanceOf(id)).toEqual({ balance: 0, imported: 0, entries: 0 })
  }
})

test('design §7 a row without a balance leaves the balance as it is, and the one of the last import', async () => {
  await importBalances({ 1: 5 })
  expect(await importBalances({ 1: null, 2: null }, { firstName: 'Renamed' })).toEqual({ loaded: 2, unchanged: 0, rejected: 0 })
  expect(await balanceOf(1)).toEqual({ balance: 5, imported: 5, entries: 1 })
  expect(await balanceOf(2)).toEqual({ balance: 0, imported: 0, entries: 0 })
  await importBalances({ 1: 7 })
  expect(await balanceOf(1)).toEqual({ balance: 7, imported: 7, entries: 2 })
})

test('design §7 a later import adds the difference to the last imported balance, so entries in between stay', async () => {
  await importBalances({ 1: 100, 2: 0 })
  await sql`update balances set balance = balance + 7, entries = entries + 1`.execute(db)
  await sql`insert into ledger_entries (user_id, seq, amount, cause, balance)
    select user_id, entries, 7, 'claim', balance from balances`.execute(db)
  expect(await importBalances({ 1: 100, 2: 0 })).toEqual({ loaded: 0, unchanged: 2, rejected: 0 })
  expect(await importBalances({ 1: 100.3, 2: 5 })).toEqual({ loaded: 2, unchanged: 0, rejected: 0 })
  expect(await importBalances({ 1: 90, 2: 5 })).toEqual({ loaded: 1, unchanged: 1, rejected: 0 })
  const whole = [
    [1, 'opening', 100, 100],
    [2, 'claim', 7, 107],
    [3, 'import', 0.3, 107.3],
    [4, 'import', -10.3, 97],
  ]
  expect(await ledger(1)).toEqual(whole)
  expect(await ledger(2)).toEqual([
    [1, 'claim', 7, 7],
    [2, 'import', 5, 12],
  ])
  expect(await balanceOf(1)).toEqual({ balance: 97, imported: 90, entries: 4 })
})

test('design §7 a row whose profile and balance both change counts as loaded once', async () => {
  await importBalances({ 1: 1, 2: 2 })
  expect(await importBalances({ 1: 3, 2: 2 }, { firstName: 'New' })).toEqual({ loaded: 2, unchanged: 0, rejected: 0 })
})

test('design §7 each of several simultaneous imports adds its difference once', async () => {
  const players = Object.fromEntries(Array.from({ length: 300 }, (_, n) => [n + 1, 10]))
  await importBalances(players)
  const rows = (balance: number) => Object.keys(players).map((id) => `${JSON.stringify({ id, balance })}\n`)
  const importAtOnce = async (balance: number): Promise<void> => {
    const folder = await mkdtemp(path.join(directory, 'at-once-'))
    await writeFile(path.join(folder, 'telegramUsers.ndjson'), rows(balance).join(''))
    await importDirectory({ database, directory: folder, rejectedPath: path.join(folder, 'rejected') })
  }
  await Promise.all([20, 30, 20, 40].map(importAtOnce))
  const { rows: wrong } = await sql`
    select user_id from balances b join ledger_entries e using (user_id)
     group by user_id, b.balance, imported, entries
    having sum(amount) <> b.balance or b.balance <> imported or count(*) <> entries or max(seq) <> entries`.execute(db)
  expect(wrong).toEqual([])
})
