/** Migration 0026: imported participations in daily tasks get their day. A paid participation of the same day stays next to them. */
import { sql } from 'kysely'
import { pino } from 'pino'
import { expect, onTestFinished, test } from 'vitest'
import { createDatabase } from '#test/test-database.ts'
import { openDatabase } from '#src/db/database.ts'
import { loadMigrations } from '#src/db/migrate.ts'

test('design §7 participations in daily tasks without a day get one, none is lost, and the step can be repeated', async () => {
  const url = await createDatabase('daily_periods')
  const all = await loadMigrations()
  const place = all.findIndex(({ name }) => name.endsWith('_daily_periods'))
  const open = async (migrations = all) => {
    const database = await openDatabase({ dataDir: '/nowhere', url, log: pino({ level: 'silent' }), use: 'command', migrations })
    onTestFinished(() => database.close())
    return database
  }
  const older = await open(all.slice(0, place))
  await sql`insert into participations (user_id, kind, item_id, period, at)
    select n, 'daily', 'd', '', '2026-01-31T23:30:00-01:00' from generate_series(1, 12000) n`.execute(older.db)
  await sql`insert into participations (user_id, kind, item_id, period, at) values
    (1, 'social', 's', '', '2026-01-31'), (1, 'daily', 'e', '', '0044-03-05'), (1, 'daily', 'd', '2026-01-31', '2026-01-31'),
    (2, 'daily', 'd', '2026-02-01', '2026-02-01')`.execute(older.db)
  const database = await open()
  const periods = async (condition: string) => {
    const { rows } = await sql<{ row: string }>`
      select concat_ws(' ', user_id, kind, item_id, period) as row from participations where ${sql.raw(condition)} order by 1`.execute(
      database.db,
    )
    return rows.map(({ row }) => row)
  }
  const expected = ['1 daily d 2026-01-31', '1 daily d 2026-02-01', '1 daily e 0044-03-05', '1 social s ']
  expect(await periods('user_id = 1')).toEqual(expected)
  // Both are participations of one day: one was paid here, the other was imported.
  expect(await periods('user_id = 2')).toEqual(['2 daily d ', '2 daily d 2026-02-01'])
  expect(await periods('user_id > 2')).toHaveLength(11_998)
  expect(await periods(`user_id > 2 and period = '2026-02-01'`)).toHaveLength(11_998)
  await all[place]!.up(database.db as never)
  expect(await periods('user_id = 2')).toEqual(['2 daily d ', '2 daily d 2026-02-01'])
})
