/**
 * Distributed PostgreSQL (Citus 13, design §4): all rows of a player are on one shard, chosen by the player's id; everything else stays on
 * the coordinator. Every statement of the product is valid both there and on an ordinary PostgreSQL.
 */
import { sql } from 'kysely'
import { CITUS_SQL } from '#src/postgres/connections.ts'
import type { Database } from '#src/db/database.ts'

/** The tables that are divided, all by their column `user_id`, so that a player's rows are together. */
export const DISTRIBUTED_TABLES = [
  'telegram_users',
  'balances',
  'ledger_entries',
  'player_keys',
  'participations',
  'counter_deltas',
  'uncounted_entries',
] as const

/** Returns the options with which Citus divides a table: the first one into `shards` shards, every other one like the first. */
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
