/**
 * Compares the counters with the rows that they count, in one snapshot, and corrects them. A correction is an ordinary delta of the
 * difference in the snapshot, so changes that are counted at the same time stay correct and nobody waits.
 */
import type { Kysely } from 'kysely'
import { type Connection, destroy } from '#src/postgres/connections.ts'
import { LOCKS, LOCK_SPACE } from '#src/postgres/lock-holder.ts'
import { type TimeUnit, type CounterName, type CounterSqlKey, counterNameSql, hourNamesBefore } from './counter-keys.ts'
import { isWithinSql } from './counters.ts'
import type { Database } from '#src/db/database.ts'
import { balancePartsSql, claimPartsSql } from './entry-counts.ts'
import { kyselyOn } from '#src/db/kysely-on.ts'
import { beginAtOneMoment } from '#src/db/one-moment.ts'
import { cursorRows } from '#src/db/snapshot.ts'
import type { Tables } from '#src/db/tables.ts'
import { lockChangesShared } from '#src/db/transaction-locks.ts'

/** A counter that differs from its rows. */
export interface Miscount {
  name: CounterName
  counted: number
  rows: number
  /** The exact difference. */
  missing: string
}

interface RecountOptions {
  onMiscount: (miscount: Miscount) => void
  /** Called before the corrections are committed. Without it, nothing is corrected. */
  corrected?: ((tx: Kysely<Tables>, counters: number) => Promise<void>) | undefined
}

/** Reports the wrong counters in the order of their names, and returns their number. Only one recount corrects at a time. */
export async function recount(
  { connect }: Pick<Database, 'connect'>,
  { onMiscount, corrected }: RecountOptions,
): Promise<number> {
  const client = await connect('arcade recount')
  try {
    // Takes the lock before the snapshot, which then contains the corrections of the previous recount.
    if (corrected) await client.query(`select pg_advisory_lock(${LOCK_SPACE}, ${LOCKS.recount})`)
    await client.query('set statement_timeout = 0; set idle_in_transaction_session_timeout = 0; set cursor_tuple_fraction = 1')
    await beginAtOneMoment([client], corrected ? 'read write' : 'read only')
    const sql = miscountsSql(await firstHour(client))
    let total = 0
    for await (const batch of cursorRows<Miscount>(client, { name: 'miscounts', sql, params: [], batchSize: BATCH })) {
      total += batch.length
      batch.forEach(onMiscount)
      if (corrected)
        await client.query(
          'insert into counter_deltas (user_id, name, delta) select 0, * from unnest($1::text[], $2::numeric[])',
          [batch.map(({ name }) => name), batch.map(({ missing }) => missing)],
        )
    }
    if (corrected && total > 0) {
      const tx = kyselyOn<Tables>((text, params) => client.query(text, [...params]))
      await lockChangesShared(tx)
      await corrected(tx, total)
    }
    await client.query('commit')
    return total
  } finally {
    destroy(client)
  }
}

const BATCH = 1000

/** The first complete hour: earlier ones are deleted while old activity may still be written (activity.ts). One hour is added for running writes. */
async function firstHour(client: Connection): Promise<Date> {
  const { rows } = await client.query<{ first: Date }>(`select date_trunc('hour', now() - interval '46 hours', 'UTC') as first`)
  return rows[0]!.first
}

interface Happened {
  at: string
  item?: string
  /** SQL for what is counted, if it is not only the rows. */
  counts?: string
  first: Date
}

/** SQL for activity by hour from `first` on, and by day before that, in UTC. Hours far in the future are left out, because their names do not sort correctly. */
function happenedSql(table: string, { at, item = '', counts = 'count(*) as rows', first }: Happened): string {
  const isRecent = `coalesce(${at} >= timestamptz '${first.toISOString()}' and ${at} < '10000-01-01', false)`
  return `select ${item} date_trunc(case when ${isRecent} then 'hour' else 'day' end, ${at} at time zone 'UTC') as moment,
    ${isRecent} as is_recent, ${counts} from ${table} group by ${item} moment, is_recent`
}

const CLAIMS = `(select kind, item_id, at, amount from ledger_entries where cause = 'claim') as claims`

/** SQL for all counters: those that the rows give, and all others with their stored values and 0 for `rows`. */
function miscountsSql(first: Date): string {
  const rowsOf = (key: CounterSqlKey, from: string, counted = 'rows'): string =>
    `select ${counterNameSql(key)}, 0, sum(${counted}) from ${from} group by 1 having sum(${counted}) <> 0`
  const at = 'moment'
  const item = { kind: 'kind', itemId: 'item_id' }
  const users = (['admin', 'user'] as const).map(
    (userType) => `select ${counterNameSql({ of: 'users', userType })}, 0, count(*) from users where user_type = '${userType}'`,
  )
  const inBuckets = (bucket: TimeUnit): string => (bucket === 'hour' ? 'where is_recent' : 'where moment is not null')
  const ofBuckets = (['hour', 'day', 'month'] as const).flatMap((bucket) => [
    rowsOf({ of: 'activity', bucket, at, series: `'players'` }, `joined ${inBuckets(bucket)}`),
    rowsOf({ of: 'activity', bucket, at, series: 'kind' }, `taken ${inBuckets(bucket)}`),
    rowsOf({ of: 'activity', bucket, at, series: `'paid'` }, `paid ${inBuckets(bucket)}`),
    ...(bucket === 'month'
      ? []
      : [
          rowsOf({ of: 'itemActivity', bucket, at, ...item }, `taken ${inBuckets(bucket)}`),
          rowsOf({ of: 'itemPaid', bucket, at, ...item }, `paid ${inBuckets(bucket)}`),
          rowsOf({ of: 'activity', bucket, at, series: `'claims'` }, `paid ${inBuckets(bucket)}`, 'claims'),
        ]),
  ])
  const earlierHours = hourNamesBefore(first).map(([from, to]) => [`'${from}'`, `'${to}'`] as const)
  return `
    with joined as materialized (${happenedSql('telegram_users', { at: 'created_at', first })}),
    taken as materialized (${happenedSql('participations', { at: 'at', item: 'kind, item_id,', first })}),
    paid as materialized (${happenedSql(CLAIMS, { at: 'at', item: 'kind, item_id,', counts: 'count(*) as claims, sum(amount) as rows', first })}),
    owned as materialized (select balance, count(*) as rows from balances where blocked_at is null group by balance)
    select name, sum(counted) as counted, sum(rows) as rows, (sum(rows) - sum(counted))::text as missing from (
      select name, value as counted, 0 as rows from counters
      union all select name, delta, 0 from counter_deltas
      union all select name, value, 0 from ${claimPartsSql()} as claimed
      union all select name, value, 0 from ${balancePartsSql()} as moved
      union all ${rowsOf({ of: 'players' }, 'joined')}
      union all ${rowsOf({ of: 'participants', ...item }, 'taken')}
      union all ${rowsOf({ of: 'paid', ...item }, 'paid')}
      union all ${rowsOf({ of: 'balances', balance: 'balance' }, 'owned')}
      union all ${[...users, ...ofBuckets].join(' union all ')}
    ) as parts where not (${isWithinSql(...earlierHours)}) group by name having sum(counted) <> sum(rows) order by name`
}
