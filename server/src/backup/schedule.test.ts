/** Scheduled backups: when they run, on which server, how many are kept, and what admins are told. */
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { sql } from 'kysely'
import { pino } from 'pino'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { pauseScheduledWork, resumeScheduledWork } from '#src/db/scheduled-work.ts'
import { diskStore } from '#src/files/disk.ts'
import { takeClocks } from '#test/clock.ts'
import { startS3Server } from '#test/s3-server.ts'
import { openAgain, testDatabase } from '#test/test-database.ts'
import { testApp } from '#test/test-app.ts'
import { openPlace } from './place.ts'
import { CUT_OFF } from './runs.ts'
import { createBackups } from './backups.ts'

const log = pino({ level: 'silent' })
let base: string

beforeEach(async () => {
  base = await mkdtemp(path.join(os.tmpdir(), 'arcade-test-schedule-'))
  for (const name of ['first', 'second']) await mkdir(path.join(base, name)) // as servers do at their start
  onTestFinished(() => rm(base, { recursive: true, force: true }))
})

/** Once a year, so that no backup becomes due while a test runs. */
const TIMES = '0 0 1 1 *'

async function scheduled({ keep = 2, address = path.join(base, 'backups') } = {}) {
  const settings = { address, times: TIMES, keep }
  const serverOf = (database: Awaited<ReturnType<typeof testDatabase>>, name: string) =>
    createBackups({
      database,
      settings,
      log,
      fileStore: diskStore(path.join(base, 'files')),
      dataDir: path.join(base, name),
    })
  const database = await testDatabase()
  const server = serverOf(database, 'first')
  return {
    database,
    settings,
    server,
    other: serverOf(await openAgain(), 'second'),
    kept: async () => (await readdir(settings.address).catch((): string[] => [])).toSorted(),
    state: () => server.state(),
    /** Makes past backups older by `years`. */
    wait: (years: number) =>
      sql`update backups set started_at = started_at - make_interval(years => ${years})`.execute(database.db),
  }
}

const anEarlierOne = sql`insert into backups (id, place, is_scheduled, started_at, finished_at, verified_at)
  values ('earlier', 'elsewhere/earlier', true, now() - interval '3 years', now(), now())`

test('design §8 only one of several servers makes a backup that is due; it is verified and listed', async () => {
  const { database, server, other, kept, state } = await scheduled()
  await anEarlierOne.execute(database.db)
  await Promise.all([server.runDue(), other.runDue()])
  await Promise.all([server.runDue(), other.runDue()])
  expect(await kept()).toHaveLength(1)
  const { backups, alert, schedule } = await state()
  expect(alert).toBeNull()
  expect(schedule?.nextAt).toMatch(/:00\.000Z$/)
  expect(backups).toHaveLength(2)
  expect(backups[0]).toMatchObject({ by: 'schedule', underWay: null, error: null, rows: expect.any(Number) as number })
  expect(backups[0]?.verifiedAt).not.toBeNull()
})

test('design §8 a scheduled backup is under way until it is verified, without a gap', async () => {
  const { database, server } = await scheduled()
  await anEarlierOne.execute(database.db)
  const remove = () => sql`drop function if exists note_of_test cascade; drop table if exists notes_of_test`.execute(database.db)
  onTestFinished(async () => void (await remove()))
  await sql`create table notes_of_test (id text);
    create function note_of_test() returns trigger language plpgsql as $$ begin
      if new.finished_at is not null and new.verified_at is null and new.step is null then insert into notes_of_test values (new.id); end if;
      return new;
    end $$;
    create trigger note_of_test before update on backups for each row execute function note_of_test()`.execute(database.db)
  await server.runDue()
  expect((await sql`select from backups where verified_at is not null`.execute(database.db)).rows).toHaveLength(2)
  expect((await sql`select id from notes_of_test`.execute(database.db)).rows).toEqual([])
})

test('design §8 the set number of good backups is kept; a failed one raises an alert and removes no good one', async () => {
  const { database, settings, server, kept, state, wait } = await scheduled({ keep: 1 })
  await anEarlierOne.execute(database.db)
  await server.runDue()
  const [first] = await kept()
  await wait(2)
  await sql`update backups set place = ${`${settings.address}/${first}`} where id <> 'earlier'`.execute(database.db)
  await sql`insert into backups (id, place, is_scheduled, started_at, error)
    values ('failed', ${`${settings.address}/failed`}, true, now() - interval '13 months', 'no room')`.execute(database.db)
  expect((await state()).alert).toBe('The last scheduled backup failed: no room')
  expect(await kept()).toEqual([first])
  await server.runDue()
  const now = await kept()
  expect(now).toHaveLength(1)
  expect(now[0]).not.toBe(first)
  expect((await state()).alert).toBeNull()
  expect((await state()).backups.filter(({ removedAt }) => removedAt !== null)).toHaveLength(2)
})

