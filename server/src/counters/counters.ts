/**
 * Exact counters for which transactions never wait for each other (design §4). A change appends a row, a counter delta. The value is the
 * folded base plus the deltas that are not folded yet. counter-keys.ts defines the counters, and entry-counts.ts what ledger entries count.
 */
import { type Kysely, type Transaction, sql } from 'kysely'
import {
  allParticipantsNames,
  type CounterKey,
  type CounterName,
  counterName,
  counterNameSql,
  type CounterSqlKey,
} from './counter-keys.ts'
import type { Database } from '#src/db/database.ts'
import { balancePartsSql, claimPartsSql, uncountedParticipantsSql } from './entry-counts.ts'
import type { Tables } from '#src/db/tables.ts'
import { lockChangesShared, tryTakeLock } from '#src/db/transaction-locks.ts'

export interface CounterChange {
  counter: CounterKey
  delta: number
  /** The player of the change, if a transaction of a single player makes it. */
  userId?: number | undefined
}

/** Changes of many counters, collected with `addDelta` and written together. */
export type Deltas = Map<CounterName, number>

export function addDelta(deltas: Deltas, counter: CounterKey, delta: number): void {
  const name = counterName(counter)
  deltas.set(name, (deltas.get(name) ?? 0) + delta)
}

/** Changes a counter in the caller's transaction, so that it becomes visible together with the counted rows. */
export async function addToCounter(tx: Transaction<Tables>, { counter, delta, userId = 0 }: CounterChange): Promise<void> {
  await lockChangesShared(tx)
  await tx
    .insertInto('counter_deltas')
    .values({ user_id: userId, name: counterName(counter), delta })
    .execute()
}

/**
 * Writes many changes by one statement, without those of 0.
 * @param userId the player of all of them
 */
export async function addToCounters(tx: Transaction<Tables>, deltas: Deltas, userId = 0): Promise<void> {
  await lockChangesShared(tx)
  const changes = [...deltas].filter(([, delta]) => delta !== 0)
  if (changes.length === 0) return
  await sql`insert into counter_deltas (user_id, name, delta)
    select ${userId}::bigint, * from unnest(${changes.map(([name]) => name)}::text[], ${changes.map(([, delta]) => delta)}::bigint[])`.execute(
    tx,
  )
}

/** Moves the pending deltas of a player to another player id. Waits for a running fold. */
export async function moveDeltas(tx: Transaction<Tables>, from: number, to: number): Promise<void> {
  const { rows } = await sql`
    delete from counter_deltas where user_id = ${from} returning name, delta::text as delta`.execute(tx)
  await sql`insert into counter_deltas (user_id, name, delta)
    select ${to}::bigint, name, delta from json_to_recordset(${JSON.stringify(rows)}::json) as r (name text, delta numeric)`.execute(
    tx,
  )
}

/** Returns the exact values in the order of the keys, now or in the caller's snapshot. A counter that never changed is 0. */
export async function readCounters(db: Kysely<Tables>, counters: readonly CounterKey[]): Promise<number[]> {
  const names = counters.map(counterName)
  const { rows } = await sql<{ name: CounterName; value: number }>`
    select name, sum(value) as value from (
      select name, value from counters where name = any(${names})
      union all
      select name, delta from counter_deltas where name = any(${names})
      union all
      select name, value from ${sql.raw(claimPartsSql())} as claimed where name = any(${names})
    ) as parts group by name`.execute(db)
  const values = new Map(rows.map(({ name, value }) => [name, value]))
  return names.map((name) => values.get(name) ?? 0)
}

/** Returns SQL for the value of a counter, to be used within another statement. */
export function counterSql(counter: CounterSqlKey & { of: 'players' | 'users' | 'participants' }): string {
  const name = counterNameSql(counter)
  const uncounted = counter.of === 'participants' ? ` union all ${uncountedParticipantsSql(counter)}` : ''
  return `(select coalesce(sum(value), 0)::bigint from (
    select value from counters where name = ${name} union all select delta from counter_deltas where name = ${name}${uncounted}) as parts)`
}

/**
 * Returns SQL for a counter that depends on the row of the statement. A Citus cluster cannot look up the deltas for each row, so all deltas
 * of the range are summed once; there are few, because they are folded every few seconds.
 */
export function counterOfRowSql(counter: CounterSqlKey & { of: 'participants' }): string {
  const name = counterNameSql(counter)
  const [from, to] = allParticipantsNames
  return `(select coalesce(sum(value), 0)::bigint from (select value from counters where name = ${name} union all
    (with changes as materialized (
       select name, sum(value) as value from ${changesSql([`'${from}'`, `'${to}'`])} as parts group by name)
     select value from changes where name = ${name})) as parts)`
}

