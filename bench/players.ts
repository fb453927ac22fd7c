/** Adds a million players and more, generated inside PostgreSQL. */
import { sql } from 'kysely'
import type { Database } from '../server/src/db/database.ts'
import { servedPlayers } from '../server/src/players/players-list.ts'
import { cursorOrder, type RowPosition, writePosition } from '../server/src/lists/cursor-orders.ts'
import { orderSql } from '../server/src/lists/list.ts'
import { addCount } from '../server/test/activity.ts'
import { giveBalances } from '../server/test/players.ts'
import type { BenchServer } from './measuring.ts'

const BATCH = 50_000 // rows per statement, which must end within the pool's statement timeout
/** Players who get their balances at once: the statement reads all players, so once for each batch would take longer than adding them. */
const BALANCED_AT_ONCE = 1_000_000

/** Adds players like those of the sample: with missing fields, names in many scripts, and half of them without points. */
export async function addPlayers({ database }: BenchServer, from: number, to: number): Promise<void> {
  const { db } = database
  const started = performance.now()
  for (let low = from; low < to; low += BATCH) {
    await sql`insert into telegram_users (user_id, created_at, first_name, last_name, username, twitter_username, email, phone_number, ton_wallet_address, bsc_wallet)
      select 100000000 + n * 7919::bigint % 10000019, timestamptz '2026-01-01' + n * interval '1 second',
        case when n % 50 > 0 then (array['Åse', 'Sky', 'Daria', 'Chidi', 'Виктор', 'Ivan', 'محمد', 'Wei', 'Lucía'])[1 + n % 9] || n % 1000 end,
        case when n % 7 > 0 then 'Last' || n % 5000 end, 'moon_' || n, case when n % 2 = 0 then '@moon_' || n end,
        case when n % 3 = 0 then 'player' || n || '@example.org' end, case when n % 4 = 0 then '+62' || n end,
        case when n % 2 = 0 then 'UQ' || md5(n::text) end, case when n % 3 = 0 then '0x' || md5(n::text) end
      from generate_series(${sql.lit(low)}::bigint, ${sql.lit(low + BATCH - 1)}) n`.execute(db)
    const added = low + BATCH - from
    if (added % BALANCED_AT_ONCE === 0 || low + BATCH >= to) await giveBalances(db, HALF_WITHOUT_POINTS)
  }
  await addCount(database, { of: 'players' }, to - from)
  await unhurried(db, 'vacuum (analyze) telegram_users, balances, ledger_entries')
  console.log(`${((to - from) / 1e6).toFixed(0)}M players added in ${((performance.now() - started) / 1000).toFixed(0)} s`)
}

/** An SQL expression for `giveBalances`. Half of all balances are 0. */
const HALF_WITHOUT_POINTS = 'case when random() < 0.5 then 0 else floor(random() * 100000) end'

/** Returns the cursor that the server would give for the row at `offset` in an order of players. */
export async function cursorAt({ db }: Pick<Database, 'db'>, sort: 'balance' | 'a-z', offset: number): Promise<string> {
  const order = cursorOrder(servedPlayers, sort)
  const { rows } = await sql<RowPosition>`select ${sql.raw(order.keyText)} as key, user_id as id from ${sql.raw(order.source)}
    order by ${sql.raw(orderSql(servedPlayers, sort, false))} offset ${offset} limit 1`.execute(db)
  return writePosition(rows[0]!, order, false)
}

export interface RandomPlayer {
  id: number
  username: string
  /** The player's position in each order, and the cursor that the server would give for it. */
  positions: Record<'balance' | 'a-z', RowPosition & { cursor: string }>
}

/** Returns players at random positions. */
export async function randomPlayers({ db }: Pick<Database, 'db'>, count: number): Promise<RandomPlayer[]> {
  const orders = { balance: cursorOrder(servedPlayers, 'balance'), 'a-z': cursorOrder(servedPlayers, 'a-z') }
  const { rows } = await sql<{ id: number; username: string; balance: string; name: string | null }>`
    select user_id as id, username, ${sql.raw(orders.balance.keyText)} as balance, ${sql.raw(orders['a-z'].keyText)} as name
      from ${sql.raw(orders.balance.source)} where username is not null order by random() limit ${count}`.execute(db)
  return rows.map(({ id, username, balance, name }) => {
    const at = (key: string | null, order: keyof typeof orders) => ({
      key,
      id,
      cursor: writePosition({ key, id }, orders[order], false),
    })
    return { id, username, positions: { balance: at(balance, 'balance'), 'a-z': at(name, 'a-z') } }
  })
}

/** Runs a statement on a connection without the pool's statement timeout. */
export async function unhurried(db: Database['db'], statement: string): Promise<void> {
  await db.connection().execute(async (connection) => {
    await sql`set statement_timeout = 0`.execute(connection)
    await sql.raw(statement).execute(connection)
    await sql`reset statement_timeout`.execute(connection)
  })
}
