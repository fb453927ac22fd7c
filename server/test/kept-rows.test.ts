import { sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { createAccount } from '#src/identity/accounts.ts'
import { createSessions } from '#src/identity/sessions.ts'
import { keptRows } from './kept-rows.ts'
import { testDatabase } from './test-database.ts'

async function kept() {
  const database = await testDatabase()
  onTestFinished(async () => {
    for (const name of ['nothing', 'something']) await sql`drop schema if exists ${sql.id(name)} cascade`.execute(database.db)
  })
  return { database, db: database.db, rows: await keptRows(database) }
}

const player = (id: number, firstName: string) => ({ user_id: id, first_name: firstName })

test('inserted, changed and deleted rows are put back, generated columns too', async () => {
  const { db, rows } = await kept()
  const stored = () => sql<{ first_name: string }>`select * from telegram_users order by user_id`.execute(db)
  await db
    .insertInto('telegram_users')
    .values([player(1, 'Ada'), player(2, 'Bob')])
    .execute()
  await rows.keep('something')
  const before = (await stored()).rows
  for (const change of [
    () => db.insertInto('telegram_users').values(player(3, 'Eve')).execute(),
    () => db.updateTable('telegram_users').set({ first_name: 'Bobby' }).where('user_id', '=', 2).execute(),
    () => db.deleteFrom('telegram_users').where('user_id', '=', 1).execute(),
    () => db.deleteFrom('telegram_users').execute(),
  ]) {
    await change()
    expect((await stored()).rows).not.toEqual(before)
    await rows.putBack('something')
    expect((await stored()).rows).toEqual(before)
  }
})

test('several kept states can be put back in any order, with the row that migrations insert', async () => {
  const { database, db, rows } = await kept()
  const counts = async () => ({
    players: (await db.selectFrom('telegram_users').select('user_id').execute()).length,
    sessions: (await db.selectFrom('sessions').select('user_id').execute()).length,
    epoch: (await sql<{ epoch: number }>`select epoch from status_epoch`.execute(db)).rows,
  })
  await rows.keep('nothing')
  const empty = await counts()
  await db.insertInto('telegram_users').values(player(1, 'Ada')).execute()
  const person = { fname: 'A', lname: 'B', email: 'a@gmail.com', userType: 'admin', passwordHash: 'x' } as const
  const { id } = await database.transaction((tx) => createAccount(tx, person))
  await (await createSessions(database)).begin(id)
  await sql`update status_epoch set epoch = epoch + 1`.execute(db)
  await rows.keep('something')
  const full = await counts()
  expect(full).toMatchObject({ players: 1, sessions: 1 })
  for (const [name, expected] of [
    ['nothing', empty],
    ['something', full],
    ['something', full],
    ['nothing', empty],
  ] as const) {
    await rows.putBack(name)
    expect(await counts()).toEqual(expected)
  }
})

test('a table that has not changed is not written', async () => {
  const { db, rows } = await kept()
  const written = () => sql<{ xmin: string }>`select xmin::text from tasks`.execute(db)
  await db
    .insertInto('tasks')
    .values({ collection: 'social', id: 't', image: 'bsc', priority: 1, title: 'T', reward: 1 })
    .execute()
  await rows.keep('something')
  const before = (await written()).rows
  await db.insertInto('telegram_users').values(player(1, 'Ada')).execute()
  await rows.putBack('something')
  expect(await db.selectFrom('telegram_users').selectAll().execute()).toEqual([])
  expect((await written()).rows).toEqual(before)
})
