/** Backups that admins start in the console: one at a time, with progress, cancelled, verified, and what is left of failed ones. */
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import type { BackupRun, BackupState } from '@arcade/contract/backups/calls'
import { sql } from 'kysely'
import { pino } from 'pino'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { actOfProcess } from '#src/audit/audit.ts'
import { diskStore } from '#src/files/disk.ts'
import { limits } from '#src/identity/attempts.ts'
import { LOCKS, tryLock } from '#src/postgres/lock-holder.ts'
import { holdingPlayers } from '#test/held-players.ts'
import { openAgain } from '#test/test-database.ts'
import { type Client, testApp, type TestApp } from '#test/test-app.ts'
import { createBackups } from './backups.ts'
import { takeTurn } from './turn.ts'

const log = pino({ level: 'silent' })
const PATIENCE = { timeout: 120_000, interval: 50 }
let dataDir: string
let app: TestApp
let admin: Client

beforeEach(async () => {
  dataDir = await mkdtemp(path.join(os.tmpdir(), 'arcade-test-backups-'))
  onTestFinished(() => rm(dataDir, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 }))
  app = await testApp({ backupsIn: dataDir })
  admin = await app.signUp('admin')
})

const place = (): string => path.join(dataDir, 'backups')
const folders = async (): Promise<string[]> => (await readdir(place()).catch((): string[] => [])).toSorted()
const state = async (of = admin): Promise<BackupState> => (await of.call('GET', '/api/backups')).body as BackupState
const newest = async (): Promise<BackupRun> => (await state()).backups[0]!
const start = () => admin.call('POST', '/api/backups')
const act = (id: string, what: 'cancel' | 'verify') => admin.call('POST', `/api/backups/${id}/${what}`)

/** Waits until nothing is being done, and returns the newest backup. */
async function ended(): Promise<BackupRun> {
  await expect.poll(async () => (await state()).backups.every(({ underWay }) => underWay === null), PATIENCE).toBe(true)
  return newest()
}

/** Waits until the turn has ended, too, which is shortly after the list says that a backup has ended. */
async function freed(): Promise<BackupRun> {
  const run = await ended()
  const isFree = async (): Promise<boolean> => {
    const turn = await takeTurn(app.database).catch(() => undefined)
    await turn?.end()
    return turn !== undefined
  }
  await expect.poll(isFree, PATIENCE).toBe(true)
  return run
}

/** Makes PostgreSQL run this before each change of a row of a table, for the length of the test. */
async function beforeChange(table: string, plpgsql: string): Promise<void> {
  const remove = () => sql.raw(`drop function if exists change_of_test cascade`).execute(app.database.db)
  await remove()
  onTestFinished(async () => void (await remove()))
  await sql
    .raw(
      `create function change_of_test() returns trigger language plpgsql as $$ begin ${plpgsql} return new; end $$;
       create trigger change_of_test before update on ${table} for each row execute function change_of_test()`,
    )
    .execute(app.database.db)
}

/** Runs `work` once a call has waited for the turn for a second. */
async function afterSecondOfWaiting(work: () => Promise<void>): Promise<void> {
  const waiting = sql<{ isLong: boolean }>`
    select exists (select from pg_stat_activity where datname = current_database() and application_name = 'arcade backup'
                      and wait_event_type = 'Lock' and clock_timestamp() - query_start > interval '1 second') as "isLong"`
  await expect.poll(async () => (await waiting.execute(app.database.db)).rows[0]?.isLong, PATIENCE).toBe(true)
  await work()
}

async function made(): Promise<BackupRun> {
  expect((await start()).status).toBe(200)
  const run = await freed()
  expect(run.error).toBeNull()
  return run
}

/** The other server of the same database. */
async function otherServer() {
  const settings = { address: place(), times: undefined, keep: 7 }
  const database = await openAgain()
  return createBackups({ database, settings, log, fileStore: diskStore(path.join(dataDir, 'files')), dataDir })
}

const actions = async (): Promise<string[]> => {
  const { rows } = await sql<{ action: string }>`
    select action from audit_open where action like 'backup%' union all
    select action from audit_entries where action like 'backup%'`.execute(app.database.db)
  return rows.map(({ action }) => action).toSorted()
}

