/** Who was erased, by a keyed hash of the id alone, so that an import does not bring them back. A server of the version before goes on without it. */
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create table erased_players (id_hash bytea primary key)`.execute(db)
}
