/** Starts and ends of items (design §7) on two servers that are killed at any moment, while the clock is set: none missed, none doubled. */
import { setTimeout as pause } from 'node:timers/promises'
import { sql } from 'kysely'
import { pino } from 'pino'
import { expect, onTestFinished, test } from 'vitest'
import { type Database, openDatabase } from '#src/db/database.ts'
import { notifySchedule } from '#src/items/schedule-notice.ts'
import { temporaryDataDir, waitFor } from '#test/processes.ts'
import { reportFigure, rounds, seededRandom } from '#test/size.ts'
import { createDatabase } from '#test/test-database.ts'
import { startServer } from './console-process.ts'

const KILLS = rounds(4, 200)
const TIMEOUT = { timeout: rounds(10 * 60_000, 2 * 3_600_000) }
/** Items that are added for each kill. */
const ADDED = 12
/** Items start and end within this time after they are added, while servers are killed. */
const SPREAD_MS = 1_500

test('design §7 crash: of two servers one is killed again and again, and each start and end happens once', TIMEOUT, async () => {
  const url = await createDatabase('schedule', { isMigrated: true })
  const env = { DATABASE_URL: url }
  const dataDirs = [await temporaryDataDir(), await temporaryDataDir()]
  const servers = dataDirs.map((dataDir) => startServer(dataDir, env))
  for (const { ready } of servers) await ready
  const database = await openDatabase({ dataDir: '', url, use: 'command', log: pino({ level: 'silent' }) })
  onTestFinished(() => database.close())
  await sql`insert into webhooks (id, url, events, secret, switched_off_at)
    values ('w', 'https://bot.example/hook', '{announcement.activated,item.started,item.ended}', '\\x00', null)`.execute(
    database.db,
  )
  const random = seededRandom()
  let clockChanges = 0

  for (let kill = 0; kill < KILLS; kill += 1) {
    await addItems(database, kill, random)
    await pause(random() * SPREAD_MS)
    if (random() < 0.3) {
      await setClock(database, random() < 0.5 ? '1 hour' : '-1 hour')
      clockChanges += 1
    }
    const victim = kill % 2
    servers[victim]!.child.kill('SIGKILL')
    await servers[victim]!.ended
    servers[victim] = startServer(dataDirs[victim]!, env)
    await servers[victim].ready
  }
  // Clocks that were set back may have put moments an hour off.
  await setClock(database, `${KILLS + 1} hours`)
  await waitFor('all starts and ends', async () => (await findPending(database)) === 0, 120_000)

  const { rows } = await sql<{ id: string; starts: number; ends: number; activations: number; deactivations: number }>`
    with happened as (
      select payload::jsonb #>> '{data,items,0,id}' as id, event, count(*) as times from webhook_deliveries group by 1, 2),
    audited as (select record_id as id, action, count(*) as times from audit_trail group by 1, 2)
    select items.id,
           coalesce((select times from happened where happened.id = items.id and event = 'item.started'), 0) as starts,
           coalesce((select times from happened where happened.id = items.id and event = 'item.ended'), 0) as ends,
           coalesce((select times from audited where audited.id = items.id and action = 'announcement.activate'), 0)
             + coalesce((select times from audited where audited.id = items.id and action = 'item.start'), 0) as activations,
           coalesce((select times from audited where audited.id = items.id and action = 'announcement.deactivate'), 0)
             + coalesce((select times from audited where audited.id = items.id and action = 'item.end'), 0) as deactivations
      from (select id from tasks union all select id from announcements) as items`.execute(database.db)
  expect(rows).toHaveLength(KILLS * ADDED)
  const wrong = rows.filter(({ id: _id, ...counts }) => Object.values(counts).some((times) => times !== 1))
  expect(wrong, 'items that started or ended not once').toEqual([])
  const news =
    await sql`select (select epoch from status_epoch) as news, count(*) as active from audit_trail where action = 'announcement.activate'`.execute(
      database.db,
    )
  const [{ news: raised, active } = { news: -1, active: -2 }] = news.rows as { news: number; active: number }[]
  expect(raised, 'news is raised once for each activation').toBe(active)
  reportFigure(`schedule: ${rows.length} items, ${KILLS} servers killed, clock set ${clockChanges} times: 0 missed, 0 doubled`)
})

/** Adds tasks and announcements with a start and an end soon. Some of them are over already, as after a stop. */
async function addItems(database: Database, round: number, random: () => number): Promise<void> {
  const moments = Array.from({ length: ADDED }, () => {
    const start = random() * SPREAD_MS * 1.5 - SPREAD_MS / 4
    return { start, end: start + 1 + random() * SPREAD_MS }
  })
  await database.transaction(async (tx) => {
    for (const [n, { start, end }] of moments.entries()) {
      const id = `item-${round}-${n}`
      const at = (ms: number) => sql<Date>`clock_timestamp() + make_interval(secs => ${ms / 1000}::float8)`
      if (n % 3 === 0)
        await sql`insert into tasks (collection, id, image, priority, title, reward, starts_at, ends_at, start_pending, end_pending)
          values ('social', ${id}, 'twitter', ${round * ADDED + n}, ${id}, 1, ${at(start)}, ${at(end)}, true, true)`.execute(tx)
      else
        await sql`insert into announcements (id, type, title, subtitle, reward, starts_at, ends_at, start_pending, end_pending)
          values (${id}, 'desc', ${id}, '', 1, ${at(start)}, ${at(end)}, true, true)`.execute(tx)
    }
    await notifySchedule(tx)
  })
}

/** Moves all moments, which to the servers is the same as a clock that is set forward by this time. */
async function setClock(database: Database, by: string): Promise<void> {
  await database.transaction(async (tx) => {
    for (const table of ['announcements', 'tasks'])
      await sql`update ${sql.table(table)} set starts_at = starts_at - ${by}::interval, ends_at = ends_at - ${by}::interval`.execute(
        tx,
      )
    await notifySchedule(tx)
  })
}

async function findPending({ db }: Database): Promise<number> {
  const { rows } = await sql<{ pending: number }>`
    select (select count(*) from tasks where start_pending or end_pending) + (select count(*) from announcements where start_pending or end_pending) as pending`.execute(
    db,
  )
  return rows[0]!.pending
}
