/**
 * Erased players, known only by a keyed hash of their id, so that an import does not bring them back. A server of the previous version
 * keeps working without it.
 */
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create table erased_players (id_hash bytea primary key)`.execute(db)
}
