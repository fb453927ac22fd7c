/**
 * Balances get a table of their own, which has few indexes so that changing a balance is cheap, and a ledger that explains them: an
 * existing balance becomes an opening entry. A server of the previous version reads and writes the players' old column of balances until it
 * is gone; balances that it changed meanwhile are moved, too.
 */
import { type Kysely, sql } from 'kysely'

export const isResumable = true

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of tables) await sql.raw(statement).execute(db)
  if (await isDistributed(db, 'telegram_users'))
    for (const table of ['balances', 'ledger_entries'])
      if (!(await isDistributed(db, table)))
        await sql`select create_distributed_table(${table}, 'user_id', colocate_with => 'telegram_users')`.execute(db)
  if (await hasColumn(db, 'balance')) for (const statement of move) await sql.raw(statement).execute(db)
  if (await hasColumn(db, 'former_balance')) for (const statement of settle) await sql.raw(statement).execute(db)
  for (const statement of open) await sql.raw(statement).execute(db)
}

const tables = [
  `create table if not exists balances (
     user_id bigint primary key,
     balance numeric not null default 0 constraint balances_balance_check check (abs(balance) <= 9007199254740992),
     imported numeric not null default 0,
     entries bigint not null default 0)`,
  `create table if not exists ledger_entries (
     user_id bigint not null,
     seq bigint not null,
     amount numeric not null,
     cause text not null,
     reference text,
     kind text,
     item_id text,
     period text,
     by_kind text,
     by_id text,
     by_name text,
     reason text,
     at timestamptz not null default now(),
     balance numeric not null,
     primary key (user_id, seq))`,
]

const move = [
  `insert into balances (user_id, balance, imported, entries)
     select user_id, balance, balance, (balance <> 0)::int from telegram_users on conflict (user_id) do nothing`,
  `create index concurrently if not exists balances_by_balance on balances (balance desc, user_id)`,
  // From here on no server changes the old column.
  `alter table telegram_users rename column balance to former_balance`,
]

/** Moves balances that were changed during `move`. */
const settle = [
  `update balances set balance = t.former_balance, imported = t.former_balance, entries = (t.former_balance <> 0)::int
     from telegram_users t where t.user_id = balances.user_id and t.former_balance <> balances.balance`,
  `insert into balances (user_id, balance, imported, entries)
     select t.user_id, t.former_balance, t.former_balance, (t.former_balance <> 0)::int
       from telegram_users t left join balances b on b.user_id = t.user_id where b.user_id is null`,
  `alter table telegram_users drop column former_balance`,
]

const open = [
  `insert into ledger_entries (user_id, seq, amount, cause, balance)
     select user_id, 1, balance, 'opening', balance from balances where entries = 1 on conflict (user_id, seq) do nothing`,
  `create unique index concurrently if not exists ledger_entries_reference on ledger_entries (user_id, cause, reference)
     where reference is not null`,
  `vacuum (analyze) balances`,
  `vacuum (analyze) ledger_entries`,
]

async function isDistributed(db: Kysely<unknown>, table: string): Promise<boolean> {
  const { rows: extensions } = await sql`select from pg_extension where extname = 'citus'`.execute(db)
  if (extensions.length === 0) return false
  const { rows } = await sql`select from pg_dist_partition where logicalrelid = ${table}::regclass`.execute(db)
  return rows.length > 0
}

async function hasColumn(db: Kysely<unknown>, column: string): Promise<boolean> {
  const { rows } = await sql`
    select from information_schema.columns
     where table_schema = current_schema() and table_name = 'telegram_users' and column_name = ${column}`.execute(db)
  return rows.length > 0
}
