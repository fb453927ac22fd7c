import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import type { CounterKey } from '#src/counters/counter-keys.ts'
import { readCounters } from '#src/counters/counters.ts'
import type { Database } from '#src/db/database.ts'
import { createPasswordLink } from '#src/identity/password-links.ts'
import { activityCounters, countedActivity } from '#test/activity.ts'
import { SAMPLE } from '#test/console-server.ts'
import { openAgain, testDatabase } from '#test/test-database.ts'
import { importDirectory } from './import.ts'

const timestamp = { _seconds: 1_778_001_600, _nanoseconds: 0 }
const task = (id: string, priority: number, more = {}) => ({
  id,
  image: 'twitter',
  priority,
  title: `Task ${id}`,
  reward: 5,
  createdAt: timestamp,
  ...more,
})
const announcement = (id: string, more = {}) => ({
  id,
  type: 'desc',
  title: `News ${id}`,
  subtitle: 'Today',
  reward: 5,
  description: 'D',
  createdAt: timestamp,
  ...more,
})
const player = (userId: number, more = {}) => ({
  id: String(userId),
  userId,
  firstName: `Player ${userId}`,
  balance: userId,
  ...more,
})
const took = (parent: string, id: number, more = {}) => ({ parent, id: String(id), username: `p${id}`, timestamp, ...more })
const user = (id: string, userType: string, more = {}) => ({
  id,
  fname: id,
  lname: 'X',
  email: `${id}@gmail.com`,
  userType,
  createdAt: timestamp,
  ...more,
})

type Content = unknown[] | string | Buffer

async function directoryOf(files: Record<string, Content>): Promise<string> {
  const directory = await mkdtemp(path.join(os.tmpdir(), 'arcade-test-import-'))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  await fill(directory, files)
  return directory
}

async function fill(directory: string, files: Record<string, Content>): Promise<void> {
  for (const [name, content] of Object.entries(files)) {
    await writeFile(
      path.join(directory, `${name}.ndjson`),
      Array.isArray(content) ? content.map((row) => `${JSON.stringify(row)}\n`).join('') : content,
    )
  }
}

async function run(
  files: Record<string, Content> | string,
  { isDryRun = false, database: given = undefined as Database | undefined } = {},
) {
  const database = given ?? (await testDatabase())
  const directory = typeof files === 'string' ? files : await directoryOf(files)
  const out = await directoryOf({})
  const rejectedPath = path.join(out, 'rejected.ndjson')
  const lines: string[] = []
  const report = await importDirectory({ database, directory, isDryRun, rejectedPath, log: (line) => lines.push(line) })
  const rejected = await readFile(rejectedPath, 'utf8').catch(() => '')
  const counts = Object.fromEntries(
    report.files.map(({ collection, read, loaded, unchanged, rejected: bad }) => [collection, [read, loaded, unchanged, bad]]),
  )
  return {
    ...database,
    database,
    directory,
    report,
    counts,
    lines,
    rejected: rejected.split('\n').flatMap((line) => (line ? [JSON.parse(line)] : [])),
  }
}

const players = ['telegram_users', 'balances', 'ledger_entries']
const everything = ['users', ...players, 'tasks', 'announcements', 'history_items', 'participations']
/** All rows, with the place and transaction in which each was stored or locked, to reveal rewritten rows. Locks on users are left out. */
async function allRows({ db }: Pick<Database, 'db'>): Promise<unknown[]> {
  const parts = everything.map(
    (table) =>
      sql`select ${sql.lit(table)} as "table", ctid::text, xmin::text, ${table === 'users' ? sql`''` : sql`xmax::text`} as locked_by, to_jsonb(t) as row from ${sql.table(table)} t`,
  )
  return (await sql`${sql.join(parts, sql` union all `)} order by 1, 2, 5`.execute(db)).rows
}

