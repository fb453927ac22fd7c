/** What a second move-in brings and leaves, and fields that the console has no place for. */
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { sql } from 'kysely'
import { expect, test, vi } from 'vitest'
import { importDirectory } from '#src/import/import.ts'
import type { Database } from '#src/db/database.ts'
import { exportDirectory } from '#src/import/export.ts'
import { diskStore } from '#src/files/disk.ts'
import { tryLock, LOCKS } from '#src/postgres/lock-holder.ts'
import type * as firestore from '#test/firestore-export.ts'
import { account, hashing, MOVED_PASSWORD, moved } from '#test/auth-export.ts'
import { counts, created, folderOf, run } from '#test/move-in.ts'
import { type TestApp, testApp } from '#test/test-app.ts'
import { emptyTables } from '#test/test-database.ts'
import { reportInWords } from './report.ts'

const game: firestore.Documents = {
  'users/ada': { fname: 'Ada', lname: 'L', email: 'ada@gmail.com', userType: 'admin', theme: 'dark' },
  'telegramUsers/4711': {
    firstName: 'Ada',
    balance: 12.5,
    createdAt: created,
    level: 7,
    best: 9_007_199_254_740_993n,
    seenAt: created,
    pet: { name: 'Rex\0', tricks: ['sit', 'roll'] },
  },
  'telegramUsers/4712': { firstName: 'Bo', balance: 7, createdAt: created },
  'telegramUsers/4713': { firstName: 'Cy', balance: 'many' },
  'socialTask/t1': {
    image: 'twitter',
    priority: 1,
    title: 'Follow',
    reward: 5,
    link: 'https://x.com/a',
    createdAt: created,
    hot: 1,
  },
  'announcements/a1': { type: 'desc', title: 'News', subtitle: 'Now', reward: 1, createdAt: created, fromBefore: 'own' },
  'socialTasksHistory/t1': { title: 'Follow', type: 'twitter', reward: 5, link: 'https://x.com/a', season: 2 },
  'socialTasksHistory/t1/users/4711': { id: 4711, username: 'ada', timestamp: created, proof: 'x.png' },
}

/** What is kept of the records of each table. */
async function keptIn({ db }: Database): Promise<unknown[]> {
  const tables = ['users', 'telegram_users', 'tasks', 'announcements', 'history_items', 'participations']
  const all = tables.map(
    (table) => sql`select ${table}::text as "table", from_before as kept from ${sql.table(table)} where from_before is not null`,
  )
  const { rows } = await sql<{ table: string; kept: string }>`${sql.join(all, sql` union all `)}`.execute(db)
  return rows.map(({ table, kept }) => [table, kept])
}

const kept = [
  ['users', '{"theme":"dark"}'],
  [
    'telegram_users',
    String.raw`{"level":7,"best":9007199254740993,"seenAt":{"__time__":"2023-11-14T22:13:20.000000Z"},"pet":{"name":"Rex\u0000","tricks":["sit","roll"]}}`,
  ],
  ['tasks', '{"hot":1}'],
  ['announcements', '{"fromBefore":"own"}'],
  ['history_items', '{"season":2}'],
  ['participations', '{"proof":"x.png"}'],
]