test('design §8 with an S3 address that ends in a slash, backups can be verified, and old ones and remains are removed', async () => {
  const s3 = await startS3Server({ isListed: true })
  onTestFinished(() => s3.stop())
  const address = s3.url.replace('/console', '/backups/')
  const { database, server, state, wait } = await scheduled({ keep: 1, address })
  await anEarlierOne.execute(database.db)
  await server.runDue()
  await wait(2)
  const first = openPlace(address).below('first')
  await first.put('unfinished', Buffer.from(''))
  await sql`update backups set place = ${first.address} where id <> 'earlier'`.execute(database.db)
  const cut = openPlace(address).below('cut')
  await cut.put('unfinished', Buffer.from(''))
  await sql`insert into backups (id, place, is_scheduled, started_at, step)
    values ('cut', ${cut.address}, false, now() - interval '13 months', 'tables')`.execute(database.db)
  await server.runDue()
  const [newest, ...older] = (await state()).backups
  expect(newest).toMatchObject({ error: null, removedAt: null, canBeVerified: true })
  expect(older).toMatchObject([{ id: 'cut' }, { removedAt: expect.any(String) as string }, { id: 'earlier' }])
  expect(await first.names()).toEqual([])
  expect(await cut.names()).toEqual([])
})

test('design §8 no backup is made early or while scheduled work is paused; a missing one raises an alert', async () => {
  const { database, server, kept, state } = await scheduled()
  await server.runDue()
  expect(await kept()).toEqual([])
  await anEarlierOne.execute(database.db)
  expect((await state()).alert).toMatch(/^There is no scheduled backup since \d{4}-/)
  await pauseScheduledWork(database.db, 'Restored.')
  await server.runDue()
  expect(await kept()).toEqual([])
  expect(await state()).toMatchObject({
    alert: expect.stringContaining('paused since a restore') as string,
    pause: { reason: 'Restored.' },
    schedule: { nextAt: null },
  })
  await resumeScheduledWork(database.db)
  await server.runDue()
  expect(await kept()).toHaveLength(1)
})

test('design §8 a missed first backup raises an alert and is made late, also by a restarted server', async () => {
  const { database, server, other, kept, state } = await scheduled()
  expect((await state()).alert).toBeNull()
  await server.runDue()
  expect((await state()).alert).toBeNull()
  await sql`update backup_schedules set since = since - interval '6 months'`.execute(database.db)
  expect((await state()).alert).toBeNull()
  await sql`update backup_schedules set since = since - interval '2 years'`.execute(database.db)
  expect((await state()).alert).toMatch(/^There is no scheduled backup at all, though backups are scheduled since \d{4}-/)
  await other.runDue()
  expect(await kept()).toHaveLength(1)
  expect((await state()).alert).toBeNull()
})

test('design §4 a wrong clock of the server makes no backup due or missing, and does not name one', async () => {
  const { database, server, kept, state } = await scheduled()
  const clocks = takeClocks()
  clocks.jump(5 * 365 * 86_400_000)
  await server.runDue()
  await server.runDue()
  expect(await kept()).toEqual([])
  expect(await state()).toMatchObject({ alert: null })
  const { rows } = await sql<{ next: string }>`select (extract(year from now()) + 1)::text as next`.execute(database.db)
  expect((await state()).schedule?.nextAt).toBe(`${rows[0]!.next}-01-01T00:00:00.000Z`)
  await anEarlierOne.execute(database.db)
  await server.runDue()
  const [made] = await kept()
  expect(made?.slice(0, 4)).toBe(String(Number(rows[0]!.next) - 1))
})

test('security: a backup that was cut off when its server ended is reported, and made again', async () => {
  const { database, server, kept, state } = await scheduled()
  await sql`insert into backups (id, place, is_scheduled) values ('cut', 'x', true)`.execute(database.db)
  await server.runDue()
  expect((await state()).backups).toMatchObject([{ id: 'cut', error: CUT_OFF }])
  await server.runDue()
  expect(await kept()).toHaveLength(1)
  expect((await state()).alert).toBeNull()
})

test('§6 only admins can see the state of backups', async () => {
  const app = await testApp()
  expect((await app.guest.call('GET', '/api/backups')).status).toBe(401)
  expect((await (await app.signUp('user')).call('GET', '/api/backups')).status).toBe(403)
  const answer = await (await app.signUp('admin')).call('GET', '/api/backups')
  expect(answer.status).toBe(200)
  expect(answer.body).toEqual({
    place: expect.any(String) as string,
    keep: 7,
    schedule: null,
    pause: null,
    alert: null,
    backups: [],
  })
})