/** Checks that the counters equal counting the rows. */
async function expectExactCounters({ db }: Pick<Database, 'db'>): Promise<void> {
  const { rows } = await sql<{ key: CounterKey; value: number }>`
    select json_build_object('of', 'players') as key, count(*) as value from telegram_users
    union all select json_build_object('of', 'users', 'userType', type), (select count(*) from users where user_type = type)
      from unnest(array['admin', 'user']) as type
    union all select json_build_object('of', 'participants', 'kind', kind, 'itemId', item_id), coalesce(taken, 0) from history_items
      left join (select kind, item_id, count(*) as taken from participations group by kind, item_id) as counted using (kind, item_id)`.execute(
    db,
  )
  const keys = rows.map(({ key }) => key)
  expect(await readCounters(db, keys)).toEqual(rows.map(({ value }) => value))
  expect(await activityCounters(db)).toEqual(await countedActivity(db))
}

test('design §8 the sample loads, and loading it again touches no row', async () => {
  const samples = {
    users: [user('ada', 'admin'), user('bob', 'user')],
    telegramUsers: [player(1), player(2, { balance: 0.25, createdAt: 1_777_023_542_138 })],
    socialTask: [task('s1', 1, { link: 'https://x.com/a' }), task('s2', 2)],
    dailyTask: [task('d1', 1)],
    announcements: [announcement('a1', { status: true })],
    socialTasksHistory: [
      { id: 's1', title: 'Task s1', link: 'https://x.com/a', reward: 5, type: 'twitter' },
      { id: 'gone', title: 'Deleted', reward: 1, type: 'discord' },
    ],
    'socialTasksHistory.users': [took('s1', 1), took('s1', 2, { userInput: 'hi' }), took('gone', 1)],
    'dailyTasksHistory.users': [took('d1', 1)],
    'announcementHistory.users': [took('a1', 2)],
  }
  const first = await run(samples)
  expect(first.rejected).toEqual([])
  expect(first.report.files.every(({ read, loaded }) => read === loaded && read > 0)).toBe(true)
  const before = await allRows(first)
  expect(before).toHaveLength(2 + 3 * 2 + 3 + 1 + 5 + 5)
  await expectExactCounters(first)

  const second = await run(first.directory)
  expect(second.report.files.every(({ read, unchanged }) => read === unchanged)).toBe(true)
  expect(await allRows(second)).toEqual(before)
  await expectExactCounters(second)
  const { rows: stored } = await sql`
    select balance, created_at from telegram_users join balances using (user_id) where user_id = 2`.execute(first.db)
  expect(stored).toEqual([{ balance: 0.25, created_at: new Date(1_777_023_542_138) }])
})

test('§3 the sample of the repository loads completely', async () => {
  const { report, rejected, database } = await run(SAMPLE)
  expect(rejected).toEqual([])
  expect(report.files).toHaveLength(10)
  expect(report.files.every(({ read, loaded, unchanged }) => read === loaded + unchanged && read > 0)).toBe(true)
  const { rows: entries } = await sql`select user_id from balances where balance <> 0`.execute(database.db)
  expect((await allRows({ db: database.db })).length).toBe(
    2 * 1203 + entries.length + 12 + 7 + 9 + (12 + 7 + 9) + (445 + 251 + 392),
  )
  await expectExactCounters(database)
})

test('design §8 changed values update the row, raise the version and update the history', async () => {
  const { directory, db } = await run({ socialTask: [task('a', 1), task('b', 2)], telegramUsers: [player(1)] })
  await fill(directory, {
    socialTask: [task('a', 1, { title: 'New' }), task('b', 2)],
    telegramUsers: [player(1, { balance: 9 }), player(2)],
  })
  const { counts, database } = await run(directory)
  expect(counts).toEqual({ telegramUsers: [2, 2, 0, 0], socialTask: [2, 1, 1, 0] })
  expect(await db.selectFrom('tasks').select(['id', 'title', 'version']).orderBy('id').execute()).toEqual([
    { id: 'a', title: 'New', version: 2 },
    { id: 'b', title: 'Task b', version: 1 },
  ])
  expect(await db.selectFrom('history_items').select('title').where('item_id', '=', 'a').execute()).toEqual([{ title: 'New' }])
  await expectExactCounters(database)
})

