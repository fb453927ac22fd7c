/** Players for tests: with their balances, and the entries that explain them. */
import { type Insertable, type Kysely, sql } from 'kysely'
import { openBalances } from '#src/db/ledger.ts'
import type { Tables, TelegramUsersTable } from '#src/db/tables.ts'

type StoredPlayer = Insertable<TelegramUsersTable> & { balance?: number | string }

export async function addPlayers(db: Kysely<Tables>, players: readonly StoredPlayer[]): Promise<void> {
  await db
    .insertInto('telegram_users')
    .values(players.map(({ balance: _balance, ...player }) => player))
    .execute()
  await openBalances(
    db,
    players.map(({ user_id: userId, balance = 0 }) => ({ userId, balance })),
  )
}

/** Gives every player without one a balance, an expression of SQL about the player's row. */
export async function giveBalances(db: Kysely<Tables>, balance = '0'): Promise<void> {
  await sql`insert into balances (user_id, balance, imported, entries)
    select user_id, given, given, (given <> 0)::int from (
      select telegram_users.user_id, (${sql.raw(balance)})::numeric as given
        from telegram_users left join balances b on b.user_id = telegram_users.user_id where b.user_id is null) as players`.execute(
    db,
  )
  await sql`insert into ledger_entries (user_id, seq, amount, cause, balance)
    select user_id, 1, balance, 'opening', balance from balances where entries = 1 on conflict (user_id, seq) do nothing`.execute(
    db,
  )
}