test('with --keep-unknown, fields that the console does not know are kept, shown, exported and erased with their record', async () => {
  const app = await testApp()
  const admin = await app.signUp('admin')
  const folder = await folderOf(game)
  expect((await run(app, folder)).collections['users']!.unmapped['theme']).toMatchObject({ count: 1, kept: 0 })
  expect(await keptIn(app.database)).toEqual([])
  const report = await run(app, folder, { keepsUnknown: true })
  expect(report.collections['users']!.unmapped['theme']).toMatchObject({ count: 1, kept: 1 })
  expect(reportInWords(report)).toContain('  kept beside the record: theme of 1 document, such as "dark" in users/ada')
  expect(await keptIn(app.database)).toEqual(kept)

  const fieldsOf = async (record: string) => (await admin.call('GET', `/api/from-before/${record}`)).body['fields']
  expect(await fieldsOf('player/4711')).toEqual([
    { name: 'level', value: '7' },
    { name: 'best', value: '9007199254740993' },
    { name: 'seenAt', value: '2023-11-14T22:13:20.000000Z' },
    { name: 'pet', value: JSON.stringify({ name: 'Rex\0', tricks: ['sit', 'roll'] }, null, 2) },
  ])
  expect(await fieldsOf('user/ada')).toEqual([{ name: 'theme', value: 'dark' }])
  expect(await fieldsOf('socialTask/t1')).toEqual([{ name: 'hot', value: '1' }])
  expect(await fieldsOf('announcement/a1')).toEqual([{ name: 'fromBefore', value: 'own' }])
  expect(await fieldsOf('socialHistory/t1')).toEqual([{ name: 'season', value: '2' }])
  const { body: listed } = await admin.call('GET', '/api/history/social/t1/participants')
  expect(listed['participants']).toMatchObject([{ id: 4711, hasFromBefore: true }])
  const participation = (timestamp: string) => fieldsOf(`social/t1/participants/4711?timestamp=${timestamp}`)
  expect(await participation('2023-11-14T22:13:20.000Z')).toEqual([{ name: 'proof', value: 'x.png' }])
  expect(await participation('2023-11-14T22:13:20.001Z')).toEqual([])
  for (const record of ['player/4712', 'player/none', 'dailyTask/t1']) expect(await fieldsOf(record)).toEqual([])

  await admin.call('DELETE', '/api/social-tasks/t1')
  const { body } = await admin.call('GET', '/api/trash')
  const [record] = body['records'] as { id: string }[]
  expect((await admin.call('POST', '/api/trash/restore-one', { id: record!.id })).status).toBe(200)
  expect(await fieldsOf('socialTask/t1')).toEqual([{ name: 'hot', value: '1' }])

  const directory = path.join(folder, 'out')
  await exportDirectory({ database: app.database, store: diskStore(folder), directory })
  await emptyTables()
  const rejectedPath = path.join(folder, 'rejected.ndjson')
  await importDirectory({ database: app.database, directory, rejectedPath })
  expect(await keptIn(app.database)).toEqual(kept)
  await writeFile(path.join(directory, 'telegramUsers.ndjson'), '{"userId":4711,"firstName":"Ada"}\n')
  await importDirectory({ database: app.database, directory, rejectedPath })
  expect(await keptIn(app.database)).toEqual(kept)
  const again = await app.signUp('admin') // the sessions of before are gone, too
  expect((await again.call('POST', '/api/telegram-users/4711/erase', { confirmation: 4711 })).status).toBe(200)
  const ofPlayers = ['telegram_users', 'participations']
  expect(await keptIn(app.database)).toEqual(kept.filter(([table]) => !ofPlayers.includes(String(table))))
})

test('fields that are too long to be kept are reported as not moved', async () => {
  const app = await testApp()
  const long = { firstName: 'Ada', createdAt: created, log: 'x'.repeat(300_000) }
  const report = await run(app, await folderOf({ 'telegramUsers/1': long }), { keepsUnknown: true })
  expect(report.collections['telegramUsers']).toMatchObject({ new: 1, unmapped: { log: { count: 1, kept: 0 } } })
  expect(reportInWords(report).join('\n')).toContain('  not moved: log of 1 document')
})

test('details that the game sets here stay and are named, while balances still follow', async () => {
  const app = await testApp()
  await run(app, await folderOf(game))
  const bot = await app.bot()
  await bot.call('PUT', '/bot/v1/players/4711', { firstName: 'Adele' })
  await bot.call('PUT', '/bot/v1/players/4712', { firstName: 'Bo' })
  await bot.call('POST', '/bot/v1/players', { players: [{ userId: 4714, firstName: 'Di' }] })
  const later = {
    ...game,
    'telegramUsers/4711': { ...game['telegramUsers/4711'], firstName: 'A.', balance: 20 },
    'telegramUsers/4712': { ...game['telegramUsers/4712'], firstName: 'Bob' },
    'telegramUsers/4714': { firstName: 'Diana', balance: 3, createdAt: created },
  }
  const folder = await folderOf(later)
  const dry = await run(app, folder, { isDryRun: true })
  const report = await run(app, folder)
  expect(report.collections['telegramUsers']!.kept).toEqual({
    count: 2,
    documents: ['telegramUsers/4711', 'telegramUsers/4714'],
  })
  expect(dry.collections).toEqual(report.collections)
  const { rows } = await sql`select t.user_id as id, first_name as name, balance
    from telegram_users t join balances using (user_id) order by 1`.execute(app.database.db)
  expect(rows).toEqual([
    { id: 4711, name: 'Adele', balance: 20 },
    { id: 4712, name: 'Bob', balance: 7 },
    { id: 4714, name: 'Di', balance: 3 },
  ])
})

test('players and participations that are the same as in the last run are only counted; others, and those refused, are looked at', async () => {
  const app = await testApp()
  const first = await run(app, await folderOf(game))
  expect(first.documents).toEqual({ read: 8, same: 0, stated: 8 })
  const folder = await folderOf(game)
  const dry = await run(app, folder, { isDryRun: true })
  const again = await run(app, folder)
  for (const report of [dry, again]) {
    expect(report.documents).toEqual({ read: 8, same: 3, stated: 8 })
    expect(counts(report)).toMatchObject({
      users: [1, 0, 0, 1, 0],
      telegramUsers: [3, 0, 0, 2, 1],
      'socialTasksHistory/users': [1, 0, 0, 1, 0],
    })
  }
  expect(reportInWords(again)).toContain('The same as in the last run: 3 documents')

  const later = { ...game, 'telegramUsers/4712': { ...game['telegramUsers/4712'], balance: 9 } }
  const third = await run(app, await folderOf(later))
  expect(third.documents.same).toBe(2)
  expect(counts(third)['telegramUsers']).toEqual([3, 0, 1, 1, 1])
  expect(third.balances).toEqual({ before: '19.5', after: '21.5' })
  // The earlier export again: its document is not the one that was stored last.
  expect((await run(app, folder)).balances).toEqual({ before: '21.5', after: '19.5' })
})