test('design §8 a task or announcement without a history document gets one', async () => {
  const { db, rejected } = await run({
    dailyTask: [task('d', 1)],
    announcements: [announcement('a')],
    'dailyTasksHistory.users': [took('d', 1)],
  })
  expect(rejected).toEqual([])
  expect(await db.selectFrom('history_items').select(['kind', 'item_id', 'title', 'type']).orderBy('kind').execute()).toEqual([
    { kind: 'announcement', item_id: 'a', title: 'News a', type: 'desc' },
    { kind: 'daily', item_id: 'd', title: 'Task d', type: 'twitter' },
  ])
})

test('design §8 bad rows go to rejected.ndjson with file, line and reason; good ones load', async () => {
  const content = [
    '\ufeff' + JSON.stringify(player(1)),
    '',
    '   \r',
    '{"id":',
    JSON.stringify(player(2)) + '\r',
    '[]',
    '{"id":"3","userId":9007199254740993}',
    JSON.stringify(player(4, { username: '\u0000' })),
    JSON.stringify(player(5)),
  ].join('\n')
  const { counts, rejected, db, lines, report } = await run({ telegramUsers: content })
  expect(counts).toEqual({ telegramUsers: [7, 3, 0, 4] })
  expect(rejected).toEqual([
    { file: 'telegramUsers.ndjson', line: 4, reason: 'The line is not valid JSON', text: '{"id":' },
    { file: 'telegramUsers.ndjson', line: 6, reason: 'The line is not a JSON object', row: [] },
    {
      file: 'telegramUsers.ndjson',
      line: 7,
      reason: 'userId: the number 9007199254740993 cannot be kept exactly',
      row: { id: '3', userId: 2 ** 53 },
    },
    {
      file: 'telegramUsers.ndjson',
      line: 8,
      reason: 'username contains the character U+0000',
      row: player(4, { username: '\u0000' }),
    },
  ])
  expect(lines).toContain('telegramUsers.ndjson:4: The line is not valid JSON')
  // Digits that no JavaScript number can hold are kept, so that the row can be repaired.
  expect(await readFile(report.rejectedPath!, 'utf8')).toContain('9007199254740993}}')
  expect(
    (await db.selectFrom('telegram_users').select('user_id').orderBy('user_id').execute()).map((row) => row.user_id),
  ).toEqual([1, 2, 5])
})

test('design §8 invalid UTF-8 and a line that is too long are refused, the next line loads', async () => {
  const bad = Buffer.concat([Buffer.from('{"id":"1","firstName":"'), Buffer.from([0xff, 0xfe]), Buffer.from('"}\n')])
  const long = Buffer.from(`{"id":"2","firstName":"${'x'.repeat(3 * 1024 * 1024)}"}\n`)
  const last = Buffer.from(JSON.stringify(player(3)))
  const { rejected, counts } = await run({ telegramUsers: Buffer.concat([Buffer.from('\n'), bad, long, last]) })
  expect(counts).toEqual({ telegramUsers: [3, 1, 0, 2] })
  expect(rejected.map(({ line, reason }) => [line, reason])).toEqual([
    [2, 'The line is not valid UTF-8'],
    [3, 'The line is longer than 1048576 bytes'],
  ])
  // Both are kept completely, byte for byte.
  const kept = rejected.map(({ base64 }) => Buffer.from(`${Buffer.from(base64, 'base64').toString('latin1')}\n`, 'latin1'))
  expect(kept.map((bytes, n) => bytes.equals([bad, long][n]!))).toEqual([true, true])
})

test('design §8 a folder with the name of a file is reported', async () => {
  const directory = await directoryOf({ telegramUsers: [player(1)] })
  await mkdir(path.join(directory, 'users.ndjson'))
  const { lines, counts } = await run(directory)
  expect(lines).toContain('users.ndjson: ignored, this is a folder')
  expect(counts).toEqual({ telegramUsers: [1, 1, 0, 0] })
})

