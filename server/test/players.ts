/** Adds players for tests, with their balances, the ledger entries behind them, and the counters of balances. */
import { type Insertable, type Kysely, sql, type Transaction } from 'kysely'
import { type BalanceBucket, balanceBucketSql } from '#src/counters/counter-keys.ts'
import { addDelta, addToCounters, type Deltas } from '#src/counters/counters.ts'
import { openBalances } from '#src/ledger/imported-balances.ts'
import type { Tables, TelegramUsersTable } from '#src/db/tables.ts'

type StoredPlayer = Insertable<TelegramUsersTable> & { balance?: number | string }

export async function addPlayers(db: Kysely<Tables>, players: readonly StoredPlayer[]): Promise<void> {
  await inTransaction(db, async (tx) => {
    await tx
      .insertInto('telegram_users')
      .values(players.map(({ balance: _balance, ...player }) => player))
      .execute()
    const deltas: Deltas = new Map()
    await openBalances(
      tx,
      players.map(({ user_id: userId, balance = 0 }) => ({ userId, balance })),
      deltas,
    )
    await addToCounters(tx, deltas)
  })
}

/** Gives every player without a balance one. `balance` is an SQL expression over the player's row. Fast enough for millions. */
export async function giveBalances(db: Kysely<Tables>, balance = '0'): Promise<void> {
  await inTransaction(db, async (tx) => {
    // The planner thinks that `balances` is empty and would read all of it for each player in a nested loop.
    await sql`set local statement_timeout = 0; set local enable_nestloop = off`.execute(tx)
    const { rows } = await sql<{ bucket: BalanceBucket }>`insert into balances (user_id, balance, imported, entries)
      select user_id, initial, initial, (initial <> 0)::int from (
        select telegram_users.user_id, (${sql.raw(balance)})::numeric as initial
          from telegram_users left join balances b on b.user_id = telegram_users.user_id where b.user_id is null) as players
      returning ${sql.raw<string>(balanceBucketSql('balance'))} as bucket`.execute(tx)
    await sql`insert into ledger_entries (user_id, seq, amount, cause, balance)
      select user_id, 1, balance, 'opening', balance from balances where entries = 1 on conflict (user_id, seq) do nothing`.execute(
      tx,
    )
    const deltas: Deltas = new Map()
    for (const { bucket } of rows) addDelta(deltas, { of: 'balances', bucket }, 1)
    await addToCounters(tx, deltas)
  })
}

async function inTransaction(db: Kysely<Tables>, work: (tx: Transaction<Tables>) => Promise<void>): Promise<void> {
  if (db.isTransaction) await work(db as Transaction<Tables>)
  else await db.transaction().execute(work)
}
