/**
 * Writes imported balances together with the ledger entries that explain them: a balance is the sum of its player's entries,
 * which are numbered without gaps and never changed. Every player has a row in `balances`.
 */
import { type Kysely, sql, type Transaction } from 'kysely'
import { type BalanceBucket, balanceBucketSql } from '#src/counters/counter-keys.ts'
import { addDelta, type Deltas } from '#src/counters/counters.ts'
import type { Tables } from '#src/db/tables.ts'
import { updateInListOrder } from '#src/db/transaction-locks.ts'
import { IS_BLOCKED } from './blocks.ts'

export interface ImportedBalance {
  userId: number
  balance: number | string
}

/**
 * Creates the balances of players that the same transaction adds, each with an opening entry unless it is 0. Adds the counter deltas to
 * `deltas`.
 */
export async function openBalances(tx: Kysely<Tables>, players: readonly ImportedBalance[], deltas: Deltas): Promise<void> {
  if (players.length === 0) return
  const opened = importedSql(players)
  const { rows } = await sql<{ bucket: BalanceBucket }>`insert into balances (user_id, balance, imported, entries)
    select user_id, balance, balance, (balance <> 0)::int from ${opened} order by user_id
    returning ${bucketOf('balance')} as bucket`.execute(tx)
  for (const { bucket } of rows) addDelta(deltas, { of: 'balances', bucket }, 1)
  await sql`insert into ledger_entries (user_id, seq, amount, cause, balance)
    select user_id, 1, balance, 'opening', balance from ${opened} where balance <> 0 order by user_id`.execute(tx)
}

/**
 * Updates the balances of existing players. The difference between this import and the previous one becomes a ledger entry, so entries in
 * between stay. Adds the counter deltas to `deltas`. Returns the players whose balances changed.
 */
export async function importBalances(
  tx: Transaction<Tables>,
  players: readonly ImportedBalance[],
  deltas: Deltas,
): Promise<number[]> {
  if (players.length === 0) return []
  await updateInListOrder(tx)
  // If two imports run at once, the second one skips rows that the first has changed: the difference would not be certain.
  const { rows } = await sql<ImportedRow>`
    with r as materialized (select * from ${importedSql(players)} order by user_id)
    update balances as t set balance = t.balance + (r.balance - held.imported), imported = r.balance, entries = t.entries + 1
      from r join balances as held on held.user_id = r.user_id
     where t.user_id = r.user_id and t.user_id = held.user_id and t.imported = held.imported and held.imported <> r.balance
    returning t.user_id, t.entries as seq, (r.balance - held.imported)::text as amount, t.balance::text as balance,
              ${bucketOf('(t.balance - (r.balance - held.imported))')} as "from", ${bucketOf('t.balance')} as "to",
              t.${sql.raw(IS_BLOCKED)} as "isBlocked"`.execute(tx)
  for (const { from, to, isBlocked } of rows) {
    if (isBlocked) continue // and therefore not in the histogram
    addDelta(deltas, { of: 'balances', bucket: from }, -1)
    addDelta(deltas, { of: 'balances', bucket: to }, 1)
  }
  if (rows.length > 0)
    await sql`insert into ledger_entries (user_id, seq, amount, cause, balance)
      select user_id, seq, amount, 'import', balance
        from unnest(${rows.map((row) => row.user_id)}::bigint[], ${rows.map((row) => row.seq)}::bigint[],
                    ${rows.map((row) => row.amount)}::numeric[], ${rows.map((row) => row.balance)}::numeric[])
          as changed (user_id, seq, amount, balance)`.execute(tx)
  return rows.map((row) => row.user_id)
}

interface ImportedRow {
  user_id: number
  seq: number
  amount: string
  balance: string
  /** The buckets of the old and the new balance. */
  from: BalanceBucket
  to: BalanceBucket
  isBlocked: boolean
}

const bucketOf = (balance: string) => sql.raw<string>(balanceBucketSql(balance))

function importedSql(players: readonly ImportedBalance[]) {
  return sql`unnest(${players.map(({ userId }) => userId)}::bigint[], ${players.map(({ balance }) => String(balance))}::numeric[])
    as imported (user_id, balance)`
}