test('§5 Priority is already taken!: the first line with a priority loads, and a repeat gives the same result', async () => {
  const files = { socialTask: [task('a', 1), task('b', 1), task('c', 3)], dailyTask: [task('a', 1)] }
  const first = await run(files)
  expect(first.counts).toEqual({ socialTask: [3, 2, 0, 1], dailyTask: [1, 1, 0, 0] })
  expect(first.rejected).toEqual([
    { file: 'socialTask.ndjson', line: 2, reason: 'Priority is already taken!', row: task('b', 1) },
  ])
  const second = await run(first.directory)
  expect(second.counts).toEqual({ socialTask: [3, 0, 2, 1], dailyTask: [1, 0, 1, 0] })
  expect(await first.db.selectFrom('history_items').select('item_id').where('item_id', '=', 'b').execute()).toEqual([])
})

test('§5 priorities can be swapped', async () => {
  const { directory, db } = await run({ socialTask: [task('a', 1), task('b', 2)] })
  await fill(directory, { socialTask: [task('a', 2), task('b', 1)] })
  expect((await run(directory)).counts).toEqual({ socialTask: [2, 2, 0, 0] })
  expect(await db.selectFrom('tasks').select(['id', 'priority']).orderBy('id').execute()).toEqual([
    { id: 'a', priority: 2 },
    { id: 'b', priority: 1 },
  ])
})

test('design §8 of lines with the same id only the first is loaded, in a dry run too, and across batches', async () => {
  const others = Array.from({ length: 6000 }, (_, n) => player(n + 100))
  const files = {
    telegramUsers: [player(1, { firstName: 'A', balance: 5 }), ...others, { id: '1', firstName: 'B' }],
    socialTask: [task('a', 1), task('b', 2), task('b', 3)],
  }
  const reasons = [1, 2].map((line) => `Line ${line} has the same id: only the first of them is read`)
  const directory = await directoryOf(files)
  const dry = await run(directory, { isDryRun: true })
  expect(dry.counts).toEqual({ telegramUsers: [6002, 6001, 0, 1], socialTask: [3, 2, 0, 1] })
  expect(dry.rejected.map(({ reason }) => reason)).toEqual(reasons)
  const { counts, db, rejected } = await run(directory)
  expect(counts).toEqual(dry.counts)
  expect(rejected.map(({ line, reason }) => [line, reason])).toEqual([
    [6002, reasons[0]],
    [3, reasons[1]],
  ])
  expect(await db.selectFrom('telegram_users').select('first_name').where('user_id', '=', 1).execute()).toEqual([
    { first_name: 'A' },
  ])
  expect(await db.selectFrom('balances').select('balance').where('user_id', '=', 1).execute()).toEqual([{ balance: 5 }])
})

test('§3 a participation in an unknown history document is refused', async () => {
  const { rejected, database } = await run({
    socialTask: [task('s', 1)],
    'socialTasksHistory.users': [took('s', 1), took('nowhere', 1)],
  })
  expect(rejected).toMatchObject([{ line: 2, reason: 'There is no history document with the id nowhere (parent)' }])
  await expectExactCounters(database)
})

test('§3 users: roles are counted, a taken e-mail address is refused, the last admin stays', async () => {
  const { directory, db, database, rejected } = await run({
    users: [user('ada', 'admin'), user('bob', 'user'), user('eve', 'user', { email: 'ADA@gmail.com' })],
  })
  expect(rejected).toMatchObject([{ line: 3, reason: 'This e-mail address belongs to another user' }])
  await expectExactCounters(database)

  await fill(directory, { users: [user('ada', 'user'), user('bob', 'user', { fname: 'Robert' })] })
  const demoted = await run(directory)
  expect(demoted.rejected).toMatchObject([{ line: 1, reason: 'The last admin can be neither removed nor made a user.' }])
  await expectExactCounters(database)

  await fill(directory, { users: [user('ada', 'user'), user('bob', 'admin', { fname: 'Robert' })] })
  expect((await run(directory)).counts).toEqual({ users: [2, 2, 0, 0] })
  expect(await db.selectFrom('users').select(['id', 'user_type', 'version']).orderBy('id').execute()).toEqual([
    { id: 'ada', user_type: 'user', version: 2 },
    { id: 'bob', user_type: 'admin', version: 3 },
  ])
  await expectExactCounters(database)
})