/** A range of names, without its end, in SQL. */
export type CounterRangeSql = readonly [from: string, to: string]

/** Returns SQL for the values of counters: rows of `name` and `value`. Several ranges together read the deltas only once. */
export function counterSumsSql(...ranges: CounterRangeSql[]): string {
  return `(select name, sum(value) as value from ${counterPartsSql(...ranges)} as parts group by name)`
}

/** Returns SQL for the parts of counters: rows of `name` and `value`. A counter is the sum of its parts. */
export function counterPartsSql(...ranges: CounterRangeSql[]): string {
  return `(select name, value from counters where ${isWithinSql(...ranges)}
    union all select name, value from ${changesSql(...ranges)} as changes)`
}

/** SQL for the parts that are not folded yet. */
function changesSql(...ranges: CounterRangeSql[]): string {
  return `(select name, delta as value from counter_deltas where ${isWithinSql(...ranges)}
    union all select name, value from ${claimPartsSql()} as claimed where ${isWithinSql(...ranges)})`
}

/** Returns the condition that the counter `name` is in one of the ranges. */
export function isWithinSql(...ranges: CounterRangeSql[]): string {
  return ranges.map(([from, to]) => `(name >= ${from} and name < ${to})`).join(' or ')
}

/**
 * Folds the committed deltas into the base, in short transactions. Does nothing while another process is folding. On a Citus cluster the
 * deltas are distributed by players and the base is on the coordinator, so a statement can either delete deltas or add to the base.
 */
export async function foldCounters({ transaction }: Pick<Database, 'transaction'>): Promise<void> {
  while ((await transaction(foldBatch)) === FOLD_BATCH);
}

const FOLD_BATCH = 10_000

/** Folds a batch of deltas and a batch of uncounted entries. Returns the size of the larger one, or 0 while another process folds. */
async function foldBatch(tx: Transaction<Tables>): Promise<number> {
  if (!(await tryTakeLock(tx, 'fold'))) return 0
  await lockChangesShared(tx)
  return Math.max(await foldDeltas(tx), await foldEntries(tx))
}

async function foldDeltas(tx: Transaction<Tables>): Promise<number> {
  const { rows: gone } = await sql<{ name: CounterName; delta: string }>`
    with batch as materialized (select user_id, id from counter_deltas limit ${sql.lit(FOLD_BATCH)})
    delete from counter_deltas using batch where counter_deltas.user_id = batch.user_id and counter_deltas.id = batch.id
    returning name, delta::text as delta`.execute(tx)
  if (gone.length === 0) return 0
  await sql`insert into counters (name, value)
    select name, sum(value) from unnest(${gone.map(({ name }) => name)}::text[], ${gone.map(({ delta }) => delta)}::numeric[])
      as gone (name, value) group by name ${ADDED}`.execute(tx)
  return gone.length
}

interface UncountedEntry {
  at: Date
  amount: string
  balance: string
  kind: string | null
  itemId: string | null
}

async function foldEntries(tx: Transaction<Tables>): Promise<number> {
  const { rows: gone } = await sql<UncountedEntry>`
    with batch as materialized (select user_id, seq from uncounted_entries limit ${sql.lit(FOLD_BATCH)})
    delete from uncounted_entries using batch where uncounted_entries.user_id = batch.user_id and uncounted_entries.seq = batch.seq
    returning at, amount::text as amount, balance::text as balance, kind, item_id as "itemId"`.execute(tx)
  if (gone.length === 0) return 0
  await sql`with gone as materialized (
      select * from unnest(${gone.map((entry) => entry.at)}::timestamptz[], ${gone.map(({ amount }) => amount)}::numeric[],
        ${gone.map(({ balance }) => balance)}::numeric[], ${gone.map(({ kind }) => kind)}::text[],
        ${gone.map(({ itemId }) => itemId)}::text[]) as gone (at, amount, balance, kind, item_id)),
    parts as (select * from ${sql.raw(claimPartsSql('gone'))} as claimed union all select * from ${sql.raw(balancePartsSql('gone'))} as moved)
    insert into counters (name, value) select name, sum(value) from parts group by name having sum(value) <> 0 ${ADDED}`.execute(
    tx,
  )
  return gone.length
}

const ADDED = sql.raw('on conflict (name) do update set value = counters.value + excluded.value')
