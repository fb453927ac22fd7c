/**
 * Distributed PostgreSQL (Citus 13, design §4): what is one player's lies on one shard, by the player's id; everything else stays on the
 * coordinator. Every statement of the product is valid both there and on an ordinary PostgreSQL.
 */
import { sql } from 'kysely'
import type { Database } from './database.ts'

/** The tables that are divided, all alike by their column `user_id`, so that a player's rows are together. */
export const DISTRIBUTED_TABLES = ['telegram_users', 'participations', 'counter_deltas'] as const

export interface Cluster {
  /** Of the extension, such as `13.0-1`. */
  version: string
  /** Servers that can hold shards. */
  workers: number
  /** Those of `DISTRIBUTED_TABLES` that are divided already. */
  distributed: string[]
}

/** @returns undefined on an ordinary PostgreSQL */
export async function findCluster({ db }: Pick<Database, 'db'>): Promise<Cluster | undefined> {
  const { rows: extensions } = await sql<{ version: string }>`
    select extversion as version from pg_extension where extname = 'citus'`.execute(db)
  if (!extensions[0]) return undefined
  const { rows } = await sql<{ workers: number; distributed: string[] }>`
    select (select count(*) from pg_dist_node where shouldhaveshards and isactive) as workers,
           array(select relname::text from pg_dist_partition join pg_class on pg_class.oid = logicalrelid
                  where partmethod = 'h' and relname = any(${DISTRIBUTED_TABLES}) order by relname) as distributed`.execute(db)
  return { version: extensions[0].version, ...rows[0]! }
}