test('design §8 an admin starts a backup; all admins see who did, how far it is, and in the end its size and place', async () => {
  let id = ''
  await holdingPlayers(app.database, async () => {
    const { status, body } = await start()
    expect(status).toBe(200)
    id = body.id
    await expect.poll(async () => (await newest()).underWay?.bytes ?? 0, PATIENCE).toBeGreaterThan(0)
    const other = await app.signUp('admin')
    expect((await state(other)).backups).toMatchObject([
      { id, by: 'console', madeBy: 'Test Person', finishedAt: null, error: null, underWay: { step: 'tables' } },
    ])
  })
  const run = await ended()
  expect(run).toMatchObject({ id, error: null, verifiedAt: null, canBeVerified: true, underWay: null })
  expect(run.bytes).toBeGreaterThan(0)
  expect(run.finishedAt).not.toBeNull()
  expect(await readdir(run.place)).toContain('manifest.json')
  expect(path.dirname(run.place)).toBe(place())
  expect(await actions()).toEqual(['backup.create', 'backup.start'])
})

test('design §8 one backup at a time over all servers: a second start is refused, also while one is verified', async () => {
  expect(await admin.call('POST', '/api/backups', { keep: 3 })).toMatchObject({ status: 400, body: { code: 'INVALID_INPUT' } })
  expect((await state()).backups).toEqual([])
  const other = await otherServer()
  const by = actOfProcess('command', 'test')
  let id = ''
  await holdingPlayers(app.database, async () => {
    id = await other.start(by, admin.id)
    expect(await start()).toMatchObject({ status: 409, body: { code: 'BACKUP_UNDER_WAY' } })
    expect(await act(id, 'verify')).toMatchObject({ status: 409, body: { code: 'BACKUP_UNDER_WAY' } })
  })
  await freed()
  expect((await state()).backups).toMatchObject([{ id, error: null, underWay: null }])
})

test('design §8 while the turn of a backup that the list shows as made is about to end, the next one waits for it', async () => {
  const { id } = await made()
  for (const begin of [start, () => act(id, 'verify')]) {
    const turn = await takeTurn(app.database)
    const [{ status }] = await Promise.all([begin(), afterSecondOfWaiting(() => turn.end())])
    expect(status).toBe(200)
    await freed()
  }
})

test('design §8 a backup is cancelled, also when another server makes it; it leaves nothing behind', async () => {
  const other = await otherServer()
  await holdingPlayers(app.database, async () => {
    const id = await other.start(actOfProcess('command', 'test'), admin.id)
    await expect.poll(folders, PATIENCE).toHaveLength(1)
    const cancels = await Promise.all(Array.from({ length: 5 }, () => act(id, 'cancel')))
    const statuses = cancels.map(({ status }) => status)
    expect(statuses).toContain(200)
    expect(statuses.filter((status) => status !== 200 && status !== 409)).toEqual([]) // 409 if it has ended meanwhile
    expect(await ended()).toMatchObject({ isCancelled: true, error: 'It was cancelled.', canBeVerified: false })
    await expect.poll(folders, PATIENCE).toEqual([])
    expect(await act(id, 'cancel')).toMatchObject({ status: 409, body: { code: 'NOT_UNDER_WAY' } })
  })
  expect(await actions()).toEqual(['backup.cancel', 'backup.start'])
})

test('design §8 a verification is remembered: whole, cancelled, damaged, and whole again', async () => {
  const { id, place: at } = await made()
  expect((await act(id, 'verify')).status).toBe(200)
  let whole = await freed()
  expect(whole).toMatchObject({ error: null, verifyError: null })
  expect(whole.verifiedAt).not.toBeNull()
  expect(await readdir(dataDir)).not.toContain('backup-trial')

  const verifyAndCancel = async (): Promise<BackupRun> => {
    expect((await act(id, 'verify')).status).toBe(200)
    await act(id, 'cancel')
    return freed()
  }
  let cancelled = await verifyAndCancel()
  for (; cancelled.verifyError === null; cancelled = await verifyAndCancel()) whole = cancelled // it ended before it was cancelled
  expect(cancelled).toMatchObject({
    error: null,
    verifyError: 'It was cancelled.',
    verifiedAt: whole.verifiedAt,
    isCancelled: false,
  })

  const [part = ''] = await readdir(path.join(at, 'tables'))
  await rm(path.join(at, 'tables', part))
  expect((await act(id, 'verify')).status).toBe(200)
  expect(await ended()).toMatchObject({
    verifiedAt: null,
    verifyError: null,
    canBeVerified: true,
    error: expect.stringContaining(`${part} is missing`) as string,
  })
  expect([...new Set(await actions())]).toEqual(['backup.cancel', 'backup.create', 'backup.start', 'backup.verify'])
})

