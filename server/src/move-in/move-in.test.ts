/** A game moves in from Firebase: documents, mapping, the dry run, and what a second run brings. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { reconcile } from '#src/ledger/reconcile.ts'
import * as firestore from '#test/firestore-export.ts'
import { counts, created, folderOf, run } from '#test/move-in.ts'
import { testApp } from '#test/test-app.ts'
import { type MoveInReport, reportInWords } from './report.ts'

const game: firestore.Documents = {
  'users/uid-Ada': { fname: 'Ada', lname: 'L', email: 'ada@gmail.com', userType: 'admin' },
  'users/uid-Bo': { fname: 'Bo', lname: 'M', email: 'bo@gmail.com', userType: 'user', theme: 'dark' },
  'users/uid-Cy': { fname: 'Cy', lname: 'N', email: 'ADA@gmail.com', userType: 'user' },
  'telegramUsers/4711': { firstName: 'Ada', username: '@ada', balance: 12.5, createdAt: created, fcmToken: 'x'.repeat(200) },
  'telegramUsers/rAnDoM': { userId: 4712, firstName: 'Bo', balance: firestore.double(7), createdAt: created },
  'telegramUsers/4713': { firstName: 'Cy', balance: 'many' },
  'socialTask/t1': {
    image: 'twitter',
    priority: 1,
    title: 'Follow us',
    reward: 5,
    link: 'https://x.com/game',
    createdAt: created,
  },
  'socialTask/t2': { image: 'youtube', priority: 1, title: 'Watch', reward: 5, createdAt: created },
  'dailyTask/d1': { image: 'telegram', priority: 1, title: 'Say hello', reward: 1, createdAt: created },
  'announcements/a1': {
    type: 'link',
    title: 'News',
    subtitle: 'Today',
    linkType: 'input',
    link: 'https://example.org',
    inputText: 'Name?',
    reward: 3,
    status: true,
    createdAt: created,
  },
  'socialTasksHistory/t1': { title: 'Follow us', type: 'twitter', reward: 5, link: 'https://x.com/game' },
  'socialTasksHistory/t1/users/4711': { id: 4711, username: 'ada', first_name: 'Ada', timestamp: created },
  'socialTasksHistory/gone/users/4712': { username: 'bo', timestamp: created },
  'dailyTasksHistory/d1/users/autoId': { id: 4711, timestamp: created },
  'announcementHistory/a1/users/4711': { id: '4711', userInput: 'Ada', timestamp: created },
  'sessions/s1': { token: 'secret' },
}

/** What the run and the dry run must report alike. */
const comparable = ({ isDryRun: _dry, seconds: _seconds, disk: _disk, rejectedPath: _path, ...report }: MoveInReport) => report

