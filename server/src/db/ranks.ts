/**
 * A player's rank by balance (design §8): 1 is the highest; of equal balances the lower id comes first, as in the list of players. It is exact
 * among the first, and beyond them nobody counts so many rows for a request.
 */
import { type Kysely, sql } from 'kysely'
import type { Tables } from './tables.ts'

const RANKS_MAX = 10_000

/** @returns null beyond the first RANKS_MAX, and for who is no player */
export async function rankOf(db: Kysely<Tables>, userId: number): Promise<number | null> {
  const own = await db.selectFrom('balances').select('balance').where('user_id', '=', userId).executeTakeFirst()
  if (!own) return null
  const { rows } = await sql<{ ahead: number }>`
    select count(*) as ahead from (select user_id from balances
      where balance >= ${own.balance} and (balance > ${own.balance} or user_id < ${userId})
      order by balance desc, user_id limit ${RANKS_MAX}) as ahead`.execute(db)
  const { ahead } = rows[0]!
  return ahead < RANKS_MAX ? ahead + 1 : null
}