test('design §8 what cannot be verified is refused: an unknown, a failed, a removed one, and one in a foreign bucket', async () => {
  await sql`insert into backups (id, place, is_scheduled, finished_at, removed_at, error) values
    ('failed', '/x', false, null, null, 'no room'), ('removed', '/x', false, now(), now(), null),
    ('foreign', 's3://elsewhere/x', false, now(), null, null)`.execute(app.database.db)
  for (const id of ['failed', 'removed', 'foreign'])
    expect(await act(id, 'verify')).toMatchObject({ status: 409, body: { code: 'NOT_VERIFIABLE' } })
  expect(await act('unknown', 'verify')).toMatchObject({ status: 404, body: { code: 'NO_SUCH_BACKUP' } })
  expect(await act('unknown', 'cancel')).toMatchObject({ status: 404, body: { code: 'NO_SUCH_BACKUP' } })
  expect((await state()).backups.some(({ canBeVerified }) => canBeVerified)).toBe(false)
  expect(await actions()).toEqual([])
})

test.each([
  ['by another server', async () => (await otherServer()).runDue()],
  ['when an admin looks', state],
])('security: what a server left when it ended is marked and removed %s; a whole backup stays', async (_what, notice) => {
  const whole = await made()
  const cut = path.join(place(), 'cut')
  await mkdir(cut)
  await writeFile(path.join(cut, 'unfinished'), '')
  await sql`insert into backups (id, place, is_scheduled, is_of_console, step) values ('cut', ${cut}, false, true, 'tables')`.execute(
    app.database.db,
  )
  await sql`update backups set step = 'load' where id = ${whole.id}`.execute(app.database.db)
  const turn = await takeTurn(app.database)
  await notice()
  expect((await newest()).underWay, 'somebody has the turn').not.toBeNull()
  await turn.end()
  await notice()
  const { rows } = await sql`select step from backups where step is not null`.execute(app.database.db)
  expect(rows).toEqual([])
  expect(await newest()).toMatchObject({ id: 'cut', error: 'The server that made it ended meanwhile.', underWay: null })
  expect((await state()).backups.find(({ id }) => id === whole.id)).toMatchObject({
    error: null,
    verifyError: 'The server that verified it ended meanwhile.',
    underWay: null,
  })
  await expect.poll(folders, PATIENCE).toEqual([path.basename(whole.place)])
})

test('design §8 an unfinished backup whose command has ended is listed as cut off', async () => {
  await sql`insert into backups (id, place, is_scheduled, step) values ('cut', '/x', false, 'tables')`.execute(app.database.db)
  expect(await newest()).toMatchObject({ id: 'cut', error: 'The command that made it ended meanwhile.', underWay: null })
})

test('design §4 beside a server of the previous version: its schedule has the turn, and the other way round', async () => {
  await sql`insert into backups (id, place, is_scheduled, step) values ('of-it', '/x', true, 'tables')`.execute(app.database.db)
  const previous = await app.database.connect('previous version')
  onTestFinished(() => previous.end())
  expect(await tryLock(previous, 'pg_try_advisory_lock', LOCKS.backupSchedule)).toBe(true)
  await (await otherServer()).runDue()
  expect((await newest()).underWay, 'not taken for cut off').not.toBeNull()
  expect((await start()).status).toBe(409)
  await previous.query('select pg_advisory_unlock_all()')
  const turn = await takeTurn(app.database)
  expect(await tryLock(previous, 'pg_try_advisory_lock', LOCKS.backupSchedule)).toBe(false)
  await turn.end()
})

test('design §8 a backup that the list does not hold is not in the audit either', async () => {
  await beforeChange('backups', `if new.finished_at is not null then raise 'not stored'; end if;`)
  expect((await start()).status).toBe(200)
  expect(await ended()).toMatchObject({ error: 'not stored', finishedAt: null })
  expect(await actions()).toEqual(['backup.start'])
})

