/** The console on a small disk that fills up (security.md, Crash): what still works, what is refused, and how it recovers. */
import { randomBytes } from 'node:crypto'
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { sql } from 'kysely'
import { pino } from 'pino'
import { expect, onTestFinished, test } from 'vitest'
import { openDatabase } from '#src/db/database.ts'
import { rowsOfTables } from '#test/console-rows.ts'
import { addNumbered, isOver, station } from '#test/broadcasts.ts'
import type * as firestore from '#test/firestore-export.ts'
import { folderOf } from '#test/move-in.ts'
import { type DatabaseProcess, startProcess, temporaryDataDir, waitFor } from '#test/processes.ts'
import { FACTOR, withFactor } from '#test/second-factor.ts'
import { fillUntil, freeBytes, resize, smallDisk } from '#test/small-disk.ts'
import { type Client, PASSWORD, testApp } from '#test/test-app.ts'
import { testDatabase, workerUrl } from '#test/test-database.ts'
import { mailServer } from '#test/test-mail-server.ts'
import { startCommand, startCommandWith } from './console-process.ts'

const MB = 1024 * 1024
/** The free space below which a backup stops, on a disk of 300 MB. */
const RESERVE_BYTES = 37.5 * MB
/** The size of a WAL file. https://www.postgresql.org/docs/current/wal-internals.html */
const LOG_FILE_BYTES = 16 * MB

/** The bytes of PostgreSQL's tables and WAL. The WAL grows whenever a backup begins. */
async function writtenByPostgres(server: DatabaseProcess, dataDir: string): Promise<number> {
  const [tables] = await server.query('select pg_database_size(current_database())::float8 as bytes')
  const log = await readdir(path.join(dataDir, 'postgres/pg_wal'), { withFileTypes: true })
  return Number(tables!.bytes) + log.filter((entry) => entry.isFile()).length * LOG_FILE_BYTES
}

test('security: full disk: an import stops before the disk is full, says how far it came, and continues when run again', async () => {
  const dataDir = await smallDisk(160)
  const source = path.join(path.dirname(await temporaryDataDir()), 'import')
  const rows = 4000
  await mkdir(source)
  const item = { id: 'item', title: 'Item', type: 'desc', reward: 1 }
  await writeFile(path.join(source, 'announcementHistory.ndjson'), `${JSON.stringify(item)}\n`)
  const line = (id: number) =>
    JSON.stringify({ parent: 'item', id, timestamp: '2026-01-01', userInput: randomBytes(4500).toString('hex') })
  await writeFile(
    path.join(source, 'announcementHistory.users.ndjson'),
    Array.from({ length: rows }, (_, n) => `${line(n + 1)}\n`).join(''),
  )
  const stopped = await startCommand(dataDir, 'import', source).ended
  expect(stopped.output).toMatch(
    /The disk is nearly full, so this stopped after [1-9]\d* lines of announcementHistory.users.ndjson/,
  )
  expect(stopped.code).toBe(1)
  expect(await freeBytes(dataDir)).toBeGreaterThan(24 * MB)

  resize(dataDir, 600)
  const { code, output } = await startCommand(dataDir, 'import', source).ended
  expect(code, output).toBe(0)
  expect(Number(/users.ndjson: 4000 read, (\d+) loaded/.exec(output)?.[1])).toBeLessThan(rows)
  const server = startProcess({ dataDir, use: 'server' })
  await server.opened
  expect(await server.query('select count(*)::int as count from participations')).toEqual([{ count: rows }])
})

test('security: full disk: a move-in stops in one line while it reads, changes nothing, and leaves room and no rows behind', async () => {
  const news = (id: number) => [`announcements/${id}`, { title: 'T', description: randomBytes(45_000).toString('hex') }]
  const folder = await folderOf(Object.fromEntries(Array.from({ length: 1000 }, (_, id) => news(id))) as firestore.Documents)
  // The database on the same disk, and on another.
  const together = await smallDisk(140)
  const apart = await smallDisk(40)
  await testDatabase()
  const outcomes = [
    await startCommand(together, 'move-in', folder).ended,
    await startCommandWith({ DATABASE_URL: workerUrl() }, apart, 'move-in', folder).ended,
  ]
  expect(outcomes.map(({ code }) => code)).toEqual([1, 1])
  const [near, full] = outcomes.map(({ output }) => output.trim().split('\n').slice(1).join('\n'))
  expect(near).toMatch(
    /^The disk is nearly full, so this stopped after \d+ documents, before .* Nothing was changed: free some space .*$/,
  )
  expect(full).toBe('The disk is full: free some space and run the same command again.')
  for (const dataDir of [together, apart])
    expect((await readdir(dataDir)).filter((name) => name.startsWith('move-in-'))).toEqual([])
  expect(await freeBytes(together)).toBeGreaterThan(24 * MB)
})

test('security: full disk: writes that are still allowed do not use up the reserve, and other writes work again once there is room', async () => {
  const dataDir = await smallDisk(200)
  const database = await openDatabase({ dataDir, use: 'server', log: pino({ level: 'silent' }) })
  onTestFinished(() => database.close())
  const app = await testApp({ database })
  const admin = await app.signUp('admin', 'admin@gmail.com')
  const free = () => freeBytes(dataDir)
  await fillUntil(dataDir, 20 * MB)
  await waitFor('the warning', () => database.isSpaceLow())
  const ids = Array.from({ length: 1000 }, () => randomBytes(64).toString('hex'))
  const exporting = () => admin.call('POST', '/api/exports', { list: 'users', target: { ids } })
  for (let n = 0; n < 200; n += 1) expect((await exporting()).status).toBe(200)
  expect(await free()).toBeGreaterThan(12 * MB)

  const signIn = () => app.guest.call('POST', '/api/session', { email: 'admin@gmail.com', password: PASSWORD })
  expect((await signIn()).status).toBe(200)
  await fillUntil(dataDir, 8 * MB)
  await waitFor('the second warning', () => database.isSpaceNearlyGone())
  expect((await signIn()).status).toBe(507)
  const left = await free()
  for (let n = 0; n < 20; n += 1) expect((await exporting()).status).toBe(200)
  expect(await free()).toBeGreaterThan(left - MB)

  await rm(path.join(dataDir, 'ballast'))
  const task = { priority: 1, type: 'twitter', title: 'After', link: 'https://example.org', reward: 1 }
  await expect.poll(async () => (await admin.call('POST', '/api/social-tasks', task)).status).toBe(200)
})