test('§4 a changed role ends the sessions of its user and the password links for and by the user, a changed name does not', async () => {
  const { directory, db } = await run({ users: [user('ada', 'admin'), user('bob', 'admin'), user('eve', 'user')] })
  for (const id of ['ada', 'bob']) {
    await db
      .insertInto('accounts')
      .values({ id, email: `${id}@gmail.com`, password_hash: 'x' })
      .execute()
    await db
      .insertInto('sessions')
      .values({ token_hash: Buffer.from(id), user_id: id })
      .execute()
  }
  const links = { ada: 'bob', bob: 'ada', eve: 'ada' }
  for (const [userId, madeBy] of Object.entries(links))
    await db.transaction().execute((tx) => createPasswordLink(tx, { userId, madeBy }))
  await fill(directory, { users: [user('ada', 'admin', { fname: 'Augusta' }), user('bob', 'user')] })
  await run(directory)
  expect(await db.selectFrom('sessions').select('user_id').execute()).toEqual([{ user_id: 'ada' }])
  expect(await db.selectFrom('password_links').select('user_id').execute()).toEqual([{ user_id: 'eve' }])
})

test('§3 an image that was uploaded here is kept when the announcement is imported again', async () => {
  const { directory, db, lines } = await run({
    announcements: [announcement('a', { image: 'https://old.example/a.png', imageName: 'a.png' })],
  })
  expect(lines).toContain('announcements.ndjson:1: The file of image is in another store: upload it again')
  await db.updateTable('announcements').set({ image_key: 'announcements/1_b.png', image_name: 'b.png' }).execute()
  expect((await run(directory)).counts).toEqual({ announcements: [1, 0, 1, 0] })
  expect(await db.selectFrom('announcements').select(['image_key', 'image_name']).execute()).toEqual([
    { image_key: 'announcements/1_b.png', image_name: 'b.png' },
  ])
})

test('design §8 two simultaneous imports count every row once', { timeout: 180_000 }, async () => {
  const numbers = Array.from({ length: 12_000 }, (_, index) => index + 1)
  const files = {
    socialTask: [task('s', 1)],
    telegramUsers: numbers.map((n) => player(n)),
    'socialTasksHistory.users': numbers.map((n) => took('s', n)),
  }
  // The other import has the same rows in the opposite order.
  const opposite = {
    ...files,
    telegramUsers: files.telegramUsers.toReversed(),
    'socialTasksHistory.users': files['socialTasksHistory.users'].toReversed(),
  }
  const database = await openAgain({ use: 'command' }) // as `arcade import` does it: a command waits longer for locks than a request
  const [one, other] = await Promise.all([run(files, { database }), run(opposite, { database })])
  for (const collection of ['telegramUsers', 'socialTasksHistory/users']) {
    expect(one.counts[collection]![1]! + other.counts[collection]![1]!).toBe(numbers.length)
  }
  const counted = await readCounters(one.db, [{ of: 'players' }, { of: 'participants', kind: 'social', itemId: 's' }])
  expect(counted).toEqual([12_000, 12_000])
  await expectExactCounters(one)
})

test('design §8 a directory that is missing, empty or without known files is a clear error', async () => {
  const database = await testDatabase()
  const attempt = (directory: string) => importDirectory({ database, directory })
  await expect(attempt('/nowhere/at/all')).rejects.toThrow('There is no directory /nowhere/at/all.')
  await expect(attempt(await directoryOf({}))).rejects.toThrow('There is nothing to import in')
  const strange = await directoryOf({ player: [player(1)] })
  await mkdir(path.join(strange, 'telegramUsers.ndjson'))
  await expect(attempt(strange)).rejects.toThrow('(only player.ndjson, telegramUsers.ndjson, which is a folder)')
})

test('design §8 unknown files are named and left alone', async () => {
  const { report, lines } = await run({ telegramUsers: [player(1)], telegramusers: [player(2)], rejected: 'x' })
  expect(report.unknown).toEqual(['telegramusers.ndjson'])
  expect(lines[0]).toBe('telegramusers.ndjson: ignored, no collection has this name')
})
