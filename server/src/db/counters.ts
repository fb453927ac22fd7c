/**
 * Exact counters that never make two transactions wait for each other (design §4): a change is an appended row, a value
 * the folded base plus the rows not yet folded. Which counters there are is in counter-keys.ts.
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
import type { Database } from './database.ts'
import type { Tables } from './tables.ts'
import { shareTurn, tryTurn } from './turns.ts'

export interface CounterChange {
  counter: CounterKey
  delta: number
  /** The player it is about, for a change made in a transaction of that player. */
  userId?: number | undefined
}

/** Changes of many counters, gathered with `addDelta` to be written at once. */
export type Deltas = Map<CounterName, number>

export function addDelta(deltas: Deltas, counter: CounterKey, delta: number): void {
  const name = counterName(counter)
  deltas.set(name, (deltas.get(name) ?? 0) + delta)
}

/** Counts in the caller's transaction: the change is seen, or not, together with what it counts. */
export async function addToCounter(tx: Transaction<Tables>, { counter, delta, userId = 0 }: CounterChange): Promise<void> {
  await shareTurn(tx, 'changes')
  await tx
    .insertInto('counter_deltas')
    .values({ user_id: userId, name: counterName(counter), delta })
    .execute()
}

/**
 * Many changes in one statement; those of 0 are left out.
 * @param userId the player whom all of them are about
 */
export async function addToCounters(tx: Transaction<Tables>, deltas: Deltas, userId = 0): Promise<void> {
  await shareTurn(tx, 'changes')
  const changes = [...deltas].filter(([, delta]) => delta !== 0)
  if (changes.length === 0) return
  await sql`insert into counter_deltas (user_id, name, delta)
    select ${userId}::bigint, * from unnest(${changes.map(([name]) => name)}::text[], ${changes.map(([, delta]) => delta)}::bigint[])`.execute(
    tx,
  )
}

/**
 * SQL that counts 1 for each of these counters, in a statement about one player; `from` has one row, with that player's `user_id`, or none if
 * nothing is to be counted.
 */
export function countOnceSql(from: string, counters: readonly CounterSqlKey[]): string {
  const names = counters.map((counter) => `(${counterNameSql(counter)})`).join(', ')
  return `insert into counter_deltas (user_id, name, delta)
    select ${from}.user_id, names.name, 1 from ${from}, (values ${names}) as names (name)`
}

/** The exact values, in the order of the keys, at this moment or in the caller's snapshot; a counter that never changed is 0. */
export async function readCounters(db: Kysely<Tables>, counters: readonly CounterKey[]): Promise<number[]> {
  const names = counters.map(counterName)
  const { rows } = await sql<{ name: CounterName; value: number }>`
    select name, sum(value)::bigint as value from (
      select name, value from counters where name = any(${names})
      union all
      select name, delta from counter_deltas where name = any(${names})
    ) as parts group by name`.execute(db)
  const values = new Map(rows.map(({ name, value }) => [name, value]))
  return names.map((name) => values.get(name) ?? 0)
}

/** The value that `readCounters` gives, as an expression for a statement of one's own. */
export function counterSql(counter: CounterSqlKey): string {
  const name = counterNameSql(counter)
  return `(select coalesce(sum(value), 0)::bigint from (
    select value from counters where name = ${name} union all select delta from counter_deltas where name = ${name}) as parts)`
}

/**
 * The same of a counter that differs from row to row of the statement. A distributed database cannot look changes up for each row, so
 * all of the range are added up once, of which there are few: they are folded every few seconds.
 */
export function counterOfRowSql(counter: CounterSqlKey & { of: 'participants' }): string {
  const name = counterNameSql(counter)
  const [from, to] = allParticipantsNames
  return `(select coalesce(sum(value), 0)::bigint from (select value from counters where name = ${name} union all
    (with changes as materialized (
       select name, sum(delta)::bigint as delta from counter_deltas where name >= '${from}' and name < '${to}' group by name)
     select delta from changes where name = ${name})) as parts)`
}

/** The parts of all counters of a range of names whose ends are parameters in SQL. A counter is the sum of its parts. */
export function counterPartsSql(from: string, to: string): string {
  return `(select name, value from counters where name >= ${from} and name < ${to}
    union all select name, delta from counter_deltas where name >= ${from} and name < ${to})`
}

/**
 * Moves the committed changes into the base, in short transactions. While another process is at it, this is left to it. A distributed
 * database divides the changes by players and has the base in one place, so that a statement can delete changes or add to the base.
 */
export async function foldCounters({ transaction }: Pick<Database, 'transaction'>): Promise<void> {
  while ((await transaction(foldBatch)) === FOLD_BATCH);
}

const FOLD_BATCH = 10_000

/** Gives the number of changes that it moved. */
async function foldBatch(tx: Transaction<Tables>): Promise<number> {
  if (!(await tryTurn(tx, 'fold'))) return 0
  await shareTurn(tx, 'changes')
  const { rows: gone } = await sql<{ name: CounterName; delta: number }>`
    with batch as materialized (select user_id, id from counter_deltas limit ${sql.lit(FOLD_BATCH)})
    delete from counter_deltas using batch where counter_deltas.user_id = batch.user_id and counter_deltas.id = batch.id
    returning name, delta`.execute(tx)
  if (gone.length === 0) return 0
  const sums = new Map<CounterName, number>()
  for (const { name, delta } of gone) sums.set(name, (sums.get(name) ?? 0) + delta)
  await sql`insert into counters (name, value) select * from unnest(${[...sums.keys()]}::text[], ${[...sums.values()]}::bigint[])
    on conflict (name) do update set value = counters.value + excluded.value`.execute(tx)
  return gone.length
}