test('security: full disk: invitations, roles, second factors and forgotten passwords are refused whole, and work again once there is room', async () => {
  const dataDir = await smallDisk(200)
  const database = await openDatabase({ dataDir, use: 'server', log: pino({ level: 'silent' }) })
  onTestFinished(() => database.close())
  const { app, ada } = await withFactor({ database, smtpUrl: (await mailServer('hang')).url })
  const bob = await app.signUp('editor', 'bob@gmail.com')
  const calls: [who: Client, method: string, at: string, body?: object][] = [
    [bob, 'POST', `${FACTOR}/totp`],
    [app.guest, 'POST', '/api/forgotten-password', { email: 'bob@gmail.com' }],
    [ada, 'POST', '/api/invitations', { email: 'eve@gmail.com', role: 'analyst' }],
    [ada, 'PUT', '/api/roles/analyst', { seesPersonal: true, maxAdjustment: 5, maxAdjustedDaily: null, maxBulk: null }],
    [ada, 'PUT', `/api/users/${bob.id}/role`, { role: 'analyst' }],
    [ada, 'POST', `${FACTOR}/recovery-codes`],
  ]
  await fillUntil(dataDir, 20 * MB)
  await waitFor('the warning', () => database.isSpaceLow())
  const before = await rowsOfTables(database.db)
  for (const [who, method, at, body] of calls) {
    const answer = await who.call(method, at, body)
    expect([at, answer.status, answer.body.code]).toEqual([at, 507, 'DISK_FULL'])
  }
  expect(await rowsOfTables(database.db)).toEqual(before)
  await rm(path.join(dataDir, 'ballast'))
  await waitFor('room', () => !database.isSpaceLow())
  for (const [who, method, at, body] of calls) expect([at, (await who.call(method, at, body)).status]).toEqual([at, 200])
})

test('security: full disk: a broadcast waits, another one does not begin, and both go on once there is room', async () => {
  const dataDir = await smallDisk(200)
  const database = await openDatabase({ dataDir, use: 'server', log: pino({ level: 'silent' }) })
  onTestFinished(() => database.close())
  const at = await station({ ratePerSecond: 20 }, { database })
  await addNumbered(at.app, 300)
  const announcementId = await at.announce()
  const first = await at.send({ announcementId })
  await at.until(first, ({ sent }) => sent >= 10)
  const second = await at.send({ announcementId, filter: { search: 'Player 7' } })
  await fillUntil(dataDir, 20 * MB)
  await waitFor('the warning', () => database.isSpaceLow())
  expect(await at.until(first, ({ state }) => state === 'waiting')).toMatchObject({ waitingFor: 'diskFull' })
  // Workers have given their chunks back by the next look.
  await waitFor('the end of all work', async () => {
    const { rows } = await sql`select from broadcast_chunks where leased_by is not null`.execute(database.db)
    return rows.length === 0
  })
  const calls = at.api.calls()
  expect(calls).toBeLessThan(300)
  for (let n = 0; n < 20; n += 1) await at.app.broadcasts.run()
  expect(at.api.calls()).toBe(calls)
  expect((await at.read(second)).isPlanned).toBe(false)
  await rm(path.join(dataDir, 'ballast'))
  expect(await at.until(first, isOver)).toMatchObject({ sent: 300, unknown: 0 })
  expect((await at.until(second, isOver)).sent).toBeGreaterThan(0)
})

test('security: full disk: a backup stops before the disk is full, says so and leaves nothing behind, and the console still serves', async () => {
  const dataDir = await smallDisk(300)
  const server = startProcess({ dataDir, use: 'server' })
  await server.opened
  await server.query(`insert into idempotency_keys (caller, key_hash, fingerprint, answer)
    select 'a', decode(md5(n::text), 'hex'), '\\x00', (select string_agg(md5(n::text || k), '') from generate_series(1, 300) k)
      from generate_series(1, 3000) n`)
  await fillUntil(dataDir, RESERVE_BYTES + 9 * MB)
  const at = path.join(dataDir, '../backup')
  const before = await freeBytes(dataDir)
  const written = await writtenByPostgres(server, dataDir)
  const { code, output } = await startCommand(dataDir, 'backup', at).ended
  expect(output).toMatch(/^The disk of \S+ has too little room left for this backup: free some, or name another place\.$/m)
  expect(code).toBe(1)
  const left = await readdir(at, { recursive: true, withFileTypes: true })
  expect(left.filter((entry) => entry.isFile())).toEqual([])
  const grown = (await writtenByPostgres(server, dataDir)) - written
  expect(await freeBytes(dataDir)).toBeGreaterThan(before - grown - 4 * MB)
  await server.query(`insert into counters values ('meanwhile', 1)`)
  await rm(path.join(dataDir, 'ballast'))
  expect(await startCommand(dataDir, 'backup', at).ended).toMatchObject({ code: 0 })
})
