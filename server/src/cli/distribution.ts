/**
 * Distributed PostgreSQL (Citus 13, design §4): what is one player's lies on one shard, by the player's id; everything else stays on the
 * coordinator. Every statement of the product is valid both there and on an ordinary PostgreSQL.
 */
import { sql } from 'kysely'
import { CITUS_SQL } from '#src/postgres/connections.ts'
import type { Database } from '#src/db/database.ts'

/** The tables that are divided, all alike by their column `user_id`, so that a player's rows are together. */
export const DISTRIBUTED_TABLES = [
  'telegram_users',
  'balances',
  'ledger_entries',
  'player_keys',
  'participations',
  'counter_deltas',
  'uncounted_entries',
] as const

/** The options with which Citus divides one of them: the first into so many shards, each other one as the first. */
export function divisionSql(table: string, shards: number): string {
  const [first] = DISTRIBUTED_TABLES
  return table === first ? `colocate_with => 'none', shard_count => ${shards}` : `colocate_with => '${first}'`
}

export interface Cluster {
  /** Servers that can hold shards. */
  workers: number
  /** Those of `DISTRIBUTED_TABLES` that are divided already. */
  distributed: string[]
}

/** @returns undefined on an ordinary PostgreSQL */
export async function findCluster({ db }: Pick<Database, 'db'>): Promise<Cluster | undefined> {
  const { rows: extensions } = await sql.raw(CITUS_SQL).execute(db)
  if (extensions.length === 0) return undefined
  const { rows } = await sql<Cluster>`
    select (select count(*) from pg_dist_node where shouldhaveshards and isactive) as workers,
           array(select relname::text from pg_dist_partition join pg_class on pg_class.oid = logicalrelid
                  where partmethod = 'h' and relname = any(${DISTRIBUTED_TABLES}) order by relname) as distributed`.execute(db)
  return rows[0]
}