test('design §8 a refusal is told, also if the attempt cannot be taken back', async () => {
  const limited = await testApp({ backupsIn: dataDir, rateLimit: true, database: app.database })
  const person = await limited.signUp('admin')
  await beforeChange('attempt_windows', `if new.count < old.count then raise 'not stored'; end if;`)
  expect(await person.call('POST', '/api/backups/none/verify')).toMatchObject({ status: 404, body: { code: 'NO_SUCH_BACKUP' } })
})

test('design §8 a stopping server ends its backup, which leaves nothing behind', async () => {
  const other = await otherServer()
  await holdingPlayers(app.database, async () => {
    await other.start(actOfProcess('command', 'test'), admin.id)
    await expect.poll(folders, PATIENCE).toHaveLength(1)
    await other.stop()
  })
  expect(await newest()).toMatchObject({ error: 'The server that made it ended meanwhile.', underWay: null })
  expect(await folders()).toEqual([])
})

test('design §8 a lost turn ends the backup', async () => {
  await holdingPlayers(app.database, async () => {
    await start()
    await expect.poll(folders, PATIENCE).toHaveLength(1)
    await sql`select pg_terminate_backend(pid) from pg_locks
      where locktype = 'advisory' and objid = ${LOCKS.backup} and granted
        and database = (select oid from pg_database where datname = current_database())`.execute(app.database.db)
    // The list is not asked before its server has noticed: until then, it looks like one whose server has ended.
    const error = async () => (await sql<{ error: string }>`select error from backups`.execute(app.database.db)).rows[0]?.error
    await expect.poll(error, PATIENCE).toBe('The connection to the database was lost meanwhile.')
  })
})

test('design §8 the last good backups of the console are kept; those of commands and of the schedule do not count', async () => {
  const settings = { address: place(), times: undefined, keep: 2 }
  const server = createBackups({
    database: app.database,
    settings,
    log,
    fileStore: diskStore(path.join(dataDir, 'files')),
    dataDir,
  })
  for (let n = 0; n < 3; n += 1) {
    await server.start(actOfProcess('command', 'test'), admin.id)
    await freed()
    await sql`insert into backups (id, place, is_scheduled, finished_at) values (${`c${n}`}, ${`${place()}/c${n}`}, false, now())`.execute(
      app.database.db,
    )
  }
  const { backups } = await state()
  await expect.poll(folders, PATIENCE).toHaveLength(2)
  const removed = async () => (await state()).backups.filter(({ removedAt }) => removedAt !== null).map(({ id }) => id)
  await expect.poll(removed, PATIENCE).toEqual([backups.findLast(({ by }) => by === 'console')!.id])
})

test('security: a place that cannot be written fails in a sentence, and is tried again', async () => {
  await writeFile(place(), '')
  expect((await start()).status).toBe(200)
  const failed = await freed()
  expect(failed.error).toMatch(
    /^The console cannot use the folder \S+ \(ENOTDIR\): let its user read and write there, or name another place\.$/,
  )
  await rm(place())
  await made()
})

test('security: an admin starts and verifies a limited number of backups an hour', async () => {
  const limited = await testApp({ backupsIn: dataDir, rateLimit: true, database: app.database })
  const person = await limited.signUp('admin')
  const turn = await takeTurn(app.database)
  onTestFinished(() => turn.end())
  await sql`insert into backups (id, place, is_scheduled, step) values ('under-way', '/x', false, 'tables')`.execute(
    app.database.db,
  )
  await sql`insert into attempt_windows (key, started_at, count)
    select ${limits.backupsOfUser.name} || ':' || translate(encode(sha256(${person.id}::bytea), 'base64'), '+/=', '-_'), now(), ${limits.backupsOfUser.max - 1}`.execute(
    app.database.db,
  )
  // What is refused does not count.
  for (let n = 0; n < 3; n += 1) expect((await person.call('POST', '/api/backups')).status).toBe(409)
  expect((await person.call('POST', '/api/backups/none/verify')).status).not.toBe(429)
  await sql`update attempt_windows set count = count + 1 where key like ${`${limits.backupsOfUser.name}:%`}`.execute(
    app.database.db,
  )
  expect(await person.call('POST', '/api/backups')).toMatchObject({ status: 429, body: { code: 'TOO_MANY_ATTEMPTS' } })
  expect((await person.call('POST', '/api/backups/none/verify')).status).toBe(429)
  expect((await (await limited.signUp('admin')).call('POST', '/api/backups')).status).toBe(409)
})
