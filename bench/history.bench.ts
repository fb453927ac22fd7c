/**
 * A history item with 1M participants: pages from 1,000 different positions against the bare limit with the same positions, with 10
 * connections. The first page, a shared read, the last ones and the details stand beside them. Every other participant has the same
 * timestamp, so that pages begin and end within ties.
 */
import { sql } from 'kysely'
import { historyHandlers } from '../server/src/features/history/history.ts'
import { addCount } from '../server/test/activity.ts'
import {
  measure,
  report,
  reportRate,
  reportTail,
  ROUND_SECONDS,
  show,
  startBare,
  startBenchServer,
  statementsOf,
  stopProcess,
} from './measuring.ts'

const RATIO_BUDGET = 0.6
const DEEP_BUDGET = 1.3
const PARTICIPANTS = 1_000_000
/** Positions from which pages are read, so that equal questions are seldom asked at the same time. */
const DIFFERENT = 1000
const BATCH = 100_000 // rows per statement, which must end within the pool's statement timeout
interface Position {
  key: string
  id: number
}
const load = { connections: 10, seconds: Number(process.argv[2] ?? ROUND_SECONDS) }

const findStatement = statementsOf((database) => historyHandlers({ database }))

const server = await startBenchServer()
try {
  const { db } = server.database
  await sql`insert into history_items (kind, item_id, title, type, reward) values ('daily', 'big', 'Everyone', 'twitter', 1), ('daily', 'small', 'Few', 'twitter', 1)`.execute(
    db,
  )
  for (let low = 0; low < PARTICIPANTS; low += BATCH) {
    await sql`insert into participations (user_id, kind, item_id, username, first_name, last_name, user_input, at)
      select n, 'daily', case when n % 1000 = 0 then 'small' else 'big' end, 'moon_' || n, 'Åse', case when n % 3 > 0 then 'Last' || n end,
        case when n % 2 = 0 then 'https://x.com/moon/' || n end, timestamptz '2026-05-01' + (case when n % 2 = 0 then 0 else n end) * interval '1 second'
      from generate_series(${sql.lit(low)}::bigint, ${sql.lit(low + BATCH - 1)}) n`.execute(db)
  }
  await addCount(server.database, { of: 'participants', kind: 'daily', itemId: 'big' }, 999_000)
  await addCount(server.database, { of: 'participants', kind: 'daily', itemId: 'small' }, 1000)
  await sql`analyze`.execute(db)

  const { rows } = await sql<Position>`
    select (extract(epoch from at) * 1000000)::bigint::text as key, user_id as id from participations where item_id = 'big'
    order by at desc, user_id`.execute(db)
  const cursorOf = ({ key, id }: Position) => Buffer.from(JSON.stringify(['daily:big', key, id, ''])).toString('base64url')
  const positions = Array.from({ length: DIFFERENT }, (_, n) => rows[(n * 7919) % (PARTICIPANTS / 2)]!)
  const bare = await startBare(
    server,
    findStatement('history-after'),
    positions.map(({ key, id }) => ['daily', 'big', key, id, '']),
  )
  const headers = { cookie: server.admin.cookie }
  const path = `${server.url}/api/history/daily/big`
  const page = (position: Position) => `${path}/participants?after=${cursorOf(position)}`
  const limit = await measure({ ...load, url: bare.url })
  const different = await measure({ ...load, url: positions.map(page), headers })
  const first = await measure({ ...load, url: `${path}/participants`, headers })
  const last = await measure({ ...load, url: rows.slice(-1500, -500).map(page), headers })
  const details = await measure({ ...load, url: path, headers })
  await stopProcess(bare.child)
  show('node:http and the prepared statement', limit)
  show('pages from different positions', different)
  show('first page of 1M', first)
  show('last pages of 1M', last)
  show('details', details)
  reportRate('50 participants, from different positions', { ours: different, limit, atLeast: RATIO_BUDGET })
  reportTail('50 participants, from different positions', different, limit)
  reportRate('50 participants, the first page for all, a shared read', { ours: first, limit })
  report('different pages at the end against different pages before: p50', {
    ours: last.p50Ms,
    limit: different.p50Ms,
    unit: 'ms',
    atMost: DEEP_BUDGET,
  })
} finally {
  await server.stop()
}