test('documents become records with their ids; what is refused or leads nowhere is reported by its path', async () => {
  const app = await testApp()
  const folder = await folderOf(game)
  const dry = await run(app, folder, { isDryRun: true })
  expect((await sql`select 1 from users union all select 1 from telegram_users`.execute(app.database.db)).rows).toEqual([])
  const report = await run(app, folder)
  expect(counts(report)).toEqual({
    users: [3, 2, 0, 0, 1],
    telegramUsers: [3, 2, 0, 0, 1],
    socialTask: [2, 1, 0, 0, 1],
    dailyTask: [1, 1, 0, 0, 0],
    announcements: [1, 1, 0, 0, 0],
    socialTasksHistory: [2, 2, 0, 0, 0],
    'socialTasksHistory/users': [2, 2, 0, 0, 0],
    'dailyTasksHistory/users': [1, 1, 0, 0, 0],
    'announcementHistory/users': [1, 1, 0, 0, 0],
  })
  expect(comparable(dry)).toEqual(comparable(report))
  expect(report.collections['users']).toMatchObject({
    reasons: { 'This e-mail address belongs to another user': { count: 1, documents: ['users/uid-Cy'] } },
    unmapped: { theme: { count: 1, document: 'users/uid-Bo', example: '"dark"' } },
  })
  expect(report.collections['telegramUsers']).toMatchObject({
    reasons: { 'balance must be a number': { count: 1, documents: ['telegramUsers/4713'] } },
    unmapped: { fcmToken: { count: 1, document: 'telegramUsers/4711', example: expect.stringMatching(/^"x{119}…$/) as unknown } },
  })
  expect(report.collections['socialTasksHistory']?.onlyAsParent).toEqual({ count: 1, documents: ['socialTasksHistory/gone'] })
  expect(report.otherCollections).toEqual({ sessions: { documents: 1, example: 'sessions/s1' } })
  expect(report.duplicates).toEqual({
    email: { count: 1, documents: ['users/uid-Cy'] },
    priority: { count: 1, documents: ['socialTask/t2'] },
  })
  expect(report.balances).toEqual({ before: '0', after: '19.5' })
  expect(report.documents).toEqual({ read: 16, same: 0, stated: 16 })
  expect(report.longest['users.email']).toEqual({ characters: 13, document: 'users/uid-Ada' })
  const words = reportInWords(report).join('\n')
  expect(words).toContain('users: 3 read, 2 new, 0 changed, 0 unchanged, 1 refused')
  expect(words).toContain('  refused: balance must be a number: telegramUsers/4713')
  expect(words).toContain('  not moved: theme of 1 document, such as "dark" in users/uid-Bo')
  const rejected = (await readFile(report.rejectedPath!, 'utf8')).trim().split('\n')
  expect(rejected.map((line) => (JSON.parse(line) as { row: Record<string, string> }).row['__name__'])).toEqual([
    'users/uid-Cy',
    'telegramUsers/4713',
    'socialTask/t2',
  ])

  const { db } = app.database
  expect(await db.selectFrom('users').select(['id', 'user_type']).orderBy('id').execute()).toEqual([
    { id: 'uid-Ada', user_type: 'admin' },
    { id: 'uid-Bo', user_type: 'user' },
  ])
  const parts = await db.selectFrom('participations').select(['user_id', 'item_id', 'at']).orderBy('item_id').execute()
  expect(parts.map(({ user_id: user, item_id: item }) => [user, item])).toEqual([
    [4711, 'a1'],
    [4711, 'd1'],
    [4712, 'gone'],
    [4711, 't1'],
  ])
  expect(parts[0]!.at.toISOString()).toBe('2023-11-14T22:13:20.000Z')
})

test('moving in again brings what has changed; balances follow the rule of the ledger, and changes in the console stay and are named', async () => {
  const app = await testApp()
  const admin = await app.signUp('admin')
  await run(app, await folderOf(game))
  expect(counts(await run(app, await folderOf(game)))).toMatchObject({
    users: [3, 0, 0, 2, 1],
    telegramUsers: [3, 0, 0, 2, 1],
    socialTask: [2, 0, 0, 1, 1],
    'socialTasksHistory/users': [2, 0, 0, 2, 0],
  })

  const edited = await admin.call('PATCH', '/api/users/uid-Bo', { fname: 'Bob', lname: 'M', version: 1 })
  expect(edited.status).toBe(200)
  const { body } = await admin.call('DELETE', '/api/daily-tasks/d1')
  expect(body).toEqual({ success: true })
  const adjusted = await admin.call('POST', '/api/telegram-users/4711/adjustments', { amount: 100, reason: 'A gift' })
  expect(adjusted.status).toBe(200)

  const later = {
    ...game,
    'users/uid-Bo': { ...game['users/uid-Bo'], fname: 'Bruno' },
    'users/uid-Ada': { ...game['users/uid-Ada'], lname: 'Lovelace' },
    'telegramUsers/4711': { ...game['telegramUsers/4711'], balance: 20 },
    'telegramUsers/4714': { firstName: 'Di', balance: 1 },
  }
  const report = await run(app, await folderOf(later))
  expect(counts(report)).toMatchObject({ users: [3, 0, 1, 1, 1], telegramUsers: [4, 1, 1, 1, 1], dailyTask: [1, 0, 0, 1, 0] })
  expect(report.collections['users']?.kept).toEqual({ count: 1, documents: ['users/uid-Bo'] })
  expect(report.collections['dailyTask']?.kept).toEqual({ count: 1, documents: ['dailyTask/d1'] })
  expect(report.balances).toEqual({ before: '119.5', after: '128' })
  const { db } = app.database
  expect(await db.selectFrom('users').select(['fname', 'lname']).where('id', 'like', 'uid-%').orderBy('id').execute()).toEqual([
    { fname: 'Ada', lname: 'Lovelace' },
    { fname: 'Bob', lname: 'M' },
  ])
  expect(await db.selectFrom('tasks').select('id').orderBy('id').execute()).toEqual([{ id: 't1' }])
  const faults: string[] = []
  await reconcile(app.database, ({ text }) => faults.push(text))
  expect(faults).toEqual([])
})

test('a map file renames, adds constants, reaches into maps, and drops', async () => {
  const app = await testApp()
  const folder = await folderOf(
    {
      'players/1': { profile: { name: 'Ada', age: 7 }, coins: 5, balance: 99, token: 'x', phoneNumber: '+49', id: 'a' },
      'done/t1/by/1': { id: 1, when: created },
      'logs/1': { text: 'noise' },
    },
    {
      'map.json': {
        collections: {
          players: {
            to: 'telegramUsers',
            fields: { 'profile.name': 'firstName', coins: 'balance' },
            drop: ['token', 'phoneNumber', 'id'],
            constants: { email: 'a@b.c' },
          },
          'done/by': { to: 'socialTasksHistory/users', fields: { when: 'timestamp' } },
          logs: { drop: true },
        },
      },
    },
  )
  const report = await run(app, folder, { mapFile: path.join(folder, 'map.json') })
  expect(counts(report)).toMatchObject({ telegramUsers: [1, 1, 0, 0, 0], 'socialTasksHistory/users': [1, 1, 0, 0, 0] })
  expect(report.collections['telegramUsers']?.unmapped).toEqual({
    'profile.age': { count: 1, kept: 0, document: 'players/1', example: '7' },
    balance: { count: 1, kept: 0, document: 'players/1', example: '99' },
  })
  expect(report.otherCollections).toEqual({ logs: { documents: 1, example: 'logs/1' } })
  expect(await app.database.db.selectFrom('telegram_users').select(['first_name', 'email', 'phone_number']).execute()).toEqual([
    { first_name: 'Ada', email: 'a@b.c', phone_number: null },
  ])
})

test.each([
  ['{', 'this is not valid JSON'],
  ['{}', '"collections" is missing'],
  ['{"collections": {"players": {"to": "gamers"}}}', 'players leads to gamers, but only to users, telegramUsers'],
  ['{"collections": {"users": {"fields": {"a": "b"}}}}', 'users: there is no field "b", only id, fname'],
  ['{"collections": {"users": {"rename": {}}}}', '"rename" of users is not known'],
  ['{"collections": {"users": {"to": "socialTasksHistory/users"}}}', 'participants are in a subcollection'],
])('the map file %s is refused', async (text, reason) => {
  const app = await testApp()
  const folder = await folderOf(game)
  const mapFile = path.join(folder, 'map.json')
  await writeFile(mapFile, text)
  await expect(run(app, folder, { mapFile })).rejects.toThrow(reason)
})

test('a damaged export changes nothing, and a folder without an export is told', async () => {
  const app = await testApp()
  const folder = await folderOf(game)
  const output = path.join(folder, 'firestore_export/all_namespaces/all_kinds/output-0')
  const bytes = await readFile(output)
  bytes[bytes.length - 3]! ^= 4
  await writeFile(output, bytes)
  await expect(run(app, folder)).rejects.toThrow(`${output} is damaged at byte`)
  expect((await sql`select from users`.execute(app.database.db)).rows).toEqual([])
  const empty = await mkdtemp(path.join(os.tmpdir(), 'arcade-test-move-in-'))
  onTestFinished(() => rm(empty, { recursive: true, force: true }))
  await expect(run(app, empty)).rejects.toThrow('contains nothing to move in')
  await expect(run(app, path.join(empty, 'none'))).rejects.toThrow('There is no directory')
})
