/**
 * Broadcasts by a server that runs: planning a million recipients, the disk space of a recipient when everybody has got the message, and
 * messages a second. The fault test has the large run with two servers, 100,000 recipients and 100 kills: `npm run test:soak -- faults`.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { sql } from 'kysely'
import { OUTCOMES } from '../server/src/broadcasts/outcomes.ts'
import { endWait, makeAllWait } from '../server/src/broadcasts/pace.ts'
import { BOT_TOKEN, startTelegram } from '../server/test/telegram.ts'
import { generated, startFilledServer } from './consoles.ts'
import { type BenchServer, IS_LARGE, report } from './measuring.ts'

const MILLIONS = IS_LARGE ? 10 : 1
const SENT = IS_LARGE ? 100_000 : 10_000
const MAX_SECONDS = 30 * MILLIONS
const MAX_BYTES = 120
const DAY_SECONDS = 86_400
/** About a ninth of the players. */
const FEW = { search: 'moon_1' }
/** Far above what Telegram allows: the console is measured, not the pace. */
const RATE = 1000

const api = await startTelegram()
const server = await startFilledServer(generated(MILLIONS * 1_000_000), {
  TELEGRAM_BOT_TOKEN: BOT_TOKEN,
  TELEGRAM_API_ROOT: api.url,
  TELEGRAM_RATE: String(RATE),
})
try {
  const { db } = server.database
  await sql`insert into announcements (id, type, title, subtitle, reward, status) values ('a', 'desc', 'News', 'Today', 5, true)`.execute(
    db,
  )
  // Broadcasts are planned, but nothing is sent.
  await makeAllWait(db, DAY_SECONDS, 'telegram')
  const seconds = await plan(server, {})
  report(`planning a broadcast to ${MILLIONS}M players`, { ours: seconds, unit: 's', atMost: MAX_SECONDS })
  await clear(server)
  await measureRoom(server)
  await measureSending(server)
} finally {
  await server.stop()
  await api.stop()
}

/** Adds a broadcast and waits until the server has chosen its recipients. @returns the seconds that took */
async function plan({ database: { db } }: BenchServer, filter: object): Promise<number> {
  await sql`insert into broadcasts (id, number, announcement_id, title, filter, state)
    values ('b', 1, 'a', 'News', ${JSON.stringify(filter)}, 'scheduled')`.execute(db)
  for (;;) {
    const { rows } = await sql<{ seconds: number | null }>`
      select extract(epoch from clock_timestamp() - started_at)::float8 as seconds from broadcasts where state = 'sending'`.execute(
      db,
    )
    if (rows[0]) return rows[0].seconds!
    await pause(50)
  }
}

async function clear({ database: { db } }: BenchServer): Promise<void> {
  await sql`truncate broadcasts, broadcast_chunks, broadcast_recipients`.execute(db)
}

/** Writes outcomes as workers do it: one row and one transaction after the other. */
async function measureRoom(bench: BenchServer): Promise<void> {
  const { db } = bench.database
  await plan(bench, FEW)
  const write = (outcome: number): string =>
    `update broadcast_recipients set outcome = ${outcome}, at = now() where user_id = recipient and broadcast = 1; commit;`
  await db.connection().execute(async (connection) => {
    await sql`set statement_timeout = 0`.execute(connection)
    await sql`set synchronous_commit = off`.execute(connection)
    await sql
      .raw(
        `do $$ declare recipient bigint; begin
           for recipient in select user_id from broadcast_recipients order by user_id loop
             ${write(OUTCOMES.sending)} ${write(OUTCOMES.sent)}
           end loop; end $$`,
      )
      .execute(connection)
    await sql`reset statement_timeout`.execute(connection)
    await sql`reset synchronous_commit`.execute(connection)
  })
  const { rows } = await sql<{ bytes: number; recipients: number }>`
    select pg_total_relation_size('broadcast_recipients') + pg_total_relation_size('broadcast_chunks') as bytes, count(*) as recipients
      from broadcast_recipients`.execute(db)
  const { bytes, recipients } = rows[0]!
  report('disk space of a recipient of a broadcast, sent', { ours: bytes / recipients, unit: 'bytes', atMost: MAX_BYTES })
  await clear(bench)
}

async function measureSending(bench: BenchServer): Promise<void> {
  const { db } = bench.database
  await plan(bench, FEW)
  await sql`update broadcast_chunks set done_at = now() where chunk >= ${SENT / 100}`.execute(db)
  await endWait(db, 'telegram')
  const begun = performance.now()
  while (api.sent.length === 0 || (await sql`select from broadcasts where state = 'sending'`.execute(db)).rows.length > 0)
    await pause(50)
  const seconds = (performance.now() - begun) / 1000
  report(`messages a second of one server, at most ${RATE}`, { ours: api.sent.length / seconds, unit: 'messages/s' })
}
