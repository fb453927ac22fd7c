/** What a ledger entry counts (design §4): exact at any time, folded or not, with one row for each entry. */
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { addPlayers } from '#test/players.ts'
import { testDatabase } from '#test/test-database.ts'
import type { CounterKey } from './counter-keys.ts'
import { counterOfRowSql, counterPartsSql, counterSql, foldCounters, readCounters } from './counters.ts'
import { countEntrySql } from './entry-counts.ts'
import { up } from '#src/db/migrations/0022_uncounted_entries.ts'
import { up as countClaims } from '#src/db/migrations/0038_dashboard_looks.ts'
import { recount } from './recount.ts'

const database = await testDatabase()
const { db } = database
const people = [{ user_id: 1 }, { user_id: 2 }]
const claimed = { kind: 'social', itemId: 'a:b' } as const

/** Writes an entry as the product does; `paid` has the balance after it. */
async function enter(
  userId: number,
  { amount, item }: { amount: number; item?: { kind: string; itemId: string } },
): Promise<void> {
  const literal = (text: string) => `'${text}'`
  const count = countEntrySql({
    amount: `${amount}::numeric`,
    ...(item && { item: { kind: literal(item.kind), itemId: literal(item.itemId) } }),
  })
  await sql`
    with paid as (
      update balances set balance = balance + ${amount}, entries = entries + 1 where user_id = ${userId} returning user_id, balance, entries),
    counted as (${sql.raw(count)})
    insert into ledger_entries (user_id, seq, amount, cause, kind, item_id, balance)
    select user_id, entries, ${amount}, ${item ? 'claim' : 'round'}, ${item?.kind ?? null}, ${item?.itemId ?? null}, balance from paid`.execute(
    db,
  )
}

async function valuesOf(keys: CounterKey[]): Promise<unknown> {
  const [kind, itemId] = [`'social'`, `'a:b'`]
  const { rows } = await sql`select ${sql.raw(counterSql({ of: 'participants', kind, itemId }))} as one,
    (select ${sql.raw(counterOfRowSql({ of: 'participants', kind: 'item.kind', itemId: 'item.id' }))} from (values (${sql.raw(kind)}, ${sql.raw(itemId)})) as item (kind, id)) as each,
    (select sum(value) from ${sql.raw(counterPartsSql([`'paid:'`, `'paid;'`]))} as parts) as paid`.execute(db)
  return { keys: await readCounters(db, keys), ...rows[0]! }
}

test('design §4 a claim counts as a participation and adds its reward, a game entry counts as neither; folded or not', async () => {
  await addPlayers(db, people)
  await foldCounters(database)
  await enter(1, { amount: 0.1, item: claimed })
  await enter(2, { amount: 0.2, item: claimed })
  await enter(1, { amount: 700 })
  const now = new Date()
  const keys: CounterKey[] = [
    { of: 'participants', ...claimed },
    { of: 'paid', ...claimed },
    ...(['hour', 'day', 'month'] as const).flatMap((bucket): CounterKey[] => [
      { of: 'activity', bucket, at: now, series: 'social' },
      { of: 'activity', bucket, at: now, series: 'paid' },
    ]),
    ...(['hour', 'day'] as const).flatMap((bucket): CounterKey[] => [
      { of: 'itemActivity', bucket, at: now, ...claimed },
      { of: 'itemPaid', bucket, at: now, ...claimed },
    ]),
  ]
  const expected = { keys: keys.map((_, place) => (place % 2 === 0 ? 2 : 0.3)), one: 2, each: 2, paid: 0.3 }
  expect((await sql`select user_id from uncounted_entries`.execute(db)).rows).toHaveLength(3)
  expect((await sql`select user_id from counter_deltas`.execute(db)).rows).toEqual([])
  expect(await valuesOf(keys)).toEqual(expected)
  await foldCounters(database)
  expect((await sql`select user_id from uncounted_entries`.execute(db)).rows).toEqual([])
  expect(await valuesOf(keys)).toEqual(expected)
})

test('design §8 entries move a player to another bucket of the histogram of balances', async () => {
  await addPlayers(db, people)
  await enter(1, { amount: 0.5, item: claimed })
  await enter(1, { amount: 12_345 })
  await enter(1, { amount: 100 })
  await enter(2, { amount: -5 })
  await foldCounters(database)
  const { rows } = await sql`select name, value from counters where name like 'balances:%' and value <> 0 order by name`.execute(
    db,
  )
  expect(rows).toEqual([
    { name: 'balances:-', value: 1 },
    { name: 'balances:0512', value: 1 },
  ])
})

test('design §4 the migration counts existing rows', async () => {
  await addPlayers(db, people)
  await enter(1, { amount: 0.1, item: claimed })
  await enter(2, { amount: 0.2, item: claimed })
  await enter(2, { amount: -30 })
  await sql`insert into participations (user_id, kind, item_id, at) select user_id, kind, item_id, at from ledger_entries where cause = 'claim'`.execute(
    db,
  )
  await foldCounters(database)
  await sql`delete from counters where name like 'paid%' or name like '%:paid' or name like 'balances:%'`.execute(db)
  await sql`insert into counters (name, value) values ('telegramUsers', 2)`.execute(db)
  const found: unknown[] = []
  await recount(database, { onMiscount: (miscount) => found.push(miscount) })
  expect(found.length).toBeGreaterThan(5)
  await sql`drop table uncounted_entries`.execute(db)
  await db.transaction().execute((tx) => up(tx as never))
  const left: unknown[] = []
  await recount(database, { onMiscount: (miscount) => left.push(miscount) })
  expect(left).toEqual([])
})

test('Dashboard: the migration counts the claims that are folded', async () => {
  await addPlayers(db, people)
  await enter(1, { amount: 0.1, item: claimed })
  await enter(1, { amount: 5 })
  await foldCounters(database)
  await enter(2, { amount: 0.2, item: claimed })
  await sql`delete from counters where name like '%:claims'`.execute(db)
  await sql`drop table dashboard_looks`.execute(db)
  await db.transaction().execute((tx) => countClaims(tx as never))
  const { rows: latest } = await sql<{ at: Date }>`select max(at) as at from ledger_entries`.execute(db)
  const at = latest[0]!.at
  const counters = (['hour', 'day'] as const).map((bucket) => ({ of: 'activity', bucket, at, series: 'claims' }) as const)
  expect(await readCounters(db, counters)).toEqual([2, 2])
  await foldCounters(database)
  expect(await readCounters(db, counters)).toEqual([2, 2])
})
