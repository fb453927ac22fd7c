/**
 * Rows of users get the time at which the user was last seen: computing it from sessions and addresses took two look-ups for each row of a
 * page. A server of the previous version keeps working without it.
 */
import { type Kysely, sql } from 'kysely'

export const isResumable = true

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const statements = [
  `alter table users add column if not exists last_seen_at timestamptz`,
  `update users set last_seen_at = seen.at
     from (select user_id, max(at) as at
             from (select user_id, last_seen_at as at from sessions union all select user_id, seen_at from known_addresses) as moments
            group by user_id) as seen
    where users.id = seen.user_id and users.last_seen_at is null`,
]