test('of two documents with one key the first stays, however often both are moved in', async () => {
  const app = await testApp()
  const twice: firestore.Documents = {
    'telegramUsers/a': { userId: 1, firstName: 'Ada', balance: 5, createdAt: created },
    'telegramUsers/b': { userId: 1, firstName: 'Bo', balance: 9, createdAt: created },
    'telegramUsers/c': { userId: 2, firstName: 'Cy', balance: 1, createdAt: created },
  }
  for (let time = 0; time < 3; time += 1) {
    const report = await run(app, await folderOf(twice))
    expect(counts(report)['telegramUsers']).toEqual(time === 0 ? [3, 2, 0, 0, 1] : [3, 0, 0, 2, 1])
    expect(report.balances.after).toBe('6')
  }
  // Without the second document, both others are remembered again.
  const { 'telegramUsers/b': _left, ...once } = twice
  await run(app, await folderOf(once))
  expect((await run(app, await folderOf(once))).documents.same).toBe(2)
})

test.each([
  ['another mapping', async () => ({ keepsUnknown: true })],
  [
    'an import of other rows',
    async ({ database }: TestApp, folder: string) => {
      await writeFile(path.join(folder, 'telegramUsers.ndjson'), '{"userId":4712,"balance":1}\n')
      await importDirectory({ database, directory: folder, rejectedPath: path.join(folder, 'rejected.ndjson') })
      return {}
    },
  ],
  [
    'a run that was broken off',
    async (app: TestApp, folder: string) => {
      vi.spyOn(app.database, 'transaction').mockRejectedValueOnce(new Error('broken off'))
      await expect(run(app, folder)).rejects.toThrow('broken off')
      return {}
    },
  ],
])('after %s, all documents are looked at', async (_what, change) => {
  const app = await testApp()
  await run(app, await folderOf(game))
  const options = await change(app, await folderOf(game))
  const report = await run(app, await folderOf(game), options)
  expect(report.documents.same).toBe(0)
  expect(counts(report)['telegramUsers']!.slice(0, 2)).toEqual([3, 0])
  expect(report.balances.after).toBe('19.5')
})

test('a password that is tried says at once whether the hash parameters are the right ones', async () => {
  const app = await testApp()
  const accounts = { users: [account('ada', moved), account('bo')] }
  const folder = await folderOf(game, { 'auth.json': accounts, 'hash.json': hashing })
  const tried = { email: 'ADA@gmail.com', password: MOVED_PASSWORD }
  await expect(run(app, folder, { tried: { ...tried, password: 'wrong' } })).rejects.toThrow(
    'This is not the password of ADA@gmail.com',
  )
  await expect(run(app, folder, { tried: { ...tried, email: 'bo@gmail.com' } })).rejects.toThrow('has no account of bo@gmail.com')
  const foreign = { ...hashing, base64_signer_key: hashing.base64_signer_key.replace('jxsp', 'jxsq') }
  const other = await folderOf(game, { 'auth.json': accounts, 'hash.json': foreign })
  await expect(run(app, other, { tried })).rejects.toThrow('is of another project')
  await expect(run(app, await folderOf(game), { tried })).rejects.toThrow('There is no auth.json')
  expect((await sql`select from users`.execute(app.database.db)).rows).toEqual([])
  expect((await run(app, folder, { tried })).accounts).toMatchObject({ new: 1 })
})

test('a run that is refused or finds a damaged export has not begun', async () => {
  const app = await testApp()
  const onBegin = vi.fn<() => Promise<void>>(async () => {})
  const client = await app.database.connect('test')
  expect(await tryLock(client, 'pg_try_advisory_lock', LOCKS.moveIn)).toBe(true)
  await expect(run(app, await folderOf(game), { onBegin })).rejects.toThrow('Another `arcade move-in` or an import is under way')
  const folder = await folderOf(game)
  await writeFile(path.join(folder, 'telegramUsers.ndjson'), '{"userId":4712,"balance":1}\n')
  const rows = { database: app.database, directory: folder, rejectedPath: path.join(folder, 'rejected.ndjson') }
  await expect(importDirectory(rows)).rejects.toThrow('An `arcade move-in` is under way')
  await client.end()
  await expect(run(app, await folderOf(game, { 'auth.json': '{' }), { onBegin })).rejects.toThrow('ends in the middle')
  expect(onBegin).not.toHaveBeenCalled()
  await run(app, await folderOf(game), { onBegin, isDryRun: true })
  expect(onBegin).not.toHaveBeenCalled()
  await run(app, await folderOf(game), { onBegin })
  expect(onBegin).toHaveBeenCalledOnce()
})
