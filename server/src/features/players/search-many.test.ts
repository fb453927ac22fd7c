/** Telegram Users when a search matches more rows than are sorted or counted. */
import { playersSorts } from '@arcade/contract/players/fields'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { playerEntity, sourceSql } from '#src/db/entities.ts'
import { scanFrom } from '#src/lists/cursor-orders.ts'
import { cursorPages } from '#src/lists/cursor-pages.ts'
import { orderSql } from '#src/lists/list.ts'
import { whereFilter } from '#src/lists/where.ts'
import { addCount } from '#test/activity.ts'
import { giveBalances } from '#test/players.ts'
import { testApp } from '#test/test-app.ts'
import { servedPlayers } from '#src/players/players-list.ts'

test('Lists: a page is right where a filter matches too many rows for an index, but few of them nearby', async () => {
  const app = await testApp()
  await sql`insert into telegram_users (user_id, username, first_name, created_at)
    select n, case when n % 7 > 0 then 'player_' || n end, case when n > 61000 then 'Zoë' when n < 200 and n % 60 > 0 then null when n % 3 > 0 then 'Anna' when n % 9 > 0 then 'Yan' end,
      case when n % 5 > 0 then timestamptz '2026-01-01' - n * interval '1 hour' end
    from generate_series(1, 72000) n`.execute(app.database.db)
  await giveBalances(app.database.db, '70000 - telegram_users.user_id / 2')
  await addCount(app.database, { of: 'players' }, 72_000)
  await sql`analyze telegram_users, balances`.execute(app.database.db)
  const pages = cursorPages(app.database, servedPlayers)
  const isNamed = (name: string) => sql`coalesce(first_name = ${name}, false)`
  const hasPart = (part: string) => sql`(coalesce(strpos(username, ${part}) > 0, false) or user_id::text = ${part})`
  const names = ['Zoë', 'Yan'].flatMap((name) => playersSorts.map((sort) => ({ name, sort, isHit: isNamed(name) })))
  // 95, some 200 and 950 matches, which are collected first in the order of the joined table of balances
  const parts = ['player_512', '123', 'player_51'].map((name) => ({ name, sort: 'balance', isHit: hasPart(name) }) as const)
  for (const { name, sort, isHit } of [...names, ...parts]) {
    const { keyText } = pages.orders[sort]
    const { rows: inOrder } = await sql<{ id: number; key: string | null; is_hit: boolean }>`
      select user_id as id, ${sql.raw(keyText)} as key, ${isHit} as is_hit from ${sql.raw(sourceSql(playerEntity))}
      order by ${sql.raw(orderSql(servedPlayers, sort, false))}`.execute(app.database.db)
    for (const reversed of [false, true]) {
      const order = reversed ? inOrder.toReversed() : inOrder
      const hits = order.flatMap((row, at) => (row.is_hit ? at : []))
      const sparse = 71_810 // after this row there are only two hits, far apart, at the end of orders that end with the smallest ids
      const places = [-1, 0, 30_000, 35_000, 60_000, hits[0]!, hits[5000]!, hits.at(-4)!, hits.at(-1)!, sparse, 71_990]
      for (const place of places) {
        const scan = scanFrom({ sort, reversed }, 'after', order[place])
        const { rows } = await pages.read(whereFilter(servedPlayers, { search: name }, undefined), scan, 6)
        const wanted = order.slice(place + 1).filter((row) => row.is_hit)
        expect(
          rows.map(({ id }) => id),
          `${name} ${sort} ${reversed} after ${place}`,
        ).toEqual(wanted.slice(0, 6).map(({ id }) => id))
      }
    }
  }
})

test('Lists: a large count stops at the limit of the index, or a sample proves that there are more', async () => {
  const app = await testApp()
  const admin = await app.signUp('admin')
  await sql`insert into telegram_users (user_id, username, first_name)
    select n, 'player_' || n, case when n > 30000 and n <= 40000 then 'Zoë' when n > 40000 and n <= 50001 then 'Anna' end from generate_series(1, 120000) n`.execute(
    app.database.db,
  )
  await addCount(app.database, { of: 'players' }, 120_000)
  const count = async (search: string) =>
    (await admin.call('GET', `/api/telegram-users/count?${new URLSearchParams({ search }).toString()}`)).body
  expect(await count('player')).toEqual({ total: 10_000, isMore: true, about: 120_000 })
  expect(await count('zoë')).toEqual({ total: 10_000, isMore: false })
  expect(await count('anna')).toEqual({ total: 10_000, isMore: true, about: expect.closeTo(10_000, -4) })
  expect(await count('player_51')).toEqual({ total: 1111, isMore: false })
})

test('Lists: twenty simultaneous counts are all answered, four at a time', async () => {
  const app = await testApp()
  const admin = await app.signUp('admin')
  await sql`insert into telegram_users (user_id, username) select n, 'player_' || n from generate_series(1, 30) n`.execute(
    app.database.db,
  )
  const counting = async (): Promise<number> => {
    const { rows } = await sql<{ counting: number }>`
      select count(*) as counting from pg_stat_activity where datname = current_database() and application_name = 'arcade snapshot'`.execute(
      app.database.db,
    )
    return rows[0]!.counting
  }
  const numbers = Array.from({ length: 20 }, (_, n) => n + 10)
  const ask = (n: number) => admin.call('GET', `/api/telegram-users/count?search=player_${n}`)
  const asked = await app.database.db.transaction().execute(async (tx) => {
    await sql`lock table telegram_users in access exclusive mode`.execute(tx)
    const answers = [...numbers, ...numbers].map(ask)
    await expect.poll(counting, { timeout: 20_000 }).toBe(4)
    return answers
  })
  const answers = await Promise.all(asked)
  expect(answers.map(({ status, body }) => [status, body])).toEqual(answers.map(() => [200, { total: 1, isMore: false }]))
})
