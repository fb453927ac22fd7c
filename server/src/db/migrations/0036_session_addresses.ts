/**
 * Sessions get the addresses from which they were begun and last used, so that people can tell their own apart. A server of the previous
 * version keeps working and leaves them empty.
 */
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table sessions
    add column begun_address text not null default '', add column last_address text not null default ''`.execute(db)
  const addresses = 'an IPv4 address or the /64 network of an IPv6 one; empty if a server of an older version began the session'
  await sql.raw(`comment on column sessions.begun_address is 'The address of the sign-in: ${addresses}.'`).execute(db)
  await sql
    .raw(
      `comment on column sessions.last_address is 'The address of the last use, about as accurate as last_seen_at: ${addresses}.'`,
    )
    .execute(db)
}
